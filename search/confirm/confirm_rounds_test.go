package confirm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// bench has times for points, with noise, and may be throttled in some calls.
type bench struct {
	times     map[string]float64
	noise     float64
	random    *rand.Rand
	throttled map[int]bool                    // by number of the call
	takes     func(samples int) time.Duration // of a call, none where nil
	calls     int
	order     []string
}

func (b *bench) Prepare(_ context.Context, p space.Point) (objective.Prepared, error) {
	return objective.Prepared{Point: p}, nil
}

func (b *bench) Verify(context.Context, objective.Prepared) (*objective.Failure, error) {
	return nil, nil
}

func (b *bench) Refresh() {}

func (b *bench) Sample(_ context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	b.calls++
	b.order = append(b.order, p.Point.String())
	if b.throttled[b.calls] {
		return objective.Outcome{Failure: &objective.Failure{Stage: objective.Bench, Reason: objective.Throttled}}, nil
	}
	if b.takes != nil {
		time.Sleep(b.takes(samples))
	}
	measured := b.times[p.Point.String()] * math.Exp(b.noise*b.random.NormFloat64())
	return objective.Outcome{Samples: slices.Repeat([]float64{measured}, samples)}, nil
}

// finalists are a search whose time ends where what each change is worth would follow.
type finalists struct {
	comparison
	pool *space.Pool
	want int
	end  time.Time
}

func (f *finalists) Pool() *space.Pool { return f.pool }

func (f *finalists) Trials() []trial.Trial { return nil }

func (f *finalists) Disqualify(int, *objective.Failure) error { return nil }

func (f *finalists) Check(context.Context, objective.Prepared) (objective.Outcome, error) {
	return objective.Outcome{}, nil
}

func (f *finalists) Left() time.Duration {
	if c := Contenders(f.rounds, trial.Confirmation); len(c) > 0 && len(c[0].Rounds) == f.want {
		return -1
	}
	return time.Until(f.end)
}

// confirmed measures the points A=1 to A=6, of which the first is the default, in a confirmation.
func confirmed(t *testing.T, b *bench, rounds int) []trial.Round {
	t.Helper()
	return confirmedIn(t, b, rounds, Unlimited)
}

func confirmedIn(t *testing.T, b *bench, rounds int, budget time.Duration) []trial.Round {
	t.Helper()
	return confirmedBy(t, b, b, rounds, budget, nil)
}

// confirmedOn measures them on other kinds of data too.
func confirmedOn(t *testing.T, f *fitted, rounds int, kinds []string) []trial.Round {
	t.Helper()
	return confirmedBy(t, f.bench, f, rounds, Unlimited, kinds)
}

func confirmedBy(t *testing.T, b *bench, evaluator Evaluator, rounds int, budget time.Duration,
	kinds []string) []trial.Round {
	t.Helper()
	start := time.Now()
	b.random = rand.New(rand.NewPCG(5, 5))
	var values []space.Value
	for i := range int64(6) {
		values = append(values, space.IntegerValue(i+1))
	}
	s, err := space.New([]space.Param{{Name: "A", Values: values, Default: values[0]}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := &finalists{pool: pool, want: rounds, end: start.Add(budget)}
	var candidates []Candidate
	for i := range 6 {
		p, err := space.ParsePoint(fmt.Sprintf("A=%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		candidate := Candidate{Trial: trial.Trial{Number: i, Point: p}}
		if b.takes != nil {
			candidate.Cost = Cost{Sample: b.takes(1)}
		}
		candidates = append(candidates, candidate)
	}
	options := Options{Finalists: 5, Rounds: rounds, Samples: 3, Seed: 8, Lanes: 1, Unexplained: b.takes != nil,
		Kinds: kinds}
	if err := Run(t.Context(), evaluator, found, candidates, options); err != nil {
		t.Fatal(err)
	}
	return found.rounds
}

// Finalists that are clearly behind leave after two rounds, the default never, and what is
// close to the fastest stays.
func TestContendersThatAreBehindLeave(t *testing.T) {
	b := &bench{noise: 0.01, times: map[string]float64{"A=1": 3, "A=2": 1, "A=3": 1.005, "A=4": 1.5, "A=5": 2, "A=6": 1}}
	rounds := confirmed(t, b, 10)
	contenders, left := Contenders(rounds, trial.Confirmation), LeftBehind(rounds, trial.Confirmation)
	if len(contenders) != 4 || len(left) != 2 || len(left[0].Rounds) != 2 || len(contenders[0].Rounds) != 10 {
		t.Fatalf("%d stay, %d left", len(contenders), len(left))
	}
	if !slices.ContainsFunc(contenders, func(c Contender) bool { return c.Point.String() == "A=1" }) {
		t.Error("the default has left")
	}
	if b.calls != 2*6+8*4 || rounds[0].OrderSeed != 8 {
		t.Errorf("%d measurements, order seed %d", b.calls, rounds[0].OrderSeed)
	}
	// In noise of 30 % nothing is clear, and nobody leaves.
	b = &bench{noise: 0.3, times: b.times}
	if left := LeftBehind(confirmed(t, b, 4), trial.Confirmation); len(left) > 0 {
		t.Errorf("%v left", left)
	}
}

// A machine that becomes four times as slow in the middle leaves an interval all the same: the samples of a round are
// paid from half of the time, and the slowest leave where it is not enough.
func TestASlowerMachineLeavesAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{noise: 0.3, times: map[string]float64{"A=1": 2, "A=2": 1, "A=3": 1.1, "A=4": 1.2, "A=5": 1.3, "A=6": 1.4}}
		b.takes = func(samples int) time.Duration {
			if b.calls > 12 {
				samples *= 4
			}
			return time.Duration(samples) * 100 * time.Millisecond
		}
		for _, budget := range []time.Duration{4, 7, 10, 16, 30} {
			b.calls = 0
			start := time.Now()
			rounds := confirmedIn(t, b, 10, budget*time.Second)
			contenders, left := Contenders(rounds, trial.Confirmation), LeftBehind(rounds, trial.Confirmation)
			if n := len(contenders) + len(left) - 1; len(contenders) < 2 || len(contenders[0].Rounds) < Needed(n) {
				t.Errorf("%d s: %d rounds of %d contenders, %d left", budget, len(contenders[0].Rounds), len(contenders), len(left))
			}
			if took := time.Since(start); took > budget*time.Second {
				t.Errorf("%d s took %v", budget, took)
			}
		}
	})
}

// A throttled device costs the round in which it was, and no contender.
func TestAThrottledRoundIsMeasuredAgain(t *testing.T) {
	b := &bench{noise: 0.3, times: map[string]float64{"A=1": 1, "A=2": 1, "A=3": 1, "A=4": 1, "A=5": 1, "A=6": 1},
		throttled: map[int]bool{8: true}}
	rounds := confirmed(t, b, 4)
	if contenders := Contenders(rounds, trial.Confirmation); len(contenders) != 6 || len(contenders[0].Rounds) != 4 ||
		b.calls != 4*6+2 {
		t.Errorf("%d contenders after %d measurements", len(contenders), b.calls)
	}
	// The round that was lost is measured again in its order.
	if !slices.Equal(b.order[6:8], b.order[8:10]) {
		t.Errorf("%v", b.order[6:14])
	}
}

// Six rounds of six contenders are a Williams square: each is in each place once.
func TestOrdersAreBalancedOverABlock(t *testing.T) {
	b := &bench{noise: 0.3, times: map[string]float64{"A=1": 1, "A=2": 1, "A=3": 1, "A=4": 1, "A=5": 1, "A=6": 1}}
	confirmed(t, b, 6)
	seen := map[string]bool{}
	for i, name := range b.order {
		seen[fmt.Sprint(i%6, name)] = true
	}
	if len(b.order) != 36 || len(seen) != 36 {
		t.Errorf("%d measurements in %d places", len(b.order), len(seen))
	}
}
