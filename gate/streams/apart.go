package streams

import (
	"context"
	"slices"

	"pawl/gate"
	"pawl/internal/stats"
)

// ApartOptions says what to simulate of sides that are not measured together.
type ApartOptions struct {
	// Comparisons is how many comparisons are made per machine, number of processes
	// and slowdown.
	Comparisons int
	// Seed is the first of the seeds.
	Seed uint64
	// Processes are the numbers of processes a side.
	Processes []int
	// Samples is how many samples each process takes.
	Samples int
	// Slowdowns are the real slowdowns of the candidate, as shares; 0 is none.
	Slowdowns []float64
	// Policy judges.
	Policy gate.Policy
	// Progress is told how many rows are done; nil for nobody.
	Progress func(done, total int)
}

// ApartRow counts verdicts on one kind of machine with one number of processes.
type ApartRow struct {
	Fault     string `json:"fault"`
	Processes int    `json:"processes"`
	// Verdicts are in the order of the slowdowns.
	Verdicts []map[gate.Verdict]int `json:"verdicts"`
}

// FalseAlarms is how often equal sides, the first of the slowdowns, were called
// different.
func (r ApartRow) FalseAlarms() Rate {
	return RateOf(r.Verdicts[0], gate.Regression, gate.Improvement)
}

// TooMany reports whether equal sides of six processes or more are called different
// more often than a share. With fewer a machine whose processes differ by more than
// the stated limit cannot be told from other code.
func (r ApartRow) TooMany(most float64) bool {
	return r.Processes >= 6 && r.FalseAlarms().exceeds(most)
}

// RunApart compares sides that were measured on a machine each, of the same kind:
// the other one may be in another mode, at another level, or have a neighbour.
func RunApart(ctx context.Context, o ApartOptions) ([]ApartRow, error) {
	faults := slices.Concat(Faults, Harder)
	var rows []ApartRow
	for _, fault := range faults {
		for _, processes := range o.Processes {
			row := ApartRow{Fault: fault.Name, Processes: processes}
			for _, slowdown := range o.Slowdowns {
				verdicts := map[gate.Verdict]int{}
				for i := range o.Comparisons {
					if ctx.Err() != nil {
						return nil, context.Cause(ctx)
					}
					verdicts[o.compare(fault, processes, o.Seed+uint64(i), slowdown)]++
				}
				row.Verdicts = append(row.Verdicts, verdicts)
			}
			rows = append(rows, row)
			if o.Progress != nil {
				o.Progress(len(rows), len(faults)*len(o.Processes))
			}
		}
	}
	return rows, nil
}

// apartBootstrap is coarse: the verdict on sides measured apart needs no more.
var apartBootstrap = stats.Bootstrap{Resamples: 100}

func (o ApartOptions) compare(f Fault, processes int, seed uint64, slowdown float64) gate.Verdict {
	side := func(seed uint64, time float64) (side [][]float64) {
		machine := newMachine(f, seed, processes*o.Samples)
		for range processes {
			side = append(side, machine.process(o.Samples, time))
		}
		return side
	}
	return gate.CompareApart(apartBootstrap, side(2*seed, 1), side(2*seed+1, 1+slowdown), o.Policy, gate.Files).Verdict
}
