package search

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/c-bata/goptuna"
)

// ledger is goptuna's storage for one study, in memory. goptuna writes what it
// asks for here; what must last goes through the Recorder at ask and at tell.
//
// It exists because goptuna's own storages do not serve: the one in memory
// races with its readers, and the one in SQL needs 86 statements per trial and
// half a second at a thousand trials.
type ledger struct {
	mu          sync.RWMutex
	name        string
	direction   goptuna.StudyDirection
	userAttrs   map[string]string
	systemAttrs map[string]string
	trials      []goptuna.FrozenTrial // the index is the trial's ID and number
}

var _ goptuna.Storage = (*ledger)(nil)

// ledgerStudy is the ID of the only study in a ledger.
const ledgerStudy = 1

var errOneStudy = errors.New("search: a ledger holds one study")

func newLedger() *ledger {
	return &ledger{
		direction:   goptuna.StudyDirectionMinimize,
		userAttrs:   map[string]string{},
		systemAttrs: map[string]string{},
	}
}

func (l *ledger) CreateNewStudy(name string) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name = name
	return ledgerStudy, nil
}

func (l *ledger) DeleteStudy(int) error { return errOneStudy }

func (l *ledger) SetStudyDirection(_ int, direction goptuna.StudyDirection) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.direction = direction
	return nil
}

func (l *ledger) SetStudyUserAttr(_ int, key, value string) error {
	return l.setAttribute(l.userAttrs, key, value)
}

func (l *ledger) SetStudySystemAttr(_ int, key, value string) error {
	return l.setAttribute(l.systemAttrs, key, value)
}

func (l *ledger) setAttribute(attributes map[string]string, key, value string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	attributes[key] = value
	return nil
}

func (l *ledger) GetStudyIDFromName(name string) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if name != l.name {
		return 0, fmt.Errorf("search: no study %q", name)
	}
	return ledgerStudy, nil
}

func (l *ledger) GetStudyIDFromTrialID(trialID int) (int, error) {
	_, err := l.GetTrial(trialID)
	return ledgerStudy, err
}

func (l *ledger) GetStudyNameFromID(int) (string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.name, nil
}

func (l *ledger) GetStudyDirection(int) (goptuna.StudyDirection, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.direction, nil
}

func (l *ledger) GetStudyUserAttrs(int) (map[string]string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return copyMap(l.userAttrs), nil
}

func (l *ledger) GetStudySystemAttrs(int) (map[string]string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return copyMap(l.systemAttrs), nil
}

func (l *ledger) GetAllStudySummaries() ([]goptuna.StudySummary, error) {
	best, err := l.GetBestTrial(ledgerStudy)
	if err != nil && !errors.Is(err, goptuna.ErrNoCompletedTrials) {
		return nil, err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return []goptuna.StudySummary{{
		ID: ledgerStudy, Name: l.name, Direction: l.direction, BestTrial: best,
		UserAttrs: copyMap(l.userAttrs), SystemAttrs: copyMap(l.systemAttrs),
	}}, nil
}

func (l *ledger) CreateNewTrial(int) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := len(l.trials)
	l.trials = append(l.trials, goptuna.FrozenTrial{
		ID: number, StudyID: ledgerStudy, Number: number,
		State: goptuna.TrialStateRunning, DatetimeStart: time.Now(),
		InternalParams: map[string]float64{}, Params: map[string]any{}, Distributions: map[string]any{},
	})
	return number, nil
}

func (l *ledger) CloneTrial(_ int, base goptuna.FrozenTrial) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	trial := copyTrial(base)
	trial.ID, trial.Number, trial.StudyID = len(l.trials), len(l.trials), ledgerStudy
	l.trials = append(l.trials, trial)
	return trial.ID, nil
}

// update changes a trial that is still running.
func (l *ledger) update(trialID int, change func(*goptuna.FrozenTrial) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if trialID < 0 || trialID >= len(l.trials) {
		return goptuna.ErrInvalidTrialID
	}
	if l.trials[trialID].State.IsFinished() {
		return goptuna.ErrTrialCannotBeUpdated
	}
	return change(&l.trials[trialID])
}

func (l *ledger) SetTrialValue(trialID int, value float64) error {
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		t.Value = value
		return nil
	})
}

func (l *ledger) SetTrialIntermediateValue(trialID, step int, value float64) error {
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		if _, twice := t.IntermediateValues[step]; twice {
			return fmt.Errorf("search: step %d of trial %d is there already", step, trialID)
		}
		t.IntermediateValues = with(t.IntermediateValues, step, value)
		return nil
	})
}

func (l *ledger) SetTrialParam(trialID int, name string, internal float64, distribution any) error {
	external, err := goptuna.ToExternalRepresentation(distribution, internal)
	if err != nil {
		return err
	}
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		t.InternalParams[name], t.Params[name], t.Distributions[name] = internal, external, distribution
		return nil
	})
}

func (l *ledger) SetTrialState(trialID int, state goptuna.TrialState) error {
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		t.State = state
		if state.IsFinished() {
			t.DatetimeComplete = time.Now()
		}
		return nil
	})
}

// strike fails a trial that is complete, which goptuna has no way to say: what was
// found wrong later must not stay its best.
func (l *ledger) strike(trialID int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if trialID < 0 || trialID >= len(l.trials) {
		return goptuna.ErrInvalidTrialID
	}
	l.trials[trialID].State, l.trials[trialID].Value = goptuna.TrialStateFail, 0
	return nil
}

func (l *ledger) SetTrialUserAttr(trialID int, key, value string) error {
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		t.UserAttrs = with(t.UserAttrs, key, value)
		return nil
	})
}

func (l *ledger) SetTrialSystemAttr(trialID int, key, value string) error {
	return l.update(trialID, func(t *goptuna.FrozenTrial) error {
		t.SystemAttrs = with(t.SystemAttrs, key, value)
		return nil
	})
}

func (l *ledger) GetTrialNumberFromID(trialID int) (int, error) {
	t, err := l.GetTrial(trialID)
	return t.Number, err
}

func (l *ledger) GetTrialParam(trialID int, name string) (float64, error) {
	t, err := l.GetTrial(trialID)
	if err != nil {
		return 0, err
	}
	value, ok := t.InternalParams[name]
	if !ok {
		return 0, fmt.Errorf("search: trial %d has no parameter %s", trialID, name)
	}
	return value, nil
}

func (l *ledger) GetTrial(trialID int) (goptuna.FrozenTrial, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if trialID < 0 || trialID >= len(l.trials) {
		return goptuna.FrozenTrial{}, goptuna.ErrInvalidTrialID
	}
	return copyTrial(l.trials[trialID]), nil
}

func (l *ledger) GetAllTrials(int) ([]goptuna.FrozenTrial, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	trials := make([]goptuna.FrozenTrial, len(l.trials))
	for i, t := range l.trials {
		trials[i] = copyTrial(t)
	}
	return trials, nil
}

// GetBestTrial returns the completed trial with the best value. Unlike
// goptuna's storages it says so when there is none.
func (l *ledger) GetBestTrial(int) (goptuna.FrozenTrial, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	best := -1
	for i, t := range l.trials {
		if t.State == goptuna.TrialStateComplete && (best < 0 || l.better(t.Value, l.trials[best].Value)) {
			best = i
		}
	}
	if best < 0 {
		return goptuna.FrozenTrial{}, goptuna.ErrNoCompletedTrials
	}
	return copyTrial(l.trials[best]), nil
}

func (l *ledger) better(a, b float64) bool {
	if l.direction == goptuna.StudyDirectionMaximize {
		return a > b
	}
	return a < b
}

func (l *ledger) GetTrialParams(trialID int) (map[string]any, error) {
	t, err := l.GetTrial(trialID)
	return t.Params, err
}

func (l *ledger) GetTrialUserAttrs(trialID int) (map[string]string, error) {
	t, err := l.GetTrial(trialID)
	return t.UserAttrs, err
}

func (l *ledger) GetTrialSystemAttrs(trialID int) (map[string]string, error) {
	t, err := l.GetTrial(trialID)
	return t.SystemAttrs, err
}

// copyTrial copies what a running trial's writer may still change, so that no
// reader races with it.
func copyTrial(t goptuna.FrozenTrial) goptuna.FrozenTrial {
	t.IntermediateValues = copyMap(t.IntermediateValues)
	t.InternalParams = copyMap(t.InternalParams)
	t.Params = copyMap(t.Params)
	t.Distributions = copyMap(t.Distributions)
	t.UserAttrs = copyMap(t.UserAttrs)
	t.SystemAttrs = copyMap(t.SystemAttrs)
	return t
}

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m))
	for key, value := range m {
		c[key] = value
	}
	return c
}

func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}
