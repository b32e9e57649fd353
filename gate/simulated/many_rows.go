package simulated

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/internal/stats"
)

// ManyRows says what to simulate of a program with many rows.
type ManyRows struct {
	// Runs is how many runs are made per fault, of equal sides and of sides of which some rows are slower.
	Runs int
	// Rows is how many rows a process times, one after the other, Samples how often each, Rounds how many rounds a
	// run has.
	Rows, Samples, Rounds int
	Seed                  uint64
	Policy                gate.Policy
	// Slowdowns are real ones, as shares: each is that of a tenth of the rows.
	Slowdowns []float64
	// Progress is called with how many faults are done; nil for none.
	Progress func(done, total int)
}

// FamilyRow counts the rows of all runs on one kind of machine.
type FamilyRow struct {
	Fault string `json:"fault"`
	// FalseRuns are runs of equal sides in which any row was called slower or faster, and FalseRows such rows.
	FalseRuns Rate `json:"false_runs"`
	FalseRows int  `json:"false_rows"`
	// Undecided are rows of equal sides about which nothing is known.
	Undecided Rate `json:"undecided"`
	// Found are the rows with a real slowdown that were called regressions, by slowdown.
	Found []Rate `json:"found"`
	// FalseBeside are rows without one that were called slower or faster beside them.
	FalseBeside Rate `json:"false_beside"`
	// Covered are the runs whose interval of the geometric mean contains the truth.
	Covered Rate `json:"covered"`
}

// Run makes the table. Runs share the processors, and seeds fix each of them.
func (o ManyRows) Run(ctx context.Context, faults []Fault) ([]FamilyRow, error) {
	var rows []FamilyRow
	for _, f := range faults {
		row, err := o.fault(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("simulating %s: %w", f.Name, err)
		}
		rows = append(rows, row)
		if o.Progress != nil {
			o.Progress(len(rows), len(faults))
		}
	}
	return rows, nil
}

type familyRun struct {
	equal, slowed []gate.Verdict
	covered       bool
}

func (o ManyRows) fault(ctx context.Context, f Fault) (FamilyRow, error) {
	row := FamilyRow{Fault: f.Name, Found: make([]Rate, len(o.Slowdowns))}
	runs := make([]familyRun, o.Runs)
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range runs {
		workers.Go(func() error {
			seed := o.Seed + uint64(i)
			equal, summary := o.run(f, seed, func(int) float64 { return 0 })
			runs[i] = familyRun{equal: equal, covered: summary.Interval.Contains(0)}
			if len(o.Slowdowns) > 0 {
				runs[i].slowed, _ = o.run(f, seed+uint64(o.Runs), o.slowdown)
			}
			return ctx.Err()
		})
	}
	if err := workers.Wait(); err != nil {
		return row, err
	}
	moved := func(v gate.Verdict) bool { return v == gate.Regression || v == gate.Improvement }
	for _, r := range runs {
		wrong := len(collect.Where(r.equal, moved))
		row.FalseRows += wrong
		row.FalseRuns.add(wrong > 0)
		row.Covered.add(r.covered)
		for _, v := range r.equal {
			row.Undecided.add(v.Undecided())
		}
		for i, v := range r.slowed {
			if group := o.group(i); group >= 0 {
				row.Found[group].add(v == gate.Regression)
			} else {
				row.FalseBeside.add(moved(v))
			}
		}
	}
	return row, nil
}

// group is the slowdown of a row, -1 for none.
func (o ManyRows) group(row int) int {
	if group := row % 10; group < len(o.Slowdowns) {
		return group
	}
	return -1
}

func (o ManyRows) slowdown(row int) float64 {
	if group := o.group(row); group >= 0 {
		return o.Slowdowns[group]
	}
	return 0
}

// run simulates a run of the program whose candidate is slower by what each row says.
func (o ManyRows) run(f Fault, seed uint64, slower func(row int) float64) ([]gate.Verdict, gate.Summary) {
	m := newMachine(f, seed, 3*o.Rounds*o.Rows*o.Samples)
	rows := make([]gate.Samples, o.Rows)
	for i := range rows {
		rows[i] = gate.Samples{}
	}
	var orders [][]gate.Arm
	for round := range o.Rounds {
		order := collect.Each(stats.NewOrders(3, seed, 0).Round(round), func(i int) gate.Arm {
			return []gate.Arm{gate.Baseline, gate.Candidate, gate.Control}[i]
		})
		orders = append(orders, order)
		for place, arm := range order {
			m.start()
			for i, samples := range rows {
				time := 1 + f.Trend*float64(place)
				if arm == gate.Candidate {
					time *= 1 + slower(i)
				}
				samples[arm] = append(samples[arm], m.times(o.Samples, time))
			}
		}
	}
	compared, summary := gate.CompareRows(rows, orders, o.Policy)
	return collect.Each(compared, func(c gate.Comparison) gate.Verdict { return c.Verdict }), summary
}
