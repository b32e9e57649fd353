package kernels

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// object is the key of a source that a command of the manifest compiles.
const object = "object"

// ObjectFile is the name of the file that such a command writes, in braces.
const ObjectFile = OutFolder

// compiles takes the command that makes an object of the source, on a backend that links one.
func (b *builder) compiles() error {
	given := b.keys.Compile
	switch {
	case !b.on.Objects:
		return nil
	case len(given) == 0 && b.manifest.Source.names(object):
		return document.Top.Errorf("compile is missing: the command that makes an object file of %s, such as [rustc, "+
			"--crate-type=staticlib, -O, -o, \"{%s}\", %s]", b.kernel.Source, ObjectFile, b.kernel.Source)
	case len(given) == 0:
		return nil
	}
	known := append(slices.Concat(collect.Each(b.kernel.params, func(p space.Param) string { return p.Name }),
		collect.Each(b.kernel.defines, func(d arguments.Decision) string { return d.What })), ObjectFile)
	for _, argument := range given {
		if err := fillable(argument, "compile", known); err != nil {
			return err
		}
		b.kernel.Compile = append(b.kernel.Compile, argument.Text)
	}
	switch {
	case given[0].Text == "" || !Mentions(b.kernel.Compile, ObjectFile):
		return given[0].At.Errorf("compile is a program and its arguments, one of which has {%s}: the object file or static "+
			"library that it writes", ObjectFile)
	case len(b.keys.Flags) > 0:
		return b.keys.Flags[0].At.Errorf("flags are for the C compiler, and compile takes its place: write them there")
	case len(b.kernel.Units) > 0:
		return given[0].At.Errorf("compile makes one object: let it compile the other sources too, and list the first alone")
	}
	for _, a := range b.kernel.Arguments {
		if a.Symbol != "" || a.Fields != nil {
			return given[0].At.Errorf("argument %s is a variable of the source or a structure, which only C and C++ can "+
				"share: pass plain numbers and arrays", a.Name)
		}
	}
	return nil
}

// ObjectValues are what the names in braces of Compile stand for, and the variables of its environment: the point's
// values and the constants that come from the workload.
func ObjectValues(point space.Point, constants []Constant) map[string]string {
	values := map[string]string{}
	for _, a := range point.Assignments() {
		values[a.Name] = a.Value.Define()
	}
	for _, c := range constants {
		values[c.Name] = c.Value
	}
	return values
}

// ObjectCommand is the command line that makes an object of a source at a point, for a shell in the kernel's folder.
func ObjectCommand(source string, compile []string, point space.Point, constants []Constant) []string {
	values, line := ObjectValues(point, constants), []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		line = append(line, name+"="+values[name])
	}
	values[ObjectFile] = strings.TrimSuffix(source, path.Ext(source)) + ".o"
	return append(line, CommandLine(compile, values)...)
}

// alike adds the files that a compiler of another language may read beside its source: those whose names end in the
// same way, wherever in the folder.
func (k *Kernel) alike(folder fs.FS) error {
	if len(k.suffixes) == 0 {
		return nil
	}
	return fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && slices.Contains(k.suffixes, path.Ext(name)) &&
			!slices.Contains(k.named, name) {
			k.named = append(k.named, name)
		}
		return err
	})
}
