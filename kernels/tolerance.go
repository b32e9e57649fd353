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
	if b.kernel.stated, b.kernel.Tolerance, err = b.reader().Tolerance(*t, b.top()); err != nil {
		return err
	}
	switch {
	case t.Derived == 0:
		return nil
	case !(t.Derived >= 1 && t.Derived <= 1000):
		return b.top().Errorf("tolerance: derived is %v: a multiple of the naive implementation's error, from 1 to 1000",
			t.Derived)
	case b.kernel.Naive == "":
		return b.top().Errorf("tolerance: derived needs the key naive for backend %s: a plain implementation in the "+
			"kernel's own precision, whose error is the measure", b.backend)
	}
	return nil
}
