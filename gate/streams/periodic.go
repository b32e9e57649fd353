package streams

import "math/rand/v2"

// periodic slows the machine for the first half of a period that is counted in
// processes: a timer, a cron job, a fan that turns on and off. It is the worst that
// can happen to an order of measurements that is itself periodic.
type periodic struct {
	period, process int
	by              float64
}

var _ disturbance = (*periodic)(nil)

// everyFewProcesses slows by a share, with a period between two numbers of
// processes that the machine draws, and from a phase that it draws.
func everyFewProcesses(shortest, longest int, by float64) disturb {
	return func(random *rand.Rand) disturbance {
		period := shortest + random.IntN(longest-shortest+1)
		return &periodic{period: period, process: random.IntN(period), by: by}
	}
}

func (p *periodic) begin() { p.process++ }

func (p *periodic) factor() float64 {
	if 2*(p.process%p.period) < p.period {
		return 1 + p.by
	}
	return 1
}
