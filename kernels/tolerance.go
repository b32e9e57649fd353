package kernels

import "pawl/kernels/arguments"

func (b *builder) tolerance() error {
	t := b.keys.Tolerance
	if b.on.Program {
		return nil
	}
	if t == nil {
		b.kernel.Tolerance = arguments.TypicalOf(b.kernel.Arguments)
		return nil
	}
	var err error
	b.kernel.stated, b.kernel.Tolerance, err = b.reader().Tolerance(*t, b.top())
	return err
}
