package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/c-bata/goptuna"

	"pawl/objective"
	"pawl/search/sampler"
	"pawl/space"
)

// study asks and tells: the small face of a goptuna study.
type study struct {
	pool     *space.Pool
	view     *sampler.View
	goptuna  *goptuna.Study
	ledger   *ledger // its storage
	relative *relativeSampler
	recorder Recorder
	trials   []Trial
	first    []int         // positions to try before the sampler is asked
	leader   int           // number of the fastest told trial, -1 for none
	elapsed  time.Duration // the study's active time when the last trial was told
}

func newStudy(pool *space.Pool, chooser sampler.Sampler, seed uint64, first []space.Point, recorder Recorder) (*study, error) {
	view := sampler.NewView(pool)
	relative := &relativeSampler{sampler: chooser, view: view, seed: seed}
	storage := newLedger()
	inner, err := goptuna.CreateStudy("pawl",
		goptuna.StudyOptionStorage(storage),
		goptuna.StudyOptionDirection(goptuna.StudyDirectionMinimize),
		goptuna.StudyOptionRelativeSampler(relative),
		goptuna.StudyOptionDefineSearchSpace(distributions(pool.Space())),
		goptuna.StudyOptionLogger(silent{}),
	)
	if err != nil {
		return nil, fmt.Errorf("creating the study: %w", err)
	}
	index, err := pool.Index(pool.Space().Default())
	if err != nil {
		return nil, fmt.Errorf("creating the study: %w", err)
	}
	s := &study{
		pool: pool, view: view, goptuna: inner, ledger: storage, relative: relative, recorder: recorder,
		first: []int{index}, leader: -1,
	}
	for _, point := range first {
		if index, err := pool.Index(point); err == nil && !slices.Contains(s.first, index) {
			s.first = append(s.first, index)
		}
	}
	return s, nil
}

// distributions describes the space to goptuna.
func distributions(s *space.Space) map[string]any {
	described := map[string]any{}
	for _, p := range s.Params() {
		described[p.Name] = goptuna.CategoricalDistribution{Choices: choices(p)}
	}
	return described
}

func choices(p space.Param) []string {
	texts := make([]string, len(p.Values))
	for i, v := range p.Values {
		texts[i] = v.String()
	}
	return texts
}

// exhausted reports whether every point was asked.
func (s *study) exhausted() bool { return s.view.FreeCount() == 0 }

// ask proposes the next trial and records it. The default comes first, then
// what earlier studies found good, then what the sampler chooses.
func (s *study) ask() (Trial, error) {
	var forced *int
	if n := len(s.trials); n < len(s.first) {
		forced = &s.first[n]
	}
	trial, err := s.propose(forced)
	if err != nil {
		return Trial{}, err
	}
	if err := s.recorder.Asked(trial); err != nil {
		return Trial{}, fmt.Errorf("recording trial %d: %w", trial.Number, err)
	}
	return trial, nil
}

// propose takes a trial through goptuna, with a given point or a sampled one.
func (s *study) propose(forced *int) (Trial, error) {
	id, err := s.goptuna.Storage.CreateNewTrial(s.goptuna.ID)
	if err != nil {
		return Trial{}, fmt.Errorf("asking for a trial: %w", err)
	}
	s.relative.forced = forced
	proposal := goptuna.Trial{Study: s.goptuna, ID: id}
	if err := proposal.CallRelativeSampler(); err != nil {
		return Trial{}, fmt.Errorf("asking for a trial: %w", err)
	}
	row := make(space.Row, len(s.pool.Space().Params()))
	for i, p := range s.pool.Space().Params() {
		text, err := proposal.SuggestCategorical(p.Name, choices(p))
		if err != nil {
			return Trial{}, fmt.Errorf("asking for %s: %w", p.Name, err)
		}
		for at, v := range p.Values {
			if v.String() == text {
				row[i] = uint16(at)
			}
		}
	}
	index, found := s.pool.Find(row)
	if !found || index != s.relative.chosen {
		panic("search: goptuna returned another point than the sampler chose")
	}
	s.view.Ask(index)
	trial := Trial{Number: id, Point: s.pool.Point(index)}
	s.trials = append(s.trials, trial)
	return trial, nil
}

// tell records an outcome, durably first.
func (s *study) tell(trial Trial) error {
	if err := s.recorder.Told(trial); err != nil {
		return fmt.Errorf("recording the outcome of trial %d: %w", trial.Number, err)
	}
	return s.learn(trial)
}

// learn makes an outcome known to goptuna and to the samplers.
func (s *study) learn(trial Trial) error {
	index, err := s.pool.Index(trial.Point)
	if err != nil {
		return fmt.Errorf("telling trial %d: %w", trial.Number, err)
	}
	spent := trial.Outcome.Spent
	observation := sampler.Observation{
		Index: index, Failed: trial.Outcome.Failure != nil,
		Seconds: (spent.Compile + spent.Check + spent.Measure).Seconds(),
	}
	state := goptuna.TrialStateFail
	if !observation.Failed {
		observation.Milliseconds = trial.Outcome.Milliseconds()
		if math.IsNaN(observation.Milliseconds) || math.IsInf(observation.Milliseconds, 0) {
			panic(fmt.Sprintf("search: trial %d has the time %v", trial.Number, observation.Milliseconds))
		}
		if err := s.goptuna.Storage.SetTrialValue(trial.Number, observation.Milliseconds); err != nil {
			return fmt.Errorf("telling trial %d: %w", trial.Number, err)
		}
		state = goptuna.TrialStateComplete
	}
	if err := s.goptuna.Storage.SetTrialState(trial.Number, state); err != nil {
		return fmt.Errorf("telling trial %d: %w", trial.Number, err)
	}
	s.view.Observe(observation)
	s.trials[trial.Number] = trial
	s.elapsed = max(s.elapsed, trial.Elapsed)
	if trial.OK() && (s.leader < 0 || observation.Milliseconds < s.trials[s.leader].Outcome.Milliseconds()) {
		s.leader = trial.Number
	}
	return nil
}

// strike turns a told trial into a failure. The samplers hear of it: what a wrong
// result has to offer must not attract them.
func (s *study) strike(number int, failure *objective.Failure) (Trial, error) {
	struck := &s.trials[number]
	index, err := s.pool.Index(struck.Point)
	if err != nil {
		return *struck, fmt.Errorf("striking out trial %d: %w", number, err)
	}
	if err := s.ledger.strike(number); err != nil {
		return *struck, fmt.Errorf("striking out trial %d: %w", number, err)
	}
	struck.Outcome.Failure, struck.Outcome.Samples = failure, nil
	s.view.Fail(index)
	s.leader = -1
	if ranked := Ranking(s.trials); len(ranked) > 0 {
		s.leader = ranked[0].Number
	}
	return *struck, nil
}

// restore replays what an earlier run has recorded: the told trials, and the
// points of those that were still running, which it returns to be run again.
func (s *study) restore(history []Trial) (running []Trial, err error) {
	for i, t := range history {
		if t.Number != i {
			return nil, fmt.Errorf("the record lacks trial %d", i)
		}
		index, err := s.pool.Index(t.Point)
		if err != nil {
			return nil, fmt.Errorf("trial %d of the record: %w", i, err)
		}
		trial, err := s.propose(&index)
		if err != nil {
			return nil, err
		}
		if !t.Told {
			running = append(running, trial)
		} else if err := s.learn(t); err != nil {
			return nil, err
		}
	}
	return running, nil
}

// best returns the fastest told trial.
func (s *study) best() (Trial, bool) {
	if s.leader < 0 {
		return Trial{}, false
	}
	return s.trials[s.leader], true
}

// relativeSampler plugs a Sampler into goptuna. goptuna's parameters are all
// categorical, with the position of the value as the internal number: our
// samplers know themselves what is ordered.
type relativeSampler struct {
	sampler sampler.Sampler
	view    *sampler.View
	seed    uint64
	// forced is the point that the next trial gets without asking the sampler:
	// the default comes first, and trials of an interrupted run again.
	forced *int
	chosen int
}

var _ goptuna.RelativeSampler = (*relativeSampler)(nil)

// SampleRelative answers goptuna with the chosen point, parameter by parameter.
func (r *relativeSampler) SampleRelative(_ *goptuna.Study, trial goptuna.FrozenTrial, _ map[string]any) (map[string]float64, error) {
	if r.forced != nil {
		r.chosen = *r.forced
	} else {
		// A random source of its own per trial: the points of later trials do
		// not depend on how many numbers an earlier one has drawn.
		r.chosen = r.sampler.Next(r.view, rand.New(rand.NewPCG(r.seed, uint64(trial.Number))))
		if !r.view.Free(r.chosen) {
			panic(fmt.Sprintf("search: a sampler proposed %s again", r.view.Pool.Point(r.chosen)))
		}
	}
	internal := map[string]float64{}
	row := r.view.Pool.Row(r.chosen)
	for i, p := range r.view.Pool.Space().Params() {
		internal[p.Name] = float64(row[i])
	}
	return internal, nil
}

// silent is a logger for goptuna that keeps quiet: every problem that it would
// log is returned as an error too.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
