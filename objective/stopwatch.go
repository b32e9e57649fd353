package objective

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/inputs"
	"pawl/objective/check"
	"pawl/objective/worker"
)

// stopwatch times a kernel on a device that hands its results over, and trusts
// nothing that it cannot check. The kernel shares the worker's memory, so that in
// the end the worker's word is the kernel's; what counts is what this process knows
// and sees: the right answers, and its own clock.
//
//   - A sample is a request that does nothing but launch. What the worker claims that it
//     took must agree with the time between request and answer here.
//   - Each launch has inputs that were drawn for it, by this process: nothing
//     that a kernel remembers is of use to it. They are in the worker's memory while this
//     clock runs, and nothing runs in the worker while it does not: see pausedMemory.
//   - In one sample of five, chosen at random, some launches, chosen at random, have inputs whose right answer is
//     known and which this process of the kernel has not seen. Each launch has outputs of its own, and only this
//     process knows which it will ask for.
//   - After each sample the inputs and the bytes beside them are looked at.
type stopwatch struct {
	session *worker.Session
	paused  *pausedMemory // nil where no worker can be paused
	random  *rand.Rand    // no kernel may foresee it
	// know returns some contents with known answers, by number.
	know  func(ctx context.Context, number, launches int) (contents, error)
	shown int  // how many of them the kernel has seen
	cold  bool // launches find nothing in the caches
	batch int
	most  int // launches of a sample
	// retrying is how long samples about which the clocks do not agree may still be tried again.
	retrying time.Duration
}

const (
	// shortestSample is how long a sample must be for the clocks' overhead to
	// vanish in it: some tens of nanoseconds in the worker, some tens of
	// microseconds for the pipes between it and this process.
	shortestSample = 2 * time.Millisecond
	// warmUp is how long the processor works before the first sample, on launches and on what they need.
	warmUp = 5 * time.Millisecond
	// slowLaunch is when a launch is worth a sample of its own, in milliseconds.
	slowLaunch = 20
	// Each launch of a sample has buffers of its own: this bounds their bytes, and their
	// number. A sample may be shorter than it should be then.
	batchBytes = 16 << 20
	mostBatch  = 1 << 15
	// knownEvery is how many samples have one with known answers, for as long as samples are taken: a kernel that did its
	// work so far is not trusted from then on.
	knownEvery = 5
	// mostCompared is how many launches of such a sample are compared. A kernel that leaves out every fourth is found
	// in twenty samples with .99.
	mostCompared = 4
)

type stopwatches struct {
	kernel *kernels.Kernel
	oracle *check.Oracle

	mu    sync.Mutex
	known []contents // without answers, by number; nobody can foresee them
}

// renew forgets the contents with known answers: those that follow are others.
func (m *stopwatches) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = nil
}

// contents are those of a sample with known answers.
func (m *stopwatches) contents(number int) contents {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.known) <= number {
		next := unknown()
		for range mostCompared {
			next.seeds = append(next.seeds, rand.Uint64())
		}
		m.known = append(m.known, next)
	}
	return m.known[number]
}

func (m *stopwatches) timer(_ context.Context, s *worker.Session, p Prepared, t worker.Time,
	on check.Case) (takeSamples, error) {
	bindings, err := on.Bind(m.kernel.At(p.Point))
	if err != nil {
		return nil, err
	}
	size, paused := 0, &pausedMemory{}
	for _, b := range bindings {
		size += b.Bytes()
		paused.add(b)
	}
	if process.Restricts() != nil {
		m.renew() // a kernel may have read this process's memory: it can open no file from now on
	}
	cold := t.Caches != worker.Warm
	if cold {
		paused = nil // what this process writes is in the caches
	}
	w := &stopwatch{
		session: s, cold: cold, paused: paused, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		most: max(min(batchBytes/max(size, 1), mostBatch), 1), retrying: longClaim,
	}
	w.batch = min(t.Batch, w.most) // 0 is found by calibrating
	w.know = func(ctx context.Context, number, launches int) (contents, error) {
		if m.kernel.PythonReference() || on.Family != "" { // it takes long
			launches = 1
		}
		known := m.contents(number)
		known.seeds = known.seeds[:min(launches, mostCompared)]
		for _, seed := range known.seeds {
			drawn := on
			drawn.Timed = inputs.Content{Pool: known.pool, Seed: seed}
			answer, err := m.oracle.Know(ctx, s.Slot.Worker, p.Point, drawn, bindings)
			if err != nil {
				return known, err
			}
			known.answers = append(known.answers, answer)
		}
		return known, nil
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
		on := unknown()
		if i == known {
			var err error
			if on, err = w.know(ctx, w.shown, w.batch); err != nil {
				return timing, nil, err
			}
			w.shown++
		}
		milliseconds, fault, err := w.launches(ctx, w.batch, on)
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

// calibrate warms up and finds how many launches make a sample long enough, by the
// least time that a launch took: a single one may have had to wait for a core.
func (w *stopwatch) calibrate(ctx context.Context) (*worker.Fault, error) {
	least, start := math.Inf(1), time.Now()
	for batch, try := 1, 0; ; try++ {
		milliseconds, fault, err := w.launches(ctx, batch, unknown())
		if fault != nil || err != nil {
			return fault, err
		}
		least = min(least, milliseconds)
		// Launches that differ as much as the second says are a kernel that leaves some out.
		long := least*float64(batch)*1e6 >= float64(shortestSample) ||
			milliseconds*float64(batch)*1e6 >= float64(longClaim)
		if (long || batch == w.most) && time.Since(start) >= warmUp && (try > 2 || least > slowLaunch) {
			w.batch = batch
			return nil, nil
		}
		if !long {
			// Aim above the mark, because the first launches are slow ones.
			aim := 1.2 * float64(shortestSample) / 1e6 / max(least, 1e-9)
			batch = int(min(max(2*float64(batch), min(aim, 64*float64(batch))), float64(w.most)))
		}
	}
}

// launches makes so many launches, some of them on given contents, until both clocks agree about one
// sample, or there is no more time to try and this process's counts.
func (w *stopwatch) launches(ctx context.Context, batch int, on contents) (float64, *worker.Fault, error) {
	least := math.Inf(1)
	for ; ; on = unknown() { // a kernel has seen the others then
		start := time.Now()
		claim, fault, err := w.launch(ctx, batch, on)
		if fault != nil || err != nil {
			return 0, fault, err
		}
		if !claim.low() {
			return claim.milliseconds, nil, nil
		}
		least = min(least, 1e3*claim.worked.Seconds()/float64(batch))
		if batch = w.again(batch, claim.elapsed, time.Since(start)); batch == 0 {
			return least, nil, nil
		}
	}
}

// again returns how many launches are tried after some that were seen to take so long, and took so long with their
// inputs; 0 for none.
func (w *stopwatch) again(batch int, seen, took time.Duration) int {
	if w.retrying -= took; w.retrying <= 0 {
		return 0
	}
	if seen < longClaim && batch < w.most {
		batch = min(2*batch, w.most)
		w.batch = max(w.batch, min(batch, 2*w.batch))
	}
	return batch
}
