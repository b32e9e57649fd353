package gate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
)

// script measures what a function says, with a little noise from a fixed seed. It
// counts rounds by the baseline's processes.
type script struct {
	random *rand.Rand
	noise  float64
	time   func(arm Arm, round int) float64
	fail   map[Arm]*objective.Failure
	err    error
	rounds map[Arm]int
	order  []Arm
}

func newScript(noise float64, time func(arm Arm, round int) float64) *script {
	return &script{random: rand.New(rand.NewPCG(7, 8)), noise: noise, time: time, rounds: map[Arm]int{}}
}

func (s *script) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	samples = cmp.Or(samples, 50) // what the policy leaves to the device
	s.order = append(s.order, arm)
	if s.err != nil || s.fail[arm] != nil {
		return nil, s.fail[arm], s.err
	}
	process := math.Exp(s.noise * s.random.NormFloat64())
	times := make([]float64, samples)
	for i := range times {
		times[i] = s.time(arm, s.rounds[arm]) * process * math.Exp(s.noise/4*s.random.NormFloat64())
	}
	s.rounds[arm]++
	return times, nil, nil
}

// only gives one arm another time than the others' 1 ms.
func only(arm Arm, milliseconds float64) func(Arm, int) float64 {
	return func(a Arm, _ int) float64 {
		if a == arm {
			return milliseconds
		}
		return 1
	}
}

var quick = stats.Bootstrap{Resamples: 1000}

func compared(t *testing.T, s *script, o Options) Comparison {
	t.Helper()
	return comparedBy(t, s, Presets["standard"], o)
}

func comparedBy(t *testing.T, s *script, p Policy, o Options) Comparison {
	t.Helper()
	o.Bootstrap = quick
	c, err := Compare(t.Context(), s, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		script *script
		want   Verdict
		reason string
	}{
		"equal":            {newScript(0.003, only(Candidate, 1)), NoDifference, "overlap"},
		"5 % slower":       {newScript(0.003, only(Candidate, 1.05)), Regression, "slower by"},
		"2 % slower":       {newScript(0.002, only(Candidate, 1.02)), Maintained, "slower by 2"},
		"4 % faster":       {newScript(0.002, only(Candidate, 0.96)), Maintained, "faster by 4"},
		"10 % faster":      {newScript(0.003, only(Candidate, 0.90)), Improvement, "the second measurement says"},
		"the control is":   {newScript(0.003, only(Control, 1.03)), Inconclusive, "A/A failed"},
		"hopelessly noisy": {newScript(0.3, only(Candidate, 1)), Inconclusive, "too noisy"},
		"a gain that does not last": {newScript(0.003, func(arm Arm, round int) float64 {
			if arm == Candidate && round < 10 {
				return 0.85
			}
			return 1
		}), Inconclusive, "not confirmed"},
		"a gain that shrinks": {newScript(0.003, func(arm Arm, round int) float64 {
			switch {
			case arm != Candidate:
				return 1
			case round < 10:
				return 0.85
			}
			return 0.97
		}), Maintained, "not confirmed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := compared(t, c.script, Options{Seed: 1})
			if got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%s (%s), want %s (%s)", got.Verdict, got.Reason, c.want, c.reason)
			}
		})
	}
}

// A ratio that moves during the run is no ratio.
func TestMovingRatio(t *testing.T) {
	p := Presets["standard"]
	p.Rounds = []int{40}
	for reason, heat := range map[string]float64{"drift: the ratio itself moved": 0, "throttling: the baseline became": 0.01} {
		s := newScript(0.003, func(arm Arm, round int) float64 {
			level := 1 + heat*float64(round)
			if arm == Candidate && round >= 20 {
				level *= 1.2
			}
			return level
		})
		if c := comparedBy(t, s, p, Options{}); c.Verdict != Inconclusive || !strings.Contains(c.Reason, reason) {
			t.Errorf("%s (%s), want %s", c.Verdict, c.Reason, reason)
		}
	}
}

// One sign convention: positive means faster, in every number.
func TestPositiveMeansFaster(t *testing.T) {
	faster := compared(t, newScript(0.003, only(Candidate, 0.90)), Options{})
	slower := compared(t, newScript(0.003, only(Candidate, 1.10)), Options{})
	for name, signs := range map[string][2]float64{
		"change":       {faster.Evidence.Change, slower.Evidence.Change},
		"interval":     {faster.Evidence.Interval.Low, slower.Evidence.Interval.High},
		"delta":        {faster.Evidence.Delta, slower.Evidence.Delta},
		"confirmation": {faster.Confirmation.Change, -1},
	} {
		if !(signs[0] > 0 && signs[1] < 0) {
			t.Errorf("%s: %v for faster, %v for slower", name, signs[0], signs[1])
		}
	}
	if math.Abs(faster.Evidence.Change-0.10) > 0.01 || math.Abs(slower.Evidence.Change+0.10) > 0.01 {
		t.Errorf("%v and %v", faster.Evidence.Change, slower.Evidence.Change)
	}
}

// Each round has every arm once; every second one mirrors the one before; the
// order is drawn anew and by the seed.
func TestRoundsAreMirroredAndRandom(t *testing.T) {
	firsts := map[Arm]int{}
	for seed := range uint64(30) {
		s := newScript(0.003, only(Candidate, 1))
		compared(t, s, Options{Seed: seed, Oldest: true})
		if len(s.order) < 40 || len(s.order)%8 != 0 {
			t.Fatalf("%d processes", len(s.order))
		}
		for pair := range slices.Chunk(s.order, 8) {
			first, second := slices.Clone(pair[:4]), slices.Clone(pair[4:])
			slices.Reverse(second)
			if !slices.Equal(first, second) {
				t.Fatalf("%v is not mirrored", pair)
			}
			firsts[first[0]]++
			slices.Sort(first)
			if !slices.Equal(first, []Arm{Baseline, Candidate, Control, Oldest}) {
				t.Fatalf("%v", first)
			}
		}
	}
	for arm, n := range firsts {
		if n < 15 { // of about 37
			t.Errorf("%s came first %d times", arm, n)
		}
	}
}

// Twenty losses of 0.4 %: no single one is a regression, the sum is.
func TestErosion(t *testing.T) {
	s := newScript(0.002, func(arm Arm, _ int) float64 {
		switch arm {
		case Oldest:
			return 0.92
		case Candidate:
			return 1.004
		}
		return 1
	})
	c := compared(t, s, Options{Oldest: true})
	if c.Verdict != Regression || !strings.Contains(c.Reason, "erosion: slower than the oldest accepted release by 9") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
	if alone := compared(t, newScript(0.002, only(Candidate, 1.004)), Options{}); alone.Verdict == Regression {
		t.Errorf("without the oldest release: %s", alone.Verdict)
	}
}

func TestBrokenArms(t *testing.T) {
	failure := &objective.Failure{Stage: objective.Bench, Reason: "crashed"}
	for arm, want := range map[Arm]Verdict{Candidate: Wrong, Baseline: Inconclusive, Control: Inconclusive} {
		s := newScript(0.003, only(Candidate, 1))
		s.fail = map[Arm]*objective.Failure{arm: failure}
		if c := compared(t, s, Options{}); c.Verdict != want || !strings.Contains(c.Reason, "crashed") {
			t.Errorf("%s: %s (%s)", arm, c.Verdict, c.Reason)
		}
	}
	s := newScript(0.003, only(Candidate, 1))
	s.err = errors.New("no device")
	if _, err := Compare(t.Context(), s, Presets["standard"], Options{}); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
	if _, err := Compare(t.Context(), s, Policy{}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "policy: ") {
		t.Errorf("an empty policy: %v", err)
	}
}

// A budget that is over ends the rounds, and the note says so.
func TestBudget(t *testing.T) {
	now := time.Unix(0, 0)
	s := newScript(0.05, only(Candidate, 1))
	c := compared(t, s, Options{Now: func() time.Time { now = now.Add(10 * time.Second); return now }})
	// One call sets the deadline, then one per round from the sixth: 2 minutes are
	// over before the 18th.
	if c.Evidence.Rounds != 17 || !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "budget of 2m0s was over after 17 rounds") }) {
		t.Errorf("%d rounds, %v", c.Evidence.Rounds, c.Notes)
	}
}

// The looks together spend no more than the policy's rate of false alarms, and
// each can be reached.
func TestLooksShareTheLevel(t *testing.T) {
	for name, p := range Presets {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sum := 0.0
		for _, look := range p.looks() {
			sum += look.Level
		}
		if sum > p.Alarm*(1+1e-12) {
			t.Errorf("%s: the looks spend %v of %v", name, sum, p.Alarm)
		}
	}
}

// What is said to be the smallest visible regression is seen about nine times of
// ten, and equal sides practically never.
func TestSmallestRegressionIsHonest(t *testing.T) {
	p := Presets["standard"]
	p.Rounds, p.Samples = []int{40}, 5
	const processNoise = 0.04
	look := p.looks()[0]
	smallest := p.SmallestRegression(processNoise*math.Sqrt2, look)
	found := 0
	const repeats = 150
	for seed := range uint64(repeats) {
		s := newScript(processNoise, only(Candidate, 1+smallest))
		s.random = rand.New(rand.NewPCG(seed, 1))
		c, err := Compare(t.Context(), s, p, Options{Seed: seed, Bootstrap: stats.Bootstrap{Resamples: 300}})
		if err != nil {
			t.Fatal(err)
		}
		if c.Verdict == Regression {
			found++
		}
	}
	// The rank test and the bootstrap both must agree, so a little less than 0.9 is
	// right; 0.8 is three standard deviations below 0.87.
	if share := float64(found) / repeats; share < 0.8 {
		t.Errorf("a regression of %.1f %% was found in %.0f %%", 100*smallest, 100*share)
	}
}

// On a machine whose neighbours slow two samples of three, the medians of processes
// say little and their faster halves much. A candidate that scatters on a quiet
// machine gets no such favour.
func TestNeighboursAreLeftOut(t *testing.T) {
	busy := func(slowdown float64, who ...Arm) *neighbours {
		return &neighbours{random: rand.New(rand.NewPCG(3, 3)), slowdown: slowdown, disturb: who}
	}
	all := []Arm{Baseline, Candidate, Control}
	c, err := Compare(t.Context(), busy(0.10, all...), Presets["standard"], Options{Bootstrap: quick})
	if err != nil || c.Verdict != Regression || c.Evidence.Statistic != FasterHalf || math.Abs(c.Evidence.Change+0.10) > 0.02 {
		t.Errorf("%v: %s (%s), %+v", err, c.Verdict, c.Reason, c.Evidence)
	}
	c, err = Compare(t.Context(), busy(0, all...), Presets["standard"], Options{Bootstrap: quick})
	if err != nil || c.Verdict != NoDifference {
		t.Errorf("%v: %s (%s)", err, c.Verdict, c.Reason)
	}
	c, err = Compare(t.Context(), busy(0, Candidate), Presets["standard"], Options{Bootstrap: quick})
	if err != nil || c.Verdict != Regression || c.Evidence.Statistic != Median {
		t.Errorf("%v: %s (%s)", err, c.Verdict, c.Reason)
	}
}

// neighbours slow some samples of the arms that they disturb, by a lot.
type neighbours struct {
	random   *rand.Rand
	slowdown float64
	disturb  []Arm
}

func (n *neighbours) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	samples = cmp.Or(samples, 50) // what the policy leaves to the device
	times := make([]float64, samples)
	level := 1.0
	if arm == Candidate {
		level += n.slowdown
	}
	busy := 0.4 + 0.3*n.random.Float64() // of this process's time
	for i := range times {
		times[i] = level * math.Exp(0.01*n.random.NormFloat64())
		if slices.Contains(n.disturb, arm) && n.random.Float64() < busy {
			times[i] *= 1.2 + n.random.Float64()
		}
	}
	return times, nil, nil
}
