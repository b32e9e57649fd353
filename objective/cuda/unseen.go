package cuda

import (
	"fmt"

	"pawl/internal/stats"
	"pawl/objective/worker"
)

const (
	// unseenSets is how many launches are made on inputs that the kernel has not
	// seen. One of them is checked, and no kernel can know which.
	unseenSets = 4
	// A launch on new inputs may take so many times as long as one on inputs that
	// were there before, and so many milliseconds more for the start of the graph.
	// Where caches are warm, new inputs may come from memory.
	unseenFactor, unseenFactorWarm = 1.5, 4.0
	unseenSlack                    = 0.002
	// unseenTries is how often a time is taken again that is too long.
	unseenTries = 4
)

// showUnseen launches the kernel on inputs that it has not seen before, on poisoned
// outputs, and keeps how long that took. A kernel that remembers its answers cannot be
// both quick and right here, and it cannot know which of the inputs is checked.
func (d *Device) showUnseen() (*worker.Fault, error) {
	sets := d.graph.sets[:min(unseenSets, len(d.graph.sets))]
	checked := d.random.IntN(len(sets))
	for i, set := range sets {
		if err := d.freshInputs(set, i == checked); err != nil {
			return nil, err
		}
	}
	if err := d.poisonSets(sets); err != nil {
		return nil, err
	}
	executable, err := d.capture(len(sets), func(i int) (inputs, outputs set) { return sets[i], sets[i] })
	if err != nil {
		return nil, err
	}
	defer d.context.DestroyGraph(executable)
	milliseconds, err := d.timeGraph(executable, len(sets))
	if err != nil {
		return nil, err
	}
	if d.graph.unseen == 0 || milliseconds < d.graph.unseen {
		d.graph.unseen = milliseconds
	}
	seen := &inspection{device: d}
	if d.loaded.Reference != nil {
		d.on.expect(sets[checked], d.on.contents[heldBack])
	}
	if err := seen.queueOutputs(sets[checked], false); err != nil {
		return nil, fault(err)
	}
	if err := seen.collect(); err != nil {
		return nil, fault(err)
	}
	for i, set := range sets {
		if err := d.on.fill(set, d.on.contents[i%timedContents].seed); err != nil {
			return nil, err
		}
	}
	return seen.verdict(), nil
}

// freshInputs fills a set with content that the kernel has not seen, with known
// answers if they are asked for: the one that was held back, or a new one where the
// kernel has seen that.
func (d *Device) freshInputs(set set, known bool) error {
	p, seed := d.on, d.random.Uint64()
	if !known {
		return p.fill(set, seed)
	}
	if len(p.contents) == heldBack {
		p.contents, d.shown = append(p.contents, content{}), true
	}
	held := &p.contents[heldBack]
	if !d.shown {
		d.shown = true
		return p.fill(set, held.seed)
	}
	seed = p.freshSeed(heldBack)
	if err := p.fill(set, seed); err != nil {
		return err
	}
	found, err := p.solve(set, content{seed: seed, answers: held.answers, initial: held.initial})
	*held = found
	return err
}

// remembers says that a kernel is much slower on inputs that it has not seen than
// on those that it has: it does not compute its results. A time that is too long
// may be an accident, so it is taken again.
func (d *Device) remembers(samples []float64) (*worker.Fault, error) {
	factor := unseenFactor
	if d.graph.caches == worker.Warm {
		factor = unseenFactorWarm
	}
	typical := stats.Median(samples)
	for range unseenTries {
		if d.graph.unseen <= factor*typical+unseenSlack {
			return nil, nil
		}
		if fault, err := d.showUnseen(); fault != nil || err != nil {
			return fault, err
		}
	}
	return &worker.Fault{
		Kind: worker.Memoizes,
		Detail: fmt.Sprintf("%.4g ms per launch on inputs that it had not seen, %.4g ms on those that it had",
			d.graph.unseen, typical),
	}, nil
}
