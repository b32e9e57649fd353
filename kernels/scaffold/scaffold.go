// Package scaffold writes the folder of a new kernel: an example that tunes at once, or the
// description of a source that exists already.
//
// From a source it takes what stands there (the arguments of the entry function, the macros
// that have a default) and proposes the rest. What it cannot know, it says: the manifest has a
// comment at each such place, and [Folder] lists them.
package scaffold

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels"
)

// Folder is what a new kernel consists of.
type Folder struct {
	Files []kernels.File
	// Open are the things that a person has to look at.
	Open []string
}

var numThreads = regexp.MustCompile(`\bnum_threads\s*\(\s*(\w+)\s*\)`)

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// CheckName returns an error for what cannot be a kernel's name.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("a kernel cannot be called %q: letters, digits, dots, dashes and underscores only", name)
	}
	return nil
}

// From describes the kernel in a source; path says by its ending what it is written in. The
// entry may be empty if there is only one candidate.
func From(name, path string, content []byte, entry string) (Folder, error) {
	source := string(content)
	backend := kernels.Host
	if strings.EqualFold(filepath.Ext(path), ".cu") {
		backend = kernels.CUDA
	}
	s, err := choose(source, entry, backend)
	if known := []string{".c", ".h", ".cu", ".cuh", ".cc", ".cpp", ".cxx", ".hpp"}; err != nil &&
		!slices.Contains(known, strings.ToLower(filepath.Ext(path))) {
		err = errors.New("only C, C++, CUDA and Triton are described: docs/gallery has kernels in others to begin from")
	}
	if err != nil {
		return Folder{}, fmt.Errorf("%s: %w", path, err)
	}
	file := filepath.Base(path)
	reference := "reference" + filepath.Ext(path)
	if file == reference || !plainName.MatchString(file) {
		return Folder{}, fmt.Errorf("%s: rename it, because its name is taken or has unusual characters", path)
	}
	d := description{
		name:      name,
		backend:   backend,
		source:    file,
		text:      source,
		reference: reference,
		signature: s,
		macros:    macros(source),
		vector:    strings.Contains(source, "immintrin.h"),
		parallel:  strings.Contains(source, "#pragma omp"),
		fixed:     fixed(source),
	}
	d.globals, d.others = globals(source, s.body, backend)
	if match := numThreads.FindStringSubmatch(source); match != nil &&
		(literal.MatchString(match[1]) || slices.ContainsFunc(d.macros, func(m macro) bool { return m.name == match[1] })) {
		d.threads = match[1]
	}
	d.findShapes()
	text := d.manifest()
	if err := kernels.Check(kernels.ManifestName, []byte(text), backend); err != nil {
		return Folder{}, fmt.Errorf("%s: its description would not be a manifest: %w", path, err)
	}
	return Folder{
		Files: []kernels.File{
			{Name: kernels.ManifestName, Content: []byte(text)},
			{Name: file, Content: content},
			{Name: reference, Content: []byte(referenceNote + instructions(source) + s.plain(s.given(source, d.globals)))},
		},
		Open: d.open,
	}, nil
}

// instructions has a reference compiled for the vector instructions that it is written in: it gets no flags.
func instructions(source string) string {
	switch {
	case strings.Contains(source, "_mm512_"):
		return "#pragma GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,fma\")\n"
	case strings.Contains(source, "_mm256_"):
		return "#pragma GCC target(\"avx2,fma\")\n"
	}
	return ""
}

// plain is the source with the function in place of the template, and under its plain name,
// by which a reference is called.
func (s signature) plain(source string) string {
	if s.header != "" && strings.Count(source, s.header) == 1 {
		var fixed strings.Builder
		for _, t := range s.template {
			if t.isType() {
				fmt.Fprintf(&fixed, "typedef %s %s;\n", t.value, t.name)
			} else {
				fmt.Fprintf(&fixed, "constexpr %s %s = %s;\n", t.kind, t.name, t.value)
			}
		}
		source = strings.Replace(source, s.header, fixed.String(), 1)
		source = regexp.MustCompile(`\btemplate\s[^;{}()<>]*\b`+s.name+`\s*<[^;{}()<>]*>\s*\([^;{}]*\)\s*;`).
			ReplaceAllString(source, "")
		source = regexp.MustCompile(`\b`+s.name+instanceOf).ReplaceAllString(source, s.name+"$2")
	}
	if s.space != "" {
		source += fmt.Sprintf("\nusing %s::%s;\n", s.space, s.name)
	}
	return source
}

// choose returns the function that is meant.
func choose(source, entry, backend string) (signature, error) {
	var found, refused []signature
	var names []string
	for _, s := range signatures(source, backend) {
		switch {
		case s.name == entry && s.refused != nil:
			return signature{}, fmt.Errorf("function %s cannot be described: %w", entry, s.refused)
		case s.name == entry:
			return s, nil
		case s.refused != nil:
			refused = append(refused, s)
		default:
			found = append(found, s)
		}
		names = append(names, s.name)
	}
	kind := "function that returns nothing (void)"
	if backend == kernels.CUDA {
		kind = "__global__ function"
	}
	switch {
	case len(names) == 0 && backend == kernels.Host && len(returning(source)) > 0:
		name := returning(source)[0]
		return signature{}, fmt.Errorf("function %s returns a number, and a result is what a kernel writes: add void "+
			"%s_result(..., T *result) { *result = %s(...); } and describe that", name, name, name)
	case len(names) == 0:
		return signature{}, fmt.Errorf("it defines no %s that takes numbers or pointers to numbers", kind)
	case entry != "":
		return signature{}, fmt.Errorf("no %s is called %s; there are %s", kind, entry, strings.Join(names, ", "))
	case len(found) == 0:
		return signature{}, fmt.Errorf("function %s cannot be described: %w", refused[0].name, refused[0].refused)
	case len(found) == 1 && backend == kernels.CUDA && len(refused) > 0:
		return signature{}, fmt.Errorf("it has %s, and %s, which cannot be described: %w; name the one that is meant with "+
			"--entry", found[0].name, refused[0].name, refused[0].refused)
	case len(found) > 1:
		return signature{},
			fmt.Errorf("several functions could be the kernel: %s; name one with --entry", strings.Join(names, ", "))
	}
	return found[0], nil
}

const referenceNote = `/* A copy of the kernel at its defaults: results are compared with those of the default point.
 * That shows that all points agree, not that they are right. Replace it with plain code that
 * you trust, in double precision. */
`
