package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/c-bata/goptuna"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// study asks for trials and finishes them: a thin layer over a goptuna study,
// whose relative sampler it is. goptuna's storage in memory has the point, the state and
// the time of every trial, and the best one is goptuna's answer. What it has no place
// for, the rest of an outcome, stands beside it in trials. One goroutine uses both,
// because that storage races with its readers.
type study struct {
	pool     *space.Pool
	view     *sampler.View
	sampler  sampler.Sampler
	seed     uint64
	goptuna  *goptuna.Study
	choices  [][]string // the values of each parameter as goptuna knows them
	recorder Recorder
	trials   []trial.Trial
	asked    []int // the positions in the pool of the trials' points
	twins    twins
	// forced are the points of the first trials, for which the sampler is not asked:
	// the default, what earlier studies found good, and what an interrupted run has
	// asked.
	forced  []int
	elapsed time.Duration // the study's active time when the last trial finished
	// draws are the trials whose points were drawn uniformly; wanted is how many there are to be. With a uniform sampler
	// all are.
	draws   map[int]bool
	wanted  int
	uniform bool
}

func newStudy(pool *space.Pool, options Options, recorder Recorder) (*study, error) {
	chooser, err := sampler.New(options.Sampler, pool.Space(), *options.Settings)
	if err != nil {
		return nil, err
	}
	pool = pool.Growing()
	s := &study{
		pool: pool, view: sampler.NewView(pool), sampler: chooser, seed: options.Seed,
		recorder: recorder, uniform: options.Sampler == "random", draws: map[int]bool{}, twins: twins{},
	}
	s.view.Earlier = options.Earlier
	// goptuna's parameters are all categorical, with the position of the value as the
	// internal number: our samplers know themselves what is ordered.
	distributions := map[string]any{}
	for _, p := range pool.Space().Params() {
		texts := collect.Each(p.Values, space.Value.String)
		s.choices = append(s.choices, texts)
		distributions[p.Name] = goptuna.CategoricalDistribution{Choices: texts}
	}
	s.goptuna, err = goptuna.CreateStudy("pawl",
		goptuna.StudyOptionStorage(goptuna.NewInMemoryStorage()),
		goptuna.StudyOptionDirection(goptuna.StudyDirectionMinimize),
		goptuna.StudyOptionRelativeSampler(s),
		goptuna.StudyOptionDefineSearchSpace(distributions),
		goptuna.StudyOptionLogger(silent{}),
	)
	if err != nil {
		return nil, fmt.Errorf("creating the study: %w", err)
	}
	if !options.DefaultUnknown {
		initial, err := pool.Index(pool.Space().Default())
		if err != nil {
			return nil, fmt.Errorf("creating the study: %w", err)
		}
		s.forced = []int{initial}
	}
	for _, point := range options.First {
		if index, err := pool.Index(point); err == nil && !slices.Contains(s.forced, index) {
			s.forced = append(s.forced, pool.Keep(index))
		}
	}
	return s, nil
}

// depth returns how many trials are worth having in flight.
func (s *study) depth(options Options) int {
	finished := 0
	var compiling, measuring time.Duration
	for _, t := range s.trials {
		if t.Finished {
			finished++
			compiling += t.Outcome.Spent.Compile
			measuring += t.Outcome.Spent.Check + t.Outcome.Spent.Measure
		}
	}
	depth := Depth{options.Ahead, options.Width, options.AsPrepared && sampler.Ranks(s.sampler), options.Trials == 0}
	return depth.At(finished, compiling, measuring)
}

// nextToMeasure returns which of some pending trials is to be measured first, by what is known now. What was drawn
// promises little and is what a search that wants it waits for.
func (s *study) nextToMeasure(trials []trial.Trial) int {
	var points []int
	for i, t := range trials {
		if s.draws[t.Number] {
			return i
		}
		points = append(points, s.asked[t.Number])
	}
	return sampler.NextToMeasure(s.sampler, s.view, points)
}

func (s *study) ask() (trial.Trial, error) {
	next, err := s.propose()
	if err != nil {
		return next, fmt.Errorf("asking for a trial: %w", err)
	}
	if err := s.recorder.Started(next); err != nil {
		return next, fmt.Errorf("recording trial %d: %w", next.Number, err)
	}
	return next, nil
}

func (s *study) propose() (trial.Trial, error) {
	id, err := s.goptuna.Storage.CreateNewTrial(s.goptuna.ID)
	if err != nil {
		return trial.Trial{}, err
	}
	proposal := goptuna.Trial{Study: s.goptuna, ID: id}
	if err := proposal.CallRelativeSampler(); err != nil {
		return trial.Trial{}, err
	}
	row := make(space.Row, len(s.choices))
	for i, p := range s.pool.Space().Params() {
		_, err := proposal.SuggestCategorical(p.Name, s.choices[i])
		var position float64
		if err == nil {
			position, err = s.goptuna.Storage.GetTrialParam(id, p.Name)
		}
		if err != nil {
			return trial.Trial{}, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		row[i] = uint16(position)
	}
	index, found := s.pool.Find(row)
	if !found {
		return trial.Trial{}, fmt.Errorf("goptuna has row %v for trial %d, which the pool lacks", row, id)
	}
	index = s.pool.Keep(index)
	s.pool.Forget()
	s.view.Ask(index)
	trial := trial.Trial{Number: id, Point: s.pool.Point(index)}
	s.trials, s.asked = append(s.trials, trial), append(s.asked, index)
	return trial, nil
}

// SampleRelative answers goptuna with the chosen point, parameter by parameter.
func (s *study) SampleRelative(_ *goptuna.Study, trial goptuna.FrozenTrial,
	_ map[string]any) (map[string]float64, error) {
	var index int
	switch {
	case trial.Number < len(s.forced):
		index = s.forced[trial.Number]
	case len(s.draws) < s.wanted:
		index = s.draw(trial.Number)
		s.draws[trial.Number] = true
	default:
		// A random source of its own per trial: the points of later trials do
		// not depend on how many numbers an earlier one has drawn.
		index = s.sampler.Next(s.view, rand.New(rand.NewPCG(s.seed, uint64(trial.Number))))
		if s.uniform {
			s.draws[trial.Number] = true
		}
		if !s.view.Free(index) {
			panic(fmt.Sprintf("search: a sampler proposed %s again", s.pool.Point(index)))
		}
	}
	internal := map[string]float64{}
	row := s.pool.Row(index)
	for i, p := range s.pool.Space().Params() {
		internal[p.Name] = float64(row[i])
	}
	return internal, nil
}

// draw returns the point that a trial has if it is drawn uniformly. That is a function of the points asked before, so
// that a record tells which trials were: no other is likely to have that very point.
func (s *study) draw(number int) int {
	return sampler.RandomFree(s.view, rand.New(rand.NewPCG(s.seed, ^uint64(number))))
}

// drawn returns how many trials that were drawn uniformly have finished.
func (s *study) drawn() int {
	count := 0
	for number := range s.draws {
		if s.trials[number].Finished {
			count++
		}
	}
	return count
}

func (s *study) finish(trial trial.Trial) error {
	if err := s.recorder.Finished(trial); err != nil {
		return fmt.Errorf("recording the outcome of trial %d: %w", trial.Number, err)
	}
	if err := s.learn(trial); err != nil {
		return fmt.Errorf("finishing trial %d: %w", trial.Number, err)
	}
	return nil
}

// learn makes an outcome known to goptuna and to the samplers.
func (s *study) learn(trial trial.Trial) error {
	storage, state, milliseconds := s.goptuna.Storage, goptuna.TrialStateFail, 0.0
	if trial.OK() {
		milliseconds = trial.Outcome.Milliseconds()
		if math.IsNaN(milliseconds) || math.IsInf(milliseconds, 0) {
			panic(fmt.Sprintf("search: trial %d has the time %v", trial.Number, milliseconds))
		}
		if err := storage.SetTrialValue(trial.Number, milliseconds); err != nil {
			return err
		}
		state = goptuna.TrialStateComplete
	}
	if err := storage.SetTrialState(trial.Number, state); err != nil {
		return err
	}
	spent := trial.Outcome.Spent
	s.view.Observe(sampler.Observation{
		Index: s.asked[trial.Number], Failed: !trial.OK(), Milliseconds: milliseconds,
		Seconds: (spent.Compile + spent.Check + spent.Measure).Seconds(),
	})
	s.trials[trial.Number] = trial
	s.elapsed = max(s.elapsed, trial.Elapsed)
	s.twins.add(trial)
	return nil
}

// disqualify turns a finished trial into a failure, durably first. goptuna and the samplers
// see it: what a wrong result has to offer must not attract them.
func (s *study) disqualify(number int, failure *objective.Failure) error {
	err := s.recorder.Disqualified(number, failure)
	if err == nil {
		err = s.fail(number)
	}
	if err != nil {
		return fmt.Errorf("disqualifying trial %d: %w", number, err)
	}
	trial := &s.trials[number]
	trial.Outcome.Failure, trial.Outcome.Samples = failure, nil
	s.view.Fail(s.asked[number])
	s.twins.disqualify(*trial)
	return nil
}

// fail makes goptuna's finished trial a failed one. Its storage refuses to change what is
// finished, so all trials are put back one after the other.
func (s *study) fail(number int) error {
	trials, err := s.goptuna.GetTrials()
	if err == nil {
		err = s.goptuna.Storage.DeleteStudy(s.goptuna.ID)
	}
	for _, t := range trials {
		if t.Number == number {
			t.State, t.Value = goptuna.TrialStateFail, 0
		}
		if err == nil {
			_, err = s.goptuna.Storage.CloneTrial(s.goptuna.ID, t)
		}
	}
	return err
}

func (s *study) best() (trial.Trial, bool) {
	fastest, err := s.goptuna.Storage.GetBestTrial(s.goptuna.ID)
	if err != nil { // none is complete
		return trial.Trial{}, false
	}
	return s.trials[fastest.Number], true
}

// initial returns the default point's trial, if it has a time. It is among the first ones.
func (s *study) initial() (trial.Trial, bool) {
	first := s.trials[:min(len(s.trials), 16)]
	return collect.First(first, func(t trial.Trial) bool { return t.OK() && t.Point == s.pool.Space().Default() })
}

// silent is a logger for goptuna that keeps quiet: every problem that it would log is returned as an error too.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
