package host

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

// symbolFunction is the function of a module that says where the variable of an argument is, or how
// many bytes it has. It is called once, before the kernel runs: a kernel's code has no part in what is
// done between its launches.
func symbolFunction(argument int) string { return fmt.Sprintf("pawl_symbol_%d", argument) }

// findSymbols looks for the variables of the source. A reference has none.
func (d *Device) findSymbols(library uintptr) {
	d.symbols = make([][]byte, len(d.loaded.Arguments))
	for i, argument := range d.loaded.Arguments {
		if argument.Symbol == "" {
			continue
		}
		if function, err := purego.Dlsym(library, symbolFunction(i)); err == nil {
			at, _, _ := purego.SyscallN(function, 0)
			size, _, _ := purego.SyscallN(function, 1)
			d.symbols[i] = unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
		}
	}
}

// symbolContent is what a variable should hold.
func (d *Device) symbolContent(i int) []byte {
	argument := d.loaded.Arguments[i]
	if argument.IsBuffer() {
		return d.buffers[i].first.data
	}
	return d.scalars[arguments.LargestValue*i:][:argument.Size()]
}

// setSymbols gives the variables of the source their content. It stays the same for all
// launches, as it does where a program sets it once.
func (d *Device) setSymbols() error {
	for i, variable := range d.symbols {
		if variable == nil {
			continue
		}
		if content := d.symbolContent(i); copy(variable, content) < len(content) {
			argument := d.loaded.Arguments[i]
			return &worker.Fault{
				Kind: worker.Unloadable,
				Detail: fmt.Sprintf("the variable %s has %d bytes, argument %s %d: make it as large as the manifest's shape",
					argument.Symbol, len(variable), argument.Name, len(content)),
			}
		}
	}
	return nil
}

// changedSymbol says that the kernel wrote to a variable that is an input.
func (d *Device) changedSymbol() *worker.Fault {
	for i, variable := range d.symbols {
		if variable == nil {
			continue
		}
		if content := d.symbolContent(i); !bytes.Equal(variable[:len(content)], content) {
			return &worker.Fault{Kind: worker.InputModified, Detail: d.loaded.Arguments[i].Symbol}
		}
	}
	return nil
}
