package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// slowTrials is how many trials are tested with, and looksPerTrial how many looks
// the compilation of one takes.
const slowTrials, looksPerTrial = 25, 4

// lucky is a time that no point has.
const lucky = 0.1

// slowCompiler has a device with time to spare: it compiles a new point once the
// device has looked at others for a while. Nothing depends on real time: a wait
// begins when the compilation has begun, and ends with its last look.
type slowCompiler struct {
	search.Evaluator
	wrong space.Point // passes the quick check only
	lucky space.Point // is measured too fast at first
	slow  int         // how many compilations are slow, from the second on

	mu         sync.Mutex
	changed    sync.Cond
	compiled   map[space.Point]bool
	missing    int // looks until the one that has begun is done
	compiling  bool
	parts      map[space.Point]int
	incumbents []float64
}

func newSlowCompiler(s *replay.Space) *slowCompiler {
	c := &slowCompiler{
		Evaluator: replay.NewEvaluator(s, 1),
		slow:      slowTrials,
		compiled:  map[space.Point]bool{},
		parts:     map[space.Point]int{},
	}
	c.changed.L = &c.mu
	return c
}

// Anticipate waits until the point's compilation has begun.
func (c *slowCompiler) Anticipate(_ context.Context, p space.Point) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.compiled[p] {
		c.changed.Wait()
	}
	return nil
}

func (c *slowCompiler) Prepare(ctx context.Context, p space.Point) (objective.Prepared, error) {
	c.mu.Lock()
	if !c.compiled[p] {
		if len(c.compiled) > 0 && len(c.compiled) < c.slow {
			c.missing = looksPerTrial
		}
		c.compiled[p] = true
		c.compiling = true
		c.changed.Broadcast()
		for c.missing > 0 {
			c.changed.Wait()
		}
		c.compiling = false
		c.changed.Broadcast()
	}
	c.mu.Unlock()
	return c.Evaluator.Prepare(ctx, p)
}

func (c *slowCompiler) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.compiling && len(c.compiled) < c.slow {
		// The compilation is done and only has to say so: if all looks were used
		// up before it can, the next one would wait for ever.
		c.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		c.mu.Lock()
	}
	c.missing--
	c.changed.Broadcast()
	for c.compiling && c.missing <= 0 {
		c.changed.Wait()
	}
}

func (c *slowCompiler) Measure(ctx context.Context, p objective.Prepared,
	incumbent float64) (objective.Outcome, error) {
	c.mu.Lock()
	c.incumbents = append(c.incumbents, incumbent)
	c.mu.Unlock()
	outcome, err := c.Evaluator.Measure(ctx, p, incumbent)
	if p.Point == c.lucky {
		outcome.Samples = []float64{lucky, lucky, lucky}
	}
	return outcome, err
}

// VerifyFor takes three parts.
func (c *slowCompiler) VerifyFor(_ context.Context, p objective.Prepared,
	_ time.Duration) (bool, *objective.Failure, error) {
	defer c.look()
	c.parts[p.Point]++
	if p.Point == c.wrong {
		return false, &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}, nil
	}
	return c.parts[p.Point] >= 3, nil, nil
}

func (c *slowCompiler) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	defer c.look()
	return c.Evaluator.Sample(ctx, p, samples)
}

func lookingOptions(sampler string, resident search.Resident) search.Options {
	return search.Options{
		Resident: resident,
		Sampler:  sampler,
		Seed:     5,
		Ahead:    1,
		Lanes:    1,
		Goals:    trial.Goals{Trials: slowTrials, Rounds: 3},
	}
}

func runLooking(t *testing.T, c *slowCompiler, sampler string) (trial.Past, *memory) {
	t.Helper()
	m := &memory{}
	result, err := search.Run(t.Context(), recordedSpace(t).Pool(), c, m, trial.Past{}, lookingOptions(sampler, c))
	if err != nil {
		t.Fatal(err)
	}
	return result, m
}

// slowOne returns the slowest of the first points after the default.
func slowOne(t *testing.T) space.Point {
	before, _ := runLooking(t, newSlowCompiler(recordedSpace(t)), "random")
	ranked := trial.Ranking(before.Trials[1:10])
	return ranked[len(ranked)-1].Point
}

// Looks fill the time in which the device would wait, and change no choice.
func TestSecondLooksFillTheWait(t *testing.T) {
	s := recordedSpace(t)
	c := newSlowCompiler(s)
	result, _ := runLooking(t, c, "auto")
	plain, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), &memory{}, trial.Past{},
		lookingOptions("auto", nil))
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range result.Trials {
		if trial.Point != plain.Trials[i].Point {
			t.Fatalf("trial %d is %s, without looks %s", i, trial.Point, plain.Trials[i].Point)
		}
	}
	looks := 0
	for _, r := range result.Rounds {
		if r.Phase == trial.SecondLook {
			looks++
		}
	}
	for _, parts := range c.parts {
		if parts > 3 { // the last one may not be through
			t.Errorf("a check in three parts was done in %d", parts)
		}
		looks += parts
	}
	if want := looksPerTrial * (slowTrials - 1); looks < want {
		t.Errorf("%d looks in the time of %d", looks, want)
	}
	if result.Spending.Looking == 0 {
		t.Error("looking took no time")
	}
}

// A wrong point that is fastest is disqualified while the search goes on: nobody is
// measured against its time.
func TestSecondLookDisqualifiesAWrongLeader(t *testing.T) {
	c := newSlowCompiler(recordedSpace(t))
	c.wrong = slowOne(t)
	c.lucky = c.wrong
	result, m := runLooking(t, c, "random")
	if len(m.disqualified) != 1 ||
		slices.ContainsFunc(trial.Ranking(result.Trials), func(t trial.Trial) bool { return t.Point == c.wrong }) {
		t.Fatalf("disqualified: %v", m.disqualified)
	}
	if slices.Contains(c.incumbents, lucky) {
		t.Error("a trial was measured against the time of a wrong point")
	}
	if slices.ContainsFunc(result.Rounds, func(r trial.Round) bool { return r.Point == c.wrong }) {
		t.Error("a wrong point was measured again")
	}
}

// A point that was lucky once is no finalist where another look says so.
func TestSecondLookSeesThroughLuck(t *testing.T) {
	s := recordedSpace(t)
	c := newSlowCompiler(s)
	c.lucky = slowOne(t)
	result, _ := runLooking(t, c, "random")
	if trial.Ranking(result.Trials)[0].Point != c.lucky {
		t.Fatal("nobody was lucky: there is nothing to test")
	}
	for _, contender := range confirm.Contenders(result.Rounds, trial.Confirmation) {
		if contender.Point == c.lucky {
			t.Error("luck has made a finalist")
		}
	}
}

// A resumed study knows the looks of the run before.
func TestSecondLooksAreResumed(t *testing.T) {
	s := recordedSpace(t)
	first, _ := runLooking(t, newSlowCompiler(s), "random")
	past := trial.Past{Trials: first.Trials}
	for _, r := range first.Rounds {
		if r.Phase == trial.SecondLook && r.Number > 0 { // as if the first had been throttled
			past.Rounds = append(past.Rounds, r)
		}
	}
	c := newSlowCompiler(s)
	options := lookingOptions("random", c)
	options.Trials += 5
	c.slow = options.Trials
	for _, trial := range first.Trials {
		c.compiled[trial.Point] = true
	}
	again, err := search.Run(t.Context(), s.Pool(), c, &memory{trials: slices.Clone(first.Trials)}, past, options)
	if err != nil {
		t.Fatal(err)
	}
	met := map[space.Point]map[int]bool{}
	for _, r := range again.Rounds {
		if r.Phase != trial.SecondLook {
			continue
		}
		if met[r.Point] == nil {
			met[r.Point] = map[int]bool{}
		}
		if met[r.Point][r.Number] {
			t.Errorf("look %d at %s was taken twice", r.Number, r.Point)
		}
		met[r.Point][r.Number] = true
	}
}
