package objective

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/check"
	"pawl/objective/worker"
)

// stopwatch times a kernel on a device that hands its results over, and trusts
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
//   - Single launches are timed on inputs that the kernel has not seen: see unseen.
type stopwatch struct {
	*launcher
	// contents are what the inputs hold that launches go round.
	contents [2]content
	unseen   *unseen
	inputs   int // bytes of one set
	batch    int
	most     int // launches of a sample
	slow     bool
	share    float64 // the part of the samples whose outputs are compared
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
	// Each launch of a sample has a copy of its own of what the kernel changes: this bounds
	// their bytes, and their number. A sample may be shorter than it should be then.
	restoredBytes = 64 << 20
	mostRestored  = 1 << 16
	// comparedBytes is how many bytes of outputs are compared after every sample; of
	// larger ones after some.
	comparedBytes = 4 << 20
	// spotChecks is how many single launches are compared after each sample.
	spotChecks = 2
)

// stopwatches makes stopwatches for one workload.
type stopwatches struct {
	kernel   *kernels.Kernel
	oracle   *check.Oracle
	workload check.Case
	// seeds are of the inputs that are timed: the seed that was asked for, another that
	// launches go round, and the one that is shown once. Nobody can foresee the others.
	seeds [3]uint64
}

func newStopwatches(k *kernels.Kernel, o *check.Oracle, workload check.Case) *stopwatches {
	return &stopwatches{k, o, workload, [...]uint64{workload.Seed, rand.Uint64(), rand.Uint64()}}
}

// timer takes samples with a new stopwatch.
func (m *stopwatches) timer(ctx context.Context, s *worker.Session, p Prepared, _ worker.Time) (takeSamples, error) {
	l := &launcher{s, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	w := &stopwatch{launcher: l, unseen: &unseen{launcher: l}}
	contents := []*content{&w.contents[0], &w.contents[1], &w.unseen.held}
	bytes := 0
	for i, seed := range m.seeds {
		c := m.workload
		c.Seed = seed
		bindings, err := c.Bind(m.kernel)
		if err != nil {
			return nil, err
		}
		for at := range bindings {
			if bindings[at].Symbol != "" { // set once, and the same for all launches
				bindings[at].Seed = &m.seeds[0]
			}
		}
		answer, err := m.oracle.Know(ctx, s.Slot.Worker, p.Point, c, bindings)
		if err != nil {
			return nil, err
		}
		*contents[i] = content{seed, &answer}
		bytes = answer.Bytes()
		if w.inputs, err = bufferBytes(bindings, func(b arguments.Binding) bool { return !b.Out && !b.Scratch }); err != nil {
			return nil, err
		}
		restored, err := bufferBytes(bindings, func(b arguments.Binding) bool { return b.Restored })
		if err != nil {
			return nil, err
		}
		if w.most = mostBatch; restored > 0 {
			w.most = min(max(restoredBytes/restored, 1), mostRestored)
		}
	}
	w.unseen.most = w.most
	w.share = min(1, comparedBytes/float64(max(bytes, 1)))
	return w.samples, nil
}

// samples takes some samples. A fault says that the kernel is not what it seemed.
func (w *stopwatch) samples(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
	if w.batch == 0 {
		if fault, err := w.calibrate(ctx); fault != nil || err != nil {
			return worker.Timing{}, fault, err
		}
	}
	left := 1
	if !w.unseen.shown && w.batch > 1 {
		left = unseenLaunches
	}
	timing := worker.Timing{Batch: w.batch}
	for i := range n {
		// Those that are left are spread over the samples that are left, at random.
		for left > 0 && w.random.IntN(n-i) < left {
			left--
			if fault, err := w.unseen.add(ctx, left); fault != nil || err != nil {
				return timing, fault, err
			}
		}
		milliseconds, fault, err := w.launches(ctx, w.jittered(), i+1 == n)
		if fault != nil || err != nil {
			return timing, fault, err
		}
		if fault, err := w.spotCheck(ctx); fault != nil || err != nil {
			return timing, fault, err
		}
		if milliseconds <= 0 {
			return timing, &worker.Fault{Kind: worker.Contradicted, Detail: "launches that took no time"}, nil
		}
		timing.Samples = append(timing.Samples, milliseconds)
	}
	fault, err := w.unseen.remembers(ctx, timing.Samples, func(ctx context.Context) (float64, *worker.Fault, error) {
		return w.launches(ctx, w.jittered(), false)
	})
	return timing, fault, err
}

// spotCheck makes single launches whose results are compared, like those of a sample but
// for their number, which no kernel knows beforehand: of a sample only the last launch
// has left something behind. A kernel that leaves some launches out is found sooner.
func (w *stopwatch) spotCheck(ctx context.Context) (*worker.Fault, error) {
	if w.batch == 1 || w.share < 1 {
		return nil, nil
	}
	for range spotChecks {
		on := w.contents[w.random.IntN(2)]
		if _, fault, err := w.launch(ctx, 1, worker.Arrange{Seeds: []uint64{on.seed}}); fault != nil || err != nil {
			return fault, err
		}
		if fault, err := w.compare(ctx, on); fault != nil || err != nil {
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
	return min(w.batch+w.random.IntN(w.batch/4+2), w.most)
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
		took := time.Duration(milliseconds * float64(batch) * 1e6)
		spent += took
		// Launches that differ as much as this are a kernel that leaves some out.
		long := least*float64(batch)*1e6 >= float64(shortestSample) || took >= longClaim
		if long && spent >= warmUp && (try > 2 || least > slowLaunch) ||
			batch == w.most && (w.most == mostBatch || spent >= warmUp && try > 2) {
			w.batch, w.slow = batch, least > slowLaunch
			w.unseen.calibrate(least, w.inputs)
			return nil, nil
		}
		if !long {
			// Aim above the mark, because the first launches are slow ones.
			aim := 1.2 * float64(shortestSample) / 1e6 / max(least, 1e-9)
			batch = int(min(max(2*float64(batch), min(aim, 64*float64(batch))), float64(w.most)))
		}
	}
}

// launches makes so many launches that go round both contents, and looks at what
// they have left behind, always or by chance.
func (w *stopwatch) launches(ctx context.Context, batch int, always bool) (float64, *worker.Fault, error) {
	for tries := 0; ; {
		order := w.random.Perm(2)
		claim, fault, err := w.launch(ctx, batch,
			worker.Arrange{Seeds: []uint64{w.contents[order[0]].seed, w.contents[order[1]].seed}})
		if fault != nil || err != nil {
			return 0, fault, err
		}
		if always || w.random.Float64() < w.share {
			if fault, err := w.compare(ctx, w.contents[order[(batch-1)%2]]); fault != nil || err != nil {
				return 0, fault, err
			}
		}
		if !claim.low() {
			return claim.milliseconds, nil, nil
		}
		if claim.seen < longClaim && batch < w.most {
			batch = min(2*batch, w.most)
			w.batch = max(w.batch, min(batch, 2*w.batch))
			continue
		}
		if tries++; tries >= claimTries && claim.seen >= longClaim || tries == claimTriesShort {
			return 0, claim.fault(), nil
		}
	}
}
