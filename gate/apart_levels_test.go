package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/thorough"
)

// levelled returns processes whose level each is drawn by the function, with a
// noise of 1 % inside.
func levelled(random *rand.Rand, processes, samples int, level func() float64) [][]float64 {
	all := make([][]float64, processes)
	for p := range all {
		of := level()
		for range samples {
			all[p] = append(all[p], of*math.Exp(0.01*random.NormFloat64()))
		}
	}
	return all
}

// levelKind is a way in which processes have levels.
type levelKind struct {
	name string
	draw func() float64
}

// How the levels of processes differ on machines that were seen.
func levelKinds(random *rand.Rand) []levelKind {
	modes := func(slower float64) func() float64 {
		return func() float64 { return 1 + slower*float64(random.IntN(2)) }
	}
	normal := func(spread float64) func() float64 {
		return func() float64 { return math.Exp(spread * random.NormFloat64()) }
	}
	return []levelKind{ // in an order: all of them draw from the same numbers
		{"two modes of 12 %", modes(0.12)}, {"two modes of 25 %", modes(0.25)},
		{"levels of 4 %", normal(0.04)}, {"levels of 10 %", normal(0.10)},
	}
}

// Equal code is not called different because its processes have levels, however
// few processes there are.
func TestLevelsAreNoAlarm(t *testing.T) {
	for _, count := range []int{1, 2, 3, 5, 6, 10} {
		random := rand.New(rand.NewPCG(uint64(count), 77))
		for _, kind := range levelKinds(random) {
			alarms, pairs := 0, thorough.Count(25, 100)
			for range pairs {
				c := CompareApart(levelled(random, count, 20, kind.draw), levelled(random, count, 20, kind.draw),
					Presets["standard"], Files)
				if c.Verdict == Regression || c.Verdict == Improvement {
					alarms++
				}
			}
			if alarms > 1 {
				t.Errorf("%s, %d processes a side: %d of %d pairs of equal code are called different", kind.name, count, alarms,
					pairs)
			}
		}
	}
}

// A process that differs from the next is not drift: what 40 processes a side show
// beyond all doubt is said.
func TestLevelsHideNothing(t *testing.T) {
	for _, c := range []struct {
		processes int
		slower    float64
		least     int // of 50
	}{
		{40, 1.29, 46}, {10, 1.5, 45}, {3, 2, 48},
	} {
		random := rand.New(rand.NewPCG(uint64(c.processes), 78))
		for _, kind := range levelKinds(random) {
			found, pairs := 0, thorough.Count(15, 50)
			for range pairs {
				slow := func() float64 { return c.slower * kind.draw() }
				if d := CompareApart(levelled(random, c.processes, 20, kind.draw), levelled(random, c.processes, 20, slow),
					Presets["standard"], Files); d.Verdict == Regression {
					found++
				}
			}
			if found < c.least*pairs/50 {
				t.Errorf("%s, %d processes a side, %.0f %% slower: found %d times of %d", kind.name, c.processes,
					100*(c.slower-1), found, pairs)
			}
		}
	}
}

// The case of the report: two modes on either side that do not overlap.
func TestFortyProcessesDecide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 79))
	modes := func(fast, slow float64) func() float64 {
		next := 0
		return func() float64 { next++; return []float64{fast, slow}[next%2] }
	}
	c := CompareApart(levelled(random, 40, 20, modes(1, 1.04)), levelled(random, 40, 20, modes(1.29, 1.34)),
		Presets["standard"], Files)
	if c.Verdict != Regression || c.Evidence.Delta != -1 || c.Evidence.P > 1e-20 {
		t.Errorf("%s: %s (%+v)", c.Verdict, c.Reason, c.Evidence)
	}
}
