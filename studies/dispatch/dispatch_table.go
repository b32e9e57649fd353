package dispatch

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/kernels/document"
	"pawl/objective"
	"pawl/space"
)

// Table is what a library ships: how each variant of a kernel is built, and which one is for
// which sizes on which device. It may have been measured on several devices.
type Table struct {
	// Prefix begins every name in the header, and the names of the files.
	Prefix string `json:"prefix"`
	Kernel string `json:"kernel"`
	// Source identifies the kernel's files that were measured, Entry is the function.
	Source string `json:"source"`
	Entry  string `json:"entry"`
	// Tiles says that the kernel is compiled where it is launched: no file of C is of use.
	Tiles bool `json:"tiles,omitempty"`
	// Sizes are the names of the dimensions. Those in Fixed must be as they were measured;
	// the others may be near.
	Sizes []string `json:"sizes"`
	Fixed []string `json:"fixed_sizes"`
	// Arguments are the kernel's arguments that are sizes, by the size.
	Arguments map[string]string `json:"size_arguments,omitempty"`
	// Default is the manifest's point, for sizes that nobody tuned; empty where it is wrong on a workload, and in a
	// table of an earlier pawl.
	Default space.Point `json:"default,omitzero"`
	// Domain are the conditions under which the kernel is right at all.
	Domain []string `json:"domain,omitempty"`
	// conditions say at which sizes a point is right.
	conditions []*space.Expression
	Variants   []Variant `json:"variants"`
	Entries    []Entry   `json:"entries"`
}

// Variant is a build of the kernel: a point, and what the sizes of a workload decide.
type Variant struct {
	Point space.Point `json:"point"`
	objective.Recipe
	// Build is a shell's command that makes Object in the kernel's folder; only in what is written.
	Build  string `json:"command,omitempty"`
	Object string `json:"object,omitempty"`
}

// Entry says which variant is for the sizes of a workload on a device.
type Entry struct {
	Device   string       `json:"device"`
	Workload string       `json:"workload"`
	Sizes    kernels.Dims `json:"sizes"`
	Variant  int          `json:"variant"`
	// Milliseconds is what it took there, and Loss how much longer than the best candidate.
	Milliseconds float64 `json:"milliseconds"`
	Loss         float64 `json:"loss"`
}

// Table returns what to ship. An empty prefix is made from the kernel's name.
func (p *Plan) Table(prefix string) (*Table, error) {
	if prefix == "" {
		prefix = regexp.MustCompile(`[^A-Za-z0-9_]`).ReplaceAllString(p.Kernel, "_") + "_dispatch"
		if prefix[0] >= '0' && prefix[0] <= '9' {
			prefix = "kernel_" + prefix
		}
	}
	t := &Table{
		Prefix: prefix, Kernel: p.Kernel, Source: p.Source, Entry: strings.Join(p.kernel.Launch.Entries(), "; "),
		Sizes: slices.Sorted(maps.Keys(p.kernel.Workloads[0].Dims)), Fixed: append([]string{}, p.kernel.FixedSizes()...),
		Domain: p.kernel.Domain(), Arguments: map[string]string{}, Tiles: p.kernel.Tiled(),
		conditions: p.kernel.Conditions(),
	}
	for _, a := range p.kernel.Arguments {
		if a.Value != nil && slices.Contains(t.Sizes, a.Value.Source()) {
			t.Arguments[a.Value.Source()] = a.Name
		}
	}
	if initial := p.Candidates[0]; initial.Wrong == "" { // the default comes first
		t.Default = initial.Point
	}
	shipped := p.Choices[p.Shipped]
	variants := make([]int, len(p.Workloads))
	for number, point := range shipped.Points { // variants are in the order of the points
		for i, a := range shipped.Workloads {
			if a.Point != number {
				continue
			}
			m := p.Workloads[i]
			if m.Build == nil {
				return nil, fmt.Errorf("study %d was recorded before it was kept how a kernel is compiled: tune workload %s again",
					m.Study, m.Workload)
			}
			if m.Build.Compile != nil {
				return nil, fmt.Errorf("kernel %s is compiled by a command of its manifest (%s), for which no header is written",
					p.Kernel, m.Build.Compile[0])
			}
			variants[i] = t.add(Variant{Point: point, Recipe: m.Build.At(point)})
		}
	}
	for i, a := range shipped.Workloads {
		m := p.Workloads[i]
		t.Entries = append(t.Entries, Entry{
			Device: p.Device, Workload: m.Workload, Sizes: m.Dims, Variant: variants[i],
			Milliseconds: a.Milliseconds, Loss: a.Loss,
		})
	}
	return t, t.check()
}

// add returns the index of a variant, a new one where there is none like it.
func (t *Table) add(v Variant) int {
	if at := slices.IndexFunc(t.Variants, func(other Variant) bool { return reflect.DeepEqual(other, v) }); at >= 0 {
		return at
	}
	t.Variants = append(t.Variants, v)
	return len(t.Variants) - 1
}

// check finds what cannot stand in the files.
func (t *Table) check() error {
	if !document.IsIdentifier(t.Prefix) {
		return fmt.Errorf("--prefix %q: letters, digits and underscores, not beginning with a digit", t.Prefix)
	}
	if len(t.Variants) == 0 || len(t.Entries) == 0 || len(t.Sizes) == 0 {
		return fmt.Errorf("a table without variants, entries or sizes")
	}
	for _, name := range append(slices.Clone(t.Sizes), t.Fixed...) {
		if !document.IsIdentifier(name) || !slices.Contains(t.Sizes, name) {
			return fmt.Errorf("%q is not the name of a size", name)
		}
	}
	for i, v := range t.Variants {
		if v.File == "" || len(v.Compiler) == 0 && !t.Tiles {
			return fmt.Errorf("variant %d does not say what is compiled, or with what", i)
		}
		for _, m := range v.Macros {
			if !document.IsIdentifier(m.Name) {
				return fmt.Errorf("macro %q cannot stand in a header", m.Name)
			}
		}
		if _, err := v.Defines(t.Prefix + ".h"); err != nil && !t.Tiles {
			return err
		}
		if strings.ContainsAny(v.File+strings.Join(v.Instances, ""), "\"\\\n\r;{}") {
			return fmt.Errorf("variant %d: %q cannot stand in a header", i, append(v.Instances, v.File))
		}
		if !slices.Equal(names(v.Point), names(t.Variants[0].Point)) {
			return fmt.Errorf("variants 0 and %d have different parameters", i)
		}
	}
	for _, e := range t.Entries {
		if e.Variant < 0 || e.Variant >= len(t.Variants) || !slices.Equal(slices.Sorted(maps.Keys(e.Sizes)), t.Sizes) ||
			e.Device == "" {
			return fmt.Errorf("the entry of workload %q does not fit the table", e.Workload)
		}
	}
	return nil
}

func names(p space.Point) (all []string) {
	return collect.Each(p.Assignments(), func(a space.Assignment) string { return a.Name })
}

// ParseTable reads a table that was written as JSON.
func ParseTable(content []byte) (*Table, error) {
	var t Table
	if err := page.ReadJSON(content, "pawl dispatch table", 1, &t); err != nil {
		return nil, err
	}
	return &t, t.check()
}

// Join adds what was measured on other devices, from a file that another machine has
// written. What this table has of a device stays.
func (t *Table) Join(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	other, err := ParseTable(content)
	if err == nil {
		switch {
		case other.Kernel != t.Kernel || other.Source != t.Source:
			err = fmt.Errorf("it was tuned from different sources (%s, digest %s; here %s, digest %s)", other.Kernel,
				other.Source, t.Kernel, t.Source)
		case !slices.Equal(other.Sizes, t.Sizes) || !slices.Equal(names(other.Variants[0].Point), names(t.Variants[0].Point)):
			err = fmt.Errorf("it has other sizes or parameters")
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be joined: %w", path, err)
	}
	known := t.devices()
	for _, e := range other.Entries {
		if !slices.Contains(known, e.Device) {
			e.Variant = t.add(other.Variants[e.Variant])
			t.Entries = append(t.Entries, e)
		}
	}
	t.Fixed = append(t.Fixed, other.Fixed...) // of another backend, perhaps
	slices.Sort(t.Fixed)
	t.Fixed = slices.Compact(t.Fixed)
	return nil
}

// devices are those of the entries, in their order.
func (t *Table) devices() []string {
	return collect.Distinct(collect.Each(t.Entries, func(e Entry) string { return e.Device }))
}

// functions are the identifiers of the entries, without namespaces and arguments of a template, and the names that take
// their place in a variant; a single one has the variant's alone. There are none where they cannot be told apart:
// instances are behind pointers, and other functions are renamed.
func (t *Table) functions(variant int) (names, symbols []string) {
	entries := strings.Split(t.Entry, "; ")
	for i, entry := range entries {
		name, instance := kernels.PlainName(entry), kernels.IsInstance(entry)
		switch {
		case slices.Contains(entries[:i], entry):
			continue
		case !document.IsIdentifier(name), instance != kernels.IsInstance(entries[0]),
			!instance && slices.Contains(names, name):
			return nil, nil
		}
		symbols = append(symbols, fmt.Sprintf("%s_%d_%d", t.Prefix, variant, len(names)))
		names = append(names, name)
	}
	if len(names) == 1 {
		symbols[0] = fmt.Sprintf("%s_%d", t.Prefix, variant)
	}
	return names, symbols
}

// digest tells tables apart.
func (t *Table) digest() uint32 {
	content, err := json.Marshal(t)
	if err != nil {
		panic("dispatch: " + err.Error())
	}
	sum := fnv.New32a()
	sum.Write(content)
	return sum.Sum32()
}

// Command builds the object of a variant in the kernel's folder, in a shell, with the header beside it. Several files
// become one, in which only the entry can be seen: the others have the same names in every variant.
func (t *Table) Command(variant int) string {
	v := t.Variants[variant]
	name, define := fmt.Sprintf("%s_%d", t.Prefix, variant), fmt.Sprintf("%s_BUILD=%d", strings.ToUpper(t.Prefix), variant)
	if len(v.Units) == 0 {
		return v.Command(v.File, t.Prefix+".h", name+".o", define)
	}
	var commands, objects []string
	for i, file := range append([]string{v.File}, v.Units...) {
		objects = append(objects, fmt.Sprintf("%s_%d.o", name, i))
		commands = append(commands, v.Command(file, t.Prefix+".h", objects[i], define))
	}
	for _, line := range t.joining(v, objects, name) {
		commands = append(commands, escape.Shell(line...))
	}
	return strings.Join(commands, " && ")
}

// joining are the commands that make one object of those of several files. What nvcc has compiled for another link is
// linked here for the device, and hidden from the next.
func (t *Table) joining(v Variant, objects []string, name string) (lines [][]string) {
	hide := []string{"objcopy", "-w", "--keep-global-symbol=*" + name + "*"}
	if _, _, architecture := sorted(v.Flags); architecture != "" {
		linked := name + "_linked.o"
		lines = append(lines, slices.Concat(v.Compiler, []string{"-arch=sm_" + architecture, "-Xcompiler", "-fPIC", "-dlink"},
			objects, []string{"-o", linked}))
		objects = append(slices.Clone(objects), linked)
		hide = append(hide, "--rename-section", "__nv_relfatbin=linked_relfatbin")
	}
	lines = append(lines, slices.Concat([]string{"ld", "-r"}, objects, []string{"-o", name + ".o"}))
	return append(lines, append(hide, name+".o"))
}
