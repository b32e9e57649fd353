package gate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/internal/stats"
	"pawl/objective"
)

// clock is a machine whose clock counts in ticks, and whose true time lies somewhere between two of them.
type clock struct {
	random         *rand.Rand
	tick, phase    float64
	slowdown       float64
	share, slowed  float64 // of launches that take twice as long: the baseline's, and the candidate's
	spreadOfLaunch float64
}

func (m *clock) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	level, share := 1+m.phase*m.tick, m.share
	if arm == Candidate {
		level, share = level*(1+m.slowdown), m.slowed
	}
	times := make([]float64, samples)
	for i := range times {
		times[i] = level * math.Exp(m.spreadOfLaunch*m.random.NormFloat64())
		if m.random.Float64() < share {
			times[i] *= 2
		}
		if m.tick > 0 {
			times[i] = math.Round(times[i]/m.tick) * m.tick
		}
	}
	return times, nil, nil
}

func (m clock) compare(t *testing.T, seed uint64) Comparison {
	t.Helper()
	p := Presets["standard"]
	p.Samples = 20
	m.random = rand.New(rand.NewPCG(seed, 17))
	c, err := Compare(t.Context(), armsOf(&m, false), p, Options{Seed: seed, Simulations: 100})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is printed as the smallest regression that would have been found is found, wherever between two ticks of the
// clock the true time lies.
func TestTheSmallestRegressionRespectsTheClock(t *testing.T) {
	printed, found := 0, 0
	for seed := range uint64(10) {
		phase := (float64(seed)+0.5)/10 - 0.5
		m := clock{tick: 0.05, phase: phase, spreadOfLaunch: 0.01}
		c := m.compare(t, seed)
		if c.SmallestRegression == 0 {
			continue
		}
		printed++
		if m.slowdown = c.SmallestRegression; m.compare(t, seed+100).Verdict == Regression {
			found++
		}
	}
	t.Logf("%d of %d were found", found, printed)
	if printed > 0 && found < printed*7/10 {
		t.Errorf("of %d printed regressions %d were found", printed, found)
	}
}

// A share of slow launches that grows is said, although the typical launch takes as long as before.
func TestAGrowingShareOfSlowLaunchesIsSaid(t *testing.T) {
	said, warned := 0, 0
	for seed := range uint64(10) {
		m := clock{spreadOfLaunch: 0.01, share: 0.25, slowed: 0.45}
		c := m.compare(t, seed)
		if c.Verdict == Regression || c.Mean != nil && c.Mean.Slower &&
			strings.Contains(strings.Join(c.Notes, "\n"), "the mean is slower by") {
			said++
		}
		m.slowed = m.share
		if c := m.compare(t, seed); c.Mean != nil && c.Mean.Slower {
			warned++
		}
	}
	if said < 8 || warned > 1 {
		t.Errorf("it is said in %d of 10, and of equal sides in %d of 10", said, warned)
	}
}

// Few rounds fail a gross slowdown only where every one of them shows it.
func TestGrossSlowdownsInFewRounds(t *testing.T) {
	p := Presets["standard"]
	w := weighed{
		analysis: Analysis{Rounds: 6, Level: p.Alarm},
		between:  Evidence{Change: -0.5, Interval: stats.Interval{Low: -0.8, High: -0.2}},
	}
	for range 6 {
		w.rounds = append(w.rounds, logTimes{candidate: 0.4})
	}
	if !p.gross(w) {
		t.Error("a slowdown of a half in six of six rounds is not gross")
	}
	w.rounds[3].control = 0.5 // the control is slower still: that is noise
	if p.gross(w) {
		t.Error("a slowdown that the control has too is gross")
	}
	w.rounds[3].control, w.analysis.Rounds = 0, 12
	if p.gross(w) {
		t.Error("twelve rounds can prove it, and need to")
	}
}

// Every comparison of a run has orders of its own, and the same ones when it is repeated.
func TestOrderSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for _, kernel := range []string{"a", "b"} {
		for _, workload := range []string{"x", "y"} {
			for attempt := range 2 {
				seen[OrderSeed(7, kernel, workload, attempt)] = true
			}
		}
	}
	if len(seen) != 8 || !seen[OrderSeed(7, "a", "x", 0)] || seen[OrderSeed(8, "a", "x", 0)] {
		t.Errorf("%d seeds of 8 comparisons", len(seen))
	}
}
