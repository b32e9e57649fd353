package simulated

import (
	"context"

	"pawl/gate"
	"pawl/internal/stats"
)

// ApartRow counts verdicts on one kind of machine with one number of processes.
type ApartRow struct {
	Fault     string `json:"fault"`
	Processes int    `json:"processes"`
	// Verdicts are in the order of the slowdowns.
	Verdicts []map[gate.Verdict]int `json:"verdicts"`
}

// FalseAlarms is how often equal sides, the first of the slowdowns, were called different.
func (r ApartRow) FalseAlarms() Rate {
	return RateOf(r.Verdicts[0], gate.Regression, gate.Improvement)
}

// TooMany reports whether equal sides of six processes or more are called different
// more often than a share. With fewer a machine whose processes differ by more than
// the stated limit cannot be distinguished from other code.
func (r ApartRow) TooMany(most float64) bool {
	return r.Processes >= 6 && r.FalseAlarms().exceeds(most)
}

// RunApart compares sides that were measured on a machine each, of the same kind:
// the other one may be in another mode, at another level, or have a neighbor.
func RunApart(ctx context.Context, o Options) ([]ApartRow, error) {
	var rows []ApartRow
	for _, fault := range Faults {
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
			o.progress(len(rows), len(Faults)*len(o.Processes))
		}
	}
	return rows, nil
}

const apartSamples = 50

// apartBootstrap is coarse: the verdict on sides measured apart needs no more.
var apartBootstrap = stats.Bootstrap{Resamples: 100}

func (o Options) compare(f Fault, processes int, seed uint64, slowdown float64) gate.Verdict {
	side := func(seed uint64, time float64) (side [][]float64) {
		machine := newMachine(f, seed, processes*apartSamples)
		for range processes {
			side = append(side, machine.process(apartSamples, time))
		}
		return side
	}
	return gate.CompareApart(apartBootstrap, side(2*seed, 1), side(2*seed+1, 1+slowdown), o.Policy, gate.Files).Verdict
}
