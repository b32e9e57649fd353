package ratchet

import (
	"cmp"
	"context"
	"fmt"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// outcome is a gated configuration.
type outcome struct {
	result reporting.Result
	// entry is the candidate as measured; its median is 0 where it was not.
	entry baseline.Entry
}

// compare checks a candidate and compares it: with the base commit where there is one, and with
// its baseline otherwise.
func (r *run) compare(ctx context.Context, c *devices.Configuration, p planned) (outcome, error) {
	o := outcome{result: reporting.Result{Key: keyOf(c), Point: c.Prepared.Point.String(), Policy: p.Policy}}
	o.result.Workload = cmp.Or(p.called, o.result.Workload)
	if r.budget > 0 {
		o.result.Policy.Budget = r.budget
	}
	var err error
	if o.result.Sources, err = fingerprint(ctx, c.Kernel); err != nil {
		return o, err
	}
	if p.old != nil && p.old.kernel != nil {
		same, err := r.unchanged(ctx, c, p.old)
		if same || err != nil {
			o.result.Decision = gate.Decide(gate.Maintained, "the machine code is that of the base: there is nothing to measure")
			return o, err
		}
	}
	if r.budget < 0 {
		o.result.Decision = gate.Decide(gate.Inconclusive, "not measured: the run's budget of %v was over", r.Within)
		return o, nil
	}
	failure, err := r.verify(ctx, c)
	if err != nil {
		return o, err
	}
	if failure != nil {
		o.result.Decision, o.result.Stage = gate.Broken(failure), failure.Stage
		return o, nil
	}
	switch {
	case p.old == nil || p.old.kernel == nil && p.old.problem == nil:
		return r.againstEntry(ctx, c, o)
	case p.old.problem != nil:
		o.result.Notes = append(o.result.Notes, fmt.Sprintf("%s itself cannot be read: %s", r.Base, errorLine(p.old.problem)))
		return r.againstEntry(ctx, c, o)
	}
	if o, err = r.againstBase(ctx, c, p.old, o); p.called != "" {
		o.entry = baseline.Entry{} // no baseline is kept of it
	}
	return o, err
}

// fingerprint identifies a kernel's files, with what they include of its repository.
func fingerprint(ctx context.Context, k *kernels.Kernel) (string, error) {
	root := k.Dir
	if root != "" {
		if top, err := git.Top(ctx, root); err == nil {
			root = top
		}
	}
	return k.Fingerprint(root)
}

// againstEntry compares a candidate with its entry in the file.
func (r *run) againstEntry(ctx context.Context, c *devices.Configuration, o outcome) (outcome, error) {
	entry, known := r.file.Find(o.result.Key)
	if !known || entry.Dims != c.Workload.Dims.String() {
		return r.first(ctx, c, o, known)
	}
	o.result.HeldTo(entry)
	gain, gained := r.file.FindGain(o.result.Key)
	for _, than := range []struct {
		baseline.Entry
		reason string
	}{
		{gain, "the machine code is that of the gain that is provisional"},
		{entry, "the machine code is the baseline's own"},
	} {
		same, err := sameCode(c, than.Entry)
		if err != nil {
			return o, err
		}
		if same {
			o.result.Decision = gate.Decide(gate.Maintained, "%s", than.reason+": there is nothing to measure")
			o.result.Lost = gained && than.Gain == 0
			return o, nil
		}
	}
	if err := r.holdTo(ctx, c, entry, &o.result); err != nil {
		return o, err
	}
	o.result.Lost = gained && !confirmedGain(o.result) && !o.result.Verdict.Undecided()
	return r.described(c, true, o)
}

// described completes the outcome of a measured comparison. Own says that the candidate was measured
// as the branch has it.
func (r *run) described(c *devices.Configuration, own bool, o outcome) (_ outcome, err error) {
	if e := o.result.Evidence; e != nil {
		o.result.Baseline, o.result.Current = e.Times()
	}
	if len(o.result.Candidate) > 0 && own {
		if o.entry, err = entryOf(c, o.result.Candidate, r.Version); err != nil {
			return o, err
		}
	}
	switch gain := confirmedGain(o.result); {
	case gain && r.Base != "":
		o.result.Notes = append(o.result.Notes, "the baseline takes note when this is on the base branch and is gated there")
	case gain:
		o.entry.Gain = o.result.Confirmation.Change
	case o.result.Lost:
		o.result.Notes = append(o.result.Notes, "a gain was provisional, and this build has not held it: it is forgotten")
	}
	return o, nil
}

// holdTo compares a candidate with a baseline entry: interleaved where the baseline can be rebuilt, and with its stored
// samples where not. The best accepted release is held against it in the same way. It is the same for a gate and for a
// winner ([Hold]); what comes before it is not: a gate measures what has no baseline too, which may become one.
func (r *run) holdTo(ctx context.Context, c *devices.Configuration, entry baseline.Entry,
	result *reporting.Result) error {
	old, _ := r.file.FindBest(entry.Key)
	base, why, err := r.rebuild(ctx, c, entry)
	switch {
	case err != nil:
		return err
	case base != nil:
		defer base.Close()
		result.Comparison, result.Why, err = r.interleaved(ctx, c, base, old, result.Policy)
	default:
		result.Comparison, err = r.againstStored(ctx, c, entry, old, result.Policy, why)
	}
	if e := result.Evidence; e != nil && err == nil {
		result.Baseline, result.Current = e.Times()
	}
	return err
}

// sameCode reports whether an entry has the machine code of the configuration, and is
// called with the same.
func sameCode(c *devices.Configuration, entry baseline.Entry) (bool, error) {
	problem, err := c.Evaluator.Problem()
	return entry.Binary == c.Prepared.Binary.Digest && entry.Problem == problem, err
}

// first measures a candidate that there is nothing to compare with. On the base branch it becomes
// the baseline of its device; where others are known it is marked, because nothing says that it is as
// good as they are. Resized says that its own device has an entry of other sizes.
func (r *run) first(ctx context.Context, c *devices.Configuration, o outcome, resized bool) (outcome, error) {
	p := o.result.Policy
	done, err := r.alone(ctx, c, p)
	if err != nil {
		return o, err
	}
	if done.Failure != nil {
		o.result.Decision = gate.Broken(done.Failure)
		return o, nil
	}
	if o.entry, err = entryOf(c, done.Samples[gate.Candidate], r.Version); err != nil {
		return o, err
	}
	o.result.Current = o.entry.Median
	if o.entry.Variation > p.Variation {
		o.result.Notes = append(o.result.Notes,
			fmt.Sprintf("the times vary by %s inside a process, more than %s: a quieter machine makes a better baseline",
				page.WholePercent(o.entry.Variation), page.WholePercent(p.Variation)))
	}
	o.result.Decision = gate.Decision{Verdict: gate.New, Reason: "there is no baseline yet; this becomes it"}
	switch {
	case r.Base != "":
		o.result.Reason = r.Base + " has nothing to compare this with; a run on it begins the baseline"
	case r.DryRun:
		o.result.Reason = "there is no baseline yet, and this run makes none"
	case resized || len(r.file.OtherDevices(o.result.Key)) > 0:
		o.entry.Unproven = true
		r.warn(fmt.Sprintf("NOT COMPARED: %s has a baseline for another device or other sizes, and none for %s on %s. One "+
			"begins with this build, unproven: whether it is slower than the one before is not known here", o.result.Config(),
			c.Workload.Dims, o.result.Device))
	}
	o.result.Comparison = o.result.WithConditions(done.Samples, done.Conditions)
	return o, nil
}

// interleaved compares a candidate with a baseline that is built, and holds it to an older entry in
// the same rounds, where there is one that is another build of the same sizes.
func (r *run) interleaved(ctx context.Context, c, base *devices.Configuration, old baseline.Entry,
	p gate.Policy) (compared gate.Comparison, why *profile.Comparison, err error) {
	hasOld := old.Median > 0 && old.Dims == base.Workload.Dims.String() && old.Binary != base.Prepared.Binary.Digest
	var best *devices.Configuration
	if hasOld {
		if best, _, err = r.rebuild(ctx, c, old); err != nil {
			return compared, nil, err
		}
		if best != nil {
			defer best.Close()
		}
	}
	done, err := r.comparison(ctx, c, base, best, p)
	if err != nil {
		return compared, nil, err
	}
	compared = *done.Comparison
	if hasOld && best == nil {
		compared = compared.WithStoredErosion(old.Samples, p)
		compared.Notes = append(compared.Notes, "the best accepted entry cannot be rebuilt: its stored samples stand in")
	}
	compared = compared.WithConditions(done.Samples, done.Conditions)
	return compared, r.explain(ctx, base, c, &compared), nil
}

func (r *run) againstStored(ctx context.Context, c *devices.Configuration, entry, old baseline.Entry, p gate.Policy,
	why string) (gate.Comparison, error) {
	done, err := r.alone(ctx, c, p)
	if err != nil {
		return gate.Comparison{}, err
	}
	if done.Failure != nil {
		return gate.Comparison{Decision: gate.Broken(done.Failure)}, nil
	}
	compared := gate.CompareApart(entry.Samples, done.Samples[gate.Candidate], p, gate.Stored)
	compared.Notes = append(compared.Notes, "compared with stored samples, because the baseline cannot be rebuilt: "+why)
	compared.Reason = "against samples of another day: " + compared.Reason
	if compared.Verdict == gate.Maintained || compared.Verdict == gate.NoDifference {
		compared.Verdict = gate.Inconclusive // what another day says lets nothing pass in silence
	}
	if compared.Verdict == gate.Improvement {
		compared.Notes = append(compared.Notes, "stored samples do not move a baseline; pawl baseline accept does")
	}
	compared = compared.WithConditions(done.Samples, done.Conditions)
	if old.Median > 0 && old.Dims == entry.Dims {
		compared = compared.WithStoredErosion(old.Samples, p)
	}
	return compared, nil
}
