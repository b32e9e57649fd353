package cuda

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"pawl/objective/worker"
)

// memoryShare is the part of the device's memory that problems may fill, and
// mostProblems how many there may be: enough for the full tiers of a dozen points
// with different tiles, while others are checked quickly in between.
const (
	memoryShare  = 0.25
	mostProblems = 1024
)

// problems are those that stay on the device, the least recently used first.
type problems []*problem

// get returns the problem of a load: the one that is there, or a new one in place of
// the least recently used.
func (k *problems) get(d *Device, load worker.Load) (*problem, error) {
	key, err := problemKey(load)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(*k, func(p *problem) bool { return p.key == key }); at >= 0 {
		found := (*k)[at]
		*k = append(slices.Delete(*k, at, at+1), found)
		return found, nil
	}
	p, err := newProblem(d, load)
	if outOfMemory(err) && len(*k) > 0 {
		k.evict(0, 0) // problems that may come again must not keep out one that is here
		p, err = newProblem(d, load)
	}
	if err != nil {
		return nil, err
	}
	p.key = key
	*k = append(*k, p)
	k.evict(int(memoryShare*float64(d.attributes.Memory)), 1)
	return p, nil
}

func outOfMemory(err error) bool {
	var fault *worker.Fault
	return errors.As(err, &fault) && fault.Kind == worker.NoMemory
}

// problemKey identifies what a problem depends on, which is everything but the
// kernel under test.
func problemKey(load worker.Load) ([32]byte, error) {
	load.Module, load.Calls, load.Maps = "", nil, nil
	encoded, err := json.Marshal(load)
	return sha256.Sum256(encoded), err
}

// evict frees problems until the rest fits, but never the youngest few.
func (k *problems) evict(limit, youngest int) {
	total := 0
	for _, p := range *k {
		total += p.bytes
	}
	for (total > limit || len(*k) > mostProblems) && len(*k) > youngest {
		total -= (*k)[0].bytes
		(*k)[0].free()
		*k = slices.Delete(*k, 0, 1)
	}
}
