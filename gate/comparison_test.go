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

	"pawl/internal/collect"
	"pawl/objective"
)

// measurer measures an arm by name.
type measurer interface {
	Measure(ctx context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error)
}

// named is an arm of a measurer.
type named struct {
	measurer
	name Arm
}

func (n named) Renew() {}

func (n named) String() string { return string(n.name) }

func (n named) Sample(ctx context.Context, samples int) (objective.Outcome, error) {
	times, failure, err := n.Measure(ctx, n.name, samples)
	return objective.Outcome{Samples: times, Failure: failure}, err
}

// armsOf are the arms of a measurer, with the best accepted entry or without.
func armsOf(m measurer, best bool) Arms {
	arms := Arms{Baseline: named{m, Baseline}, Candidate: named{m, Candidate}, Control: named{m, Control}}
	if best {
		arms[Best] = named{m, Best}
	}
	return arms
}

// order is the order of a round.
func (r *run) order(round int) []Arm {
	return collect.Each(r.experiment.Order(round), func(arm int) Arm { return r.roles[arm] })
}

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

// levels gives the candidate and the control other times than the baseline's 1 ms.
func levels(candidate, control float64) func(Arm, int) float64 {
	return func(a Arm, _ int) float64 {
		return map[Arm]float64{Candidate: candidate, Control: control, Baseline: 1}[a]
	}
}

func compared(t *testing.T, s *script, o Options, more ...Arm) Comparison {
	t.Helper()
	return comparedBy(t, s, Presets["standard"], o, more...)
}

func comparedBy(t *testing.T, s *script, p Policy, o Options, more ...Arm) Comparison {
	t.Helper()
	o.Simulations = 50
	c, err := Compare(t.Context(), armsOf(s, len(more) > 0), p, o)
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
		"equal":          {newScript(0.003, only(Candidate, 1)), NoDifference, "overlap"},
		"5 % slower":     {newScript(0.003, only(Candidate, 1.05)), Regression, "slower by"},
		"2 % slower":     {newScript(0.002, only(Candidate, 1.02)), Maintained, "slower by 2"},
		"4 % faster":     {newScript(0.002, only(Candidate, 0.96)), Maintained, "faster by 4"},
		"10 % faster":    {newScript(0.003, only(Candidate, 0.90)), Improvement, "the second measurement says"},
		"the control is": {newScript(0.003, only(Control, 1.03)), Inconclusive, "A/A failed"},
		"the control is, and the candidate is slower beyond doubt": {newScript(0.003, levels(1.5, 1.03)), Regression,
			"slower by 50"},
		"the control is, and the candidate is slower":      {newScript(0.003, levels(1.2, 1.03)), Inconclusive, "A/A failed"},
		"the control is, and the candidate is much faster": {newScript(0.003, levels(0.3, 1.03)), Inconclusive, "A/A failed"},
		"hopelessly noisy": {newScript(0.3, only(Candidate, 1)), Inconclusive, "too noisy"},
		"a gain that does not last": {newScript(0.003, func(arm Arm, round int) float64 {
			if arm == Candidate && round < 12+pilots {
				return 0.85
			}
			return 1
		}), Inconclusive, "not confirmed"},
		"a gain that shrinks": {newScript(0.003, func(arm Arm, round int) float64 {
			switch {
			case arm != Candidate:
				return 1
			case round < 12+pilots:
				return 0.85
			}
			return 0.97
		}), Maintained, "not confirmed"},
		"a gain whose second measurement cannot be trusted": {newScript(0.003, func(arm Arm, round int) float64 {
			switch {
			case arm == Candidate:
				return 0.85
			case arm == Control && round >= 12+pilots:
				return 1.3
			}
			return 1
		}), Inconclusive, "A/A failed"},
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
	for reason, heat := range map[string]float64{
		"drift: the ratio itself moved":   0,
		"throttling: the baseline became": 0.01,
	} {
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

// Each round has every arm once, in an order that is drawn for it alone: given the
// orders before, every order is as likely as every other.
func TestOrdersAreIndependent(t *testing.T) {
	firsts, follows := map[Arm]int{}, map[bool]int{}
	for seed := range uint64(30) {
		s := newScript(0.003, only(Candidate, 1))
		compared(t, s, Options{Seed: seed}, Best)
		rounds := slices.Collect(slices.Chunk(s.order[4*pilots:], 4)) // after the pilots
		if len(rounds) < 10 || len(s.order)%4 != 0 {
			t.Fatalf("%d processes", len(s.order))
		}
		for i, round := range rounds {
			firsts[round[0]]++
			if i > 0 {
				follows[before(rounds[i-1]) == before(round)]++
			}
			if all := slices.Sorted(slices.Values(round)); !slices.Equal(all, []Arm{Baseline, Best, Candidate, Control}) {
				t.Fatalf("%v", all)
			}
		}
	}
	for arm, n := range firsts {
		if n < 50 || n > 100 { // about 75 of 300
			t.Errorf("%s came first %d times", arm, n)
		}
	}
	// Mirrored rounds would differ in every second pair at least; 135 of 270 are
	// expected, and four standard deviations are 33.
	if n := follows[true]; n < 102 || n > 168 {
		t.Errorf("the candidate kept its side of the baseline in %d of %d rounds", n, follows[true]+follows[false])
	}
}

// before reports whether the candidate was measured before the baseline.
func before(round []Arm) bool { return slices.Index(round, Candidate) < slices.Index(round, Baseline) }

// Twenty losses of 0.4 %: no single one is a regression, the sum is.
func TestErosion(t *testing.T) {
	s := newScript(0.002, func(arm Arm, _ int) float64 {
		switch arm {
		case Best:
			return 0.92
		case Candidate:
			return 1.004
		}
		return 1
	})
	c := compared(t, s, Options{}, Best)
	if c.Verdict != Regression || !strings.Contains(c.Reason, "erosion: slower than the best accepted entry by 9") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
	if alone := compared(t, newScript(0.002, only(Candidate, 1.004)), Options{}); alone.Verdict == Regression {
		t.Errorf("without the best accepted entry: %s", alone.Verdict)
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
	if _, err := Compare(t.Context(), armsOf(s, false), Presets["standard"], Options{}); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
	_, err := Compare(t.Context(), armsOf(s, false), Policy{}, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "policy: ") {
		t.Errorf("an empty policy: %v", err)
	}
}

// The analyses together spend no more than the policy's rate of false alarms, and
// each can be reached.
func TestLooksShareTheLevel(t *testing.T) {
	for name, p := range Presets {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sum := 0.0
		for _, analysis := range p.analyses() {
			sum += analysis.Level
		}
		if sum > p.Alarm*(1+1e-12) {
			t.Errorf("%s: the analyses spend %v of %v", name, sum, p.Alarm)
		}
	}
}

// On a machine whose neighbors slow two samples of three, the medians of processes
// say little and their faster halves much. A candidate that scatters on a quiet
// machine gets no such favor.
func TestNeighborsAreLeftOut(t *testing.T) {
	busy := func(slowdown float64, who ...Arm) *neighbors {
		return &neighbors{random: rand.New(rand.NewPCG(3, 3)), slowdown: slowdown, disturb: who}
	}
	all := []Arm{Baseline, Candidate, Control}
	c, err := Compare(t.Context(), armsOf(busy(0.10, all...), false), Presets["standard"], Options{Simulations: 50})
	if err != nil || c.Verdict != Regression || c.Evidence.Statistic != FasterHalf ||
		math.Abs(c.Evidence.Change+0.10) > 0.02 {
		t.Errorf("%v: %s (%s), %+v", err, c.Verdict, c.Reason, c.Evidence)
	}
	c, err = Compare(t.Context(), armsOf(busy(0, all...), false), Presets["standard"], Options{Simulations: 50})
	if err != nil || c.Verdict != NoDifference {
		t.Errorf("%v: %s (%s)", err, c.Verdict, c.Reason)
	}
	c, err = Compare(t.Context(), armsOf(busy(0, Candidate), false), Presets["standard"], Options{Simulations: 50})
	if err != nil || c.Verdict != Regression || c.Evidence.Statistic != Median {
		t.Errorf("%v: %s (%s)", err, c.Verdict, c.Reason)
	}
}

// neighbors slow some samples of the arms that they disturb, by a lot.
type neighbors struct {
	random   *rand.Rand
	slowdown float64
	disturb  []Arm
}

func (n *neighbors) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
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
