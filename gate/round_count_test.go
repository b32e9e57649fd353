package gate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/objective"
)

// clocked is a machine with a clock: each process takes some time to start, and a
// launch takes as long as it says.
type clocked struct {
	random *rand.Rand
	start  time.Duration
	launch map[Arm]float64 // milliseconds
	now    time.Time
	// samples are the numbers that were asked for, in order.
	samples []int
	// stall makes every process after the first so many take a minute longer.
	stall int
}

func (c *clocked) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	c.samples = append(c.samples, samples)
	c.now = c.now.Add(c.start)
	if c.stall > 0 && len(c.samples) > c.stall {
		c.now = c.now.Add(time.Minute)
	}
	times := make([]float64, samples)
	for i := range times {
		times[i] = c.launch[arm] * math.Exp(0.01*c.random.NormFloat64())
		c.now = c.now.Add(time.Duration(times[i] * float64(time.Millisecond)))
	}
	return times, nil, nil
}

func newClocked(start time.Duration, baseline, candidate float64) *clocked {
	return &clocked{
		random: rand.New(rand.NewPCG(1, 1)), start: start, now: time.Unix(0, 0),
		launch: map[Arm]float64{Baseline: baseline, Control: baseline, Candidate: candidate, Best: baseline},
	}
}

func comparedInTime(t *testing.T, m *clocked, p Policy) (Comparison, time.Duration) {
	t.Helper()
	began := m.now
	c, err := Compare(t.Context(), armsOf(m, false), p, Options{Simulations: 50, Now: func() time.Time { return m.now }})
	if err != nil {
		t.Fatal(err)
	}
	return c, m.now.Sub(began)
}

// A kernel that is half as slow again is found however slow it is and whatever the
// budget, or the gate says that the budget is too small and which would do: never
// "too noisy", never "no difference".
func TestSlowKernels(t *testing.T) {
	for _, kernel := range []float64{0.05, 1, 90, 400, 3000, 20_000} {
		for _, budget := range []time.Duration{time.Millisecond, time.Second, 10 * time.Second, 2 * time.Minute, time.Hour} {
			for _, rounds := range [][]int{{10, 20, 40, 80}, {40, 80}} {
				p := Presets["standard"]
				p.Budget, p.Rounds = budget, rounds
				c, took := comparedInTime(t, newClocked(15*time.Millisecond, kernel, 1.5*kernel), p)
				refused := c.Verdict == Inconclusive && strings.Contains(c.Reason, "too small to prove anything")
				// Nine rounds of three processes with one sample each.
				possible := budget.Seconds() > 9*(0.045+3.5*kernel/1000)
				if possible && refused || !refused && c.Verdict != Regression {
					t.Errorf("%v ms, budget %v, rounds %v: %s: %s", kernel, budget, rounds, c.Verdict, c.Reason)
				}
				// The pilots, and a round that begins just before the end of the grace.
				if most := budget*3/2 + time.Duration(2*(0.045+3.6*kernel/1000)*float64(time.Second)); took > most {
					t.Errorf("%v ms, budget %v, rounds %v: took %v", kernel, budget, rounds, took)
				}
			}
		}
	}
}

// The budget that a refusal names is enough.
func TestNamedBudgetIsEnough(t *testing.T) {
	p := Presets["standard"]
	p.Budget = time.Second
	c, _ := comparedInTime(t, newClocked(15*time.Millisecond, 90, 135), p)
	_, after, found := strings.Cut(c.Reason, "budget: ")
	text, _, _ := strings.Cut(after, " ")
	if p.Budget, _ = time.ParseDuration(text); !found || p.Budget == 0 {
		t.Fatalf("%s: %s", c.Verdict, c.Reason)
	}
	if c, _ = comparedInTime(t, newClocked(15*time.Millisecond, 90, 135), p); c.Verdict != Regression {
		t.Errorf("with %v: %s: %s", p.Budget, c.Verdict, c.Reason)
	}
}

// A fast kernel gets all its samples, a slow one as many as the budget has room for,
// and the note says so.
func TestSamplesFollowTheBudget(t *testing.T) {
	fast := newClocked(15*time.Millisecond, 1, 1)
	if c, _ := comparedInTime(t, fast, Presets["standard"]); slices.Max(fast.samples) != 50 ||
		slices.Min(fast.samples[3*pilots:]) != 50 || len(c.Notes) > 0 {
		t.Errorf("%v, %v", fast.samples, c.Notes)
	}
	slow := newClocked(15*time.Millisecond, 90, 90)
	c, took := comparedInTime(t, slow, Presets["standard"])
	if last := slow.samples[len(slow.samples)-1]; last < 25 || last >= 50 || took < time.Minute || took > 2*time.Minute {
		t.Errorf("%v in %v", slow.samples, took)
	}
	if !slices.ContainsFunc(c.Notes,
		func(n string) bool { return strings.Contains(n, "instead of 50 samples a process") }) {
		t.Errorf("%v", c.Notes)
	}
}

// Where the budget ends between two analyses, the last analysis has what there is. Where
// that is too little to reach its level, the analysis before was the last one. A change
// of just the limit keeps the comparison going, and is proven either way.
func TestBudgetEndsBetweenLooks(t *testing.T) {
	for stall, want := range map[int]int{3 * 19: 17, 3 * 15: 13} { // with the pilots, in processes
		m := newClocked(15*time.Millisecond, 1, 1.03)
		m.stall = stall
		p := Presets["standard"]
		p.Budget = 30 * time.Second
		c, _ := comparedInTime(t, m, p)
		if c.Evidence == nil || c.Evidence.Rounds != want || c.Verdict != Regression && c.Verdict != Maintained {
			t.Errorf("stalled after %d: %s (%s), %+v", stall, c.Verdict, c.Reason, c.Evidence)
		}
		if !slices.ContainsFunc(c.Notes,
			func(n string) bool { return strings.Contains(n, "the budget of 30s was over after") }) {
			t.Errorf("%v", c.Notes)
		}
	}
}

// A machine that stalls before anything could be proven is no pass.
func TestBudgetEndsBeforeTheFirstLook(t *testing.T) {
	m := newClocked(15*time.Millisecond, 1, 1)
	m.stall = 12
	if c, _ := comparedInTime(t, m, Presets["standard"]); c.Verdict != Inconclusive ||
		!strings.Contains(c.Reason, "at the usual pace: the machine stalled") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
}

// One slow pilot says nothing about what a round costs; what is grossly slower is found although
// nothing else could be.
func TestAPilotThatStalls(t *testing.T) {
	p := Presets["standard"]
	p.Budget = 10 * time.Second
	m := newClocked(15*time.Millisecond, 1, 4)
	stalled := &stalling{m}
	c, err := Compare(t.Context(), armsOf(stalled, false), p,
		Options{Simulations: 50, Now: func() time.Time { return m.now }})
	if err != nil || c.Verdict != Regression {
		t.Errorf("%s: %s, %v", c.Verdict, c.Reason, err)
	}
	// Room for seven rounds.
	for slowdown, want := range map[float64]Verdict{4: Regression, 1: Inconclusive} {
		p.Budget = 9 * time.Second
		if c, _ := comparedInTime(t, newClocked(300*time.Millisecond, 100, 100*slowdown), p); c.Verdict != want {
			t.Errorf("%v: %s: %s", slowdown, c.Verdict, c.Reason)
		}
	}
}

// stalling is a machine whose first process takes five seconds.
type stalling struct{ *clocked }

func (s *stalling) Measure(ctx context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	if len(s.samples) == 0 {
		s.now = s.now.Add(5 * time.Second)
	}
	return s.clocked.Measure(ctx, arm, samples)
}
