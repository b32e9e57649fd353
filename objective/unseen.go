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
type unseenTimes struct {
	first, again         float64 // as the worker claims
	firstSeen, againSeen float64 // until the answer to all launches of the request was here
}

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
	// A kernel can forge the claim of a launch, but not when its answer is here. An answer may
	// wait for a core, longer where the worker has just computed, which it has before new inputs:
	// so many times as long as later, and never longer than so many milliseconds.
	waitFactor  = 3
	waitSlack   = 0.05
	longestWait = 1.0
)

// calibrate chooses how many sets of new inputs go into one time, by the milliseconds
// of a launch and the bytes of its inputs.
func (u *unseen) calibrate(milliseconds float64, bytes int) {
	u.sets = 1
	if milliseconds < shortLaunch {
		// enough for a time as long as that of a launch that is not short
		long := 1 + int(min(shortLaunch/max(milliseconds, 1e-6), worker.MostUnseen))
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
	claim, fault, err := u.launch(ctx, len(seeds), worker.Arrange{Seeds: seeds})
	times.first, times.firstSeen = claim.milliseconds, float64(claim.seen)/1e6
	if fault != nil || err != nil {
		return times, fault, err
	}
	if fault, err := u.compare(ctx, last); fault != nil || err != nil || !again {
		return times, fault, err
	}
	most := mostTimesLong
	if u.sets > 1 {
		most = mostTimes
	}
	if _, fault, err = u.launch(ctx, min(len(seeds)*(1+u.random.IntN(most)), u.most),
		worker.Arrange{Seeds: seeds}); fault != nil || err != nil {
		return times, fault, err
	}
	claim, fault, err = u.launch(ctx, len(seeds), worker.Arrange{Seeds: seeds, Refill: true})
	times.again, times.againSeen = claim.milliseconds, float64(claim.seen)/1e6
	return times, fault, err
}

// add takes one more time between samples.
func (u *unseen) add(ctx context.Context, left int) (*worker.Fault, error) {
	times, fault, err := u.take(ctx, left, u.sets > 1)
	first := times.first
	if u.sets == 1 { // short launches tell nothing about the way of their answer
		first = max(first, (times.firstSeen-float64(claimSlack)/1e6)/(1+claimShare))
	}
	u.best.first, u.best.again = leastOf(u.best.first, first), leastOf(u.best.again, times.again)
	u.best.firstSeen = leastOf(u.best.firstSeen, times.firstSeen)
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
func (u *unseen) remembers(ctx context.Context, samples []float64,
	sample func(context.Context) (float64, *worker.Fault, error)) (*worker.Fault, error) {
	shortest := slices.Min(samples) // a busy machine makes samples longer, never shorter
	if !u.best.longerThan(shortest) && !u.best.longerThanAgain() && !u.best.waitedTooLong(shortest, u.sets) {
		return nil, nil
	}
	u.best = unseenTimes{}
	var unseen []unseenTimes
	var seen []float64
	for len(unseen) < unseenTries {
		milliseconds, fault, err := sample(ctx)
		if fault != nil || err != nil {
			return fault, err
		}
		times, fault, err := u.take(ctx, 0, true)
		if fault != nil || err != nil {
			return fault, err
		}
		unseen, seen = append(unseen, times), append(seen, milliseconds)
		if len(unseen) >= unseenPairs && !suspicious(unseen, seen, u.sets) {
			return nil, nil
		}
	}
	typical := each(unseen, stats.Median)
	return &worker.Fault{
		Kind: worker.Memoizes,
		Detail: fmt.Sprintf("%.4g ms for a launch on inputs that it had not seen, %.4g ms on those that it had",
			typical.first, min(typical.again, stats.Median(seen))),
	}, nil
}

// each sums up every kind of time by itself.
func each(unseen []unseenTimes, sum func([]float64) float64) unseenTimes {
	of := func(kind func(unseenTimes) float64) float64 {
		var times []float64
		for _, t := range unseen {
			times = append(times, kind(t))
		}
		return sum(times)
	}
	return unseenTimes{
		of(func(t unseenTimes) float64 { return t.first }), of(func(t unseenTimes) float64 { return t.again }),
		of(func(t unseenTimes) float64 { return t.firstSeen }), of(func(t unseenTimes) float64 { return t.againSeen }),
	}
}

// suspicious says whether new inputs cost more than noise explains. Launches and the
// same launches later differ in nothing else, so that their medians are compared, and
// their shortest times too: other programs make most launches longer, but not all of
// them. A sample has many launches: the shortest single one must be longer than it. Claims are
// compared with claims and waits with waits: on a busy machine a wait is many short launches.
func suspicious(unseen []unseenTimes, seen []float64, launches int) bool {
	typical, shortest, sample := each(unseen, stats.Median), each(unseen, slices.Min[[]float64]), stats.Median(seen)
	wait := max(typical.againSeen-float64(launches)*typical.again, 0)
	return typical.longerThanAgain() && shortest.longerThanAgain() || shortest.longerThan(sample) ||
		typical.waitedLonger(wait) && shortest.waitedLonger(wait) || shortest.waitedTooLong(sample, launches)
}

// longerThan says whether a launch on new inputs takes more time than they explain,
// against a sample.
func (t unseenTimes) longerThan(seen float64) bool { return t.first > unseenFactor*seen+unseenSlack }

// longerThanAgain says it against the same launch later.
func (t unseenTimes) longerThanAgain() bool {
	return t.again > 0 && t.first > againFactor*t.again+againSlack
}

// waitedLonger says by this process's clock that a launch on new inputs takes longer than the same
// later, whose answer has waited for so long.
func (t unseenTimes) waitedLonger(wait float64) bool {
	return t.firstSeen > againFactor*t.againSeen+waitFactor*wait+waitSlack
}

// waitedTooLong says it of a request with so many launches, whatever the same took later.
func (t unseenTimes) waitedTooLong(sample float64, launches int) bool {
	return t.firstSeen > (1+claimShare)*float64(launches)*(unseenFactor*sample+unseenSlack)+longestWait
}
