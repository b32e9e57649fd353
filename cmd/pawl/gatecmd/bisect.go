package gatecmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/bisect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/devices"
)

type bisectOptions struct {
	console.Common
	ownPolicy
	search bisect.Options
	beside cli.StringSlice
}

func bisectCommand(env console.Environment) *cli.Command {
	o := bisectOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "bisect",
		Usage:     "find the commit that made a kernel slower or wrong",
		ArgsUsage: "GOOD BAD",
		Description: console.Details(
			"Rebuilds commits between GOOD and BAD in a temporary folder, measures each against GOOD interleaved,\n"+
				"by the gate's rule, and halves the line of first parents. What does not build or cannot be decided is\n"+
				"skipped. The checkout is neither read nor changed.",
			"pawl gate bisect v1.2 HEAD --kernel kernels/softmax",
			"0 found", "2 BAD is not worse than GOOD, or only skipped commits are left, which are named",
			"3 internal or environment error", "64 usage", "130 stopped"),
		Flags: slices.Concat([]cli.Flag{
			console.Text("kernel, k", &o.search.Kernel, ".", "the `FOLDER` of the kernel, in a git repository"),
			console.List("beside", &o.beside, "",
				"a further `PATH` of the repository that the kernel includes from; may be given again"),
		}, o.Common.Flags("workload", "at", "backend", "compiler", "cache", "seed", "order-seed", "run-timeout",
			"compile-timeout", "json"), o.ownPolicy.flags()),
		Action: o.WithBuilder(o.runBisect),
	}
}

func (o *bisectOptions) runBisect(ctx context.Context, b *devices.Builder, arguments []string) (err error) {
	if len(arguments) != 2 {
		return console.Usagef("two commits are needed: pawl gate bisect GOOD BAD")
	}
	s := o.search
	s.Good, s.Bad, s.Beside = arguments[0], arguments[1], o.beside.Value()
	s.Backend, s.Workload, s.At, s.Seed = o.Backend, o.Workload, o.At, o.Order()
	if s.Policy, err = o.read(); err != nil {
		return err
	}
	s.Begin = func(commits, changes int) {
		fmt.Fprintf(o.Stderr, "%s after %s, %d of them change the kernel\n", page.Count(commits, "commit"),
			escape.Line(s.Good), changes)
	}
	s.Finished = func(f bisect.Finding) {
		fmt.Fprintf(o.Stderr, "%s %s: %s: %s\n", f.Hash[:12], escape.Line(f.Subject), f.Answer, escape.Line(f.Reason))
	}
	r, err := bisect.Run(ctx, b, s)
	if err != nil {
		return err
	}
	err = o.Show("pawl gate bisect", 1, r, func(w io.Writer) { printBisect(w, r) })
	if err == nil && !r.Found() {
		return console.Answer(console.ExitNothing)
	}
	return err
}

func printBisect(w io.Writer, r *bisect.Result) {
	what := "slower"
	if r.Bad.Verdict == gate.Wrong {
		what = "wrong"
	}
	switch {
	case r.Nothing != "":
		fmt.Fprintf(w, "nothing to find: %s\n", escape.Line(r.Nothing))
		return
	case r.Found():
		fmt.Fprintf(w, "the first commit that is %s:\n\n", what)
	default:
		fmt.Fprintf(w, "only skipped commits are left. The first commit that is %s is one of these %d:\n\n", what,
			len(r.Suspects))
	}
	for _, f := range r.Suspects {
		printSuspect(w, f)
	}
	before := "the good commit"
	if b := r.Before; b != nil {
		before = fmt.Sprintf("%s, %s", b.Hash[:12], escape.Line(b.Reason))
	}
	fmt.Fprintf(w, "before it: %s\n", before)
	if last := r.Bad; !r.Found() || last.Hash != r.Suspects[0].Hash {
		fmt.Fprintf(w, "at the end: %s, %s\n", last.Hash[:12], escape.Line(last.Reason))
	}
	fmt.Fprintf(w, "%d of %s that change the kernel were judged, against %s; positive means faster\n", len(r.Tested),
		page.Count(r.Changes, "commit"), r.Good.Hash[:12])
}

func printSuspect(w io.Writer, f bisect.Finding) {
	fmt.Fprintf(w, "commit %s\ndate   %s\n       %s\n", f.Hash, f.Date.Format("2006-01-02 15:04:05 -0700"),
		escape.Line(f.Subject))
	if len(f.Parents) > 1 {
		fmt.Fprintln(w, "merge  its branch brought the change: bisect the branch to know which of its commits did")
	}
	if f.Evidence != nil {
		fmt.Fprintf(w, "change %s\n", f.Change())
	}
	fmt.Fprintf(w, "       %s: %s\n\n", f.Answer, escape.Line(f.Reason))
}
