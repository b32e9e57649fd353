package streams

import (
	"context"
	"slices"

	"pawl/gate"
	"pawl/internal/stats"
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

// The ways of measuring.
const (
	interleaved = "interleaved"
	processes   = "apart, 10 processes of 20"
	flat        = "apart, 1 process of 100"
)

// Run makes the table. Comparisons share the processors; seeds fix each of them, so
// the table does not depend on how many there are.
func Run(ctx context.Context, o Options) ([]Row, error) {
	var rows []Row
	total := len(Faults)*3 + len(Harder)
	done := func(row Row) {
		rows = append(rows, row)
		if o.Progress != nil {
			o.Progress(len(rows), total)
		}
	}
	for i, fault := range slices.Concat(Faults, Harder) {
		row, err := inRounds(ctx, fault, o)
		if err != nil {
			return nil, err
		}
		done(row)
		if i >= len(Faults) {
			continue
		}
		for _, method := range []string{processes, flat} {
			row := Row{Fault: fault.Name, Method: method, Equal: map[gate.Verdict]int{}, Slowed: map[gate.Verdict]int{}}
			for i := range o.Comparisons {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				seed := o.Seed + uint64(i)
				row.Equal[compareApart(fault, method, seed, 0, o.Policy)]++
				row.Slowed[compareApart(fault, method, seed, o.Slowdown, o.Policy)]++
			}
			done(row)
		}
	}
	return rows, nil
}

// bootstrap is coarser than the gate's own: thousands of comparisons need no more.
var bootstrap = stats.Bootstrap{Resamples: 500}

// compareApart compares two sides that were measured on a machine each.
func compareApart(f Fault, method string, seed uint64, slowdown float64, p gate.Policy) gate.Verdict {
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
	current := side(newMachine(f, 2*seed+1, count*samples), 1+slowdown)
	return gate.CompareApart(bootstrap, baseline, current, p, gate.Files).Verdict
}
