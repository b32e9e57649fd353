package objective

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
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
//   - Each launch has inputs that were drawn for it, by seeds of this process: nothing
//     that a kernel remembers is of use to it.
//   - One sample in five, chosen at random, ends with inputs whose right answer is known and
//     which this process of the kernel has not seen. All launches write one set of outputs,
//     poisoned before: none finds its own right answer there.
//   - After each sample the inputs and the bytes beside them are looked at.
type stopwatch struct {
	*launcher
	// know returns contents with known answers, by number.
	know  func(context.Context, int) (content, error)
	shown int // how many of them the kernel has seen
	batch int
	most  int // launches of a sample
	slow  bool
	share float64 // the part of the samples that are looked at
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
	// Each launch of a sample has inputs of its own: this bounds their bytes, and their
	// number. A sample may be shorter than it should be then.
	batchBytes = 16 << 20
	mostBatch  = 1 << 16
	// mostTries bounds the batches that are tried before the first sample.
	mostTries = 20
	// comparedBytes is how many bytes of outputs are compared after every sample; of
	// larger ones after some.
	comparedBytes = 4 << 20
	// knownEvery is how many samples have one with a known answer, up to mostKnown of them.
	knownEvery = 5
	mostKnown  = 8
	// spotChecks is how many single launches follow on those inputs.
	spotChecks = 2 * knownEvery
)

// stopwatches makes stopwatches for one workload.
type stopwatches struct {
	kernel   *kernels.Kernel
	oracle   *check.Oracle
	workload check.Case

	mu    sync.Mutex
	seeds []uint64 // of the contents with known answers; nobody can foresee them
}

// renew forgets the contents with known answers: those that follow are others.
func (m *stopwatches) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seeds = nil
}

// seed is that of a content with a known answer.
func (m *stopwatches) seed(number int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.seeds) <= number {
		m.seeds = append(m.seeds, rand.Uint64()|1)
	}
	return m.seeds[number]
}

// timer takes samples with a new stopwatch.
func (m *stopwatches) timer(_ context.Context, s *worker.Session, p Prepared, _ worker.Time) (takeSamples, error) {
	bindings, err := m.workload.Bind(m.kernel.At(p.Point))
	if err != nil {
		return nil, err
	}
	filled, err := bufferBytes(bindings, func(b arguments.Binding) bool { return b.Restored || !b.Out && !b.Scratch })
	if err != nil {
		return nil, err
	}
	written, err := bufferBytes(bindings, func(b arguments.Binding) bool { return b.Out })
	if err != nil {
		return nil, err
	}
	w := &stopwatch{
		launcher: &launcher{s, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))},
		most:     max(min(batchBytes/max(filled, 1), mostBatch), 1),
		share:    min(1, comparedBytes/float64(max(written, 1))),
	}
	w.know = func(ctx context.Context, number int) (content, error) {
		seed := m.seed(number)
		answer, err := m.oracle.Know(ctx, s.Slot.Worker, p.Point, m.workload.Drawn(seed), bindings)
		return content{seed, &answer}, err
	}
	return w.samples, nil
}

// samples takes some samples. A fault says that the kernel is not what it seemed.
func (w *stopwatch) samples(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
	if w.batch == 0 {
		if fault, err := w.calibrate(ctx); fault != nil || err != nil {
			return worker.Timing{}, fault, err
		}
	}
	timing := worker.Timing{Batch: w.batch}
	known := 0
	for i := range n {
		if i%knownEvery == 0 {
			known = i + w.random.IntN(min(knownEvery, n-i))
		}
		on := w.unknown()
		if i == known && w.shown < mostKnown {
			var err error
			if on, err = w.know(ctx, w.shown); err != nil {
				return timing, nil, err
			}
			w.shown++
		}
		milliseconds, fault, err := w.launches(ctx, w.jittered(), on)
		if fault == nil && err == nil {
			fault, err = w.spotCheck(ctx, on)
		}
		if fault != nil || err != nil {
			return timing, fault, err
		}
		if milliseconds <= 0 {
			return timing, &worker.Fault{Kind: worker.Contradicted, Detail: "launches that took no time"}, nil
		}
		timing.Samples = append(timing.Samples, milliseconds)
	}
	return timing, nil, nil
}

// spotCheck makes single launches on inputs with a known answer, like those of a sample but
// for their number, which no kernel knows beforehand: of a sample only the last launch
// has left something behind. A kernel that leaves some launches out is found sooner.
func (w *stopwatch) spotCheck(ctx context.Context, on content) (*worker.Fault, error) {
	if on.answer == nil || w.batch == 1 || w.share < 1 {
		return nil, nil
	}
	for range spotChecks {
		if _, fault, err := w.launch(ctx, 1, on); fault != nil || err != nil {
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
		milliseconds, fault, err := w.launches(ctx, batch, w.unknown())
		if fault != nil || err != nil {
			return fault, err
		}
		least = min(least, milliseconds)
		took := time.Duration(milliseconds * float64(batch) * 1e6)
		spent += took
		// Launches that differ as much as this are a kernel that leaves some out.
		long := least*float64(batch)*1e6 >= float64(shortestSample) || took >= longClaim
		if (long || batch == w.most) && spent >= warmUp && (try > 2 || least > slowLaunch) || try == mostTries {
			w.batch, w.slow = batch, least > slowLaunch
			return nil, nil
		}
		if !long {
			// Aim above the mark, because the first launches are slow ones.
			aim := 1.2 * float64(shortestSample) / 1e6 / max(least, 1e-9)
			batch = int(min(max(2*float64(batch), min(aim, 64*float64(batch))), float64(w.most)))
		}
	}
}

// launches makes so many launches, the last on a given content, and looks at what they have left
// behind: where the answer is known, else by chance.
func (w *stopwatch) launches(ctx context.Context, batch int, last content) (float64, *worker.Fault, error) {
	least := claim{seen: math.MaxInt64}
	for tries := 0; ; last = w.unknown() { // a kernel has seen the other then
		claim, fault, err := w.launch(ctx, batch, last)
		if fault != nil || err != nil {
			return 0, fault, err
		}
		if last.answer != nil || w.random.Float64() < w.share {
			if fault, err := w.compare(ctx, last); fault != nil || err != nil {
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
		if claim.seen < least.seen {
			least = claim
		}
		switch tries++; {
		case tries >= claimTries && claim.seen >= longClaim:
			return 0, claim.fault(), nil
		case tries == claimTriesShort: // too short to tell a lie from a busy machine: this process's clock counts
			return float64(least.seen) / 1e6 / float64(batch), nil, nil
		}
	}
}
