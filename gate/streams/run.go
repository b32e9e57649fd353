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

// interleaved is the way of measuring: in rounds.
const interleaved = "interleaved"

// Run makes the table of sides measured in rounds. Comparisons share the processors; seeds fix each of them, so
// the table does not depend on how many there are.
func Run(ctx context.Context, o Options) ([]Row, error) {
	var rows []Row
	total := len(Faults) + len(Harder)
	done := func(row Row) {
		rows = append(rows, row)
		if o.Progress != nil {
			o.Progress(len(rows), total)
		}
	}
	for _, fault := range slices.Concat(Faults, Harder) {
		row, err := inRounds(ctx, fault, o)
		if err != nil {
			return nil, err
		}
		done(row)
	}
	return rows, nil
}

// bootstrap is coarser than the gate's own: thousands of comparisons need no more.
var bootstrap = stats.Bootstrap{Resamples: 500}
