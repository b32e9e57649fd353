package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/kernels/scaffold"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/command"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/space"
)

// manifest says what was read.
func (t *trial) manifest(context.Context) (Step, error) {
	text := fmt.Sprintf("%s, workload %s (%s)", t.Kernel.Name, t.Workload.Name, t.Workload.Dims)
	content, err := os.ReadFile(filepath.Join(t.Kernel.Dir, kernels.ManifestName))
	var marked []string
	for i, line := range strings.Split(string(content), "\n") {
		if strings.Contains(line, scaffold.Mark) {
			marked = append(marked, strconv.Itoa(i+1))
		}
	}
	if t.Kernel.Dir != "" && err == nil && len(marked) > 0 {
		text += fmt.Sprintf("; look: marks of pawl init are left on %s: %s", page.Count(len(marked), "line"),
			strings.Join(marked, ", "))
	}
	return found("%s", text)
}

func (t *trial) environment(context.Context) (Step, error) {
	e := t.bench.Backend.Facts().Environment
	text := e.Device
	if e.Driver != "" {
		text += ", " + e.Driver
	}
	if t.Kernel.On().GPU && !t.options.Unrun {
		if _, err := profile.FindNsight(t.machine.Subject(t.bench).Getenv); err != nil {
			text += "; no ncu, so that nothing can be profiled"
		}
	}
	return found("%s", text)
}

// launch holds the default to the machine's limits.
func (t *trial) launch(context.Context) (Step, error) {
	if failure := t.bench.Backend.Preflight(t.Space.Default()); failure != nil {
		return fails(failure, "choose defaults in the manifest that every machine can launch")
	}
	pool, err := t.Space.Narrow().Pool(space.PoolOptions{})
	if err != nil {
		return Step{}, err
	}
	_, removed, err := devices.Feasible(pool, t.bench.Backend)
	if err != nil {
		return Step{}, err
	}
	ruledOut := 0
	for _, n := range removed {
		ruledOut += n
	}
	if ruledOut > 0 {
		return found("%s, %d of which this machine cannot launch", page.Count(pool.Len(), "point"), ruledOut)
	}
	return found("%s", page.Count(pool.Len(), "point"))
}

func (t *trial) compile(ctx context.Context) (Step, error) {
	if !t.Kernel.Answered() && !t.Kernel.PythonReference() {
		_, err := t.bench.Backend.Reference(ctx, t.Kernel.ReferencePoint(t.Space.Default()))
		if ctx.Err() != nil {
			return Step{}, err
		}
		if err != nil {
			return Step{Failure: err.Error(), Advice: "fix the reference: it takes the arguments of the manifest, in that " +
				"order, and sees only parameters that have reference: true"}, nil
		}
	}
	return t.prepare(ctx, "fix the source or the flags in the manifest")
}

func (t *trial) build(ctx context.Context) (Step, error) {
	return t.prepare(ctx, "fix the build command in the manifest: it runs in the kernel's folder, without a shell")
}

func (t *trial) prepare(ctx context.Context, otherwise string) (_ Step, err error) {
	if t.prepared, err = t.bench.Evaluator.Prepare(ctx, t.Space.Default()); err != nil {
		return Step{}, err
	}
	if failure := t.prepared.Failure; failure != nil {
		return fails(failure, advice(failure, otherwise))
	}
	return found("%s", t.bench.Backend.Facts().Environment.Compiler)
}

// checked runs a program once and has its own check look at it.
func (t *trial) checked(ctx context.Context, program objective.Program) (Step, error) {
	failure, err := t.bench.Evaluator.Verify(ctx, t.prepared)
	switch {
	case err != nil:
		return Step{}, err
	case failure != nil:
		return fails(failure, advice(failure,
			"run the commands of the manifest by hand, in the kernel's folder; nothing of them goes through a shell"))
	case !program.Checked():
		return found("nothing is checked, because the manifest has no check command: a point that computes nonsense may win")
	}
	return found("exit status 0")
}

// wrong is the advice where results differ from the reference's.
const wrong = "pawl fuzz shrinks this to the smallest shape that fails. If every point fails in the same way, " +
	"suspect the reference or the arguments of the manifest"

func (t *trial) small(ctx context.Context) (Step, error) {
	finding, err := t.bench.Evaluator.Tester.TryQuick(ctx, t.prepared)
	if err != nil {
		return unjudged(err)
	}
	if finding.Failure != nil {
		return fails(finding.Failure, wrong)
	}
	return found("%s", page.Count(len(t.bench.Evaluator.Tester.QuickCases(t.prepared.Point)), "case"))
}

func (t *trial) full(ctx context.Context) (Step, error) {
	failure, err := t.bench.Evaluator.Verify(ctx, t.prepared)
	if err != nil {
		return unjudged(err)
	}
	if failure != nil {
		return fails(failure, wrong)
	}
	text := page.Count(len(t.bench.Evaluator.Tester.FullCases(t.prepared.Point)), "case")
	if note := t.bench.Evaluator.Tester.Note(t.prepared.Point); note != "" {
		text += "; " + note
	}
	return found("%s", text)
}

// unjudged is the step that fails because nothing can be judged, by a check that is blind or a reference that does not
// run. Other errors stay errors.
func unjudged(err error) (Step, error) {
	if blind, ok := errors.AsType[*check.BlindError](err); ok {
		return Step{Failure: blind.Finding(), Advice: blind.Reason}, nil
	}
	if reference, ok := errors.AsType[*check.ReferenceError](err); ok {
		return Step{Failure: reference.Error(), Advice: "fix the reference, or have the manifest state what it expects: " +
			"sizes in domain, shapes, indices by range, align, and inout for what it reads before it writes"}, nil
	}
	return Step{}, err
}

// samples is how many say what a launch takes, roughly.
const samples = 5

func (t *trial) run(ctx context.Context) (Step, error) {
	outcome, err := t.bench.Evaluator.SampleAlone(ctx, t.prepared, samples)
	if err != nil {
		return Step{}, err
	}
	if outcome.Failure != nil {
		return fails(outcome.Failure, advice(outcome.Failure, "pawl bench says more"))
	}
	if measure := t.bench.Backend.Facts().Environment.Objective; measure != nil {
		return found("%s is about %s", measure.Formula, measure.Text(stats.Median(outcome.Samples)))
	}
	return found("about %s a launch", page.Milliseconds(stats.Median(outcome.Samples)))
}

// advice is what to do about a failure: what its reason asks for, or what is said otherwise.
func advice(failure *objective.Failure, otherwise string) string {
	switch failure.Reason {
	case string(worker.Hung):
		return "does it end by itself? --run-timeout allows a slow one more time, and so does timeouts in the section of " +
			"a command"
	case string(command.NoMetric):
		return "have the program print each metric once, as a number, or fix its json or match in the manifest"
	case objective.NotScored:
		return "fix minimize or maximize in the manifest: a formula of numbers that were measured, above 0"
	case objective.Unmet:
		return "choose a default that keeps what require asks for, or ask for less"
	}
	return otherwise
}
