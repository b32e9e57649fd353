package search

import (
	"sync"

	"pawl/objective"
)

// known is what measuring needs to know of the trials told so far. It is kept
// beside the study, which goes on asking while points are measured.
type known struct {
	mu    sync.Mutex
	best  float64          // the best time in milliseconds, 0 for none
	twins map[string]Trial // the first trial of each machine code that ran
}

func (k *known) tell(t Trial) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !t.Told {
		return
	}
	if t.OK() && (k.best == 0 || t.Outcome.Milliseconds() < k.best) {
		k.best = t.Outcome.Milliseconds()
	}
	ran := t.OK() || t.Outcome.Failure.Stage == objective.Fuzz
	if _, met := k.twins[t.Outcome.Binary]; met || !ran || t.Outcome.Binary == "" {
		return
	}
	if k.twins == nil {
		k.twins = map[string]Trial{}
	}
	k.twins[t.Outcome.Binary] = t
}

// strike tells what a trial came to that failed the full check, and the best time
// without it.
func (k *known) strike(t Trial, best float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.best = best
	if _, met := k.twins[t.Outcome.Binary]; met {
		k.twins[t.Outcome.Binary] = t
	}
}

// rival returns the time to beat, 0 for none.
func (k *known) rival() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.best
}

// twin returns a trial whose machine code is the same.
func (k *known) twin(digest string) (Trial, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, found := k.twins[digest]
	return t, found
}
