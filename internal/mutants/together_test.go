package mutants

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
)

// together is how many mutants are compiled in one unit: nvcc takes as long to read the toolkit's headers as to compile
// a mutant.
const together = 16

// chunks are mutants of one kernel that may be compiled together: sources for the same macros.
func chunks(list []Mutant) (chunks [][]Mutant) {
	at := map[string][]Mutant{}
	var order []string
	for _, m := range list {
		key := m.Workload + "\n" + m.At
		if m.File != "" { // a manifest is one for all that is compiled with it
			key += "\n" + m.Name
		}
		if at[key] == nil {
			order = append(order, key)
		}
		at[key] = append(at[key], m)
	}
	for _, key := range order {
		chunks = slices.AppendSeq(chunks, slices.Chunk(at[key], together))
	}
	return chunks
}

// differing compiles mutants in one unit with the right kernel, and returns those whose code differs from it. Where
// the right kernel does not twice become the same code there, none can be told.
func (l *lab) differing(t *testing.T, dir string, list []Mutant) (found []Mutant, err error) {
	k, err := kernels.Load(dir, list[0].Backend)
	if err != nil {
		return nil, err
	}
	joined, err := right(t, list[0].Kernel)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(dir, k.Source))
	if err != nil {
		return nil, err
	}
	always, _, _ := strings.Cut(string(source), "\n#if")
	text := strings.Join(toolkitHeader.FindAllString(always, -1), "\n") + "\n"
	add := func(from, as string) error {
		if err := os.CopyFS(filepath.Join(joined, as), os.DirFS(from)); err != nil {
			return err
		}
		text += fmt.Sprintf("namespace in_%s {\n#define %s %s\n#include %q\n}\n#undef %s\n",
			as, k.Entry, as, as+"/"+k.Source, k.Entry)
		files, err := filepath.Glob(filepath.Join(from, "*.cu*"))
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, match := range definedMacro.FindAllSubmatch(content, -1) {
				text += fmt.Sprintf("#undef %s\n", match[1])
			}
		}
		return err
	}
	if err := add(dir, "right"); err != nil {
		return nil, err
	}
	for i, m := range list {
		wrong, err := m.write(t)
		if err == nil {
			err = add(wrong, fmt.Sprint("mutant", i))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := add(dir, k.Entry); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(joined, k.Source), []byte(text), 0o644); err != nil {
		return nil, err
	}
	a, err := l.open(t, joined, list[0])
	if err != nil {
		return nil, err
	}
	defer a.bench.Close()
	code, err := codeOf(a.prepared.Binary.Path)
	if err != nil {
		return nil, err
	}
	if code["right"] == "" || code["right"] != code[k.Entry] {
		return nil, fmt.Errorf("the right kernel of %s is not the same code twice", k.Name)
	}
	for i, m := range list {
		if wrong := code[fmt.Sprint("mutant", i)]; wrong != "" && wrong != code["right"] {
			found = append(found, m)
		}
	}
	return found, nil
}

var (
	toolkitHeader = regexp.MustCompile(`(?m)^#include <.*>$`)
	definedMacro  = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)`)
)

// codeOf is the machine code of each kernel in a cubin.
func codeOf(path string) (map[string]string, error) {
	cubin, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return nil, err
	}
	code := map[string]string{}
	for _, section := range f.Sections {
		if name, found := strings.CutPrefix(section.Name, ".text."); found {
			content, err := section.Data()
			if err != nil {
				return nil, err
			}
			code[name] = string(content)
		}
	}
	return code, nil
}
