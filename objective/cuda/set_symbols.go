package cuda

import (
	"fmt"
	"slices"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// setSymbols gives the variables of a module their content: constant memory, and globals of
// the device. It stays the same for all launches, as it does where a program sets it once.
func (d *Device) setSymbols(load worker.Load) error {
	for i, argument := range load.Arguments {
		taken := slices.ContainsFunc(load.Calls, func(c kernels.Call) bool { return slices.Contains(c.Arguments, i) })
		if argument.Symbol == "" || taken { // the reference takes it as a parameter
			continue
		}
		to, room, err := d.context.Global(d.modules[load.Module], argument.Symbol)
		if driver.CodeOf(err) == driver.NotFound {
			return unloadable(fmt.Errorf("the module has no variable %s for argument %s: declare it at file scope without "+
				"static, __constant__ or __device__, and use it", argument.Symbol, argument.Name))
		}
		if err != nil {
			return err
		}
		if err := d.setSymbol(argument, d.on.buffers[i], to, room); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) setSymbol(argument arguments.Binding, b *buffer, to driver.Address, room int) error {
	size := argument.Size()
	if b != nil {
		size = b.size
	}
	if size > room {
		return unloadable(fmt.Errorf("the variable %s has %d bytes, argument %s %d: make it as large as the "+
			"manifest's shape", argument.Symbol, room, argument.Name, size))
	}
	if b != nil {
		return d.context.CopyLater(d.stream, to, b.data, size)
	}
	value := make([]byte, arguments.LargestValue)
	argument.Put(value)
	return d.context.ToDevice(to, value[:size])
}
