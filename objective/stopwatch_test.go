package objective

import (
	"slices"
	"testing"

	"pawl/objective/worker"
)

// In a round all points meet the same contents with known answers, so that each is computed once; the
// next round has others.
func TestEveryRoundHasOtherKnownContents(t *testing.T) {
	m := &stopwatches{}
	contents := func() (seeds []uint64) {
		for number := range mostKnown {
			seeds = append(seeds, m.contents(number).seeds...)
		}
		return seeds
	}
	first := contents()
	if !slices.Equal(first, contents()) {
		t.Error("the contents change within a round")
	}
	(&Evaluator{Residents: &worker.Residents{}, stopwatches: m}).Refresh()
	for _, seed := range contents() {
		if seed == 0 || slices.Contains(first, seed) {
			t.Errorf("content %d is not new", seed)
		}
	}
}
