package kernels

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// A kernel on tiles (Triton) is a grid of programs. How many threads run each, and in how much
// shared memory, its compiler decides. It also specializes: machine code for a size that is
// divisible by 16 is wrong for another, and a size of 1 is compiled in. So a compiled point is
// right for the sizes of one class, that of its workload, and is checked on those alone.

// tileWidth is what compilers for tiles want addresses and sizes to be divisible by.
const tileWidth = 16

// language is that of a file, by how its name ends.
func (b Backend) language(file string) Language {
	suffix := strings.ToLower(path.Ext(file))
	found, _ := collect.First(b.Languages, func(l Language) bool { return slices.Contains(l.Suffixes, suffix) })
	return found
}

// Tiled says that the kernel's source is in a language of tiles.
func (k *Kernel) Tiled() bool { return k.On().language(k.Source).Tiles }

func (b *builder) tiled() bool { return b.on.language(b.files.Source.Text).Tiles }

// tileLaunch completes a launch of a kernel on tiles: the number of threads is the one that is
// asked for, which the compiler may still change.
func (b *builder) tileLaunch(entry stepEntry, listed bool) (stepEntry, error) {
	switch {
	case listed:
		return entry, entry.at.Errorf("a list of launches is not supported for %s: each function is a kernel of its own",
			b.files.Source.Text)
	case entry.Grid == nil:
		return entry, entry.at.Errorf("launch needs a grid for %s", b.files.Source.Text)
	case entry.Block != nil:
		return entry, entry.Block[0].At.Errorf("launch: the block of %s follows from num_warps; strike block",
			b.files.Source.Text)
	case entry.Shared.Text != "":
		return entry, entry.Shared.At.Errorf("launch: the compiler of %s decides about shared memory; strike shared",
			b.files.Source.Text)
	}
	threads := "128"
	for _, name := range []string{"NUM_WARPS", "num_warps"} {
		if slices.ContainsFunc(b.kernel.params, func(p space.Param) bool { return p.Name == name }) {
			threads = "32 * " + name
		}
	}
	entry.Block = []document.Scalar{{Text: threads, At: entry.at}}
	return entry, nil
}

// tileArguments refuses what no function on tiles takes. Buffers are aligned as compilers for
// tiles expect where the manifest does not say how.
func (b *builder) tileArguments() error {
	for i, entry := range b.keys.Args {
		a, at := &b.kernel.Arguments[i], entry.Name.At
		switch {
		case a.TensorMap != nil:
			return at.Errorf("argument %s: tensor descriptors that the host makes are not supported; pass the buffer, and "+
				"let the kernel call tl.make_tensor_descriptor", a.Name)
		case a.Symbol != "":
			return at.Errorf("argument %s: %s has no variables on the device; pass it as an argument", a.Name, b.kernel.Source)
		case a.Fields != nil || a.Lanes > 1:
			return at.Errorf("argument %s: %s takes pointers to numbers, not to structures", a.Name, b.kernel.Source)
		case a.Shape == nil && a.Element.Float && a.Element.Size < 4:
			return at.Errorf("argument %s: a number is passed as f32 or f64", a.Name)
		case a.Shape != nil && entry.Align.Text == "":
			a.Align = max(a.Align, tileWidth)
		}
	}
	return nil
}

// Specialization is what a compiled kernel on tiles relies on, for each argument: that it is
// divisible by 16, or 1.
type Specialization struct{ Divisible, One bool }

// Specializations returns what a point that is compiled for some sizes relies on, an entry per
// argument; nil of a kernel that is right for all sizes.
func (k *Kernel) Specializations(bindings []arguments.Binding) []Specialization {
	if !k.Tiled() {
		return nil
	}
	class := make([]Specialization, len(bindings))
	for i, b := range bindings {
		switch a := k.Arguments[i]; {
		case b.IsBuffer():
			class[i].Divisible = b.Align%tileWidth == 0
		case !a.Element.Float:
			class[i] = Specialization{Divisible: b.Integer%tileWidth == 0, One: b.Integer == 1}
		}
	}
	return class
}

// SameClass reports whether a kernel that is compiled for some sizes is right for others too.
func (k *Kernel) SameClass(compiled, other Dims) bool {
	if !k.Tiled() {
		return true
	}
	here, err := k.Bind(compiled)
	there, failed := k.Bind(other)
	return err == nil && failed == nil && slices.Equal(k.Specializations(here), k.Specializations(there))
}

// Class describes the sizes that a kernel which is compiled for a workload is right for; empty
// for all.
func (k *Kernel) Class(w Workload) string {
	bindings, err := k.Bind(w.Dims)
	if err != nil {
		return ""
	}
	var parts []string
	for i, s := range k.Specializations(bindings) {
		a := k.Arguments[i]
		constant := a.Value == nil || !slices.ContainsFunc(a.Value.Names(), func(name string) bool {
			_, size := w.Dims[name]
			return size
		})
		switch {
		case constant:
		case s.One:
			parts = append(parts, a.Name+" = 1")
		case s.Divisible:
			parts = append(parts, fmt.Sprintf("%s divisible by %d", a.Name, tileWidth))
		case !a.Element.Float:
			parts = append(parts, fmt.Sprintf("%s not divisible by %d", a.Name, tileWidth))
		}
	}
	return strings.Join(parts, ", ")
}
