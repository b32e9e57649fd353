package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/report"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/space"
)

// configuration is one point of one kernel and workload on a device: one side of a
// comparison, ready to be measured.
type configuration struct {
	*bench
	prepared objective.Prepared
}

// openConfiguration prepares a point of a kernel; partial text means defaults.
func (r *gateRun) openConfiguration(ctx context.Context, k *kernels.Kernel, on *accelerator, workload, at string) (*configuration, error) {
	w, err := k.Workload(workload)
	if err != nil {
		return nil, usageError{suggestWorkload(err, k, workload)}
	}
	s, err := k.Space(w)
	if err != nil {
		return nil, err
	}
	partial, err := space.ParsePoint(at)
	if err != nil {
		return nil, usageError{err}
	}
	point, err := s.Complete(partial)
	if err != nil {
		return nil, usageError{err}
	}
	b, err := (&target{kernel: k, workload: w, space: s, accelerator: on, residents: &r.residents}).openBench(ctx, r.c, r.env)
	if err != nil {
		return nil, err
	}
	prepared, err := b.evaluator.Prepare(ctx, point)
	if err != nil {
		b.close()
		return nil, err
	}
	return &configuration{b, prepared}, nil
}

// open prepares a candidate.
func (r *gateRun) open(ctx context.Context, rule policy.Kernel, workload string) (*configuration, error) {
	k, on, err := loadKernel(r.c, r.env, rule.Name, cmp.Or(rule.Backend, r.c.String("backend")))
	var missing *kernels.NotFoundError
	if errors.As(err, &missing) {
		return nil, usageError{err}
	}
	if err != nil {
		return nil, err
	}
	return r.openConfiguration(ctx, k, on, workload, rule.At)
}

// key says what the configuration is held to.
func (c *configuration) key() baseline.Key {
	key := baseline.Key{Device: c.backend.Environment().Device, Kernel: c.kernel.Name, Workload: c.workload.Name}
	for _, a := range c.kernel.Arguments {
		if a.Out {
			key.Type = a.Element.Name
			break
		}
	}
	return key
}

// samples is how many samples a process takes, where the policy does not say. On a
// GPU each is a millisecond of launches on buffers of their own, and the samples of
// a process agree to a few thousandths: what is worth time there is more processes.
func (c *configuration) samples(asked int) int {
	switch {
	case asked > 0:
		return asked
	case c.accelerator != nil:
		return 20
	}
	return 50
}

// armMeasurer measures arms on configurations. On the processor each
// measurement has a fresh process; on a GPU all arms of a few rounds share one,
// so that what differs between processes hits all of them.
type armMeasurer struct {
	arms     map[gate.Arm]*configuration
	measured int
	// samples and conditions are of all that was measured.
	samples    gate.Samples
	conditions *worker.Conditions
}

var _ gate.Measurer = (*armMeasurer)(nil)

// roundsPerProcess is how many rounds a process on a GPU serves: whole pairs, of
// which the second mirrors the first.
const roundsPerProcess = 4

// Measure takes samples of an arm.
func (s *armMeasurer) Measure(ctx context.Context, arm gate.Arm, samples int) ([]float64, *objective.Failure, error) {
	c := s.arms[arm]
	if s.measured%(roundsPerProcess*len(s.arms)) == 0 {
		c.evaluator.Refresh()
	}
	s.measured++
	outcome, err := c.evaluator.Sample(ctx, c.prepared, c.samples(samples))
	s.conditions = s.conditions.Join(outcome.Conditions)
	if err == nil && outcome.Failure == nil {
		if s.samples == nil {
			s.samples = gate.Samples{}
		}
		s.samples[arm] = append(s.samples[arm], outcome.Samples)
	}
	return outcome.Samples, outcome.Failure, err
}

// qualify adds to a comparison what the conditions say about it.
func qualify(c gate.Comparison, samples gate.Samples, conditions *worker.Conditions) gate.Comparison {
	for _, arm := range []gate.Arm{gate.Baseline, gate.Candidate} {
		if note := gate.DriftNote(arm, samples[arm]); note != "" {
			c.Notes = append(c.Notes, note)
		}
	}
	switch {
	case conditions == nil || len(conditions.Strangers) == 0:
	case conditions.Disturbed:
		c = c.Disturbed(conditions.Strangers)
	default:
		c.Notes = append(c.Notes, "others were on the device and did not compute: "+strings.Join(conditions.Strangers, "; "))
	}
	return c
}

// outcome is a gated configuration.
type outcome struct {
	result report.Result
	// entry is the candidate as measured; its median is 0 where it was not.
	entry baseline.Entry
	// source is the archive of its sources where no commit has them.
	source string
	// moves says that the candidate is to become the baseline.
	moves bool
}

// compare checks a candidate and holds it to its baseline.
func (r *gateRun) compare(ctx context.Context, c *configuration, p gate.Policy) (outcome, error) {
	o := outcome{result: report.Result{Key: c.key(), Point: c.prepared.Point.String(), Policy: p}}
	failure, err := c.evaluator.Verify(ctx, c.prepared)
	if err != nil {
		return o, err
	}
	if failure != nil {
		o.result.Decision = gate.Broken(failure)
		return o, nil
	}
	entry, known := r.file.Find(o.result.Key)
	if !known || entry.Dims != c.workload.Dims.String() {
		return r.first(ctx, c, p, o, entry)
	}
	o.result.BaselinePoint, o.result.BaselineCommit = entry.Point, entry.Commit
	o.result.Baseline = entry.Median
	problem, err := c.evaluator.Problem()
	if err != nil {
		return o, err
	}
	if entry.Binary == c.prepared.Binary.Digest && entry.Problem == problem {
		o.entry, o.result.Current = entry, entry.Median
		o.source = r.file.Sources[entry.Source]
		o.result.Decision = gate.Decision{Verdict: gate.Maintained, Reason: "the machine code is the baseline's own: there is nothing to measure"}
		return o, nil
	}
	if o.result.Comparison, err = r.against(ctx, c, entry, p); err != nil {
		return o, err
	}
	if e := o.result.Evidence; e != nil {
		o.result.Baseline, o.result.Current = e.Baseline.Median, e.Candidate.Median
	}
	if len(o.result.Candidate) > 0 {
		if o.entry, o.source, err = r.entry(c, o.result.Candidate); err != nil {
			return o, err
		}
	}
	o.moves = o.result.Verdict == gate.Improvement && o.result.Method == gate.Interleaved
	return o, nil
}

// first measures a candidate that there is nothing to compare with. It becomes
// the baseline only where the file knows nothing of the kind: a foreign device or
// a workload of other sizes would otherwise be a way round the ratchet.
func (r *gateRun) first(ctx context.Context, c *configuration, p gate.Policy, o outcome, entry baseline.Entry) (outcome, error) {
	samples, conditions, failure, err := measureAlone(ctx, c, p)
	if err != nil {
		return o, err
	}
	if failure != nil {
		o.result.Decision = gate.Broken(failure)
		return o, nil
	}
	if o.entry, o.source, err = r.entry(c, samples); err != nil {
		return o, err
	}
	o.result.Current = o.entry.Median
	o.result.Verdict = gate.New
	if o.entry.Variation > p.Variation {
		o.result.Notes = append(o.result.Notes, fmt.Sprintf("the times vary by %.0f %% inside a process, more than %.0f %%: a quieter machine makes a better baseline", 100*o.entry.Variation, 100*p.Variation))
	}
	devices := r.file.OtherDevices(o.result.Key)
	switch {
	case entry.Dims != "":
		o.result.Reason = fmt.Sprintf("the sizes of the workload changed from %s to %s; pawl baseline accept takes them over", entry.Dims, c.workload.Dims)
	case len(devices) > 0:
		o.result.Reason = fmt.Sprintf("foreign device: the baseline was measured on %s, this is %s; pawl baseline accept adds this device beside it", devices[0], o.result.Device)
	default:
		o.result.Reason = "there is no baseline yet; this becomes it"
		o.moves = true
	}
	o.result.Comparison = qualify(o.result.Comparison, gate.Samples{gate.Candidate: samples}, conditions)
	o.moves = o.moves && o.result.Verdict == gate.New
	return o, nil
}

// mostAlone is how many processes describe a configuration by itself, at most.
const mostAlone = 20

// measureAlone measures a configuration in fresh processes.
func measureAlone(ctx context.Context, c *configuration, p gate.Policy) ([][]float64, *worker.Conditions, *objective.Failure, error) {
	var all [][]float64
	var conditions *worker.Conditions
	for range min(p.Rounds[0], mostAlone) {
		c.evaluator.Refresh()
		o, err := c.evaluator.Sample(ctx, c.prepared, c.samples(p.Samples))
		if err != nil || o.Failure != nil {
			return nil, nil, o.Failure, err
		}
		all, conditions = append(all, o.Samples), conditions.Join(o.Conditions)
	}
	return all, conditions, nil, nil
}

// against compares a candidate with a baseline entry: interleaved where the
// baseline can be rebuilt, and with its stored samples where not. The oldest
// accepted release is held against it in the same way.
func (r *gateRun) against(ctx context.Context, c *configuration, entry baseline.Entry, p gate.Policy) (gate.Comparison, error) {
	old, hasOldest := r.file.FindOldest(entry.Key)
	hasOldest = hasOldest && old.Dims == entry.Dims && old.Binary != entry.Binary
	base, why, err := r.rebuild(ctx, c, entry)
	if err != nil {
		return gate.Comparison{}, err
	}
	if base == nil {
		compared, err := r.againstStored(ctx, c, entry, p, why)
		if hasOldest && err == nil {
			compared = compared.WithStoredErosion(stats.Bootstrap{}, old.Samples, p)
		}
		return compared, err
	}
	defer base.close()
	arms := map[gate.Arm]*configuration{gate.Baseline: base, gate.Control: base, gate.Candidate: c}
	if hasOldest {
		oldest, _, err := r.rebuild(ctx, c, old)
		if err != nil {
			return gate.Comparison{}, err
		}
		if oldest != nil {
			defer oldest.close()
			arms[gate.Oldest] = oldest
		}
	}
	measurer := &armMeasurer{arms: arms}
	compared, err := gate.Compare(ctx, measurer, p, gate.Options{
		Seed: r.c.Uint64("seed"), Oldest: arms[gate.Oldest] != nil, Observe: r.progress(c),
	})
	if hasOldest && arms[gate.Oldest] == nil && err == nil {
		compared = compared.WithStoredErosion(stats.Bootstrap{}, old.Samples, p)
		compared.Notes = append(compared.Notes, "the oldest accepted release cannot be rebuilt: its stored samples stand in")
	}
	return qualify(compared, measurer.samples, measurer.conditions), err
}

func (r *gateRun) againstStored(ctx context.Context, c *configuration, entry baseline.Entry, p gate.Policy, why string) (gate.Comparison, error) {
	samples, conditions, failure, err := measureAlone(ctx, c, p)
	if err != nil {
		return gate.Comparison{}, err
	}
	if failure != nil {
		return gate.Comparison{Decision: gate.Broken(failure)}, nil
	}
	compared := gate.CompareApart(stats.Bootstrap{}, entry.Samples, samples, p, gate.Stored)
	compared.Notes = append(compared.Notes, "compared with stored samples, because the baseline cannot be rebuilt: "+why)
	if compared.Verdict == gate.Improvement {
		compared.Notes = append(compared.Notes, "stored samples do not move a baseline; pawl baseline accept does")
	}
	return qualify(compared, gate.Samples{gate.Candidate: samples}, conditions), nil
}

// progress shows the looks on a terminal-less log: one line per ten rounds.
func (r *gateRun) progress(c *configuration) func(round, ceiling int) {
	return func(round, ceiling int) {
		if round%10 == 0 {
			fmt.Fprintf(r.env.stderr, "%s %s: %d of up to %d rounds\n", c.kernel.Name, c.workload.Name, round, ceiling)
		}
	}
}

// entry describes a measured candidate, with an archive of its sources where no
// commit has them.
func (r *gateRun) entry(c *configuration, samples [][]float64) (baseline.Entry, string, error) {
	source, err := c.kernel.Digest()
	if err != nil {
		return baseline.Entry{}, "", err
	}
	work, err := c.work()
	if err != nil {
		return baseline.Entry{}, "", err
	}
	problem, err := c.evaluator.Problem()
	if err != nil {
		return baseline.Entry{}, "", err
	}
	environment := c.backend.Environment()
	environment.Pawl = version()
	e := baseline.Entry{
		Key: c.key(), Origin: c.kernel.Origin, Dims: c.workload.Dims.String(), Point: c.prepared.Point.String(),
		Environment: environment, Source: source, Binary: c.prepared.Binary.Digest, Problem: problem, Commit: environment.Commit,
		Measured: time.Now().UTC(),
	}
	e.Summarise(samples, baseline.Work{Flops: work.Flops, Bytes: work.Bytes})
	if cleanCommit.MatchString(e.Commit) {
		return e, "", nil
	}
	folder, err := r.sourceFolder(c.kernel)
	if err != nil {
		return e, "", err
	}
	archive, err := baseline.Pack(folder)
	return e, archive, err
}
