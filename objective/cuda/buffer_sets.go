package cuda

import "pawl/objective/worker"

// Timed launches go round sets of buffers whose inputs hold two contents in turns.
// Before each launch its output holds the answer to the other content, or poison. So a
// launch that skips its work leaves a wrong result, however it decides to: by the
// number of launches, the time, the pointers, or what it wrote before.
//
// A third content has known answers as well. A kernel sees it once, among inputs
// without known answers: see unseen.go.
const (
	timedContents = 2
	heldBack      = timedContents
)

// sets returns n sets of buffers, at least two. The inputs of the even ones hold
// the content that was checked, those of the odd ones another.
func (p *problem) sets(n int) ([]set, error) {
	n = max(n, timedContents)
	if len(p.rotation) == 0 {
		p.rotation = append(p.rotation, p.buffers)
	}
	for len(p.rotation) < n {
		set := make(set, len(p.buffers))
		p.rotation = append(p.rotation, set) // freed with the problem, complete or not
		if err := p.complete(set, len(p.rotation)-1); err != nil {
			p.rotation = p.rotation[:len(p.rotation)-1]
			p.freeSet(set)
			return nil, err
		}
	}
	return p.rotation[:n], nil
}

// complete allocates the buffers of a set and fills its inputs.
func (p *problem) complete(set set, number int) error {
	for i, original := range p.buffers {
		if original == nil {
			continue
		}
		var err error
		if set[i], err = p.allocate(original.Binding, worker.Aligned); err != nil {
			return err
		}
	}
	if number == 1 {
		if err := p.alternate(set); err != nil {
			return err
		}
		return p.identify(set)
	}
	for i, original := range p.rotation[number%timedContents].inputs() {
		if err := p.device.context.Copy(set[i].data, original.data, original.size); err != nil {
			return err
		}
	}
	return p.identify(set)
}

// alternate fills a set with the second content, whose answers it learns.
func (p *problem) alternate(set set) error {
	seed := p.freshSeed(1)
	if err := p.fill(set, seed); err != nil {
		return err
	}
	known, err := p.keep(set, content{seed: seed})
	if err == nil {
		known, err = p.solve(set, known)
	}
	p.contents = append(p.contents[:1], known) // freed with the problem, known or not
	return err
}

// freeSet frees the buffers of a set, complete or not.
func (p *problem) freeSet(set set) {
	for _, b := range set {
		if b != nil {
			_ = p.device.context.Free(b.base)
			p.bytes -= b.whole()
		}
	}
}

// alike says that both contents have the same answers, as inputs without any
// random numbers have. Then only poison distinguishes a result from what was there.
func (p *problem) alike() bool {
	for i := range p.contents[0].answers {
		if p.contents[0].answers[i].sum != p.contents[1].answers[i].sum {
			return false
		}
	}
	return true
}
