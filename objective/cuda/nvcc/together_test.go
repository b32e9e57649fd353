package nvcc

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

// together is how many points are compiled in one unit: nvcc takes longer to read the toolkit's headers
// than to compile most points.
const together = 8

var (
	toolkitHeader = regexp.MustCompile(`(?m)^#include <.*>$`)
	definedMacro  = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)`)
)

// joined is a unit with a kernel at several points, each with its own macros in a namespace of its own, as if
// it were alone but for the toolkit's headers. Only headers before the first condition are read once for
// all; another one would be read within a namespace, which the compiler refuses.
func joined(t *testing.T, k *kernels.Kernel, unit Unit, points []space.Point, list []kernels.Constant) Unit {
	t.Helper()
	files, err := readFiles(unit)
	if err != nil {
		t.Fatal(err)
	}
	var macros []string
	for _, f := range files {
		for _, match := range definedMacro.FindAllSubmatch(f.Content, -1) {
			macros = append(macros, string(match[1]))
		}
	}
	source, err := os.ReadFile(filepath.Join(unit.Dir, unit.Source))
	if err != nil {
		t.Fatal(err)
	}
	always, _, _ := strings.Cut(string(source), "\n#if")
	text := strings.Join(toolkitHeader.FindAllString(always, -1), "\n") + "\n"
	for i, point := range points {
		unit.Defines = definesOf(point, list)
		constants, err := constants(unit)
		if err != nil {
			t.Fatal(err)
		}
		header, err := os.CreateTemp(unit.Dir, "point-*.h")
		if err != nil {
			t.Fatal(err)
		}
		header.Close()
		if err := writeDefines(header.Name(), unit.Defines, constants); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("namespace point%d {\n#define %s %s\n#include %q\n#include %q\n}\n", i, k.Entry, entryAt(k, i),
			filepath.Base(header.Name()), unit.Source)
		undefined := append([]string{k.Entry}, macros...)
		for _, d := range unit.Defines {
			undefined = append(undefined, d.Name)
		}
		for _, name := range undefined {
			text += "#undef " + name + "\n"
		}
	}
	file, err := os.CreateTemp(unit.Dir, "points-*.cu")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	unit.Source, unit.Defines = filepath.Base(file.Name()), nil
	return unit
}

// entryAt is what the kernel at the i-th of the points is called.
func entryAt(k *kernels.Kernel, i int) string { return fmt.Sprintf("%s_%d", k.Entry, i) }
