package kernels

import (
	"slices"

	"pawl/space"
)

// launch compiles the formulas of the launches.
func (b *builder) launch() error {
	l := b.keys.Launch
	if l == nil {
		l = &launchEntry{}
	}
	var err error
	launch := &b.kernel.Launch
	if launch.Threads, err = optional(b.all, l.Threads, space.WholeNumber); err != nil {
		return err
	}
	if launch.Kernel, err = formulas(b.all, gridEntry{l.Grid, l.Block, l.Shared}); err != nil {
		return err
	}
	if b.backend == CUDA && (l.Grid == nil || l.Block == nil) {
		return b.top().errorf("launch needs a grid and a block for backend %s", CUDA)
	}
	if l.Reference == nil {
		launch.Reference, launch.Inherited = launch.Kernel, true
		return nil
	}
	if l.Reference.Grid == nil || l.Reference.Block == nil {
		return b.top().errorf("the launch of the reference needs a grid and a block")
	}
	launch.Reference, err = formulas(b.dims, *l.Reference)
	return err
}

func formulas(scope *space.Scope, entry gridEntry) (f LaunchFormulas, err error) {
	for _, texts := range [][]scalar{entry.Grid, entry.Block} {
		if len(texts) > 3 {
			return f, texts[3].at.errorf("a launch has at most three dimensions")
		}
	}
	if f.Grid, err = compileAll(scope, entry.Grid, space.WholeNumber); err != nil {
		return f, err
	}
	if f.Block, err = compileAll(scope, entry.Block, space.WholeNumber); err != nil {
		return f, err
	}
	f.Shared, err = optional(scope, entry.Shared, space.WholeNumber)
	return f, err
}

// defines compiles the constants that come from the sizes of a workload. Such
// a size is part of the binary, so the fuzz matrix cannot vary it.
func (b *builder) defines() error {
	for key, text := range b.keys.Defines.all() {
		if !cIdentifier.MatchString(key.text) {
			return key.at.errorf("define %q is not an identifier", key.text)
		}
		if slices.ContainsFunc(b.kernel.params, func(p space.Param) bool { return p.Name == key.text }) {
			return key.at.errorf("%s is both a parameter and a define", key.text)
		}
		e, err := compile(b.dims, text, space.WholeNumber)
		if err != nil {
			return err
		}
		for _, name := range e.Names() {
			if _, varied := b.kernel.Fuzz[name]; varied {
				return key.at.errorf("define %s depends on %s, which the fuzz matrix varies: one binary cannot have several", key.text, name)
			}
		}
		b.kernel.defines = append(b.kernel.defines, define{key.text, e})
	}
	return nil
}
