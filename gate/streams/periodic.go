package streams

import (
	"math"
	"math/rand/v2"
)

// periodic makes the machine slower and faster in waves whose period is counted in
// processes: a timer, a fan, a job that comes round. It is the worst that can happen
// to an order of measurements that has a rhythm of its own.
type periodic struct {
	period, process int
	by              float64
}

var _ disturbance = (*periodic)(nil)

// everyFewProcesses makes waves of a height, a share, with a period between two
// numbers of processes and from a phase, both of which the machine draws.
func everyFewProcesses(shortest, longest int, by float64) disturb {
	return func(random *rand.Rand) disturbance {
		period := shortest + random.IntN(longest-shortest+1)
		return &periodic{period: period, process: random.IntN(period), by: by}
	}
}

func (p *periodic) begin() { p.process++ }

func (p *periodic) factor() float64 {
	return 1 + p.by*math.Sin(2*math.Pi*(float64(p.process)+0.25)/float64(p.period))
}
