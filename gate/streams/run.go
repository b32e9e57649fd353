package streams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/gate"
	"pawl/internal/stats"
	"pawl/objective"
)

// Options says what to simulate.
type Options struct {
	// Comparisons is how many comparisons are made per fault, way of measuring and
	// slowdown.
	Comparisons int
	// Seed is the first of the seeds.
	Seed uint64
	// Slowdown is the real slowdown that is to be found, a share.
	Slowdown float64
	// Policy judges.
	Policy gate.Policy
	// Progress is told how many comparisons are done; nil for nobody.
	Progress func(done, total int)
}

// Row counts verdicts on one kind of machine, measured in one way.
type Row struct {
	Fault  string `json:"fault"`
	Method string `json:"method"`
	// Equal counts the verdicts on two equal sides, Slowed those on a candidate
	// with the real slowdown.
	Equal  map[gate.Verdict]int `json:"equal"`
	Slowed map[gate.Verdict]int `json:"slowed"`
}

// FalseAlarms is how often equal sides were called different enough to act on.
func (r Row) FalseAlarms() int { return r.Equal[gate.Regression] + r.Equal[gate.Improvement] }

// The ways of measuring.
const (
	interleaved = "interleaved"
	processes   = "apart, 10 processes of 20"
	flat        = "apart, 1 process of 100"
)

// Run makes the table.
func Run(ctx context.Context, o Options) ([]Row, error) {
	methods := []string{interleaved, processes, flat}
	var rows []Row
	for i, fault := range slices.Concat(Faults, Harder) {
		for _, method := range methods {
			if i >= len(Faults) && method != interleaved {
				continue
			}
			row := Row{Fault: fault.Name, Method: method, Equal: map[gate.Verdict]int{}, Slowed: map[gate.Verdict]int{}}
			for i := range o.Comparisons {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				seed := o.Seed + uint64(i)
				for counts, slowdown := range map[*map[gate.Verdict]int]float64{&row.Equal: 0, &row.Slowed: o.Slowdown} {
					verdict, err := compare(ctx, fault, method, seed, slowdown, o.Policy)
					if err != nil {
						return nil, fmt.Errorf("simulating %s, %s, seed %d: %w", fault.Name, method, seed, err)
					}
					(*counts)[verdict]++
				}
			}
			rows = append(rows, row)
			if o.Progress != nil {
				o.Progress(len(rows), len(Faults)*len(methods)+len(Harder))
			}
		}
	}
	return rows, nil
}

// bootstrap is coarser than the gate's own: thousands of comparisons need no more.
var bootstrap = stats.Bootstrap{Resamples: 1000}

func compare(ctx context.Context, f Fault, method string, seed uint64, slowdown float64, p gate.Policy) (gate.Verdict, error) {
	candidate := 1 + slowdown
	if method == interleaved {
		p.Samples = 20 // as many as the other ways, and quick
		expected := 3 * p.Rounds[0] * p.Samples
		frozen := time.Unix(0, 0)
		c, err := gate.Compare(ctx, &measurer{newMachine(f, seed, expected), candidate}, p, gate.Options{
			Seed: seed, Bootstrap: bootstrap, Now: func() time.Time { return frozen },
		})
		return c.Verdict, err
	}
	count, samples := 10, 20
	if method == flat {
		count, samples = 1, 100
	}
	side := func(machine *machine, time float64) (side [][]float64) {
		for range count {
			side = append(side, machine.process(samples, time))
		}
		return side
	}
	baseline := side(newMachine(f, 2*seed, count*samples), 1)
	current := side(newMachine(f, 2*seed+1, count*samples), candidate)
	return gate.CompareApart(bootstrap, baseline, current, p, gate.Files).Verdict, nil
}

// measurer measures on a simulated machine.
type measurer struct {
	machine   *machine
	candidate float64 // its time, where the baseline's is 1
}

var _ gate.Measurer = (*measurer)(nil)

// Measure runs a process of the arm.
func (m *measurer) Measure(_ context.Context, arm gate.Arm, samples int) ([]float64, *objective.Failure, error) {
	if arm == gate.Candidate {
		return m.machine.process(samples, m.candidate), nil, nil
	}
	return m.machine.process(samples, 1), nil, nil
}
