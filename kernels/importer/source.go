package importer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
	"pawl/kernels/includes"
	"pawl/space"
)

var included = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// compiled is a source as a compiler sees it at the default point.
func (d *description) compiled(source string) *csource.Unit {
	given := map[string]string{}
	for _, macro := range d.macros() {
		given[macro[0]] = macro[1]
	}
	return csource.Read(source, cmp.Or(d.source, "kernel.cu"), given)
}

// formal is an argument as a source declares it.
type formal struct {
	name     string
	pointer  bool
	constant bool // what it points to
	read     bool // the function reads what it writes to it
}

// formals are the arguments of the entry function, nil where the source does not show it, or not their names.
func (d *description) formals(source string) (all []formal) {
	unit := d.compiled(source)
	found := unit.Functions(kernels.PlainName(d.entry))
	if len(found) == 0 {
		return nil
	}
	for _, p := range found[0].Parameters {
		if p.Name == "" {
			return nil
		}
		_, stars, constant, _ := unit.Resolved(p)
		read := csource.UseOf(csource.Dereferenced(found[0].Body, p.Name), p.Name).Changed
		all = append(all, formal{p.Name, stars > 0, constant && stars > 0, read})
	}
	return all
}

// withC gives the entry function of a CUDA source its plain name, as the other tuner's own compilation does.
func (d *description) withC(source string) string {
	if strings.Contains(source, `extern "C"`) || d.backend != kernels.CUDA || kernels.IsInstance(d.entry) {
		return source
	}
	for _, f := range d.compiled(source).Functions(d.entry) {
		if f.Has("__global__") {
			d.note("extern \"C\" was put before %s, whose name would be another one otherwise", d.entry)
			return csource.Rewrite(source, []csource.Edit{csource.Before(f.Place, `extern "C" `)})
		}
	}
	d.gap("the source does not show a __global__ function %s: put extern \"C\" before it", d.entry)
	return source
}

// takeSource puts the source into the folder, and returns it as it is there.
func (d *description) takeSource(source string) string {
	d.takeUnrolling(source)
	prepared := d.withC(source)
	d.files = append(d.files, kernels.File{Name: d.source, Content: []byte(prepared)})
	return prepared
}

var unrolled = regexp.MustCompile(`(?m)^([ \t]*#[ \t]*pragma[ \t]+unroll[ \t]+)\(?([A-Za-z_]\w*)\)?[ \t]*$`)

// takeUnrolling names what a #pragma unroll NAME means to Kernel Tuner alone. The rest needs nothing:
// a parameter's name means its value there.
func (d *description) takeUnrolling(source string) {
	for _, name := range includes.Unrolled([]byte(source)) {
		for _, p := range d.params {
			if p.name == name && d.backend == kernels.CUDA &&
				slices.ContainsFunc(p.values, func(v space.Value) bool { return v.String() == "0" }) {
				d.gap("%s = 0 means no pragma to Kernel Tuner, and #pragma unroll 0 to nvcc", name)
			}
		}
	}
}

// macrosOf are the defines that Kernel Tuner adds to each compilation, as far as a source uses
// them: the parameters are pawl's business.
func (d *description) macrosOf(source string, names []string) (flags []string) {
	uses := func(name string) bool { return wordOf(name).MatchString(source) }
	if uses("kernel_tuner") {
		flags = append(flags, "-Dkernel_tuner=1")
	}
	for i, name := range names {
		if !d.tunes(name) && uses(name) && d.backend == kernels.CUDA {
			flags = append(flags, fmt.Sprintf("-D%s=%s", name, d.block[i]))
		}
	}
	for _, name := range []string{"grid_size_x", "grid_size_y", "grid_size_z"} {
		if uses(name) {
			d.gap("the source uses %s, which Kernel Tuner defines: use gridDim, or a parameter of the manifest", name)
		}
	}
	return flags
}

// addIncludes takes along what a source includes from the first of the folders that has it, and what that includes.
func (d *description) addIncludes(source string, folders ...string) {
	for _, match := range included.FindAllStringSubmatch(source, -1) {
		name := filepath.ToSlash(filepath.Clean(match[1]))
		if slices.ContainsFunc(d.files, func(f kernels.File) bool { return f.Name == name }) {
			continue
		}
		at := slices.IndexFunc(folders, func(folder string) bool {
			_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
			return err == nil && filepath.IsLocal(filepath.FromSlash(name))
		})
		if at < 0 {
			d.gap("the source includes %q, which is not beside it: put it into the kernel's folder", match[1])
			continue
		}
		content, err := os.ReadFile(filepath.Join(folders[at], filepath.FromSlash(name)))
		if err != nil {
			d.gap("the source includes %q: %v", match[1], err)
			continue
		}
		d.files = append(d.files, kernels.File{Name: name, Content: content})
		d.addIncludes(string(content), folders...)
	}
}

const copied = `/* A copy of the kernel at the default point: results are compared with its own. That shows that
 * all points agree, not that they are right. Replace it by plain code that you trust. */
`

// copyAsReference makes the kernel its own reference, at the default point: it is left to write.
func (d *description) copyAsReference(source string) {
	text, err := d.withConstants(source)
	if err != nil {
		d.gap("%v", err)
	}
	d.addReference(copied + d.defined(text))
	if kernels.IsInstance(d.entry) {
		d.gap("%s is a copy of the kernel, and must be plain code with a function %s that is no template", d.reference,
			kernels.PlainName(d.entry))
		return
	}
	d.gap("%s is a copy of the kernel: replace it with plain code that you trust", d.reference)
}

// macros are what the kernel is compiled with at the default point.
func (d *description) macros() (all [][2]string) {
	all = collect.Each(d.params, func(p parameter) [2]string { return [2]string{p.name, p.first.Define()} })
	for _, flag := range d.flags {
		if macro, is := strings.CutPrefix(flag, "-D"); is {
			name, content, given := strings.Cut(macro, "=")
			if !given {
				content = "1"
			}
			all = append(all, [2]string{name, content})
		}
	}
	return all
}

// defined puts the default point before a source, which gets no parameters as a reference.
func (d *description) defined(source string) string {
	var text strings.Builder
	for _, macro := range d.macros() {
		define := fmt.Sprintf("#define %s %s\n", macro[0], macro[1])
		if slices.Contains(d.referenceParams, macro[0]) {
			define = fmt.Sprintf("#ifndef %s\n%s#endif\n", macro[0], define)
		}
		text.WriteString(define)
	}
	// Compilers expand no macro in a pragma, and how far a reference is unrolled does not matter.
	return text.String() + unrolled.ReplaceAllStringFunc(source, func(line string) string {
		if d.tunes(unrolled.FindStringSubmatch(line)[2]) {
			return ""
		}
		return line
	})
}

func (d *description) addReference(content string) {
	d.reference = "reference" + filepath.Ext(d.source)
	if d.source == d.reference {
		d.reference = "plain_" + d.reference
	}
	d.files = append(d.files, kernels.File{Name: d.reference, Content: []byte(content)})
}

// swapNames gives the function other the name of the entry, and the entry another one.
func swapNames(source, entry, other string) string {
	word := regexp.MustCompile(`\b(` + regexp.QuoteMeta(entry) + `|` + regexp.QuoteMeta(other) + `)\b`)
	return word.ReplaceAllStringFunc(source, func(name string) string {
		if name == other {
			return entry
		}
		return entry + "_tuned"
	})
}
