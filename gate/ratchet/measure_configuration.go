package ratchet

import (
	"context"
	"errors"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// keyOf says what a configuration is compared with.
func keyOf(c *devices.Configuration) baseline.Key {
	return baseline.Key{
		Device:    c.Backend.Facts().Environment.Device,
		Kernel:    c.Kernel.Name,
		Workload:  c.Workload.Name,
		Type:      typeOf(c.Kernel),
		Objective: c.Backend.Facts().Environment.Objective.First(),
	}
}

// typeOf is the element type of a kernel's first output; a program has none.
func typeOf(k *kernels.Kernel) string {
	for _, a := range k.Arguments {
		if a.Out {
			return a.Element.Name
		}
	}
	if k.On().Program {
		return k.Backend
	}
	return ""
}

// samplesOf is how many samples a process takes, where the policy does not say. On a
// GPU each is a millisecond of launches on buffers of their own, and the samples of
// a process agree to a few thousandths: more processes are worth more time there.
func samplesOf(c *devices.Configuration, asked int) int {
	switch {
	case asked > 0:
		return asked
	case c.Kernel.On().GPU:
		return 20
	}
	return 50
}

// mostAlone is how many processes describe a configuration by itself, at most.
const mostAlone = 20

// alone is the rule of a configuration that is measured by itself: one sample says what a process costs, and a slow one
// takes fewer samples, as the budget asks.
type alone struct {
	policy  gate.Policy
	samples int
}

// Next takes the number of processes, after the first round.
func (a alone) Next(rounds []experiment.Round) (plan experiment.Plan, err error) {
	processes := min(a.policy.Rounds[0], mostAlone)
	switch {
	case len(rounds) == 0:
		plan.Samples = 1
	case len(rounds) <= processes:
		plan.Samples = a.policy.SamplesFor(a.samples, processes, rounds[0].Took)
	}
	return plan, nil
}

// measureAlone measures a configuration in fresh processes.
func measureAlone(ctx context.Context, c *devices.Configuration, p gate.Policy) (done Done, err error) {
	e := experiment.Experiment{Arms: []experiment.Arm{c.Arm()}, AllNeeded: true}
	rounds, err := e.Run(ctx, alone{p, samplesOf(c, p.Samples)})
	done.Samples = gate.Samples{}
	if failed, is := errors.AsType[*experiment.Failed](err); is {
		done.Failure = failed.Failure
		return done, nil
	}
	if err != nil {
		return done, err
	}
	var conditions *worker.Conditions
	for _, r := range rounds[1:] {
		o := r.Samples[0].Outcome
		done.Samples[gate.Candidate] = append(done.Samples[gate.Candidate], o.Samples)
		conditions = conditions.Join(o.Conditions)
	}
	if conditions != nil {
		done.Conditions = gate.Conditions{gate.Candidate: conditions}
	}
	return done, nil
}

// entryOf describes a measured candidate, with an archive of its sources: a commit may
// be squashed away before the baseline is rebuilt.
func entryOf(c *devices.Configuration, samples [][]float64, version string) (e baseline.Entry, err error) {
	source, err := c.Kernel.Digest()
	if err != nil {
		return e, err
	}
	var work baseline.Work
	work.Flops, work.Bytes, err = c.Work()
	if err != nil {
		return e, err
	}
	problem, err := c.Evaluator.Problem()
	if err != nil {
		return e, err
	}
	environment := c.Backend.Facts().Environment
	environment.Pawl = version
	e = baseline.Entry{
		Key: keyOf(c), Origin: c.Kernel.Origin, Dims: c.Workload.Dims.String(), Point: c.Prepared.Point.String(),
		Environment: environment, Source: source, Binary: c.Prepared.Binary.Digest, Problem: problem,
		Commit:   environment.Commit,
		Measured: time.Now().UTC(),
	}
	e.Summarise(samples, work)
	files, err := c.Kernel.Files()
	if err != nil {
		return e, err
	}
	e.Archive, err = baseline.Pack(files)
	if errors.Is(err, baseline.ErrTooLarge) && cleanCommit.MatchString(e.Commit) {
		err = nil // the commit has them, as long as it is there
	}
	return e, err
}

// ComparePair compares two configurations of one kernel, interleaved with an A/A control.
// Both have passed [objective.Evaluator.Verify].
func ComparePair(ctx context.Context, base, candidate *devices.Configuration, p gate.Policy,
	o gate.Options) (gate.Comparison, error) {
	o.Samples = samplesOf(base, o.Samples)
	arms := gate.Arms{gate.Baseline: base.Arm(), gate.Candidate: candidate.Arm()}
	compared, err := gate.Compare(ctx, arms, p, o)
	return compared.WithConditions(compared.Measured, compared.Conditions), err
}
