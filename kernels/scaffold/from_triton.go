package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
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
	// Grid is what each axis counts, and Sizes are names in it that the function does not take.
	Grid  []string `json:"grid"`
	Sizes []string `json:"sizes"`
	// Covers has the size that one tile must hold, by the constant of the tile.
	Covers map[string]string `json:"covers"`
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
	// Shape is what indices of a pointer stay below, nil where the source does not show it, and Beyond how far behind
	// an index it is read. Stride is the product of sizes that an integer stands for.
	Shape  []string `json:"shape"`
	Beyond int      `json:"beyond"`
	Stride string   `json:"stride"`
}

// isSize says that an integer is the size of a dimension.
func (p TileParameter) isSize() bool {
	return p.Kind == "integer" && !p.HasDefault && p.Stride == "" && !numberName.MatchString(p.Name)
}

// FromTiles describes a kernel of a source on tiles. The entry may be empty if there is one.
func FromTiles(name, path string, source TileSource, entry string) (Folder, error) {
	names := collect.Each(source.Functions, func(f TileFunction) string { return f.Name })
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
	notes
	f    TileFunction
	dims []string
}

var (
	numberName = regexp.MustCompile(`(?i)stride|seed|offset|start`)
	indexName  = regexp.MustCompile(`(?i)offset|index|indices|idx|ids|lens|sizes|table|start`)
	flagName   = regexp.MustCompile(`(?i)^(is|has|use|with|even|do|return|store)_|causal|^even|flag$|mask$`)
	tileName   = regexp.MustCompile(`(?i)block|tile|group|unroll|split|chunk`)
)

// TileOptions are the compiler's own; a function may take one too.
var TileOptions = []string{"num_warps", "num_stages", "num_ctas", "maxnreg"}

func (d *tileDescription) manifest(name, file string) string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	d.dims = slices.Clone(d.f.Sizes)
	for _, p := range collect.Where(d.f.Parameters, TileParameter.isSize) {
		d.dims = append(d.dims, p.Name)
	}
	line("# docs/triton.md and docs/manifest.md describe every key.")
	line("name: %s", name)
	line("entry: %s", d.f.Name)
	line("source: {triton: %s}", file)
	line("reference: {triton: %s}%s", file,
		d.todo("results are compared with those of the default point; write reference: {python: reference.py} with a "+
			"function %s in NumPy or PyTorch", d.f.Name))
	defines := d.params(line)
	if len(d.dims) == 0 {
		d.dims = []string{"SIZE"}
	}
	// A buffer over all dimensions is small, and all sizes are divisible by 16.
	usual := max(64, map[int]int{1: 4096, 2: 256}[len(d.dims)])
	sizes := collect.Each(d.dims, func(dim string) string { return fmt.Sprintf("%s: %d", dim, usual) })
	for _, constant := range defines {
		sizes = append(sizes, constant+": 64")
	}
	d.dims = append(d.dims, defines...)
	line("workloads:")
	line("  small: {%s}%s", strings.Join(sizes, ", "), d.todo("the sizes of your workload"))
	if len(defines) > 0 {
		texts := collect.Each(defines, func(constant string) string { return constant + ": " + constant })
		line("defines: {%s}%s", strings.Join(texts, ", "), d.todo("these constants are taken for sizes"))
	}
	line("args:")
	for _, p := range d.f.Parameters {
		d.argument(line, p)
	}
	line("launch:")
	line("  grid: [\"%s\"]%s", cmp.Or(strings.Join(d.f.Grid, `", "`), "1"), d.todo("the grid, as the kernel is launched"))
	return text.String()
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
		case p.Kind != "constant" || slices.Contains(d.f.Heuristics, p.Name) || slices.Contains(TileOptions, p.Name):
		case known != nil:
			d.param(line, p.Name, known)
		case p.HasDefault:
		case flagName.MatchString(p.Name):
			line("  %s: {values: [false], default: false}%s", p.Name, d.todo("%s may be true", p.Name))
		case d.f.Covers[p.Name] != "":
			line("  %s: {values: [256, 512, 1024, 2048, 4096], default: 1024}", p.Name)
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
	if known := values["maxnreg"]; len(known) == 1 {
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
	line("  %s: {values: [%s], default: %s}", name, strings.Join(collect.Each(sorted, space.Value.String), ", "), first)
}

// constraint keeps tiles as large as what they must hold, and the space to the list of configurations where that is
// not the product of its values.
func (d *tileDescription) constraint(line func(string, ...any), values map[string][]space.Value) {
	for i, tile := range slices.Sorted(maps.Keys(d.f.Covers)) {
		if i == 0 {
			line("constraints:")
		}
		line("  - %s >= %s", tile, d.f.Covers[tile])
	}
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
	each := collect.Each(slices.Sorted(maps.Keys(points)), func(point string) string { return "(" + point + ")" })
	if len(d.f.Covers) == 0 {
		line("constraints:")
	}
	line("  - %q%s", strings.Join(each, " || "), d.todo("only the %d configurations of @triton.autotune are searched: "+
		"strike this to search all %d", len(points), product))
}

// shape is what a buffer is taken to be: what the source shows, or room for all.
func (d *tileDescription) shape(p TileParameter) (shape []string, known bool) {
	if len(p.Shape) == 0 {
		return d.dims, len(d.dims) == 1
	}
	shape = slices.Clone(p.Shape)
	if p.Beyond > 0 && len(shape) == 1 {
		shape[0] = fmt.Sprintf("%s + %d", shape[0], p.Beyond)
	}
	return shape, true
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
		shape, known := d.shape(p)
		more := ""
		switch {
		case indexName.MatchString(p.Name) && !p.Stored:
			element, more = "i32", fmt.Sprintf(", fill: sorted, range: [0, %s]", d.dims[len(d.dims)-1])
			look = d.todo("what %s holds: it is taken for offsets", p.Name)
		case p.Added:
			more = ", out: true, init: 0"
		case p.Stored && p.Loaded:
			more = ", inout: true, fill: uniform"
		case p.Stored:
			more = ", out: true"
		}
		look += d.todo("the type of %s", p.Name)
		if !known {
			look += d.todo("the shape of %s; it has room for all sizes multiplied", p.Name)
		}
		line("  - {name: %s, type: %s, shape: [%s]%s}%s", p.Name, element, strings.Join(shape, ", "), more, look)
	case p.Kind == "float":
		line("  - {name: %s, type: f32, value: 0.5}%s", p.Name, d.todo("the value of %s", p.Name))
	case p.Stride != "":
		line("  - {name: %s, type: i32, value: %q}", p.Name, p.Stride)
	case slices.Contains(d.dims, p.Name):
		line("  - {name: %s, type: i32, value: %s}", p.Name, p.Name)
	case strings.Contains(strings.ToLower(p.Name), "stride"):
		line("  - {name: %s, type: i32, value: %s}%s", p.Name, d.dims[len(d.dims)-1], d.todo("the stride %s", p.Name))
	default:
		line("  - {name: %s, type: i32, value: 42}%s", p.Name, d.todo("the value of %s", p.Name))
	}
}
