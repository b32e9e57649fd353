package host

import (
	"fmt"

	"github.com/ebitengine/purego"

	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

// symbolFunction is the function of a module that sets the variable of an argument, or
// compares it. It returns how many bytes the variable has, and 0 for another content.
func symbolFunction(argument int) string { return fmt.Sprintf("pawl_symbol_%d", argument) }

// findSymbols looks for the variables of the source. A reference has none.
func (d *Device) findSymbols(library uintptr) {
	d.symbols = make([]uintptr, len(d.loaded.Arguments))
	for i, argument := range d.loaded.Arguments {
		if argument.Symbol != "" {
			d.symbols[i], _ = purego.Dlsym(library, symbolFunction(i))
		}
	}
}

// symbolContent is what a variable should hold.
func (d *Device) symbolContent(i int) ([]byte, error) {
	argument := d.loaded.Arguments[i]
	if argument.IsBuffer() {
		return d.copies[i].first.data, nil
	}
	size, err := argument.Size()
	return d.scalars[arguments.LargestValue*i:][:size], err
}

// setSymbols gives the variables of the source their content. It stays the same for all
// launches, as it does where a program sets it once.
func (d *Device) setSymbols() error {
	if err := d.reach(true); err != nil {
		return err
	}
	for i, set := range d.symbols {
		if set == 0 {
			continue
		}
		content, err := d.symbolContent(i)
		if err != nil {
			return err
		}
		size, _, _ := purego.SyscallN(set, address(content), uintptr(len(content)), 1)
		if int(size) < len(content) {
			argument := d.loaded.Arguments[i]
			return &worker.Fault{
				Kind: worker.Unloadable,
				Detail: fmt.Sprintf("the variable %s has %d bytes, argument %s %d: make it as large as the manifest's shape",
					argument.Symbol, size, argument.Name, len(content)),
			}
		}
	}
	return d.reach(false)
}

// changedSymbol says that the kernel wrote to a variable that is an input.
func (d *Device) changedSymbol() *worker.Fault {
	for i, same := range d.symbols {
		if same == 0 {
			continue
		}
		content, err := d.symbolContent(i)
		if err != nil {
			continue // it was set before
		}
		if size, _, _ := purego.SyscallN(same, address(content), uintptr(len(content)), 0); size == 0 {
			return &worker.Fault{Kind: worker.InputModified, Detail: d.loaded.Arguments[i].Symbol}
		}
	}
	return nil
}
