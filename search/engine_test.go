package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// recordedSpace is a space of 240 points with a smooth optimum, a parameter
// that does nothing and a corner that fails.
func recordedSpace(t testing.TB) *replay.Space { return recordedSpaceOf(t, 1, 2, 3) }

// recordedSpaceOf has so many values of the parameter that does nothing.
func recordedSpaceOf(t testing.TB, dead ...int64) *replay.Space {
	t.Helper()
	record := &replay.Record{Kernel: "synthetic", Workload: "w", DefaultKnown: true}
	values := map[string][]int64{
		"M":      {16, 32, 64, 128, 256},
		"N":      {16, 32, 64, 128},
		"STAGES": {1, 2, 3, 4},
		"DEAD":   dead,
	}
	for _, name := range []string{"M", "N", "STAGES", "DEAD"} {
		p := space.Param{Name: name, Ordered: true}
		for _, v := range values[name] {
			p.Values = append(p.Values, space.IntegerValue(v))
		}
		p.Default = p.Values[0]
		record.Params = append(record.Params, p)
	}
	for _, m := range values["M"] {
		for _, n := range values["N"] {
			for _, stages := range values["STAGES"] {
				for _, dead := range values["DEAD"] {
					point, err := space.ParsePoint(fmt.Sprintf("M=%d,N=%d,STAGES=%d,DEAD=%d", m, n, stages, dead))
					if err != nil {
						t.Fatal(err)
					}
					entry := replay.Entry{Point: point}
					if m*n*stages > 64*1024 {
						entry.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult, Detail: "too much"}
					} else {
						away := math.Abs(math.Log2(float64(m)/128)) + math.Abs(math.Log2(float64(n)/64)) + math.Abs(float64(stages-3))
						for i := range 10 {
							entry.Samples = append(entry.Samples, 1+0.5*away+0.001*float64(i))
						}
						entry.Milliseconds = entry.Samples[5]
					}
					record.Entries = append(record.Entries, entry)
				}
			}
		}
	}
	s, err := replay.New(record)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memory is a recorder that keeps what it is given. It can be made to fail.
type memory struct {
	mu           sync.Mutex
	trials       []trial.Trial
	rounds       []trial.Round
	disqualified []int
	failing      error
}

func (m *memory) Started(t trial.Trial) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trials = append(m.trials, t)
	return m.failing
}

func (m *memory) Finished(t trial.Trial) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trials[t.Number] = t
	return m.failing
}

func (m *memory) Disqualified(number int, f *objective.Failure) error {
	m.disqualified = append(m.disqualified, number)
	return m.failing
}

func (m *memory) Measured(r trial.Round) error {
	m.rounds = append(m.rounds, r)
	return m.failing
}

func (m *memory) points() []string {
	var points []string
	for _, t := range m.trials {
		points = append(points, t.Point.String())
	}
	return points
}

func runStudy(t *testing.T, s *replay.Space, past trial.Past, options search.Options) (*memory, trial.Past) {
	t.Helper()
	m := &memory{trials: slices.Clone(past.Trials), rounds: slices.Clone(past.Rounds)}
	if options.Sampler == "" {
		options.Sampler = "evolve"
	}
	result, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), m, past, options)
	if err != nil {
		t.Fatal(err)
	}
	return m, result
}

func TestSameSeedSameTrialsWhateverTheLanes(t *testing.T) {
	s := recordedSpace(t)
	for _, sampler := range sampler.Names() {
		t.Run(sampler, func(t *testing.T) {
			one, _ := runStudy(t, s, trial.Past{},
				search.Options{Sampler: sampler, Seed: 5, Lanes: 1, Goals: trial.Goals{Trials: 60}})
			many, _ := runStudy(t, s, trial.Past{},
				search.Options{Sampler: sampler, Seed: 5, Lanes: 16, Goals: trial.Goals{Trials: 60}})
			if !slices.Equal(one.points(), many.points()) {
				t.Error("the number of lanes changed the points")
			}
			other, _ := runStudy(t, s, trial.Past{}, search.Options{Sampler: sampler, Seed: 6, Goals: trial.Goals{Trials: 20}})
			if sampler != "grid" && slices.Equal(one.points()[:20], other.points()[:20]) {
				t.Error("another seed, the same points")
			}
			if one.trials[0].Point != s.Space().Default() {
				t.Errorf("the first trial is %s, not the default", one.trials[0].Point)
			}
		})
	}
}

// An interruption after any number of recorded steps, also between an ask and
// its tell, leads to the same study in the end.
func TestResumeEndsAsIfUndisturbed(t *testing.T) {
	for _, test := range []struct {
		sampler string
		every   int // every how many finished trials it is cut: models take time
	}{{"evolve", 1}, {sampler.Default, 13}} {
		t.Run(test.sampler, func(t *testing.T) { resumeEverywhere(t, test.sampler, test.every) })
	}
}

func resumeEverywhere(t *testing.T, sampler string, every int) {
	s := recordedSpace(t)
	options := search.Options{Sampler: sampler, Seed: 9, Goals: trial.Goals{Trials: 40, Rounds: 3}}
	undisturbed, _ := runStudy(t, s, trial.Past{}, options)
	for finished := 0; finished <= 40; finished += every {
		for pending := range 9 {
			// The pipeline is filled before the first answer and again after
			// each, so an interruption finds one less in flight than before the
			// last answer, or more, or all that are left.
			depth := search.Depth{Most: search.DefaultAhead, Width: 1}
			full := finished == 0 || pending >= depth.At(finished-1, 0, 0)-1 || finished+pending == 40
			if !full || finished+pending > 40 || pending > depth.At(finished, 0, 0) {
				continue
			}
			past := trial.Past{}
			for i := range finished + pending {
				tried := undisturbed.trials[i]
				if i >= finished {
					tried = trial.Trial{Number: tried.Number, Point: tried.Point}
				}
				past.Trials = append(past.Trials, tried)
			}
			resumed, result := runStudy(t, s, past, options)
			if !slices.Equal(resumed.points(), undisturbed.points()) {
				t.Fatalf("cut after %d finished and %d pending: other points", finished, pending)
			}
			if result.Ended != trial.TrialsDone {
				t.Errorf("ended: %s", result.Ended)
			}
		}
	}
}

func TestUsedUpSpaceEndsPolitely(t *testing.T) {
	s := recordedSpaceOf(t, 1)
	for _, sampler := range sampler.Names() {
		m, result := runStudy(t, s, trial.Past{},
			search.Options{Sampler: sampler, Seed: 1, Goals: trial.Goals{Trials: 10_000, Rounds: 3}})
		if result.Ended != trial.UsedUp || len(m.trials) != 80 {
			t.Errorf("%s: %s after %d trials", sampler, result.Ended, len(m.trials))
		}
		seen := map[string]bool{}
		for _, p := range m.points() {
			if seen[p] {
				t.Errorf("%s: %s twice", sampler, p)
			}
			seen[p] = true
		}
		winner, found := confirm.Winner(result.Rounds)
		if m, _ := winner.Get("M"); !found || m.Integer() != 128 {
			t.Errorf("%s: winner %s", sampler, winner)
		}
	}
}

func TestStopEndsWithoutConfirmation(t *testing.T) {
	s := recordedSpace(t)
	stop := make(chan struct{})
	once := sync.OnceFunc(func() { close(stop) })
	m, result := runStudy(t, s, trial.Past{},
		search.Options{Seed: 1, Goals: trial.Goals{Trials: 200}, Stop: stop, Observe: func(p search.Progress) {
			if p.Finished >= 20 {
				once()
			}
		}})
	if result.Ended != trial.Stopped || len(result.Rounds) != 0 {
		t.Errorf("%s with %d rounds", result.Ended, len(result.Rounds))
	}
	finished := 0
	for _, tried := range m.trials {
		if tried.Finished {
			finished++
		}
	}
	if finished < 20 || finished > 30 {
		t.Errorf("%d trials finished", finished)
	}
}

func TestBudgetsEndTheSearch(t *testing.T) {
	s := recordedSpace(t)
	_, spent := runStudy(t, s, trial.Past{}, search.Options{Seed: 1, Goals: trial.Goals{Budget: 1, Rounds: 3}})
	if spent.Ended != trial.BudgetSpent || len(spent.Trials) != 0 {
		t.Errorf("no time: %s after %d trials", spent.Ended, len(spent.Trials))
	}
	// The default takes 6.5 + ms, the optimum 1: twice as fast is easy.
	met, result := runStudy(t, s, trial.Past{}, search.Options{Seed: 1, Goals: trial.Goals{Target: 2, Rounds: 3}})
	if result.Ended != trial.TargetMet || len(met.trials) > 100 {
		t.Errorf("target: %s after %d trials", result.Ended, len(met.trials))
	}
	// A hundred times as fast is not there: the space is used up.
	if _, never := runStudy(t, s, trial.Past{},
		search.Options{Sampler: "grid", Seed: 1, Goals: trial.Goals{Target: 100, Rounds: 3}}); never.Ended != trial.UsedUp {
		t.Errorf("an impossible target: %s", never.Ended)
	}
}

func TestRecorderFailureEndsTheStudy(t *testing.T) {
	s := recordedSpace(t)
	full := errors.New("disk full")
	_, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), &memory{failing: full}, trial.Past{},
		search.Options{Sampler: "random", Goals: trial.Goals{Trials: 5}})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// faulty wraps an evaluator and injects one kind of fault.
type faulty struct {
	search.Evaluator
	prepare func(space.Point) *objective.Failure
	verify  func(space.Point) *objective.Failure
	sample  func(space.Point) *objective.Failure
	digest  func(space.Point) string
}

func (f *faulty) Prepare(ctx context.Context, p space.Point) (objective.Prepared, error) {
	prepared, err := f.Evaluator.Prepare(ctx, p)
	if f.prepare != nil {
		prepared.Failure = f.prepare(p)
	}
	if f.digest != nil {
		prepared.Binary.Digest = f.digest(p)
	}
	return prepared, err
}

func (f *faulty) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	if p.Failure != nil {
		return objective.Outcome{Failure: p.Failure}, nil
	}
	outcome, err := f.Evaluator.Measure(ctx, p, incumbent)
	outcome.Binary = p.Binary.Digest
	return outcome, err
}

func (f *faulty) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	if f.verify != nil {
		if failure := f.verify(p.Point); failure != nil {
			return failure, nil
		}
	}
	return f.Evaluator.Verify(ctx, p)
}

func (f *faulty) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	if f.sample != nil {
		if failure := f.sample(p.Point); failure != nil {
			return objective.Outcome{Failure: failure}, nil
		}
	}
	return f.Evaluator.Sample(ctx, p, samples)
}

func TestBrokenCompilerEndsTheSearchSoon(t *testing.T) {
	s := recordedSpace(t)
	broken := &faulty{Evaluator: replay.NewEvaluator(s, 1), prepare: func(space.Point) *objective.Failure {
		return &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError, Detail: "error: no such flag"}
	}}
	m := &memory{}
	_, err := search.Run(t.Context(), s.Pool(), broken, m, trial.Past{},
		search.Options{Sampler: "random", Goals: trial.Goals{Trials: 100}})
	var nothing *search.NothingCompilesError
	if !errors.As(err, &nothing) || !strings.Contains(err.Error(), "no such flag") {
		t.Fatalf("got %v", err)
	}
	if len(m.trials) > 20 {
		t.Errorf("%d trials before giving up", len(m.trials))
	}
}

func TestFirstPointsFollowTheDefault(t *testing.T) {
	s := recordedSpace(t)
	first := []space.Point{s.Optimum().Point, s.Space().Default(), s.Optimum().Point}
	m, _ := runStudy(t, s, trial.Past{},
		search.Options{Seed: 1, First: first, Goals: trial.Goals{Trials: 10, Rounds: 3}})
	if m.trials[0].Point != s.Space().Default() || m.trials[1].Point != s.Optimum().Point {
		t.Errorf("began with %s, %s", m.trials[0].Point, m.trials[1].Point)
	}
	seen := map[space.Point]bool{}
	for _, tried := range m.trials {
		if seen[tried.Point] {
			t.Errorf("%s twice", tried.Point)
		}
		seen[tried.Point] = true
	}
}
