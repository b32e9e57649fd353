package devices

import (
	"context"
	"errors"
	"fmt"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/kernels"
)

// AbsentError says that a kernel needs a device that this machine does not have.
type AbsentError struct{ Err error }

func (e *AbsentError) Error() string { return e.Err.Error() }
func (e *AbsentError) Unwrap() error { return e.Err }

// Named are the backends that a name asks for, in the order in which they are tried: all of
// them for Auto.
func Named(asked string) []string {
	if asked == Auto || asked == "" {
		return Backends[1:]
	}
	return []string{asked}
}

// Missing returns why this machine cannot run kernels of a backend, or nil.
func (m *Machine) Missing(ctx context.Context, backend string) error {
	if err := m.installed[backend].Missing(ctx, nil); err != nil {
		return fmt.Errorf("%w; pawl doctor says what this machine has", err)
	}
	return nil
}

// LoadFor reads a kernel for a backend, wherever its device is. A name that is none is an
// *ArgumentError.
func LoadFor(name, backend string) (*kernels.Kernel, error) {
	k, err := kernels.Load(name, backend)
	if missing, ok := errors.AsType[*kernels.NotFoundError](err); ok {
		err = &ArgumentError{Err: err, Name: name, Known: missing.Known}
	}
	return k, err
}

// Load reads a kernel, an embedded one or a folder, for the backend that is asked
// for. A name that is neither is an *ArgumentError.
func (m *Machine) Load(ctx context.Context, name, asked string) (*kernels.Kernel, error) {
	backends := Named(asked)
	if m.tools.Architecture != "" {
		backends = collect.Where(backends, func(name string) bool { return kernels.BackendOf(name).GPU })
		if len(backends) == 0 {
			return nil, &ArgumentError{Err: fmt.Errorf("an architecture is for a GPU, and the backend is to be %s", asked)}
		}
	}
	k, missing, err := m.first(ctx, name, backends)
	switch {
	case err != nil || missing == nil || m.tools.Absent:
		return k, err
	case errors.As(missing, new(*ArgumentError)):
		return nil, missing
	}
	if other, absent, err := m.first(ctx, name, Named(Auto)); err == nil && absent == nil {
		return nil, &AbsentError{fmt.Errorf("%w; pawl doctor says what this machine has, --backend %s runs here", missing,
			other.Backend)}
	}
	err = fmt.Errorf("kernel %s is for backend %s only: %w; pawl doctor says what this machine has", k.Name, k.Backend,
		missing)
	if m.tools.Architecture == "" {
		err = fmt.Errorf("%w, %s tries what needs no GPU", err, escape.Shell("pawl", "check", k.Origin, "--arch", "sm_90"))
	}
	return nil, &AbsentError{err}
}

// first reads a kernel for the first of some backends that it has a source for and that is here.
// Where none is here, it is the first that it has a source for, with what is missing.
func (m *Machine) first(ctx context.Context, name string,
	backends []string) (k *kernels.Kernel, missing, err error) {
	for _, backend := range backends {
		found, failed := LoadFor(name, backend)
		if failed != nil && !errors.As(failed, new(*kernels.NoSourceError)) {
			return nil, nil, failed
		}
		if failed != nil {
			err = failed
			continue
		}
		lacks := m.installed[backend].Missing(ctx, found)
		if lacks == nil {
			return found, nil, nil
		}
		if k == nil {
			k, missing = found, lacks
		}
	}
	if k != nil {
		err = nil
	}
	return k, missing, err
}
