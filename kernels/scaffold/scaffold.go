// Package scaffold writes the folder of a new kernel: an example that tunes at once, or the
// description of a source that exists already.
//
// From a source it takes what stands there (the arguments of the entry function, the macros
// that have a default) and proposes the rest. What it cannot know, it says: the manifest has a
// comment at each such place, and [Folder] lists them.
package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
)

// Folder is what a new kernel consists of.
type Folder struct {
	Files []kernels.File
	// Open are the things that a person has to look at.
	Open []string
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// CheckName returns an error for what cannot be a kernel's name.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("a kernel cannot be called %q: letters, digits, dots, dashes and underscores only", name)
	}
	return nil
}

// copied are endings that compilers know and that a manifest's source does not have: its copy has another.
var copied = map[string]string{".cuh": ".cu", ".hpp": ".cpp", ".hh": ".cpp", ".hxx": ".cpp", ".C": ".cpp"}

// From describes the kernel in a source; path says by its ending what it is written in. The
// entry may be empty if there is only one candidate.
func From(name, path string, content []byte, entry string) (Folder, error) {
	source := string(content)
	backend, ext := kernels.Host, filepath.Ext(path)
	file := strings.TrimSuffix(filepath.Base(path), ext)
	if ext = cmp.Or(copied[ext], ext); strings.EqualFold(ext, ".cu") {
		backend = kernels.CUDA
	}
	file += ext
	u := unit{csource.Read(source, file, nil)}
	s, rivals, err := u.choose(entry, backend)
	if err == nil && backend == kernels.Host && s.Has("__global__") {
		err = fmt.Errorf("%s is a kernel of CUDA: copy the source to a name that ends in .cu", s.Name)
	}
	if known := []string{".c", ".h", ".cu", ".cc", ".cpp", ".cxx"}; err != nil &&
		!slices.Contains(known, strings.ToLower(ext)) {
		err = errors.New("only C, C++, CUDA and Triton are described: docs/gallery has kernels in others to begin from")
	}
	if err != nil {
		return Folder{}, fmt.Errorf("%s: %w", path, err)
	}
	reference := "reference" + ext
	switch {
	case strings.EqualFold(file, reference) || strings.EqualFold(file, kernels.ManifestName):
		return Folder{}, fmt.Errorf("%s: rename the source: init writes another file called %s beside it", path, file)
	case !plainName.MatchString(file):
		return Folder{}, fmt.Errorf("%s: rename the source: letters, digits, dots, dashes and underscores only", path)
	}
	d := description{
		name:      name,
		backend:   backend,
		source:    file,
		unit:      u,
		reference: reference,
		signature: s,
		macros:    u.Tuned(),
		rivals:    rivals,
	}
	d.findGlobals()
	d.findShapes()
	text := d.manifest()
	if err := kernels.Check(kernels.ManifestName, []byte(text), backend); err != nil {
		return Folder{}, fmt.Errorf("%s: init drafts a manifest that pawl does not take, so describe the source by hand "+
			"(docs/manifest.md), or give init a function of fewer arguments and macros: %w", path, err)
	}
	return Folder{
		Files: []kernels.File{
			{Name: kernels.ManifestName, Content: []byte(text)},
			{Name: file, Content: content},
			{Name: reference, Content: []byte(referenceNote + d.instructions() + d.plain())},
		},
		Open: d.open,
	}, nil
}

// instructions has a reference compiled as it is written, for the vector instructions and without OpenMP: it gets no
// flags.
func (d *description) instructions() string {
	text, _ := d.unit.onOneThread()
	switch {
	case d.backend != kernels.Host:
		return ""
	case strings.Contains(d.unit.Source, "_mm512_"):
		text += "#pragma GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,fma\")\n"
	case d.unit.Vector:
		text += "#pragma GCC target(\"avx2,fma,f16c,bmi,bmi2,popcnt,aes,pclmul\")\n"
	}
	return text
}

// plain is the source as a reference: the function in place of the template, under its plain name, which takes the
// variables too, as an argument hides a variable.
func (d *description) plain() string {
	var edits []csource.Edit
	beside, fixed := "", ""
	if d.unit.Defined["__cplusplus"] != nil {
		beside = " = 0" // for the functions that call it without them
	}
	for _, t := range d.template {
		if t.isType() {
			fixed += fmt.Sprintf("typedef %s %s;\n", t.value, t.name)
		} else {
			fixed += fmt.Sprintf("\n#ifndef %[1]s\n#define %[1]s %[2]s\n#endif\nconstexpr %[3]s %[4]s = %[1]s;\n", t.parameter(),
				t.value, t.kind, t.name)
		}
	}
	for _, other := range d.unit.Declared {
		if !other.Function || other.Name != d.signature.Name || other.Space != d.Space || other.Closing.Macro != "" {
			continue
		}
		if other.Header.To > 0 {
			edits = append(edits, csource.Edit{Place: other.Header, Text: fixed})
		}
		for _, g := range d.globals {
			edits = append(edits, csource.Before(other.Closing.Place, ", "+g.declared+beside))
		}
		beside, fixed = "", ""
	}
	if len(d.template) > 0 {
		for _, use := range d.unit.Instances(d.signature.Name) {
			edits = append(edits, csource.Edit{Place: use.Place})
		}
		for _, asked := range d.unit.Instantiated[d.signature.Name] {
			edits = append(edits, csource.Edit{Place: asked})
		}
	}
	text := strings.TrimPrefix(csource.Rewrite(d.unit.Source, edits), "\ufeff")
	if d.Space != "" {
		text += fmt.Sprintf("\nusing %s::%s;\n", d.Space, d.signature.Name)
	}
	return text
}

// choose returns the function that is meant, and others that it may be. One that others call is less likely.
func (u unit) choose(entry, backend string) (s signature, rivals []string, err error) {
	kind, hidden := "void function that other files can call", u.hidden()
	advice := "static and inline functions and members of classes do not count; add a void function that calls yours"
	if backend == kernels.CUDA {
		kind, hidden = "__global__ function", nil
		advice = "write the kernel into this file as __global__ void, outside of classes"
	}
	if len(hidden) > 0 {
		advice = "it has " + strings.Join(hidden, ", ") + ", but " + advice
	}
	name := signature.Qualified
	all, returning := u.signatures(backend)
	meant := slices.Concat(all, returning)
	names := strings.Join(collect.Each(meant, name), ", ")
	switch {
	case entry != "":
		plain := collect.Where(meant, func(s signature) bool { return s.Name == entry })
		if meant = collect.Where(meant, func(s signature) bool { return s.Qualified() == entry }); len(meant) == 0 {
			meant = plain
		}
	case len(meant) > 1:
		meant = collect.Where(meant, func(s signature) bool {
			return !u.Calls(s.Name) && (strings.Contains(csource.Join(s.List), "*") || len(all) == 0 || s.Has("void"))
		})
	}
	if len(meant) == 0 && len(all) == 1 && entry == "" {
		meant = all
	}
	refused := collect.Where(meant, func(s signature) bool { return s.refused != nil })
	described := collect.Where(meant, func(s signature) bool { return s.refused == nil })
	switch {
	case len(all)+len(returning) == 0:
		return s, nil, fmt.Errorf("init finds no %s in it: %s", kind, advice)
	case slices.Contains(hidden, entry) && len(meant) == 0:
		return s, nil, fmt.Errorf("no %s is called %s: %s", kind, entry, advice)
	case entry != "" && len(meant) == 0:
		return s, nil, fmt.Errorf("no %s is called %s; there are %s", kind, entry, names)
	case len(meant) > 1 && len(collect.Distinct(collect.Each(meant, name))) == 1:
		return s, nil, fmt.Errorf("several functions are called %s, and an entry is a name alone: rename the one "+
			"that is meant", meant[0].Qualified())
	case len(refused) == 1 && len(described) == 1:
		return s, nil, fmt.Errorf("it has %s, and %s, which init does not describe: %w; name the one that is meant with "+
			"--entry", described[0].Qualified(), refused[0].Qualified(), refused[0].refused)
	case len(meant) != 1:
		return s, nil, fmt.Errorf("several functions could be the kernel: %s; name one with --entry", names)
	case len(refused) > 0:
		return s, nil, fmt.Errorf("init does not describe function %s: %w", refused[0].Qualified(), refused[0].refused)
	}
	if entry == "" {
		rivals = collect.Where(collect.Each(all, name), func(name string) bool { return name != meant[0].Qualified() })
	}
	return meant[0], rivals, nil
}

// hidden are the functions that other files cannot call.
func (u unit) hidden() []string {
	return collect.Each(collect.Where(u.Declared, func(d csource.Declaration) bool {
		return d.Complete && (d.Has("static", "inline") || strings.Contains(d.Name, "::"))
	}), csource.Declaration.Qualified)
}

const referenceNote = `/* A copy of the kernel at its defaults: results are compared with those of the default point.
 * That shows that all points agree, not that they are right. Replace it with plain code that
 * you trust, in double precision. */
`
