package objective

import (
	"context"
	"fmt"
	"slices"

	"pawl/internal/stats"
	"pawl/objective/worker"
)

// unseen compares launches on inputs that the kernel has not seen with others. A kernel
// that memoizes answers, or works only when it is looked at, takes much longer there
// than its samples say. One of these launches is checked, and no kernel can know which.
type unseen struct {
	*launcher
	held  content // whose answer is known and which is shown once
	most  int     // launches at once
	sets  int     // of new inputs that go into one time; 0 before it is known
	shown bool
	// best are the shortest times so far.
	best unseenTimes
}

// unseenTimes are milliseconds of a launch on new inputs, and of one on the same
// inputs later, when they are no longer new; 0 for not taken.
type unseenTimes struct{ first, again float64 }

const (
	// unseenLaunches is how many launches on new inputs go with a measurement. Where
	// they took too long more are made, each beside a sample and beside the same launch
	// later: at least unseenPairs, up to unseenTries while they take too long.
	unseenLaunches = 3
	unseenPairs    = 9
	unseenTries    = 21
	// A launch on new inputs may take so many times as long as others, and so many
	// milliseconds more: what it finds in the caches differs.
	unseenFactor = 1.5
	unseenSlack  = 0.02
	// That would hide much of a short launch. Of those several follow each other,
	// each on inputs of its own, and are compared with the same launches later, when
	// the kernel has seen these inputs up to so many times: the caches are the same.
	shortLaunch   = 0.1
	unseenBytes   = 256 << 10
	mostTimes     = 512
	mostTimesLong = 2
	againFactor   = 1.75
	againSlack    = 0.001
)

// calibrate chooses how many sets of new inputs go into one time, by the milliseconds
// of a launch and the bytes of its inputs.
func (u *unseen) calibrate(milliseconds float64, bytes int) {
	u.sets = 1
	if milliseconds < shortLaunch {
		long := 1 + int(min(shortLaunch/max(milliseconds, 1e-6), worker.MostUnseen)) // enough for a time as long as that of a launch that is not short
		u.sets = max(min(long, worker.MostUnseen, unseenBytes/max(bytes, 1), u.most), 1)
	}
}

// take times launches on new inputs, one on each, and with again the same launches once
// more when they are no longer new. Left is how many times are still to be taken; the
// content that was held back is the last of one of them.
func (u *unseen) take(ctx context.Context, left int, again bool) (times unseenTimes, fault *worker.Fault, err error) {
	last := content{seed: u.random.Uint64()}
	if !u.shown && u.random.IntN(left+1) == 0 {
		u.shown, last = true, u.held
	}
	seeds := make([]uint64, u.sets)
	for i := range seeds {
		seeds[i] = u.random.Uint64()
	}
	seeds[len(seeds)-1] = last.seed
	if times.first, fault, err = u.once(ctx, worker.Arrange{Seeds: seeds}); fault != nil || err != nil {
		return times, fault, err
	}
	if fault, err := u.compare(ctx, last); fault != nil || err != nil || !again {
		return times, fault, err
	}
	most := mostTimesLong
	if u.sets > 1 {
		most = mostTimes
	}
	if _, fault, err = u.launch(ctx, min(len(seeds)*(1+u.random.IntN(most)), u.most), worker.Arrange{Seeds: seeds}); fault != nil || err != nil {
		return times, fault, err
	}
	times.again, fault, err = u.once(ctx, worker.Arrange{Seeds: seeds, Refill: true})
	return times, fault, err
}

// once times one launch on each of some inputs.
func (u *unseen) once(ctx context.Context, inputs worker.Arrange) (float64, *worker.Fault, error) {
	claim, fault, err := u.launch(ctx, len(inputs.Seeds), inputs)
	if u.sets == 1 && claim.low() {
		// Nobody knows what it really took: not less than this. Short launches tell
		// nothing about the way of their answer.
		return float64(claim.seen-claimSlack) / 1e6 / (1 + claimShare), fault, err
	}
	return claim.milliseconds, fault, err
}

// add takes one more time between samples.
func (u *unseen) add(ctx context.Context, left int) (*worker.Fault, error) {
	times, fault, err := u.take(ctx, left, u.sets > 1)
	u.best = unseenTimes{leastOf(u.best.first, times.first), leastOf(u.best.again, times.again)}
	return fault, err
}

// leastOf is the smaller of two times, of which the first may be 0 for none.
func leastOf(known, now float64) float64 {
	if known == 0 {
		return now
	}
	return min(known, now)
}

// remembers says that a kernel takes much longer on new inputs than on others. One
// time may be an accident, and all of them if the machine has become slower since the
// samples, so that in doubt pairs are taken: a sample, and new inputs right after it.
// Other programs make a sample of many launches longer more often than a single launch,
// so that the same launch later counts as well.
func (u *unseen) remembers(ctx context.Context, samples []float64, sample func(context.Context) (float64, *worker.Fault, error)) (*worker.Fault, error) {
	if !u.best.longerThan(slices.Min(samples)) && !u.best.longerThanAgain() { // a busy machine makes samples longer, never shorter
		return nil, nil
	}
	u.best = unseenTimes{}
	var first, again, seen []float64
	for len(first) < unseenTries {
		milliseconds, fault, err := sample(ctx)
		if fault != nil || err != nil {
			return fault, err
		}
		times, fault, err := u.take(ctx, 0, true)
		if fault != nil || err != nil {
			return fault, err
		}
		first, again, seen = append(first, times.first), append(again, times.again), append(seen, milliseconds)
		if len(first) >= unseenPairs && !suspicious(first, again, seen) {
			return nil, nil
		}
	}
	return &worker.Fault{Kind: worker.Memoizes, Detail: fmt.Sprintf("%.4g ms for a launch on inputs that it had not seen, %.4g ms on those that it had",
		stats.Median(first), min(stats.Median(again), stats.Median(seen)))}, nil
}

// suspicious says whether new inputs cost more than noise explains. Launches and the
// same launches later differ in nothing else, so that their medians are compared, and
// their shortest times too: other programs make most launches longer, but not all of
// them. A sample has many launches: the shortest single one must be longer than it.
func suspicious(first, again, seen []float64) bool {
	typical, shortest := unseenTimes{stats.Median(first), stats.Median(again)}, unseenTimes{slices.Min(first), slices.Min(again)}
	return typical.longerThanAgain() && shortest.longerThanAgain() || shortest.longerThan(stats.Median(seen))
}

// longerThan says whether a launch on new inputs takes more time than they explain,
// against a sample.
func (t unseenTimes) longerThan(seen float64) bool { return t.first > unseenFactor*seen+unseenSlack }

// longerThanAgain says it against the same launch later.
func (t unseenTimes) longerThanAgain() bool {
	return t.again > 0 && t.first > againFactor*t.again+againSlack
}
