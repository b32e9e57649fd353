package gate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/thorough"
	"pawl/objective"
)

// scattering is a machine whose processes differ by a share of their time. A process
// takes a tenth of a second.
type scattering struct {
	random    *rand.Rand
	processes float64 // standard deviation, a share
	slowdown  float64 // of the candidate, a share
	now       time.Time
	failure   *objective.Failure
}

func newScattering(seed uint64, processes, slowdown float64) *scattering {
	return &scattering{
		random:    rand.New(rand.NewPCG(seed, 5)),
		processes: processes,
		slowdown:  slowdown,
		now:       time.Unix(0, 0),
	}
}

func (s *scattering) Measure(_ context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error) {
	s.now = s.now.Add(100 * time.Millisecond)
	level := math.Exp(s.processes * s.random.NormFloat64())
	if arm == Candidate {
		level *= 1 + s.slowdown
	}
	times := make([]float64, samples)
	for i := range times {
		times[i] = level * math.Exp(0.002*s.random.NormFloat64())
	}
	return times, s.failure, nil
}

func (s *scattering) clock() time.Time { return s.now }

func planned(t *testing.T, s *scattering, p Policy, o PowerOptions) Power {
	t.Helper()
	o.Bootstrap, o.Now = quick, s.clock
	power, err := PlanPower(t.Context(), s, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return power
}

// What is planned is what comparisons do: with the rounds and the limit of the plan, the
// effect is found about nine times of ten; with a quarter of the rounds it is not. The plan is
// careful, because noise is never known exactly, so that more may be found.
func TestPlannedEffectIsSeen(t *testing.T) {
	for _, c := range []struct{ effect, processes float64 }{{0.06, 0.02}, {0.20, 0.08}} {
		plan := planned(t, newScattering(1, c.processes, 0), Presets["standard"], PowerOptions{Effect: c.effect})
		if plan.Asked == nil || plan.Rounds != 30 || plan.Samples != 50 || math.Abs(plan.Seconds-0.3) > 0.01 {
			t.Fatalf("%+v", plan)
		}
		found := func(rounds []int) (share float64) {
			p := Presets["standard"]
			p.Regression, p.Rounds, p.Budget = plan.Asked.Limit, rounds, time.Hour
			comparisons := thorough.Count(15, 40)
			for seed := range uint64(comparisons) {
				m := newScattering(100+seed, c.processes, c.effect)
				compared, err := Compare(t.Context(), m, p, Options{Seed: seed, Bootstrap: quick, Now: m.clock})
				if err != nil {
					t.Fatal(err)
				}
				if compared.Verdict == Regression {
					share += 1 / float64(comparisons)
				}
			}
			return share
		}
		if share := found(plan.Asked.Rounds); share < 0.75 {
			t.Errorf("%v: with the %v rounds that were planned %.2f were found", c, plan.Asked.Rounds, share)
		}
		last := plan.Asked.Rounds[len(plan.Asked.Rounds)-1]
		if share := found([]int{max(9, last/4)}); last > 36 && share > 0.85 {
			t.Errorf("%v: %d rounds were planned, and a quarter of them found %.2f", c, last, share)
		}
	}
}

// A limit above the effect lets it pass whatever the rounds: half the effect is the limit
// then. More noise takes more rounds, and beyond a thousand there is no plan.
func TestPlanForAnEffect(t *testing.T) {
	p := Presets["standard"]
	quiet := planned(t, newScattering(1, 0.003, 0), p, PowerOptions{Effect: 0.06}).Asked
	noisy := planned(t, newScattering(1, 0.06, 0), p, PowerOptions{Effect: 0.06}).Asked
	below := planned(t, newScattering(1, 0.003, 0), p, PowerOptions{Effect: 0.02}).Asked
	if quiet == nil || noisy == nil || below == nil {
		t.Fatalf("%v, %v, %v", quiet, noisy, below)
	}
	if ceiling := slices.Max(quiet.Rounds); quiet.Limit != 0.03 || ceiling > 12 || slices.Max(noisy.Rounds) < 5*ceiling {
		t.Errorf("quiet %+v, noisy %+v", quiet, noisy)
	}
	if below.Limit != 0.01 {
		t.Errorf("%+v", below)
	}
	if want := 0.3 * float64(slices.Max(noisy.Rounds)); math.Abs(noisy.Seconds-want) > 0.01*want ||
		noisy.Budget.Seconds() < want {
		t.Errorf("%+v, want %v s", noisy, want)
	}
	if hopeless := planned(t, newScattering(1, 0.5, 0), p, PowerOptions{Effect: 0.01}); hopeless.Asked != nil {
		t.Errorf("%+v", hopeless.Asked)
	}
}

// More time shows smaller effects, down to the limit; noise alone would not hide more.
func TestPlanForABudget(t *testing.T) {
	before := math.Inf(1)
	for _, budget := range []time.Duration{5 * time.Second, 20 * time.Second, 2 * time.Minute} {
		plan := planned(t, newScattering(1, 0.03, 0), Presets["standard"], PowerOptions{Budget: budget})
		if plan.Within == nil || plan.Within.Effect >= before || plan.Within.Effect < 0.03 || plan.Noise <= 0 ||
			plan.Noise > plan.Within.Effect+0.005 {
			t.Fatalf("%v: %+v, before %v", budget, plan, before)
		}
		if plan.Within.Seconds > budget.Seconds() {
			t.Errorf("%v: %+v", budget, plan.Within)
		}
		before = plan.Within.Effect
	}
	for _, budget := range []time.Duration{time.Millisecond, time.Second} {
		plan := planned(t, newScattering(1, 0.03, 0), Presets["standard"], PowerOptions{Budget: budget})
		if plan.Within != nil || len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], "too small to prove anything") {
			t.Errorf("%v: %+v", budget, plan)
		}
	}
	// Without a budget of its own the policy's holds, and its rounds.
	if plan := planned(t, newScattering(1, 0.03, 0), Presets["relaxed"], PowerOptions{}); plan.Within == nil ||
		!slices.Equal(plan.Within.Rounds, []int{12, 24, 48}) {
		t.Errorf("%+v", plan.Within)
	}
}

func TestPlanOfAKernelThatFails(t *testing.T) {
	m := newScattering(1, 0.01, 0)
	m.failure = &objective.Failure{Reason: "crash"}
	if _, err := PlanPower(t.Context(), m, Presets["standard"],
		PowerOptions{Options: Options{Bootstrap: quick, Now: m.clock}}); err == nil ||
		!strings.Contains(err.Error(), "the kernel fails") {
		t.Errorf("%v", err)
	}
}

// Every schedule is one that a policy may have.
func TestSchedules(t *testing.T) {
	for ceiling, want := range map[int][]int{
		9: {9}, 12: {12}, 17: {12, 17}, 48: {12, 24, 48}, 96: {12, 24, 48, 96}, 110: {12, 24, 48, 110},
		300: {12, 24, 48, 96, 192, 300},
	} {
		if got := schedule(Presets["standard"], ceiling); !slices.Equal(got, want) {
			t.Errorf("%d rounds: %v, want %v", ceiling, got, want)
		}
	}
	for name, p := range Presets {
		for ceiling := fewestRounds(p.Alarm); ceiling <= mostRounds; ceiling++ {
			p.Rounds = schedule(Presets[name], ceiling)
			if err := p.Validate(); err != nil || p.Rounds[len(p.Rounds)-1] != ceiling {
				t.Fatalf("%s, %d rounds: %v: %v", name, ceiling, p.Rounds, err)
			}
		}
	}
}
