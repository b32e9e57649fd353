package cuda

import (
	"bytes"
	"errors"
	"fmt"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective/cuda/driver"
)

// drawn are inputs that are drawn, each with a rest that is no whole unit.
var drawn = []arguments.Binding{
	{Name: "single", Type: "f32", Values: arguments.Values{Fill: arguments.Normal}, Count: 10_003},
	{Name: "double", Type: "f64", Values: arguments.Values{Fill: arguments.Uniform}, Count: 5_001},
	{Name: "half", Type: "f16", Values: arguments.Values{Fill: arguments.Normal}, Count: 10_001},
	{Name: "byte", Type: "u8", Values: arguments.Values{Fill: arguments.Uniform}, Count: 4_097},
	{
		Name: "pairs", Type: "u8", Count: 12 * 1000, Stride: 12, Fields: []arguments.Field{
			{Binding: arguments.Binding{Name: "pairs.x", Type: "f32",
				Values: arguments.Values{Fill: arguments.Normal}, Count: 2000}, Lanes: 2},
			{Binding: arguments.Binding{Name: "pairs.w", Type: "f32",
				Values: arguments.Values{Fill: arguments.Uniform}, Count: 1000},
				Offset: 8, Lanes: 1},
		},
	},
}

// expectDraw is what a draw should give, with its pool.
func expectDraw(b arguments.Binding, stream uint64) (of inputs.Pool, pool, want []byte, err error) {
	renewal, of := inputs.RenewalOf(b)
	if renewal != inputs.Drawn {
		return of, nil, nil, fmt.Errorf("%s is not drawn", b.Name)
	}
	pool = make([]byte, of.Bytes())
	if err := new(inputs.Source).Fill(pool, of.Binding, 7); err != nil {
		return of, nil, nil, err
	}
	want = make([]byte, b.Bytes())
	of.Draw(want, pool, stream)
	return of, pool, want, nil
}

// checkDraws draws several buffers at once: the first as the host does, each other one otherwise, and
// no byte beside them.
func checkDraws(p *support) error {
	var all error
	for _, b := range drawn {
		all = errors.Join(all, checkDraw(p, b))
	}
	return all
}

func checkDraw(p *support, binding arguments.Binding) error {
	const buffers, stream = 3, 12345
	of, pool, want, err := expectDraw(binding, stream)
	if err != nil {
		return err
	}
	if err := p.context.ToDevice(p.pool, pool); err != nil {
		return err
	}
	e, err := element.Named(binding.Type)
	if err != nil {
		return err
	}
	b := &buffer{Binding: binding, element: e, size: len(want), tail: guardSize}
	slab := bytes.Repeat([]byte{guardPattern}, buffers*b.stride())
	if b.base, err = upload(p, slab); err != nil {
		return err
	}
	b.data = b.base + driver.Address(guardSize)
	err = errors.Join(p.draw(b, buffers, of, stream), p.context.Wait(p.stream), p.context.ToHost(slab, b.base),
		p.context.Free(b.base))
	contents := map[string]bool{}
	for number := range buffers {
		one := slab[number*b.stride():][:b.stride()]
		content := one[guardSize:][:b.size]
		contents[string(content)] = true
		if number == 0 && !bytes.Equal(content, want) {
			err = errors.Join(err, fmt.Errorf("%s: the device draws otherwise than the host", binding.Name))
		}
		beside := append(bytes.Clone(one[:guardSize]), one[guardSize+b.size:]...)
		if len(bytes.Trim(beside, "\xff")) > 0 {
			err = errors.Join(err, fmt.Errorf("%s: bytes beside buffer %d are drawn", binding.Name, number))
		}
	}
	if len(contents) != buffers {
		err = errors.Join(err, fmt.Errorf("%s: %d contents of %d buffers", binding.Name, len(contents), buffers))
	}
	return err
}
