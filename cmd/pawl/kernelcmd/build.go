package kernelcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/profile"
)

func BuildCommand(env console.Environment) *cli.Command {
	o := console.In(env)
	return &cli.Command{
		Name:      "build",
		Usage:     "compile one point and say what the compiler knows about it",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Compiles a point and prints registers, spills, shared memory, occupancy and its limiter, waves\n"+
				"and work per launch. With --arch neither GPU nor driver is needed.",
			"pawl build attention --arch sm_90 --at BLOCK_M=128",
			"0 done", "1 the point does not compile or cannot be launched", "3 internal or environment error", "64 usage"),
		Flags: o.Flags("at", "workload", "backend", "compiler", "cache", "compile-timeout", "json", "arch"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			return build(ctx, &o, arguments)
		}),
	}
}

func build(ctx context.Context, o *console.Common, arguments []string) error {
	machine := o.Machine()
	t, err := o.Target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	point, err := t.Point(o.At)
	if err != nil {
		return err
	}
	bench, err := machine.Open(ctx, t, objective.Options{CompileOnly: true})
	if err != nil {
		return err
	}
	defer bench.Close()
	prepared, err := bench.Evaluator.Prepare(ctx, point)
	if err != nil {
		return err
	}
	if prepared.Failure != nil {
		fmt.Fprintf(o.Stderr, "%s at %s: %s\n", t.Kernel.Name, point, prepared.Failure)
		return console.Answer(console.ExitNo)
	}
	built, err := profile.NewStatic(machine.Subject(bench), prepared)
	if err != nil {
		return err
	}
	return o.Show("pawl build", 1, built, func(w io.Writer) { printBuilt(w, built) })
}

func printBuilt(w io.Writer, s *profile.Static) {
	fmt.Fprintf(w, "%s, workload %s (%s), at %s\n", s.Kernel, s.Workload, s.Dims, s.Point)
	fmt.Fprintf(w, "for %s with %s\n", s.Environment.Device, s.Environment.Compiler)
	if r := s.Resources; r != nil {
		spills := "no spills"
		if bytes := r.SpillStores + r.SpillLoads; bytes > 0 {
			spills = fmt.Sprintf("%d bytes of spills", bytes)
		}
		fmt.Fprintf(w, "%d registers a thread, %s, %s of shared memory a block\n", r.Registers, spills,
			page.Bytes(float64(r.Shared+r.StaticShared)))
		if r.Occupancy != nil {
			fmt.Fprintln(w, r.Occupancy)
		}
	}
	if s.Flops > 0 || s.Bytes > 0 {
		fmt.Fprintf(w, "one launch: %.4g Gflop, %s to and from memory", s.Flops/1e9, page.Bytes(s.Bytes))
		if s.Flops > 0 && s.Bytes > 0 {
			fmt.Fprintf(w, ", %s flop a byte", page.Figure(s.Flops/s.Bytes))
		}
		fmt.Fprintln(w)
	}
	if s.Floor > 0 {
		fmt.Fprintf(w, "at least %s on this device, bound by %s\n", page.Milliseconds(s.Floor), s.Bound)
		if s.Floor < 1e3*profile.LaunchBound {
			fmt.Fprintf(w, "launch-bound: the work may take less than %s, which a launch takes by itself\n",
				page.Milliseconds(1e3*profile.LaunchBound))
		}
	}
	fmt.Fprintf(w, "arguments take %s\n", page.Bytes(float64(s.Memory)))
	fmt.Fprintf(w, "machine code: %s\n", s.Binary)
}
