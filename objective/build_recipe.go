package objective

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/kernels/includes"
	"pawl/space"
)

// Build is how a point becomes machine code, without its parameters: what it takes
// to compile elsewhere what was measured here. [Build.At] puts a point in.
type Build struct {
	// Source is the file that is compiled, in the kernel's folder.
	Source string `json:"source"`
	// Units are files that are compiled in the same way and linked with it.
	Units []string `json:"units,omitempty"`
	// Compiler is the program and any leading arguments, as the user named it. It is empty
	// where the compiler of a language of tiles runs where the kernel is launched.
	Compiler []string `json:"compiler"`
	// Flags are in order, those that choose the machine included.
	Flags []string `json:"flags"`
	// Libraries are the flags of what the kernel is linked with.
	Libraries []string `json:"libraries,omitempty"`
	// Compile makes an object of the source where the compiler of C only links it, with names in braces.
	Compile []string `json:"compile,omitempty"`
	// Constants are the macros that come from the sizes of the workload.
	Constants []kernels.Constant `json:"constants,omitempty"`
	// Instances are the entries that are instances of templates, with names in braces.
	Instances []string `json:"instances,omitempty"`
	// Unrolled are the names that pragmas of the sources unroll by.
	Unrolled []string `json:"unrolled,omitempty"`
	// OnlyFlags are the parameters that are in flags and in no source.
	OnlyFlags []string `json:"only_flags,omitempty"`
}

// NewBuild returns what the sources of a kernel say about their compilation.
func NewBuild(k *kernels.Kernel, constants []kernels.Constant) *Build {
	b := &Build{Source: k.Source, Units: k.Units, Constants: constants}
	for _, entry := range k.Launch.Entries() {
		if kernels.IsInstance(entry) {
			b.Instances = append(b.Instances, entry)
		}
	}
	files, err := k.Files()
	if err != nil {
		return b // whoever compiles them says so
	}
	b.OnlyFlags = kernels.FlagParameters(k.Flags)
	for _, f := range files {
		if f.Name == kernels.ManifestName {
			continue
		}
		b.Unrolled = append(b.Unrolled, includes.Unrolled(f.Content)...)
		b.OnlyFlags = slices.DeleteFunc(b.OnlyFlags, func(name string) bool {
			return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(f.Content)
		})
	}
	return b
}

// Recipe is a build at a point.
type Recipe struct {
	// Macros are the point's values and what the sizes of the workload decide, in the order of the build.
	Macros []kernels.Constant `json:"macros"`
	// Unrolled are those that are constants of the same name too.
	Unrolled []string `json:"unrolled,omitempty"`
	// File is what is compiled, in the kernel's folder, and so are Units.
	File  string   `json:"file"`
	Units []string `json:"units,omitempty"`
	// Instances are the instances of templates that must be in the object.
	Instances []string `json:"instances,omitempty"`
	Compiler  []string `json:"compiler"`
	Flags     []string `json:"flags"`
	// Libraries are for linking.
	Libraries []string `json:"libraries,omitempty"`
}

// linkerFlags are the beginnings of flags that count when objects are linked, too.
var linkerFlags = []string{"-fopenmp", "-pthread", "-fsanitize", "-flto", "-fprofile", "-l", "-L", "-Wl,"}

// At puts the values of a point into a build.
func (b *Build) At(point space.Point) Recipe {
	r := Recipe{File: b.Source, Units: b.Units, Compiler: b.Compiler, Flags: kernels.FlagsAt(b.Flags, point)}
	for _, a := range point.Assignments() {
		if !slices.Contains(b.OnlyFlags, a.Name) {
			r.Macros = append(r.Macros, kernels.Constant{Name: a.Name, Value: a.Value.Define()})
		}
	}
	r.Macros = append(r.Macros, b.Constants...)
	for _, m := range r.Macros {
		if _, err := strconv.ParseInt(m.Value, 10, 64); err == nil && slices.Contains(b.Unrolled, m.Name) {
			r.Unrolled = append(r.Unrolled, m.Name)
		}
	}
	for _, entry := range b.Instances {
		r.Instances = append(r.Instances, kernels.EntryAt(entry, point))
	}
	for _, flag := range r.Flags {
		if slices.ContainsFunc(linkerFlags, func(begin string) bool { return strings.HasPrefix(flag, begin) }) &&
			!slices.Contains(b.Libraries, flag) {
			r.Libraries = append(r.Libraries, flag)
		}
	}
	r.Libraries = append(r.Libraries, b.Libraries...)
	return r
}

// Defines are the lines of a header that define the macros. One that is defined already would make a mixture that was
// never measured, so that is an error.
func (r Recipe) Defines(header string) (string, error) {
	var text strings.Builder
	for _, m := range r.Macros {
		value, err := escape.Macro(m.Value)
		if err != nil {
			return "", fmt.Errorf("the value of %s cannot stand in a header: %w", m.Name, err)
		}
		fmt.Fprintf(&text, "#ifdef %[1]s\n#error \"%[1]s is defined before %[2]s: use one tuned header per file, and no -D "+
			"for its macros\"\n#endif\n", m.Name, header)
		if slices.Contains(r.Unrolled, m.Name) {
			text.WriteString(includes.Constant(m.Name, value))
		} else {
			fmt.Fprintf(&text, "#define %s %s\n", m.Name, value)
		}
	}
	return text.String(), nil
}

// UnitMacro is defined where a header is what is compiled.
func UnitMacro(header string) string {
	name := regexp.MustCompile(`[^A-Za-z0-9_]`).ReplaceAllString(strings.TrimSuffix(header, ".h"), "_")
	return strings.ToUpper(name) + "_UNIT"
}

// Instantiate are the lines of a header that include the source and ask for its instances, where the header is what is
// compiled. Each is behind a pointer, of a name that C can declare too; a single one has the name alone.
func (r Recipe) Instantiate(header, name string) string {
	if len(r.Instances) == 0 {
		return ""
	}
	text := fmt.Sprintf("#ifdef %s\n#include %q\n", UnitMacro(header), r.File)
	for i, instance := range r.Instances {
		pointer := name
		if len(r.Instances) > 1 {
			pointer = fmt.Sprintf("%s_%d", name, i)
		}
		text += fmt.Sprintf("extern \"C\" decltype(&%[1]s) const %[2]s;\ndecltype(&%[1]s) const %[2]s = &%[1]s;\n", instance,
			pointer)
	}
	return text + "#endif\n"
}

// Command compiles a file of the recipe in the kernel's folder, in a shell, with a header in front that has its
// Defines. Where the source is asked for instances, the header is compiled, which includes it.
func (r Recipe) Command(file, header, object string, defines ...string) string {
	words := append(slices.Clone(r.Compiler), r.Flags...)
	for _, define := range defines {
		words = append(words, "-D"+define)
	}
	if strings.Contains(r.File, "/") {
		words = append(words, "-I", ".") // its includes may be named from the kernel's folder
	}
	if file != r.File || len(r.Instances) == 0 {
		return escape.Shell(append(words, "-include", header, "-c", file, "-o", object)...)
	}
	language := "c++"
	if path.Ext(file) == ".cu" {
		language = "cu"
	}
	return escape.Shell(append(words, "-D"+UnitMacro(header), "-x", language, "-c", header, "-o", object)...)
}
