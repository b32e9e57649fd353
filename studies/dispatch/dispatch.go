// Package dispatch chooses the few points that a library ships for all workloads of a kernel.
// One point for all of them costs something on most, one for each costs code: what each
// number of points loses is measured here, not guessed.
//
//  1. Every workload has a study; their winners and the manifest's default are the candidates.
//  2. Each candidate is checked in full on each workload and measured there against all
//     others, in rounds, interleaved, in fresh processes. Rounds are recorded with the study
//     of the workload before the next one: what was ended goes on.
//  3. Choose finds, for each number of points, those that lose the least against the best
//     candidate of each workload. One that is wrong on any workload is used on none.
//  4. Table says which of the chosen points is for which sizes on which device, and writes
//     itself as a header for C and C++, as JSON and for CMake.
package dispatch

import (
	"context"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/search/confirm"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/apply"
	"pawl/studies/report"
)

// Options say what is measured and chosen, and who hears of it.
type Options struct {
	// Kernel is the name of an embedded kernel or a folder, Backend where it runs.
	Kernel, Backend string
	// Workloads are the names of those to cover; none means all.
	Workloads []string
	// Points is the largest number of points to ship; 0 means as few as keep every
	// workload within WorstLoss, a share such as 3% of the time of its best point. Empty
	// means what pawl apply allows.
	Points    int
	WorstLoss string
	// Finalists is how many points of each study are candidates, its best ones first. 0
	// means the winner alone.
	Finalists int
	// Rounds per workload; 0 means as many as the studies' confirmations wanted.
	Rounds int
	// Budget is the time for measuring, 0 for no limit. It is for the fewest rounds that say
	// anything on every workload first, and then for the others.
	Budget time.Duration
	Tools  devices.Tools
	// Begin is called before each workload that is not measured in full.
	Begin func(workload kernels.Workload, candidates int)
	// Stop ends the measuring early when it is closed.
	Stop <-chan struct{}
}

// StoppedError says that the user has stopped it; what was measured is recorded.
type StoppedError struct{}

func (e *StoppedError) Error() string { return "stopped before all workloads were measured" }

// subject is a workload with the study that it was tuned in.
type subject struct {
	devices.Target
	*report.Summary
}

// Run measures the candidates where that was not done yet, and chooses.
func Run(ctx context.Context, store *studies.Store, o Options) (*Plan, error) {
	limit, err := apply.ParseLoss(o.WorstLoss)
	if err != nil {
		return nil, err
	}
	k, err := devices.Here(o.Tools).Load(ctx, o.Kernel, o.Backend)
	if err != nil {
		return nil, err
	}
	subjects, err := tuned(ctx, store, k, o)
	if err != nil {
		return nil, err
	}
	candidates := candidatesOf(k, subjects, o.Finalists)
	m := measuring{Options: o, store: store}
	m.points = collect.Each(candidates, func(c Candidate) space.Point { return c.Point })
	measured, err := m.all(ctx, subjects)
	if err != nil {
		return nil, err
	}
	return choose(k, candidates, measured, o.Points, limit)
}

// tuned returns the workloads to cover, each with the newest study of it whose finalists
// were confirmed.
func tuned(ctx context.Context, store *studies.Store, k *kernels.Kernel, o Options) ([]subject, error) {
	names := o.Workloads
	if len(names) == 0 {
		names = collect.Each(k.Workloads, func(w kernels.Workload) string { return w.Name })
	}
	source, err := k.Digest()
	if err != nil {
		return nil, err
	}
	var subjects []subject
	var missing []string
	for _, name := range names {
		target, err := devices.NewTarget(k, name)
		if err != nil {
			return nil, err
		}
		summary, err := report.Newest(ctx, store, func(s studies.Study) bool {
			return s.Kernel == k.Name && s.Source == source && s.Backend == k.Backend && s.Workload == name
		}, func(s *report.Summary) bool { return s.Winner != nil })
		if err != nil {
			return nil, err
		}
		if summary == nil {
			missing = append(missing, name)
			continue
		}
		subjects = append(subjects, subject{target, summary})
	}
	if len(missing) > 0 {
		return nil, devices.Nothingf("no study of kernel %s with these sources on the %s backend has confirmed a "+
			"winner for %s: %s", k.Name, k.Backend, strings.Join(missing, ", "),
			store.Place.Pawl("tune", k.Origin, "--workload", strings.Join(missing, ",")))
	}
	for _, s := range subjects[1:] {
		if a, b := subjects[0].Study, s.Study; a.Environment.Device != b.Environment.Device {
			return nil, devices.Nothingf("studies %d and %d are of different devices, %s and %s: tune all workloads "+
				"on one, and join tables with --with", a.ID, b.ID, a.Environment.Device, b.Environment.Device)
		}
	}
	return subjects, nil
}

// Candidate is a point that may be shipped.
type Candidate struct {
	Point space.Point `json:"point"`
	// Default says that it is the manifest's, Won the workloads whose studies it has won.
	Default bool     `json:"default,omitempty"`
	Won     []string `json:"won,omitempty"`
	// Wrong says on which workload its results are wrong, and how; it is used nowhere then.
	Wrong string `json:"wrong,omitempty"`
}

// candidatesOf returns the manifest's default and the best points of each study.
func candidatesOf(k *kernels.Kernel, subjects []subject, finalists int) []Candidate {
	candidates := []Candidate{{Point: k.Default(), Default: true}}
	add := func(point space.Point) *Candidate {
		at := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Point == point })
		if at < 0 {
			at = len(candidates)
			candidates = append(candidates, Candidate{Point: point})
		}
		return &candidates[at]
	}
	for _, s := range subjects {
		winner := add(s.Winner.Point)
		winner.Won = append(winner.Won, s.Workload.Name)
		for i, top := range s.Top {
			if i+1 < finalists && top.Rounds >= confirm.FewestRounds {
				add(top.Point)
			}
		}
	}
	return candidates
}
