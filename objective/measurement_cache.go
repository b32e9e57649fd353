package objective

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"pawl/objective/cache"
)

// measurementCache remembers what was measured on this day, in the cache beside the machine
// code. A point whose machine code was checked and measured today, on the same
// inputs, device and options, is not measured again; whoever becomes a finalist is.
//
// A machine is not always in the same state, and times of two states must not be
// mixed. So the default point is always measured, and all are remembered only if
// its time is what it was when the day began.
type measurementCache struct {
	cache *cache.Cache // nil remembers nothing
	// day is that of the first question, also after midnight: the default was measured on it.
	day func() string
	// common is the part of every key that the point does not change.
	common func() (string, error)

	mu      sync.Mutex
	trusted bool
}

// sameState is how far apart two times of the default point may be, relative to
// each other, for the machine to be in the same state.
const sameState = 0.02

// errUnknown says that there is nothing to remember.
var errUnknown = errors.New("not measured today")

// newMeasurementCache keeps measurements in a cache, which may be nil. Circumstances is everything
// beside the machine code and the day that they depend on.
func newMeasurementCache(c *cache.Cache, circumstances func() (string, error)) *measurementCache {
	return measurementCacheAt(c, time.Now, circumstances)
}

func measurementCacheAt(c *cache.Cache, now func() time.Time, circumstances func() (string, error)) *measurementCache {
	day := sync.OnceValue(func() string { return now().UTC().Format(time.DateOnly) })
	return &measurementCache{cache: c, day: day, common: sync.OnceValues(circumstances)}
}

// program tells this build of this program from others, which may measure
// differently.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC())
}

func (t *measurementCache) key(p Prepared) (*cache.Key, error) {
	common, err := t.common()
	if err != nil {
		return nil, err
	}
	return cache.NewKey().
		Add("what", "measurement").
		Add("day", t.day()).
		Add("machine code", p.Binary.Digest).
		Add("circumstances", common), nil
}

// find returns what is remembered of a point, or errUnknown.
func (t *measurementCache) find(p Prepared) (o Outcome, err error) {
	key, err := t.key(p)
	if err != nil {
		return o, err
	}
	entry, err := t.cache.Get(key, func(string) error { return errUnknown })
	if err != nil {
		return o, err
	}
	content, err := os.ReadFile(entry.Path)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(content, &o)
}

// recall returns what was measured today, if the machine's state is the same and
// it says enough about a point with this incumbent.
func (t *measurementCache) recall(p Prepared, incumbent float64, stopping Stopping) (Outcome, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cache == nil || !t.trusted {
		return Outcome{}, false
	}
	o, err := t.find(p)
	if err != nil { // whatever is wrong with it, the point can be measured
		return Outcome{}, false
	}
	o.Stop = stopping.Decide(o.Samples, incumbent, 0)
	return o, o.Stop == Precise || o.Stop == Hopeless
}

// remember keeps a measurement that is precise enough to be used again, and returns
// the one to go by. The default's time decides whether those of today count, and
// whether new ones join them; if they do, the default has the time that they were
// taken with. A measurement that cannot be kept is no loss.
func (t *measurementCache) remember(p Prepared, o Outcome, isDefault bool) Outcome {
	if t.cache == nil || o.Failure != nil || o.Stop != Precise && o.Stop != Hopeless {
		return o
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if isDefault {
		before, err := t.find(p)
		if t.trusted = err != nil || math.Abs(math.Log(o.Milliseconds()/before.Milliseconds())) <= sameState; t.trusted &&
			err == nil {
			return o.withSamples(before)
		}
	}
	key, err := t.key(p)
	if err != nil || !t.trusted {
		return o
	}
	_, _ = t.cache.Get(key, func(path string) error {
		content, err := json.Marshal(Outcome{Samples: o.Samples, Batch: o.Batch, Conditions: o.Conditions, Stop: o.Stop})
		if err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o644)
	})
	return o
}

// withSamples returns the outcome with what was measured earlier.
func (o Outcome) withSamples(past Outcome) Outcome {
	o.Samples, o.Batch, o.Stop, o.Conditions = past.Samples, past.Batch, past.Stop, past.Conditions
	o.Remembered = true
	return o
}
