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
	// Sanitized returns the tools, each with a backend for the same kernel
	// whose binaries and workers run under it. An error that wraps
	// ErrNoSanitizer means that the machine has none.
	Sanitized(context.Context) ([]Sanitizer, error)
}

// Sanitizer is a tool, or several that run at once.
type Sanitizer struct {
	// Name is what reports call it.
	Name    string
	Backend Backend
	// Slowdown is how many times as long a run may take under it as without,
	// at least 1. With more than 1 the small cases of the quick tier are all
	// that one has time for.
	Slowdown int
}
