package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/across"
)

// Measured is what the candidates take on one workload.
type Measured struct {
	Workload string       `json:"workload"`
	Dims     kernels.Dims `json:"sizes"`
	// Study is the one that the rounds are recorded with, and Build how it compiled.
	Study int64            `json:"study"`
	Build *objective.Build `json:"build,omitempty"`
	// Environment is where it was measured.
	Environment objective.Environment `json:"-"`
	// Failures say, by point, what does not work there and why.
	Failures map[string]string `json:"failures,omitempty"`

	contenders []confirm.Contender
	wrong      map[space.Point]string
}

// contender returns what a point took; false where it does not work.
func (m *Measured) contender(point space.Point) (confirm.Contender, bool) {
	return collect.First(m.contenders, func(c confirm.Contender) bool { return c.Point == point })
}

// measuring is the candidates on their way through the workloads.
type measuring struct {
	Options
	store  *studies.Store
	points []space.Point
	end    time.Time // of the budget, zero for none
}

// all measures on all workloads. Where the time is limited, all have the fewest rounds before one has more, short
// workloads first: what they do not use is for those that take longer.
func (m *measuring) all(ctx context.Context, subjects []subject) ([]Measured, error) {
	passes := []int{m.Rounds}
	if m.Budget > 0 {
		m.end, passes = time.Now().Add(m.Budget), []int{confirm.FewestRounds, m.Rounds}
	}
	shortFirst := slices.SortedStableFunc(slices.Values(subjects), func(a, b subject) int {
		return cmp.Compare(a.Winner.Milliseconds, b.Winner.Milliseconds)
	})
	measured := map[string]Measured{}
	for _, m.Rounds = range passes {
		for i, s := range shortFirst {
			var err error
			if measured[s.Workload.Name], err = m.one(ctx, s, len(subjects)-i); err != nil {
				return nil, fmt.Errorf("measuring on workload %s: %w", s.Workload.Name, err)
			}
		}
	}
	return collect.Each(subjects, func(s subject) Measured { return measured[s.Workload.Name] }), nil
}

// one measures on one workload what is not measured there yet. Left is how many workloads
// there are, this one included: they share the time.
func (m *measuring) one(ctx context.Context, s subject, left int) (Measured, error) {
	result := Measured{
		Workload: s.Workload.Name, Dims: s.Workload.Dims,
		Study: s.Study.ID, Build: s.Study.Environment.Build, Environment: s.Study.Environment,
		Failures: map[string]string{}, wrong: map[space.Point]string{},
	}
	var valid []space.Point
	for _, point := range m.points {
		if invalid := s.Space.Check(point); invalid != nil {
			result.Failures[point.String()] = invalid.Error()
		} else {
			valid = append(valid, point)
		}
	}
	past, err := m.store.Past(ctx, s.Study.ID)
	if err != nil {
		return result, err
	}
	rounds := past.Rounds
	wanted := across.WantedRounds(s.Study, m.Rounds)
	if over := !m.end.IsZero() && time.Now().After(m.end); !over && !complete(rounds, valid, wanted) {
		if rounds, err = m.measure(ctx, s, valid, left); err != nil {
			return result, err
		}
	}
	for _, r := range trial.Latest(rounds) {
		if f := r.Outcome.Failure; r.Phase == trial.Dispatch && f != nil {
			result.Failures[r.Point.String()] = f.String()
			if f.Stage == objective.Fuzz {
				result.wrong[r.Point] = f.String()
			}
		}
	}
	result.contenders = confirm.Contenders(rounds, trial.Dispatch)
	return result, nil
}

// complete reports whether a run of exactly these points has all rounds, and no failure that
// may not last.
func complete(rounds []trial.Round, points []space.Point, wanted int) bool {
	contenders := confirm.Contenders(rounds, trial.Dispatch)
	few := func(c confirm.Contender) bool { return len(c.Rounds) < wanted }
	other := func(r trial.Round) bool { return r.Phase == trial.Dispatch && !slices.Contains(points, r.Point) }
	return len(contenders) == len(points) && !slices.ContainsFunc(contenders, few) &&
		!slices.ContainsFunc(trial.Latest(rounds), other)
}

// measure measures the points on a workload and returns all rounds of its study.
func (m *measuring) measure(ctx context.Context, s subject, points []space.Point, left int) ([]trial.Round, error) {
	if err := m.store.Writable(); err != nil {
		return nil, err
	}
	unlock, err := m.store.Lock(s.Study.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	past, err := m.store.Past(ctx, s.Study.ID) // again, under the lock
	if err != nil {
		return nil, err
	}
	limits := across.Limits{Share: across.Share(m.end, left), Stop: m.Stop}
	machine := across.Machine(s.Study, m.Tools)
	defer machine.LockClocks(ctx, s.Kernel, s.Study.Options.LockClocks, m.Stop)()
	c := across.Comparison{
		Limits: limits, Phase: trial.Dispatch, Points: points, Wanted: m.Rounds, Recorded: past.Rounds,
		Keep:  m.store.Recorder(s.Study.ID).Measured,
		Begin: func() { m.Begin(s.Workload, len(points)) },
	}
	through, err := c.Run(ctx, machine, s.Study, s.Target)
	if err == nil && !through {
		err = &StoppedError{}
	}
	return c.Recorded, err
}
