// Package winner holds the winner of a study to what is run today.
//
// A study compares its winner with the manifest's default. What counts for whoever would
// apply it is the baseline: the point and the code that main runs. So:
//
//  1. The winner, or another point, is taken from the study's record, and the kernel is
//     loaded as it is now. A study of another device, or of other sizes, says nothing here.
//  2. The point is checked in full, and measured interleaved with the rebuilt baseline
//     ([ratchet.Hold]). Where the baseline has this point and this code already, there is
//     nothing to measure: you already run this.
//  3. What came of it is recorded in the study's database before anything else is done
//     with it, so that the pages can be made again at any time.
//
// No baseline moves here: a point that was found is not what main runs until somebody
// applies it, and then the gate on main moves the baseline.
package winner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
	"pawl/studies/tune"
)

// Options says which point of which study is compared with which baseline.
type Options struct {
	ratchet.Setting
	// Study is the study's number.
	Study int64
	// Kernel is where the kernel is now; empty means where it was for the study.
	Kernel string
	// Workload is one of the kernel; empty means the study's.
	Workload string
	// At is a point of the space; empty means the study's winner.
	At string
	// Policy has the limits of the kernels that it names; others, and nil, have the
	// default's.
	Policy *policy.File
}

// Outcome is what came of it.
type Outcome struct {
	Study  studies.Study  `json:"study"`
	Gating studies.Gating `json:"gating"`
	Held   ratchet.Held   `json:"held"`
}

// AlreadyRun is the verdict on a point that the baseline has, with its code.
const AlreadyRun = "you already run this"

// Gate holds a point of a study to the baseline and records what came of it. The error is
// a *devices.NothingError where there is no winner, and a *devices.ArgumentError where the study
// cannot be gated here at all.
func Gate(ctx context.Context, b *devices.Builder, store *studies.Store, o Options) (Outcome, error) {
	if err := store.Writable(); err != nil {
		return Outcome{}, err
	}
	summary, err := report.Read(ctx, store, o.Study)
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{Study: summary.Study}
	k, at, err := candidate(ctx, summary, o)
	if err != nil {
		return outcome, err
	}
	workload := cmp.Or(o.Workload, summary.Study.Workload)
	outcome.Held, err = ratchet.Hold(ctx, b, ratchet.HoldOptions{
		Setting: o.Setting, Kernel: k, Workload: workload, At: at, Device: summary.Study.Environment.Device,
		Policy: limits(o.Policy, k, workload), Begin: store.Place.Pawl("gate", k.Origin),
	})
	if err != nil {
		return outcome, fmt.Errorf("the winner of study %d: %w", o.Study, err)
	}
	if outcome.Gating, err = gating(summary, outcome.Held, b.Version); err != nil {
		return outcome, err
	}
	// What was measured is recorded even while the program is being stopped.
	return outcome, store.Gated(context.WithoutCancel(ctx), o.Study, outcome.Gating)
}

// candidate returns the kernel and the point that are asked for.
func candidate(ctx context.Context, s *report.Summary, o Options) (k *kernels.Kernel, at string, err error) {
	at = o.At
	switch {
	case s.Study.Backend == tune.Replay:
		return nil, "",
			devices.Argumentf("study %d replays a record: nothing is compiled, so that there is nothing to gate", s.Study.ID)
	case at == "" && s.Winner == nil:
		return nil, "",
			devices.Nothingf("study %d has no confirmed winner to gate: %s", s.Study.ID, s.Advice.Sentence)
	case at == "":
		at = s.Winner.Point.String()
	}
	if k, err = o.On.Load(ctx, cmp.Or(o.Kernel, s.Study.Origin), s.Study.Backend); err != nil {
		return nil, "", fmt.Errorf("the kernel of study %d: %w", s.Study.ID, err)
	}
	if k.Name != s.Study.Kernel {
		return nil, "", devices.Argumentf("study %d is of kernel %q, not of %q", s.Study.ID, s.Study.Kernel, k.Name)
	}
	if o.Workload == "" || o.Workload == s.Study.Workload {
		w, err := k.Workload(s.Study.Workload)
		if err != nil {
			return nil, "", fmt.Errorf("the workload of study %d: %w", s.Study.ID, err)
		}
		if w.Dims.String() != s.Study.Dims {
			return nil, "",
				devices.Argumentf("workload %s has the sizes %s now, and study %d was of %s: tune again", w.Name, w.Dims,
					s.Study.ID, s.Study.Dims)
		}
	}
	return k, at, nil
}

// limits are the policy's for a kernel's workload, or the default's.
func limits(file *policy.File, k *kernels.Kernel, workload string) gate.Policy {
	found := policy.Default(k.Name).Kernels[0].Policy
	if file == nil {
		return found
	}
	for _, rule := range slices.Backward(file.Kernels) { // the first that fits counts
		named := rule.Name == k.Name || filepath.Clean(rule.Name) == filepath.Clean(k.Origin)
		if named && (len(rule.Workloads) == 0 || slices.Contains(rule.Workloads, workload)) {
			found = rule.Policy
		}
	}
	return found
}

func gating(s *report.Summary, held ratchet.Held, version string) (studies.Gating, error) {
	g := studies.Gating{
		Workload: held.Workload, Standing: standing(held), Verdict: string(held.Verdict), Reason: held.Reason,
		Created: time.Now(),
		GatingFacts: studies.GatingFacts{
			Baseline: held.Result.Baseline, Current: held.Current, BaselinePoint: held.BaselinePoint,
			BaselineCommit: held.BaselineCommit,
			Base:           held.Base, Method: string(held.Method), Source: held.Source, Commit: held.Commit, Pawl: version,
			Notes: held.Notes,
		},
	}
	if held.Running {
		g.Verdict = AlreadyRun
	}
	if held.Source != s.Study.Source {
		g.Notes = append(g.Notes,
			"the kernel has changed since the study: what was gated is the point with the sources as they are now")
	}
	if e := held.Evidence; e != nil {
		speedup, interval := e.Speedup()
		g.Speedup, g.Interval, g.Rounds = &speedup, &interval, e.Rounds
	}
	var err error
	if g.Point, err = space.ParsePoint(held.Point); err != nil {
		return g, err
	}
	g.Result, err = json.Marshal(held)
	return g, err
}

// standing is what a verdict means for whether to apply a point.
func standing(held ratchet.Held) studies.Standing {
	switch v := held.Verdict; {
	case held.Running:
		return studies.Running
	case v == gate.Wrong || v == gate.Regression:
		return studies.Refused
	case v == gate.Improvement:
		return studies.Faster
	case v == gate.Maintained || v == gate.NoDifference:
		return studies.Equal
	}
	return studies.Undecided
}
