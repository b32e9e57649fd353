package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/worker"
)

// stopwatch times a kernel on a device that hands its results over, and believes
// nothing that it cannot check. The kernel shares the worker's memory, so that in
// the end the worker's word is the kernel's; what counts is what this process knows
// and sees: the right answers, and its own clock.
//
//   - A sample is a request that does nothing but launch, so many times as nobody
//     can foresee. What the worker claims that it took must agree with the time
//     between request and answer here.
//   - Launches go round two sets of inputs with different contents and write one
//     set of outputs, poisoned before: none finds its own right answer there. After
//     the sample the outputs, the inputs and the bytes beside them are looked at.
//   - Single launches are timed on inputs that the kernel has not seen. One of them
//     is checked, and no kernel can know which. A kernel that remembers answers, or
//     works only when it is looked at, takes much longer there than its samples say.
type stopwatch struct {
	session *session
	oracle  *oracle
	random  *rand.Rand
	// contents are what the inputs hold: two that launches go round, and one that
	// is shown to the kernel once.
	contents [3]knownContent
	batch    int
	slow     bool
	inputs   int     // bytes of one set
	fresh    int     // sets of new inputs that go into one time
	share    float64 // the part of the samples whose outputs are compared
	shown    bool
	// unseen is the least time of a launch on new inputs, in milliseconds, and again
	// that of one on the same inputs when they are no longer new; 0 for none.
	unseen, again float64
}

// knownContent is a seed of the inputs, with the right answers.
type knownContent struct {
	seed   uint64
	want   [][]byte
	bounds []kernels.Tolerance
}

const (
	// shortestSample is how long a sample must be for the clocks' overhead to
	// vanish in it: some tens of nanoseconds in the worker, some tens of
	// microseconds for the pipes between it and this process.
	shortestSample = 2 * time.Millisecond
	// warmUp is how long the kernel runs before the first sample.
	warmUp = 5 * time.Millisecond
	// slowLaunch is when a launch is worth a sample of its own, in milliseconds.
	slowLaunch = 20
	// mostBatch bounds the launches of a sample: more belong to a kernel that does
	// nothing.
	mostBatch = 1 << 24
	// A claim may be so much less than what this process saw, in part and in all:
	// answers travel, and this process may have to wait for a core. A claim that
	// is further off is not believed. The more launches, the less that matters: they
	// are doubled until they take longer than anybody waits for a core, and after so
	// many claims of that length neither is the kernel believed.
	claimShare = 0.1
	claimSlack = 300 * time.Microsecond
	claimTries = 4
	longClaim  = 200 * time.Millisecond
	// compared is how many bytes of outputs are compared after every sample; of
	// larger ones after some.
	comparedBytes = 4 << 20
	// looks is how many single launches are compared after each sample.
	looks = 2
	// unseenLaunches is how many launches on new inputs go with a measurement. Where
	// they took too long more are made, each beside a sample: at least unseenPairs, up
	// to unseenTries while most of them take too long.
	unseenLaunches = 3
	unseenPairs    = 5
	unseenTries    = 15
	// A launch on new inputs may take so many times as long as others, and so many
	// milliseconds more: what it finds in the caches differs.
	unseenFactor = 1.5
	unseenSlack  = 0.02
	// That would hide much of a short launch. Of those several follow each other,
	// each on inputs of its own, and are held against the same launches later, when
	// the kernel has seen these inputs up to so many times: the caches are the same.
	shortLaunch = 0.1
	unseenBytes = 256 << 10
	mostTimes   = 512
	againSlack  = 0.001
)

// stopwatch returns one for the workload, which must be what the session's worker
// has loaded.
func (e *Evaluator) stopwatch(ctx context.Context, s *session) (*stopwatch, error) {
	w := &stopwatch{session: s, oracle: e.oracle, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	bytes := 0
	for i, seed := range e.timedSeeds {
		c := e.workloadCase()
		c.Seed = seed
		bindings, err := c.bind(e.kernel)
		if err != nil {
			return nil, err
		}
		w.contents[i].seed = seed
		if w.contents[i].want, w.contents[i].bounds, err = e.oracle.know(ctx, s.slot.Worker, c, bindings); err != nil {
			return nil, err
		}
		bytes = size(w.contents[i].want)
		if w.inputs, err = bufferBytes(bindings, false); err != nil {
			return nil, err
		}
	}
	w.share = min(1, comparedBytes/float64(max(bytes, 1)))
	return w, nil
}

// samples takes some samples. A fault says that the kernel is not what it seemed.
func (w *stopwatch) samples(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
	if w.batch == 0 {
		if fault, err := w.calibrate(ctx); fault != nil || err != nil {
			return worker.Timing{}, fault, err
		}
	}
	unseen := 1
	if !w.shown && w.batch > 1 {
		unseen = unseenLaunches
	}
	timing := worker.Timing{Batch: w.batch}
	for i := range n {
		// Those that are left are spread over the samples that are left, at random.
		for unseen > 0 && w.random.IntN(n-i) < unseen {
			unseen--
			if fault, err := w.launchUnseen(ctx, unseen); fault != nil || err != nil {
				return timing, fault, err
			}
		}
		milliseconds, fault, err := w.launches(ctx, w.jittered(), i+1 == n)
		if fault != nil || err != nil {
			return timing, fault, err
		}
		if fault, err := w.look(ctx); fault != nil || err != nil {
			return timing, fault, err
		}
		if milliseconds <= 0 {
			return timing, &worker.Fault{Kind: worker.Contradicted, Detail: "launches that took no time"}, nil
		}
		timing.Samples = append(timing.Samples, milliseconds)
	}
	fault, err := w.remembers(ctx, timing.Samples)
	return timing, fault, err
}

// look makes single launches whose results are compared, like those of a sample but
// for their number, which no kernel knows beforehand: of a sample only the last launch
// has left something behind. A kernel that leaves some launches out is found sooner.
func (w *stopwatch) look(ctx context.Context) (*worker.Fault, error) {
	if w.batch == 1 || w.share < 1 {
		return nil, nil
	}
	for range looks {
		content := &w.contents[w.random.IntN(2)]
		if _, fault, err := w.claim(ctx, 1, worker.Arrange{Seeds: []uint64{content.seed}}); fault != nil || err != nil {
			return fault, err
		}
		if fault, err := w.judge(ctx, content); fault != nil || err != nil {
			return fault, err
		}
	}
	return nil, nil
}

// jittered is how many launches a sample has: about so many. A kernel that is slow
// has one, because every one of them is looked at.
func (w *stopwatch) jittered() int {
	if w.batch == 1 && w.slow {
		return 1
	}
	return w.batch + w.random.IntN(w.batch/4+2)
}

// calibrate warms up and finds how many launches make a sample long enough, by the
// least time that a launch took: a single one may have had to wait for a core.
func (w *stopwatch) calibrate(ctx context.Context) (*worker.Fault, error) {
	var spent time.Duration
	least := math.Inf(1)
	for batch, try := 1, 0; ; try++ {
		milliseconds, fault, err := w.launches(ctx, batch, false)
		if fault != nil || err != nil {
			return fault, err
		}
		least = min(least, milliseconds)
		spent += time.Duration(milliseconds * float64(batch) * 1e6)
		long := least*float64(batch)*1e6 >= float64(shortestSample)
		if long && spent >= warmUp && (try > 2 || least > slowLaunch) || batch == mostBatch {
			w.batch, w.slow = batch, least > slowLaunch
			w.fresh = 1
			if least < shortLaunch {
				w.fresh = max(min(worker.MostUnseen, unseenBytes/max(w.inputs, 1)), 1)
			}
			return nil, nil
		}
		if !long {
			// Aim above the mark, because the first launches are slow ones.
			aim := 1.2 * float64(shortestSample) / 1e6 / max(least, 1e-9)
			batch = int(min(max(2*float64(batch), min(aim, 64*float64(batch))), mostBatch))
		}
	}
}

// launches makes so many launches that go round both contents, and looks at what
// they have left behind, always or by chance.
func (w *stopwatch) launches(ctx context.Context, batch int, always bool) (float64, *worker.Fault, error) {
	for tries := 0; ; {
		order := w.random.Perm(2)
		claim, fault, err := w.claim(ctx, batch, worker.Arrange{Seeds: []uint64{w.contents[order[0]].seed, w.contents[order[1]].seed}})
		if fault != nil || err != nil {
			return 0, fault, err
		}
		if always || w.random.Float64() < w.share {
			if fault, err := w.judge(ctx, &w.contents[order[(batch-1)%2]]); fault != nil || err != nil {
				return 0, fault, err
			}
		}
		if !claim.low() {
			return claim.milliseconds, nil, nil
		}
		if claim.seen < longClaim && batch < mostBatch {
			batch = min(2*batch, mostBatch)
			w.batch = max(w.batch, min(batch, 2*w.batch))
			continue
		}
		if tries++; tries == claimTries {
			return 0, claim.fault(), nil
		}
	}
}

// launchUnseen makes launches on inputs that the kernel has not seen, one on each.
// Left is how many times are still to be taken; the content that was held back is the
// last of one of them.
func (w *stopwatch) launchUnseen(ctx context.Context, left int) (*worker.Fault, error) {
	content := &knownContent{seed: w.random.Uint64()}
	if !w.shown && w.random.IntN(left+1) == 0 {
		w.shown = true
		content = &w.contents[2]
	}
	seeds := make([]uint64, w.fresh)
	for i := range seeds {
		seeds[i] = w.random.Uint64()
	}
	seeds[len(seeds)-1] = content.seed
	claim, fault, err := w.claim(ctx, len(seeds), worker.Arrange{Seeds: seeds})
	if fault != nil || err != nil {
		return fault, err
	}
	if w.fresh == 1 && claim.low() {
		// Nobody knows what it really took: not less than this. Short launches tell
		// nothing about the way of their answer.
		claim.milliseconds = float64(claim.seen-claimSlack) / 1e6 / (1 + claimShare)
	}
	w.unseen = leastOf(w.unseen, claim.milliseconds)
	if fault, err := w.judge(ctx, content); fault != nil || err != nil || w.fresh == 1 {
		return fault, err
	}
	if _, fault, err = w.claim(ctx, len(seeds)*(1+w.random.IntN(mostTimes)), worker.Arrange{Seeds: seeds}); fault != nil || err != nil {
		return fault, err
	}
	claim, fault, err = w.claim(ctx, len(seeds), worker.Arrange{Seeds: seeds, Refill: true})
	w.again = leastOf(w.again, claim.milliseconds)
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
// samples, so that in doubt pairs are taken, one right after the other.
func (w *stopwatch) remembers(ctx context.Context, samples []float64) (*worker.Fault, error) {
	seen := stats.Quantile(samples, 0.25) // the least of the others must not be held against noise
	if !longer(w.unseen, w.again, seen) {
		return nil, nil
	}
	var pairs []unseenPair
	for len(pairs) < unseenTries {
		milliseconds, fault, err := w.launches(ctx, w.jittered(), false)
		if fault != nil || err != nil {
			return fault, err
		}
		w.unseen, w.again = 0, 0
		if fault, err := w.launchUnseen(ctx, 0); fault != nil || err != nil {
			return fault, err
		}
		pairs = append(pairs, unseenPair{w.unseen, w.again, milliseconds})
		if len(pairs) >= unseenPairs && !mostlyLonger(pairs) {
			return nil, nil
		}
	}
	slices.SortFunc(pairs, func(a, b unseenPair) int { return cmp.Compare(a.unseen, b.unseen) })
	middle := pairs[len(pairs)/2]
	if middle.again > 0 {
		middle.seen = middle.again
	}
	return &worker.Fault{Kind: worker.Remembers, Detail: fmt.Sprintf("%.4g ms for a launch on inputs that it had not seen, %.4g ms on those that it had", middle.unseen, middle.seen)}, nil
}

// unseenPair are times of a launch, taken one after the other: on new inputs, on the
// same later (0 for none), and on those that the samples have, in milliseconds.
type unseenPair struct{ unseen, again, seen float64 }

// mostlyLonger says whether new inputs cost too much in more than half of the pairs.
func mostlyLonger(pairs []unseenPair) bool {
	count := 0
	for _, p := range pairs {
		if longer(p.unseen, p.again, p.seen) {
			count++
		}
	}
	return 2*count > len(pairs)
}

// longer says whether a launch on new inputs takes more time than they explain.
func longer(unseen, again, seen float64) bool {
	return unseen > unseenFactor*seen+unseenSlack || again > 0 && unseen > unseenFactor*again+againSlack
}

// claim is what a worker says that launches took, and what was seen of it here.
type claim struct {
	milliseconds float64 // per launch
	total, seen  time.Duration
}

// low says that the launches may have taken longer than is claimed.
func (c claim) low() bool {
	return float64(c.seen-c.total) > claimShare*float64(c.total)+float64(claimSlack)
}

func (c claim) fault() *worker.Fault {
	return &worker.Fault{Kind: worker.Contradicted, Detail: fmt.Sprintf("launches that took %v by the worker's clock took %v by this process's", c.total, c.seen)}
}

// claim gets inputs ready and times launches on them.
func (w *stopwatch) claim(ctx context.Context, batch int, inputs worker.Arrange) (claim, *worker.Fault, error) {
	if fault, err := w.session.arrange(ctx, inputs); fault != nil || err != nil {
		return claim{}, fault, err
	}
	timing, fault, err := w.session.time(ctx, worker.Time{Samples: 1, Batch: batch})
	if fault != nil || err != nil {
		return claim{}, fault, err
	}
	if len(timing.Samples) != 1 || timing.Batch != batch || !(timing.Samples[0] >= 0) {
		w.session.distrust()
		return claim{}, &worker.Fault{Kind: worker.Garbled, Detail: "an answer that has not what was asked for"}, nil
	}
	c := claim{timing.Samples[0], time.Duration(timing.Samples[0] * float64(batch) * 1e6), timing.Elapsed}
	if c.total > c.seen {
		w.session.distrust()
		return c, c.fault(), nil
	}
	return c, nil, nil
}

// judge looks at what the last launches have left behind. Outputs are compared where
// their right answer is known.
func (w *stopwatch) judge(ctx context.Context, content *knownContent) (*worker.Fault, error) {
	result, fault, err := w.session.collect(ctx)
	if err != nil {
		return nil, err
	}
	if fault == nil {
		fault = result.Damage
	}
	if fault != nil || content.want == nil {
		return fault, nil
	}
	mismatch, err := w.oracle.judge(result.Outputs, content.want, content.bounds)
	if mismatch == nil || err != nil {
		return nil, err
	}
	return &worker.Fault{Kind: worker.WrongWhenTimed, Detail: fmt.Sprintf("%s, seed %d", mismatch, content.seed)}, nil
}
