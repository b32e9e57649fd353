package ratchet

import (
	"context"
	"fmt"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// outcome is a gated configuration.
type outcome struct {
	result reporting.Result
	// entry is the candidate as measured; its median is 0 where it was not.
	entry baseline.Entry
	// source is the archive of its sources, empty where they are too large for one.
	source string
}

// compare checks a candidate and holds it to its baseline.
func (r *run) compare(ctx context.Context, c *devices.Configuration, p gate.Policy) (outcome, error) {
	o := outcome{result: reporting.Result{Key: keyOf(c), Point: c.Prepared.Point.String(), Policy: p}}
	failure, err := r.verify(ctx, c)
	if err != nil {
		return o, err
	}
	if failure != nil {
		o.result.Decision = gate.Broken(failure)
		return o, nil
	}
	entry, known := r.file.Find(o.result.Key)
	if !known || entry.Dims != c.Workload.Dims.String() {
		return r.first(ctx, c, p, o, entry)
	}
	o.result.HeldTo(entry)
	same, err := sameCode(c, entry)
	if err != nil {
		return o, err
	}
	if same {
		o.result.Decision = gate.Decision{
			Verdict: gate.Maintained,
			Reason:  "the machine code is the baseline's own: there is nothing to measure",
		}
		return o, nil
	}
	if err := r.holdTo(ctx, c, entry, &o.result); err != nil {
		return o, err
	}
	if len(o.result.Candidate) > 0 {
		if o.entry, o.source, err = entryOf(c, o.result.Candidate, r.Version); err != nil {
			return o, err
		}
	}
	if r.Base != "" && confirmedGain(o.result) {
		o.result.Notes = append(o.result.Notes, "the baseline moves when this is on the base branch and is gated there")
	}
	return o, nil
}

// holdTo fills in what the comparison with a baseline entry says. It is the same for a gate
// and for a winner ([Hold]); what comes before it is not: a gate measures what has no baseline
// too, which may become one.
func (r *run) holdTo(ctx context.Context, c *devices.Configuration, entry baseline.Entry,
	result *reporting.Result) (err error) {
	if result.Comparison, result.Why, err = r.against(ctx, c, entry, result.Policy); err != nil {
		return err
	}
	if e := result.Evidence; e != nil {
		result.Baseline, result.Current = e.Times()
	}
	return nil
}

// sameCode reports whether an entry has the machine code of the configuration, and is
// called with the same.
func sameCode(c *devices.Configuration, entry baseline.Entry) (bool, error) {
	problem, err := c.Problem()
	return entry.Binary == c.Prepared.Binary.Digest && entry.Problem == problem, err
}

// first measures a candidate that there is nothing to compare with. It becomes
// the baseline only where the file knows nothing of the kind: a foreign device or
// a workload of other sizes would otherwise be a way round the ratchet.
func (r *run) first(ctx context.Context, c *devices.Configuration, p gate.Policy, o outcome,
	entry baseline.Entry) (outcome, error) {
	samples, conditions, failure, err := r.alone(ctx, c, p)
	if err != nil {
		return o, err
	}
	if failure != nil {
		o.result.Decision = gate.Broken(failure)
		return o, nil
	}
	if o.entry, o.source, err = entryOf(c, samples, r.Version); err != nil {
		return o, err
	}
	o.result.Current = o.entry.Median
	o.result.Verdict = gate.New
	if o.entry.Variation > p.Variation {
		o.result.Notes = append(o.result.Notes,
			fmt.Sprintf("the times vary by %s inside a process, more than %s: a quieter machine makes a better baseline",
				page.WholePercent(o.entry.Variation), page.WholePercent(p.Variation)))
	}
	others := r.file.OtherDevices(o.result.Key)
	switch {
	case entry.Dims != "":
		o.result.Verdict = gate.Incomparable
		if r.Base != "" { // the branch did that, unlike a foreign device
			o.result.Verdict = gate.Vanished
		}
		o.result.Reason = fmt.Sprintf("the sizes of the workload changed from %s to %s; pawl baseline accept takes "+
			"them over", entry.Dims, c.Workload.Dims)
	case len(others) > 0:
		o.result.Verdict = gate.Incomparable
		o.result.Reason = fmt.Sprintf("foreign device: the baseline was measured on %s, this is %s; pawl baseline accept "+
			"adds this device beside it", others[0], o.result.Device)
	case r.Base != "":
		o.result.Reason = r.Base + " has no baseline for this; a run on it makes one"
	case r.DryRun:
		o.result.Reason = "there is no baseline yet, and this run makes none"
	case r.Strict:
		o.result.Reason = "there is no baseline yet; without --strict this becomes it"
	default:
		o.result.Reason = "there is no baseline yet; this becomes it"
	}
	o.result.Comparison = o.result.WithConditions(gate.Samples{gate.Candidate: samples}, conditions)
	return o, nil
}

// against compares a candidate with a baseline entry: interleaved where the
// baseline can be rebuilt, and with its stored samples where not. The best
// accepted release is held against it in the same way.
func (r *run) against(ctx context.Context, c *devices.Configuration, entry baseline.Entry,
	p gate.Policy) (gate.Comparison, *profile.Comparison, error) {
	old, hasBest := r.file.FindBest(entry.Key)
	hasBest = hasBest && old.Dims == entry.Dims && old.Binary != entry.Binary
	base, why, err := r.rebuild(ctx, c, r.file, entry)
	if err != nil {
		return gate.Comparison{}, nil, err
	}
	if base == nil {
		compared, err := r.againstStored(ctx, c, entry, p, why)
		if hasBest && err == nil {
			compared = compared.WithStoredErosion(stats.Bootstrap{}, old.Samples, p)
		}
		return compared, nil, err
	}
	defer base.Close()
	var best *devices.Configuration
	if hasBest {
		if best, _, err = r.rebuild(ctx, c, r.file, old); err != nil {
			return gate.Comparison{}, nil, err
		}
		if best != nil {
			defer best.Close()
		}
	}
	compared, samples, conditions, err := r.comparison(ctx, c, base, best, p)
	if hasBest && best == nil && err == nil {
		compared = compared.WithStoredErosion(stats.Bootstrap{}, old.Samples, p)
		compared.Notes = append(compared.Notes, "the best accepted entry cannot be rebuilt: its stored samples stand in")
	}
	compared = compared.WithConditions(samples, conditions)
	if err != nil {
		return compared, nil, err
	}
	return compared, r.explain(ctx, base, c, compared), nil
}

func (r *run) againstStored(ctx context.Context, c *devices.Configuration, entry baseline.Entry, p gate.Policy,
	why string) (gate.Comparison, error) {
	samples, conditions, failure, err := r.alone(ctx, c, p)
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
	return compared.WithConditions(gate.Samples{gate.Candidate: samples}, conditions), nil
}
