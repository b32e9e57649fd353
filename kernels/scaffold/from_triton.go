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
	"pawl/kernels/document"
	"pawl/space"
)

// TileSource is what the compiler of a source on tiles says about it.
type TileSource struct {
	Functions []TileFunction `json:"functions"`
	// Root is the folder that imports begin at. Below it are Source, and Files: the source and what it needs of the
	// files of its package.
	Root   string   `json:"root"`
	Source string   `json:"source"`
	Files  []string `json:"files"`
	// Call is a call of the only function in Functions; nil where none was recorded.
	Call *Call `json:"-"`
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
	// Said is what its decorators say besides, as it is written, by the name of their argument: key, prune_configs_by.
	Said map[string]string `json:"said"`
	// Grid is what each axis counts, nil where the source does not say, and Sizes are names in it that the function does
	// not take.
	Grid  []*string `json:"grid"`
	Sizes []string  `json:"sizes"`
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
	// Size says that an index, a loop or an axis of the grid ends at an integer.
	Size bool `json:"size"`
	// Use is what a constant is used as, if the source shows it: flag, none, type, tile, or text: with one of its values.
	Use string `json:"use"`
	// Nullable says that the source asks whether it is None.
	Nullable bool `json:"nullable"`
	// Counts says that the elements behind a pointer are counts or indices.
	Counts bool `json:"counts"`
}

// isSize says that an integer is the size of a dimension. What the source does not show to be one is none.
func (p TileParameter) isSize() bool {
	return p.Kind == "integer" && !p.HasDefault && p.Stride == "" && p.Size && !numberName.MatchString(p.Name)
}

// isNone says that an argument is left out: the source provides for that.
func (p TileParameter) isNone() bool {
	return p.Nullable && !p.HasDefault && p.Kind == "pointer" && !p.Stored
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
	if source.Call != nil {
		d.called = fromCall(d, *source.Call)
	}
	text := d.manifest(name, filepath.ToSlash(source.Source))
	if err := checkDraft(text, kernels.CUDA); err != nil {
		return Folder{}, fmt.Errorf("%s: its description would not be a manifest: %w", path, err)
	}
	made := Folder{Files: []kernels.File{{Name: kernels.ManifestName, Content: []byte(text)}}, Open: d.open}
	for _, file := range source.Files {
		content, err := os.ReadFile(filepath.Join(source.Root, file))
		if err != nil {
			return Folder{}, err
		}
		made.Files = append(made.Files, kernels.File{Name: filepath.ToSlash(file), Content: content})
	}
	return made, nil
}

// tileDescription is a function on its way to a manifest.
type tileDescription struct {
	notes
	f      TileFunction
	dims   []string
	called *calledDescription // nil where no call is known
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
	if len(d.dims) == 0 {
		d.dims = []string{"SIZE"}
	}
	// A buffer over all dimensions is small, and all sizes are divisible by 16.
	usual := max(64, map[int]int{1: 4096, 2: 256}[len(d.dims)])
	if d.called != nil {
		d.fromCall(line)
		return text.String()
	}
	defines := d.params(line, usual)
	sizes := collect.Each(d.dims, func(dim string) string { return fmt.Sprintf("%s: %d", dim, usual) })
	for _, p := range defines {
		if p.Size {
			sizes = append(sizes, p.Name+": 64")
			d.dims = append(d.dims, p.Name)
		}
	}
	line("workloads:")
	line("  small: {%s}%s", strings.Join(sizes, ", "), d.todo("the sizes of your workload"))
	if len(defines) > 0 {
		line("defines:")
	}
	for _, p := range defines {
		if p.Size {
			line("  %s: %s", p.Name, p.Name)
		} else {
			line("  %s: %s%s", p.Name, unknown, d.todo("the value of the constant %s", p.Name))
		}
	}
	line("args:")
	for _, p := range d.f.Parameters {
		d.argument(line, p)
	}
	grid := collect.Each(d.f.Grid, func(count *string) string {
		if count == nil {
			return unknown
		}
		return fmt.Sprintf("%q", *count)
	})
	line("launch:")
	line("  grid: [%s]%s", cmp.Or(strings.Join(grid, ", "), `"1"`), d.todo("the grid, as the kernel is launched"))
	return text.String()
}

// fromCall writes what a call has shown.
func (d *tileDescription) fromCall(line func(string, ...any)) {
	line("params:")
	values := d.configured()
	var listed []string
	for _, p := range d.f.Parameters {
		if p.Kind == "constant" && values[p.Name] != nil && !slices.Contains(TileOptions, p.Name) {
			d.param(line, p.Name, values[p.Name])
			listed = append(listed, p.Name)
		}
	}
	defines := d.called.constants(line)
	listed = append(listed, d.options(line, values, d.called.call.Options)...)
	d.atLeast(line)
	d.start(line, listed)
	d.decorators(line)
	grid, look := d.called.grid()
	d.called.workload(line)
	if len(defines) > 0 {
		texts := collect.Each(defines, func(constant string) string { return constant + ": " + constant })
		line("defines: {%s}", strings.Join(texts, ", "))
	}
	line("args:")
	for _, p := range d.f.Parameters {
		a, there := d.called.call.Arguments[p.Name]
		switch {
		case !there || p.Kind == "constant" || p.HasDefault && !slices.Contains(d.called.call.Given, p.Name):
		case a.Kind == "text" && a.Value.String() == "None":
		case a.Kind == "tensor":
			p.Kind = "pointer"
			d.argument(line, p)
		default:
			d.called.number(line, p, a)
		}
	}
	line("launch:")
	line("  grid: [%s]%s", strings.Join(grid, ", "), look)
}

// unknown stands for what a person has to fill in: no manifest with it is run.
const unknown = `"` + document.Unknown + `"`

// checkDraft checks a manifest as it is once everything unknown is filled in.
func checkDraft(text, backend string) error {
	return kernels.Check(kernels.ManifestName, []byte(strings.ReplaceAll(text, unknown, "1")), backend)
}

// params writes the parameters and returns the constants that are no parameters.
func (d *tileDescription) params(line func(string, ...any), usual int) (defines []TileParameter) {
	line("params:")
	values := d.configured()
	var listed []string // those of the configurations
	for _, p := range d.f.Parameters {
		text, isText := strings.CutPrefix(p.Use, "text:")
		switch known := values[p.Name]; {
		case p.isNone():
			line("  %s: {values: [None], default: None}%s", p.Name,
				d.todo("%s may be None, and is here: describe it among args if you pass it", p.Name))
		case p.Kind != "constant" || slices.Contains(TileOptions, p.Name):
		case slices.Contains(d.f.Heuristics, p.Name) && !slices.ContainsFunc(d.f.Grid, func(count *string) bool {
			return count != nil && strings.Contains(*count, " "+p.Name+")")
		}):
		case known != nil:
			d.param(line, p.Name, known)
			listed = append(listed, p.Name)
		case p.HasDefault:
		case isText:
			line("  %s: {values: [%q], default: %q}%s", p.Name, text, text, d.todo("what %s is", p.Name))
		case p.Use == "type":
			line("  %s: {values: [tl.float32], default: tl.float32}%s", p.Name, d.todo("the type %s", p.Name))
		case p.Use == "none":
			line("  %s: {values: [None], default: None}%s", p.Name, d.todo("%s may be something else than None", p.Name))
		case p.Use == "flag", p.Use == "" && flagName.MatchString(p.Name):
			line("  %s: {values: [false], default: false}%s", p.Name, d.todo("%s may be true", p.Name))
		case d.f.Covers[p.Name] != "":
			line("  %s: {values: [256, 512, 1024, 2048, 4096], default: %d}", p.Name, max(1024, usual))
		case p.Use == "tile" && !p.Size, tileName.MatchString(p.Name):
			line("  %s: {values: [32, 64, 128], default: 64}%s", p.Name, d.todo("the values of %s", p.Name))
		default:
			defines = append(defines, p)
		}
	}
	listed = append(listed, d.options(line, values, nil)...)
	d.atLeast(line)
	d.start(line, listed)
	d.decorators(line)
	return defines
}

// configured are the values that the configurations have, by name.
func (d *tileDescription) configured() map[string][]space.Value {
	values := map[string][]space.Value{}
	for _, config := range d.f.Configs {
		for name, value := range config {
			if !slices.Contains(values[name], value) {
				values[name] = append(values[name], value)
			}
		}
	}
	return values
}

// options writes those of the compiler, and returns the ones that the configurations list. Of one that a call gave, its
// value is the default.
func (d *tileDescription) options(line func(string, ...any), values map[string][]space.Value,
	given map[string]int64) (listed []string) {
	for _, option := range []struct {
		name   string
		values []int64
		usual  int64
	}{{"num_warps", []int64{2, 4, 8}, 4}, {"num_stages", []int64{1, 2, 3, 4}, 2}} {
		if known := values[option.name]; known != nil {
			d.param(line, option.name, known)
			listed = append(listed, option.name)
			continue
		}
		if number := given[option.name]; number > 0 {
			option.usual = number
			if option.values = append(option.values, number); number <= option.values[len(option.values)-2] {
				slices.Sort(option.values)
				option.values = slices.Compact(option.values)
			}
		}
		line("  %s: {values: %s, default: %d}", option.name, list(option.values), option.usual)
	}
	if known := values["maxnreg"]; len(known) == 1 {
		d.param(line, "maxnreg", known)
		listed = append(listed, "maxnreg")
	}
	return listed
}

// atLeast keeps tiles as large as what they must hold.
func (d *tileDescription) atLeast(line func(string, ...any)) {
	for i, tile := range slices.Sorted(maps.Keys(d.f.Covers)) {
		if i == 0 {
			line("constraints:")
		}
		line("  - %s >= %s", tile, d.f.Covers[tile])
	}
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

// start lists the points of the configurations but the first, which is the default.
func (d *tileDescription) start(line func(string, ...any), names []string) {
	var points []string
	for _, config := range d.f.Configs {
		parts := collect.Each(names, func(name string) string {
			value := config[name].String()
			if config[name].Kind() == space.Text {
				value = fmt.Sprintf("%q", config[name].String())
			}
			return name + ": " + value
		})
		if point := strings.Join(parts, ", "); !slices.Contains(points, point) {
			points = append(points, point)
		}
	}
	for i, point := range points[min(1, len(points)):] {
		if i == 0 {
			line("start: # the other configurations of @triton.autotune are tried first, then all combinations")
		}
		line("  - {%s}", point)
	}
}

// decorators says what else the decorators of the source do, and what of it pawl does not.
func (d *tileDescription) decorators(line func(string, ...any)) {
	for _, each := range []struct{ name, says string }{
		{"configs", "%s: list your values above"},
		{"heuristics", "%s: what they compute is a parameter here"},
		{"key", "it is tuned again for each key %s: describe a workload for each that you run"},
		{"prune_configs_by", "prune_configs_by=%s is not applied: write what it keeps as constraints"},
		{"pre_hook", "pre_hook %s is not run: what it resets before a launch is init: 0 of that argument"},
		{"post_hook", "post_hook %s is not run"},
	} {
		if text := d.f.Said[each.name]; text != "" {
			line(" %s", d.todo(each.says, text))
		}
	}
}

// shape is what the source shows of a buffer's dimensions, nil where that is not enough.
func (d *tileDescription) shape(p TileParameter) []string {
	shape := slices.Clone(p.Shape)
	if p.Beyond > 0 && len(shape) == 1 {
		shape[0] = fmt.Sprintf("%s + %d", shape[0], p.Beyond)
	}
	return shape
}

func (d *tileDescription) argument(line func(string, ...any), p TileParameter) {
	if p.HasDefault || p.Kind == "constant" || p.isNone() {
		return
	}
	look := ""
	switch {
	case p.Kind == "pointer":
		element := "f32"
		if d.f.Dot {
			element = "f16"
		}
		more := ""
		reset := slices.Contains(names(d.f.Said["reset_to_zero"]), p.Name)
		switch {
		case indexName.MatchString(p.Name) && !p.Stored:
			element, more = "i32", fmt.Sprintf(", fill: sorted, range: [0, %s]", d.dims[len(d.dims)-1])
			look = d.todo("what %s holds: it is taken for offsets", p.Name)
		case p.Counts && !p.Stored:
			element, more = "i32", ", fill: ones"
			look = d.todo("what %s holds: its elements are counts or indices", p.Name)
		case p.Added || reset:
			more = ", out: true, init: 0"
		case p.Stored && p.Loaded || slices.Contains(names(d.f.Said["restore_value"]), p.Name):
			more = ", inout: true, fill: uniform"
		case p.Stored:
			more = ", out: true"
		}
		shape := strings.Join(d.shape(p), ", ")
		if d.called != nil {
			seen := d.called.call.Arguments[p.Name]
			shape = strings.Join(d.called.shapes[p.Name], ", ")
			if element = seen.Type; element == "" {
				element = "f32"
				look += d.todo("the type of %s, which a manifest does not have", p.Name)
			}
			if !seen.contiguous() {
				look += d.todo("%s is not contiguous: its shape is what it reaches in memory", p.Name)
			}
			if strings.IndexAny(element, "iu") != 0 && strings.HasPrefix(more, ", fill") {
				more, look = "", ""
			}
		} else {
			look += d.todo("the type of %s", p.Name)
		}
		if shape == "" {
			shape = unknown
			look += d.todo("the shape of %s: its addresses do not tell", p.Name)
		}
		line("  - {name: %s, type: %s, shape: [%s]%s}%s", p.Name, element, shape, more, look)
	case p.Kind == "float":
		value := "0.5"
		if strings.Contains(strings.ToLower(p.Name), "eps") {
			value = "1e-5"
		}
		line("  - {name: %s, type: f32, value: %s}%s", p.Name, value, d.todo("the value of %s", p.Name))
	case p.Stride != "":
		line("  - {name: %s, type: i32, value: %q}", p.Name, p.Stride)
	case slices.Contains(d.dims, p.Name):
		line("  - {name: %s, type: i32, value: %s}", p.Name, p.Name)
	case strings.Contains(strings.ToLower(p.Name), "seed"): // any will do
		line("  - {name: %s, type: i32, value: 42}", p.Name)
	default:
		line("  - {name: %s, type: i32, value: %s}%s", p.Name, unknown, d.todo("the value of %s", p.Name))
	}
}

// names are those in a list of Python: ["c_ptr"].
func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(`[]()"', `, r) })
}
