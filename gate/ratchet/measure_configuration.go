package ratchet

import (
	"context"
	"errors"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
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

// measureAlone measures a configuration in fresh processes. A slow one takes fewer
// samples, as the budget asks.
func measureAlone(ctx context.Context, c *devices.Configuration, p gate.Policy) (done Done, err error) {
	done.Samples = gate.Samples{}
	var conditions *worker.Conditions
	processes := min(p.Rounds[0], mostAlone)
	began := time.Now()
	c.Evaluator.Refresh()
	if _, err := c.Evaluator.Sample(ctx, c.Prepared, 1); err != nil {
		return done, err
	}
	samples := p.SamplesFor(samplesOf(c, p.Samples), processes, time.Since(began))
	for range processes {
		c.Evaluator.Refresh()
		o, err := c.Evaluator.Sample(ctx, c.Prepared, samples)
		if err != nil || o.Failure != nil {
			done.Failure = o.Failure
			return done, err
		}
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

// arms measures the sides of a comparison. On the processor each measurement has a
// fresh process; on a GPU, where a process costs as much as many measurements, the
// arms of a round share one. Rounds share none: what is counted as independent is a
// process.
type arms struct {
	sides    map[gate.Arm]*devices.Configuration
	measured int
	// samples and conditions are of all that was measured.
	samples    gate.Samples
	conditions gate.Conditions
}

func newArms(baseline, candidate *devices.Configuration) *arms {
	return &arms{
		sides: map[gate.Arm]*devices.Configuration{
			gate.Baseline:  baseline,
			gate.Control:   baseline,
			gate.Candidate: candidate,
		},
		samples: gate.Samples{}, conditions: gate.Conditions{},
	}
}

// Measure takes samples of an arm.
func (a *arms) Measure(ctx context.Context, arm gate.Arm, samples int) ([]float64, *objective.Failure, error) {
	c := a.sides[arm]
	if a.measured%len(a.sides) == 0 {
		for _, side := range a.sides {
			side.Evaluator.Refresh()
		}
	}
	a.measured++
	outcome, err := c.Evaluator.Sample(ctx, c.Prepared, samples)
	if outcome.Conditions != nil {
		a.conditions[arm] = a.conditions[arm].Join(outcome.Conditions)
	}
	if err == nil && outcome.Failure == nil {
		a.samples[arm] = append(a.samples[arm], outcome.Samples)
	}
	return outcome.Samples, outcome.Failure, err
}

// ComparePair compares two configurations of one kernel, interleaved with an A/A control.
// Both have passed [objective.Evaluator.Verify].
func ComparePair(ctx context.Context, base, candidate *devices.Configuration, p gate.Policy,
	o gate.Options) (gate.Comparison, error) {
	measurer := newArms(base, candidate)
	o.Samples = samplesOf(base, o.Samples)
	compared, err := gate.Compare(ctx, measurer, p, o)
	return compared.WithConditions(measurer.samples, measurer.conditions), err
}
