package kerneltest

import (
	"errors"
	"slices"

	"pawl/kernels"
)

// NamesFor returns the names of the embedded kernels that have a source for a backend, sorted.
func NamesFor(backend string) []string {
	return slices.DeleteFunc(kernels.Names(), func(name string) bool {
		_, err := kernels.Load(name, backend)
		return errors.As(err, new(*kernels.NoSourceError))
	})
}
