package cuda

import (
	"math"

	"pawl/kernels/inputs"
)

func (d *Device) plausiblePoison(buffers set) error {
	for _, b := range buffers.poisoned() {
		recipe := inputs.Recipe{Kind: inputs.Integers, Stream: d.random.Uint64(), Row: 1, Scale: 1, Span: math.MaxUint64}
		if b.element.Float {
			recipe.Kind = inputs.NormalNumbers
		}
		if err := d.support.fill(b.element, b.data, b.Count, recipe); err != nil {
			return err
		}
	}
	return nil
}

// poisonSets poisons the outputs of sets that are timed next.
func (d *Device) poisonSets(sets []set) error {
	d.poison = byte(d.random.Uint32())
	for _, set := range sets {
		if err := d.poisonOutputs(set); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) poisonOutputs(buffers set) error {
	for _, b := range buffers.poisoned() {
		if err := d.context.Set(d.stream, b.data, d.poison, b.size); err != nil {
			return err
		}
	}
	return nil
}

// mapped are the buffers that the kernel has the copy engine write. A tool that watches every
// access does not see it, and would take the result for what was never written.
func (d *Device) mapped(buffers set) set {
	those := make(set, len(buffers))
	for _, layout := range d.loaded.Maps {
		those[layout.Argument] = buffers[layout.Argument]
	}
	return those
}
