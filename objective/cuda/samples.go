package cuda

import (
	"slices"
	"time"

	"pawl/objective/cuda/monitor"
	"pawl/objective/worker"
)

const (
	// mostTries is how many samples a patient caller's call takes at most for each
	// that was asked for; rest is how long the GPU may rest after one that was too
	// slow.
	mostTries = 4
	rest      = 4 * time.Millisecond
	// clockStep is how far below the highest clock a sample may be, in MHz: half of
	// what clocks move by. A power limit takes one step after the other.
	clockStep = 7.5
)

// samples are what one call has measured.
type samples struct {
	milliseconds []float64
	clocks       []float64       // MHz during each sample; 0 where nobody knows
	states       []monitor.State // before the first and after each; nil where nobody watches
	full         []bool          // at the highest clock
}

// take takes samples. A patient caller gets more of them, in the place of those
// that were slowed down. If hardly any is at the highest clock, that is not the
// clock of this kernel on this GPU, and what there is counts as full.
func (d *Device) take(t worker.Time) (*samples, error) {
	s := &samples{states: d.look(nil)}
	if d.fullClock == 0 {
		d.fullClock = float64(d.attributes.Clock) / 1000
	}
	most, good := t.Samples, 0
	if t.Patient {
		most *= mostTries
	}
	for len(s.full) < most && (good < t.Samples || !t.Patient) {
		if err := d.takeOne(s); err != nil {
			return nil, err
		}
		if s.full[len(s.full)-1] {
			good++
		} else if t.Patient {
			time.Sleep(rest)
		}
	}
	if !t.Patient || good < (t.Samples+1)/2 {
		if t.Patient {
			d.fullClock = slices.Max(s.clocks)
		}
		for i := range s.full {
			s.full[i] = true
		}
	}
	return s, nil
}

func (d *Device) takeOne(s *samples) error {
	milliseconds, err := d.sample()
	if err != nil {
		return err
	}
	clock, err := d.support.clock()
	if err != nil {
		return fault(err)
	}
	s.milliseconds = append(s.milliseconds, milliseconds)
	s.clocks = append(s.clocks, clock)
	s.full = append(s.full, clock == 0 || clock > d.fullClock-clockStep)
	s.states = d.look(s.states)
	return nil
}

// judge returns the samples that count, and what the GPU did meanwhile.
func (s *samples) judge(d *Device) ([]float64, *worker.Conditions) {
	if len(s.states) != len(s.milliseconds)+1 {
		return s.kept(s.full), nil
	}
	for i, clock := range s.clocks { // the management library looks only now and then
		if clock > 0 {
			s.states[i+1].SMClock = int(clock + 0.5)
			if i == 0 {
				s.states[0].SMClock = s.states[1].SMClock
			}
		}
	}
	keep, summary := monitor.Judge(s.states)
	slow := 0
	for i, full := range s.full {
		if keep[i] && !full {
			keep[i] = false
			slow++
		}
	}
	return s.kept(keep), &worker.Conditions{
		Device:   d.attributes.UUID,
		ClockLow: summary.ClockLow, ClockMedian: summary.ClockMedian, ClockHigh: summary.ClockHigh,
		Temperature: summary.Temperature, Power: summary.Power,
		Discarded: summary.Throttled + summary.LowClock, Slow: slow, Reasons: summary.Reasons.String(),
	}
}

func (s *samples) kept(keep []bool) []float64 {
	var kept []float64
	for i, milliseconds := range s.milliseconds {
		if keep[i] {
			kept = append(kept, milliseconds)
		}
	}
	return kept
}
