package objective

import (
	"context"
	"errors"
)

// ErrNoSanitizer says that the tools for it are not on this machine. Errors
// that wrap it say what is missing and how to get it.
var ErrNoSanitizer = errors.New("no sanitizer")

// Sanitizing is a Backend that can also run kernels under tools which see what
// a comparison of results cannot: reads of memory that is not theirs, races,
// undefined behaviour. It is slow, and nothing is timed there.
type Sanitizing interface {
	// Sanitized returns a backend for the same kernel whose binaries and
	// workers run under the tools, and their names. An error that wraps
	// ErrNoSanitizer means that the machine has none.
	Sanitized(context.Context) (backend Backend, names string, err error)
}
