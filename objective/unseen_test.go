package objective

import (
	"math/rand/v2"
	"testing"
)

// A kernel that remembers is told from a machine that is busy: times of 0.4 ms that
// other programs make longer by up to a half, or by twenty times in every fifth, and
// samples of many launches that they make longer more often.
func TestNewInputsAreHeldAgainstNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	busy := func(milliseconds float64) float64 {
		milliseconds *= 1 + rng.Float64()/2
		if rng.IntN(5) == 0 {
			milliseconds *= 20
		}
		return milliseconds
	}
	for name, test := range map[string]struct {
		first, again, seen float64 // without noise
		want               bool
	}{
		"honest":                        {0.4, 0.4, 0.4, false},
		"bound by memory":               {0.6, 0.6, 0.35, false}, // a single launch finds cold caches
		"remembers":                     {0.4, 0.02, 0.02, true},
		"remembers three quarters":      {0.4, 0.11, 0.11, true},
		"works only when launched once": {0.4, 0.4, 0.02, true},
		"short and honest":              {0.002, 0.002, 0.0015, false},
		"short and remembers":           {0.01, 0.001, 0.001, true},
	} {
		wrong := 0
		for range 1000 {
			var unseen []unseenTimes
			var seen []float64
			for range unseenTries {
				times := unseenTimes{first: busy(test.first), again: busy(test.again)}
				times.firstSeen, times.againSeen = times.first+0.1+rng.Float64(), times.again+0.1+rng.Float64()/2
				unseen, seen = append(unseen, times), append(seen, test.seen*(1+rng.Float64()))
			}
			if suspicious(unseen, seen, 1) != test.want {
				wrong++
			}
		}
		if wrong > 5 { // no rule is sure on such a machine
			t.Errorf("%s: wrong in %d of 1000", name, wrong)
		}
	}
}

// A claim may be forged, so that when its answer is here counts as well; but an answer waits for
// a core on a busy machine, and longer for new inputs, before which the worker has computed.
func TestAnswersThatWaitForACore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		firstSeen, againSeen float64
		launches             int
		want                 bool
	}{
		"idle machine":                   {0.15, 0.13, 1, false},
		"busy machine":                   {0.62, 0.25, 1, false},
		"busier machine":                 {0.92, 0.4, 1, false},
		"forged claims":                  {1.2, 0.2, 1, true},
		"forged claims, idle machine":    {0.7, 0.12, 1, true},
		"forged claims of short ones":    {1.6, 0.9, 16, false},
		"forged claims of many":          {9, 0.9, 16, true},
		"forged claims, and waits later": {5, 5, 1, true},
	} {
		for range 1000 {
			var unseen []unseenTimes
			var seen []float64
			for range unseenTries {
				noise := func() float64 { return 1 + rng.Float64()/2 }
				unseen = append(unseen,
					unseenTimes{
						first:     0.05 * noise(),
						again:     0.045 * noise(),
						firstSeen: test.firstSeen * noise(),
						againSeen: test.againSeen * noise(),
					})
				seen = append(seen, 0.05*noise())
			}
			if suspicious(unseen, seen, test.launches) != test.want {
				t.Errorf("%s: it is not %t", name, test.want)
				break
			}
		}
	}
}

// Most launches on new inputs were disturbed, and some were not.
func TestSomeQuickLaunchesOnNewInputsAreEnough(t *testing.T) {
	first := []float64{0.9, 0.8, 0.11, 0.7, 0.9, 0.6, 0.12, 0.8, 0.9}
	again := []float64{0.1, 0.12, 0.11, 0.1, 0.5, 0.1, 0.12, 0.11, 0.1}
	seen := []float64{0.11, 0.12, 0.11, 0.13, 0.11, 0.12, 0.11, 0.13, 0.11}
	pairs := func() (unseen []unseenTimes) {
		for i := range first {
			unseen = append(unseen, unseenTimes{first[i], again[i], first[i] + 0.1, again[i] + 0.1})
		}
		return unseen
	}
	if suspicious(pairs(), seen, 1) {
		t.Error("a launch on new inputs was as quick as on others")
	}
	for i := range first {
		first[i] = max(first[i], 0.6)
	}
	if !suspicious(pairs(), seen, 1) {
		t.Error("every launch on new inputs took five times as long")
	}
}
