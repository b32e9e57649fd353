package command

import (
	"context"
	"path/filepath"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/host"
	"pawl/objective/platform"
)

// Platform is programs as a backend: they need no worker, and no compiler that pawl knows.
var Platform = platform.Platform{
	Name: DeviceName,
	Here: func(t platform.Tools) platform.Installation { return installation{t} },
}

type installation struct{ tools platform.Tools }

var _ platform.Installation = installation{}

// Missing returns nothing: whether its programs are here is known when a kernel is opened.
func (i installation) Missing(context.Context, *kernels.Kernel) error { return nil }

func (i installation) Limits(_ context.Context, t platform.Target) objective.Limits {
	return host.NewLimits(t.Kernel, t.Space, 0)
}

func (i installation) Open(_ context.Context, t platform.Target, compiled *cache.Cache) (objective.Backend, error) {
	return New(t.Kernel, t.Workload, t.Space, Options{
		Folder: filepath.Join(compiled.Dir(), "commands"), BuildTimeout: i.tools.CompileTimeout,
	})
}

// Probe finds nothing: what programs need, nobody but their manifest knows.
func (i installation) Probe(context.Context) ([]platform.Finding, bool) { return nil, true }
