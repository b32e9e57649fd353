package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// buildOptions are the flags of pawl build.
type buildOptions struct {
	common
	architecture string
}

func buildCommand(env environment) *cli.Command {
	var o buildOptions
	return &cli.Command{
		Name:      "build",
		Usage:     "compile one point and say what the compiler knows about it",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Compiles a point and prints registers, spills, shared memory, occupancy and its limiter, waves,\n"+
				"work per launch and the mix of instructions. With --arch neither GPU nor driver is needed.",
			"pawl build attention --arch sm_90 --at BLOCK_M=128",
			"0 done", "1 the point does not compile or cannot be launched", "3 pawl could not do its work", "64 usage"),
		Flags: append(o.flags("at", "workload", "backend", "compiler", "cache", "compile-timeout", "json"),
			&cli.StringFlag{Name: "arch", Destination: &o.architecture, DefaultText: "that of this machine's GPU", Usage: "compile for CUDA devices of this `ARCHITECTURE`, such as sm_90"}),
		Action: action(func(ctx context.Context, arguments []string) error { return runBuild(ctx, env, o, arguments) }),
	}
}

func runBuild(ctx context.Context, env environment, o buildOptions, arguments []string) error {
	tools := o.tools(env)
	tools.Architecture = o.architecture
	machine := devices.Here(tools)
	t, err := o.target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	point, err := t.Point(o.at)
	if err != nil {
		return err
	}
	built, failure, err := profile.NewStatic(ctx, machine, t, point)
	switch {
	case err != nil:
		return err
	case failure != nil:
		fmt.Fprintf(env.stderr, "%s at %s: %s\n", t.Kernel.Name, point, failure)
		return answer(exitNo)
	case o.json:
		return page.JSON(env.stdout, built)
	}
	printBuilt(env.stdout, built)
	return nil
}

func printBuilt(w io.Writer, s *profile.Static) {
	fmt.Fprintf(w, "%s, workload %s (%s), at %s\n", s.Kernel, s.Workload, s.Dims, s.Point)
	fmt.Fprintf(w, "for %s with %s\n", s.Environment.Device, s.Environment.Compiler)
	if r := s.Resources; r != nil {
		spills := "no spills"
		if bytes := r.SpillStores + r.SpillLoads; bytes > 0 {
			spills = fmt.Sprintf("%d bytes of spills", bytes)
		}
		fmt.Fprintf(w, "%d registers a thread, %s, %s of shared memory a block\n", r.Registers, spills, page.Bytes(float64(r.Shared+r.StaticShared)))
		if r.Occupancy != nil {
			fmt.Fprintln(w, r.Occupancy)
		}
	}
	if s.Flops > 0 || s.Bytes > 0 {
		fmt.Fprintf(w, "one launch: %.4g Gflop, %s to and from memory", s.Flops/1e9, page.Bytes(s.Bytes))
		if s.Flops > 0 && s.Bytes > 0 {
			fmt.Fprintf(w, ", %.3g flop a byte", s.Flops/s.Bytes)
		}
		fmt.Fprintln(w)
	}
	if s.Floor > 0 {
		fmt.Fprintf(w, "at least %s on this device, bound by %s\n", page.Milliseconds(s.Floor), s.Bound)
	}
	fmt.Fprintf(w, "arguments take %s\n", page.Bytes(float64(s.Memory)))
	switch {
	case s.Mix == nil:
		fmt.Fprintf(w, "instructions: not known, %s\n", s.NoMix)
	default:
		fmt.Fprintf(w, "instructions: %s\n", s.Mix.All)
		if s.Mix.Loop.Instructions > 0 {
			fmt.Fprintf(w, "in the hot loop: %s\n", s.Mix.Loop)
		}
	}
	fmt.Fprintf(w, "machine code: %s\n", s.Binary)
}
