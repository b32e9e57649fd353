package objective

import (
	"slices"
	"testing"
	"time"

	"pawl/objective/worker"
)

// In a round all points meet the same contents with known answers, so that each is computed once; the
// next round has others.
func TestEveryRoundHasOtherKnownContents(t *testing.T) {
	m := &stopwatches{}
	contents := func() (seeds []uint64) {
		for number := range 12 {
			seeds = append(seeds, m.contents(number).seeds...)
		}
		return seeds
	}
	first := contents()
	if !slices.Equal(first, contents()) {
		t.Error("the contents change within a round")
	}
	(&Evaluator{workers: &worker.Residents{}, stopwatches: m}).Refresh()
	for _, seed := range contents() {
		if seed == 0 || slices.Contains(first, seed) {
			t.Errorf("content %d is not new", seed)
		}
	}
}

// On a machine where the clocks never agree, a process tries again for longClaim in all, with more launches each time,
// and then no more: how busy the machine is bounds no number of tries.
func TestClocksThatDisagreeCostLittleTime(t *testing.T) {
	w := &stopwatch{batch: 3, most: 40, retrying: longClaim}
	var batches []int
	for batch := 3; batch > 0; batch = w.again(batch, 10*time.Millisecond, 33*time.Millisecond) {
		batches = append(batches, batch)
	}
	if !slices.Equal(batches, []int{3, 6, 12, 24, 40, 40, 40}) || w.batch != 40 {
		t.Errorf("%v, then %d", batches, w.batch)
	}
	if again := w.again(w.batch, time.Millisecond, time.Millisecond); again != 0 {
		t.Errorf("%d launches of a later sample are tried again", again)
	}
}
