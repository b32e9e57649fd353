package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels"
	"pawl/space"
)

// TileSource is what the compiler of a source on tiles says about it.
type TileSource struct {
	Functions []TileFunction `json:"functions"`
	// Files are the source and what it imports from its folder.
	Files []string `json:"files"`
}

// TileFunction is a kernel of such a source.
type TileFunction struct {
	Name       string          `json:"name"`
	Parameters []TileParameter `json:"parameters"`
	// Configs are the points of its own list of configurations.
	Configs []map[string]space.Value `json:"configs"`
	// Heuristics are constants that it computes itself.
	Heuristics []string `json:"heuristics"`
	// Dot says that it multiplies matrices.
	Dot bool `json:"dot"`
}

// TileParameter is an argument of such a function.
type TileParameter struct {
	Name string `json:"name"`
	// Kind is pointer, integer, float or constant.
	Kind       string `json:"kind"`
	HasDefault bool   `json:"has_default"`
	// Loaded, Stored and Added say what is done behind a pointer.
	Loaded bool `json:"loaded"`
	Stored bool `json:"stored"`
	Added  bool `json:"added"`
}

// FromTiles describes a kernel of a source on tiles. The entry may be empty if there is one.
func FromTiles(name, path string, source TileSource, entry string) (Folder, error) {
	var names []string
	for _, f := range source.Functions {
		names = append(names, f.Name)
	}
	at := slices.Index(names, entry)
	switch {
	case len(names) == 0:
		return Folder{}, fmt.Errorf("%s: it defines no @triton.jit function", path)
	case entry == "" && len(names) > 1:
		return Folder{}, fmt.Errorf("%s: several functions could be the kernel: %s; name one with --entry", path,
			strings.Join(names, ", "))
	case entry == "":
		at = 0
	case at < 0:
		return Folder{}, fmt.Errorf("%s: no @triton.jit function is called %s; there are %s", path, entry,
			strings.Join(names, ", "))
	}
	d := &tileDescription{f: source.Functions[at]}
	text := d.manifest(name, filepath.Base(path))
	if err := kernels.Check(kernels.ManifestName, []byte(text), kernels.CUDA); err != nil {
		return Folder{}, fmt.Errorf("%s: its description would not be a manifest: %w", path, err)
	}
	made := Folder{Files: []kernels.File{{Name: kernels.ManifestName, Content: []byte(text)}}, Open: d.open}
	for _, file := range source.Files {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), file))
		if err != nil {
			return Folder{}, err
		}
		made.Files = append(made.Files, kernels.File{Name: file, Content: content})
	}
	return made, nil
}

// tileDescription is a function on its way to a manifest.
type tileDescription struct {
	f    TileFunction
	open []string
	dims []string
}

var (
	strideName = regexp.MustCompile(`(?i)stride`)
	numberName = regexp.MustCompile(`(?i)seed|offset|start`)
	flagName   = regexp.MustCompile(`(?i)^(is|has|use|with|even|do|return|store)_|causal|^even|flag$|mask$`)
	tileName   = regexp.MustCompile(`(?i)block|tile|group|unroll|split|chunk`)
	// strideOf is the stride of a tensor along a dimension, each one letter: stride_am.
	strideOf = regexp.MustCompile(`(?i)^stride_([a-z])([a-z])$`)
)

// tileOptions are the compiler's own; a function may take one too.
var tileOptions = []string{"num_warps", "num_stages", "num_ctas", "maxnreg"}

func (d *tileDescription) todo(format string, arguments ...any) string {
	text := fmt.Sprintf(format, arguments...)
	d.open = append(d.open, text)
	return " # look: " + text
}

func (d *tileDescription) manifest(name, file string) string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	for _, p := range d.f.Parameters {
		if p.Kind == "integer" && !p.HasDefault && !strideName.MatchString(p.Name) && !numberName.MatchString(p.Name) {
			d.dims = append(d.dims, p.Name)
		}
	}
	line("# docs/triton.md and docs/manifest.md describe every key.")
	line("name: %s", name)
	line("entry: %s", d.f.Name)
	line("source: {triton: %s}", file)
	line("reference: {triton: %s}%s", file,
		d.todo("results are held to those of the default point; write reference: {python: reference.py} with a function "+
			"%s in NumPy or PyTorch", d.f.Name))
	defines := d.params(line)
	if len(d.dims) == 0 {
		d.dims = []string{"SIZE"}
	}
	var sizes []string
	for _, dim := range d.dims {
		sizes = append(sizes, fmt.Sprintf("%s: %d", dim, tileSize(len(d.dims))))
	}
	for _, constant := range defines {
		sizes = append(sizes, constant+": 64")
	}
	line("workloads:")
	line("  small: {%s}%s", strings.Join(sizes, ", "), d.todo("the sizes of your workload"))
	if len(defines) > 0 {
		var texts []string
		for _, constant := range defines {
			texts = append(texts, constant+": "+constant)
		}
		line("defines: {%s}%s", strings.Join(texts, ", "), d.todo("these constants are taken for sizes"))
	}
	line("args:")
	for _, p := range d.f.Parameters {
		d.argument(line, p)
	}
	line("launch:")
	line("  grid: [%s]%s", d.grid(), d.todo("the grid, as the kernel is launched"))
	return text.String()
}

// tileSize keeps a buffer over all dimensions small, and all sizes divisible by 16.
func tileSize(dims int) int {
	switch {
	case dims == 1:
		return 4096
	case dims == 2:
		return 256
	}
	return 64
}

// params writes the parameters and returns the constants that are no parameters.
func (d *tileDescription) params(line func(string, ...any)) (defines []string) {
	line("params:")
	values := map[string][]space.Value{}
	for _, config := range d.f.Configs {
		for name, value := range config {
			if !slices.Contains(values[name], value) {
				values[name] = append(values[name], value)
			}
		}
	}
	for _, p := range d.f.Parameters {
		switch known := values[p.Name]; {
		case p.Kind != "constant" || slices.Contains(d.f.Heuristics, p.Name) || slices.Contains(tileOptions, p.Name):
		case known != nil:
			d.param(line, p.Name, known)
		case p.HasDefault:
		case flagName.MatchString(p.Name):
			line("  %s: {values: [false], default: false}%s", p.Name, d.todo("%s may be true", p.Name))
		case tileName.MatchString(p.Name):
			line("  %s: {values: [32, 64, 128], default: 64}%s", p.Name, d.todo("the values of %s", p.Name))
		default:
			defines = append(defines, p.Name)
		}
	}
	for _, option := range []struct{ name, values string }{
		{"num_warps", "[2, 4, 8], default: 4"}, {"num_stages", "[1, 2, 3, 4], default: 2"},
	} {
		if known := values[option.name]; known != nil {
			d.param(line, option.name, known)
		} else {
			line("  %s: {values: %s}", option.name, option.values)
		}
	}
	if known := values["maxnreg"]; len(known) > 0 && len(known) == 1 {
		d.param(line, "maxnreg", known)
	}
	d.constraint(line, values)
	return defines
}

// param writes a parameter with the values of the configurations; the first is the default.
func (d *tileDescription) param(line func(string, ...any), name string, values []space.Value) {
	first := values[0]
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b space.Value) int {
		if a.Kind() == space.Text || b.Kind() == space.Text {
			return strings.Compare(a.String(), b.String())
		}
		return int(a.Integer() - b.Integer())
	})
	var texts []string
	for _, v := range sorted {
		texts = append(texts, v.String())
	}
	line("  %s: {values: [%s], default: %s}", name, strings.Join(texts, ", "), first)
}

// constraint keeps the space to the list of configurations where that is not the product of its
// values.
func (d *tileDescription) constraint(line func(string, ...any), values map[string][]space.Value) {
	product, points := 1, map[string]bool{}
	var names []string
	for name, known := range values {
		product *= len(known)
		if len(known) > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, config := range d.f.Configs {
		var parts []string
		for _, name := range names {
			value := config[name].String()
			if config[name].Kind() == space.Text {
				value = fmt.Sprintf("'%s'", value)
			}
			parts = append(parts, name+" == "+value)
		}
		points[strings.Join(parts, " && ")] = true
	}
	if len(points) == product || len(points) == 0 || product == 1 {
		return
	}
	var each []string
	for point := range points {
		each = append(each, "("+point+")")
	}
	slices.Sort(each)
	line("constraints:%s", d.todo("only the %d configurations of @triton.autotune are searched: strike this to search "+
		"all %d", len(points), product))
	line("  - %q", strings.Join(each, " || "))
}

// shape is what a buffer is taken to be: that of its strides where they tell, or room for all.
func (d *tileDescription) shape(pointer string) (shape []string, known bool) {
	for _, p := range d.f.Parameters {
		match := strideOf.FindStringSubmatch(p.Name)
		if match == nil || !strings.EqualFold(match[1], pointer[:1]) {
			continue
		}
		at := slices.IndexFunc(d.dims, func(dim string) bool { return strings.EqualFold(dim, match[2]) })
		if at < 0 {
			return d.dims, false
		}
		shape = append(shape, d.dims[at])
	}
	if shape == nil {
		return d.dims, len(d.dims) == 1
	}
	return shape, true
}

// stride is the distance along a dimension, as far as the name tells.
func (d *tileDescription) stride(name string) (value string, known bool) {
	match := strideOf.FindStringSubmatch(name)
	if match == nil {
		return d.dims[len(d.dims)-1], len(d.dims) <= 2
	}
	shape, known := d.shape(match[1])
	if !known {
		return "1", false
	}
	at := slices.IndexFunc(shape, func(dim string) bool { return strings.EqualFold(dim, match[2]) })
	if at == len(shape)-1 {
		return "1", true
	}
	return strings.Join(shape[at+1:], " * "), true
}

func (d *tileDescription) argument(line func(string, ...any), p TileParameter) {
	if p.HasDefault || p.Kind == "constant" {
		return
	}
	look := ""
	switch {
	case p.Kind == "pointer":
		element := "f32"
		if d.f.Dot {
			element = "f16"
		}
		shape, known := d.shape(p.Name)
		more := ""
		switch {
		case p.Added:
			more = ", out: true, init: 0"
		case p.Stored && p.Loaded:
			more = ", inout: true, fill: uniform"
		case p.Stored:
			more = ", out: true"
		}
		look = d.todo("the type of %s", p.Name)
		if !known {
			look += d.todo("the shape of %s; it has room for all sizes multiplied", p.Name)
		}
		line("  - {name: %s, type: %s, shape: [%s]%s}%s", p.Name, element, strings.Join(shape, ", "), more, look)
	case p.Kind == "float":
		line("  - {name: %s, type: f32, value: 0.5}%s", p.Name, d.todo("the value of %s", p.Name))
	case strideName.MatchString(p.Name):
		value, known := d.stride(p.Name)
		if !known {
			look = d.todo("the stride %s", p.Name)
		}
		line("  - {name: %s, type: i32, value: %q}%s", p.Name, value, look)
	case slices.Contains(d.dims, p.Name):
		line("  - {name: %s, type: i32, value: %s}", p.Name, p.Name)
	default:
		line("  - {name: %s, type: i32, value: 42}%s", p.Name, d.todo("the value of %s", p.Name))
	}
}

// grid proposes a program for each tile.
func (d *tileDescription) grid() string {
	var tiles []string
	for _, p := range d.f.Parameters {
		suffix, found := strings.CutPrefix(strings.ToUpper(p.Name), "BLOCK_")
		if !found || p.Kind != "constant" {
			continue
		}
		suffix = strings.TrimPrefix(suffix, "SIZE_")
		if dim := slices.IndexFunc(d.dims, func(dim string) bool { return strings.EqualFold(dim, suffix) }); dim >= 0 &&
			suffix != "K" {
			tiles = append(tiles, fmt.Sprintf("cdiv(%s, %s)", d.dims[dim], p.Name))
		}
	}
	if len(tiles) > 0 {
		return fmt.Sprintf("%q", strings.Join(tiles, " * "))
	}
	if len(d.dims) == 1 {
		for _, p := range d.f.Parameters {
			if p.Kind == "constant" && strings.Contains(strings.ToUpper(p.Name), "BLOCK") {
				return fmt.Sprintf("%q", fmt.Sprintf("cdiv(%s, %s)", d.dims[0], p.Name))
			}
		}
	}
	return d.dims[0]
}
