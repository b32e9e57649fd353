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
	"pawl/kernels/includes"
)

// most is how many mutants are compiled in one unit: nvcc takes as long to read the toolkit's headers as to compile
// a mutant.
const most = 12

// chunks are mutants of one kernel that may be compiled together: sources for the same workload's constants, and for
// the same manifest.
func chunks(list []Mutant) (chunks [][]Mutant) {
	together := map[string][]Mutant{}
	var order []string
	for _, m := range list {
		key := m.Workload
		if m.File == kernels.ManifestName {
			key += "\n" + m.Name
		}
		if together[key] == nil {
			order = append(order, key)
		}
		together[key] = append(together[key], m)
	}
	for _, key := range order {
		chunks = slices.AppendSeq(chunks, slices.Chunk(together[key], most))
	}
	return chunks
}

// differing compiles mutants in one unit with the right kernel at each of their points, and returns those whose code
// differs from it. Where the right kernel does not twice become the same code there, none can be told.
func (l *lab) differing(t *testing.T, dir string, list []Mutant) ([]Mutant, error) {
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
	if len(includes.Unrolled(source)) > 0 {
		return nil, fmt.Errorf("a pragma of %s takes a constant of its point", k.Name)
	}
	always, _, _ := strings.Cut(string(source), "\n#if")
	u := unit{kernel: k, dir: joined, text: strings.Join(toolkitHeader.FindAllString(always, -1), "\n") + "\n"}
	same := map[string]string{} // what the right kernel is called at a point
	for i, m := range list {
		if same[m.At] == "" {
			same[m.At] = fmt.Sprint("right", i)
			if err := u.add(dir, same[m.At], m); err != nil {
				return nil, err
			}
		}
		wrong, err := m.write(t)
		if err == nil {
			err = u.add(wrong, fmt.Sprint("mutant", i), m)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := u.add(dir, k.Entry, list[0]); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(joined, k.Source), []byte(u.text), 0o644); err != nil {
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
	if first := code[same[list[0].At]]; first == "" || first != code[k.Entry] {
		return nil, fmt.Errorf("the right kernel of %s is not the same code twice", k.Name)
	}
	var found []Mutant
	for i, m := range list {
		is, wrong := code[same[m.At]], code[fmt.Sprint("mutant", i)]
		if is != "" && wrong != "" && is != wrong {
			found = append(found, m)
		}
	}
	return found, nil
}

// unit is a source that holds a kernel several times.
type unit struct {
	kernel *kernels.Kernel
	dir    string
	text   string
}

// add adds the kernel in a folder, called so, at a mutant's point. Its macros are its own.
func (u *unit) add(from, as string, m Mutant) error {
	target, err := m.target(from)
	if err != nil {
		return err
	}
	point, err := target.Point(m.At)
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(u.dir, as), os.DirFS(from)); err != nil {
		return err
	}
	u.text += fmt.Sprintf("namespace in_%s {\n#define %s %s\n", as, u.kernel.Entry, as)
	for _, a := range point.Assignments() {
		u.text += fmt.Sprintf("#undef %[1]s\n#define %[1]s %[2]s\n", a.Name, a.Value.Define())
	}
	u.text += fmt.Sprintf("#include %q\n}\n#undef %s\n", as+"/"+u.kernel.Source, u.kernel.Entry)
	files, err := filepath.Glob(filepath.Join(from, "*.cu*"))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, match := range definedMacro.FindAllSubmatch(content, -1) {
			u.text += fmt.Sprintf("#undef %s\n", match[1])
		}
	}
	return err
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
