package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/kernels"
)

// call is one of tune_kernel or run_kernel, as the stand-in has recorded it.
type call struct {
	Call       string         `json:"call"`
	Kernel     string         `json:"kernel_name"`
	Params     [][2]any       `json:"params"`
	First      map[string]any `json:"first"`
	Restricted []expression   `json:"restrictions"`
	callSource
	callLaunch
	callArguments
	callObjective
	Observers []string `json:"observers"`
	Runs      int      `json:"runs"`
}

// callSource is what is compiled, and how.
type callSource struct {
	Source struct {
		Kind  string   `json:"kind"`
		Path  string   `json:"path"`
		Text  string   `json:"text"`
		Paths []string `json:"paths"`
	} `json:"source"`
	Language *string        `json:"lang"`
	Options  []string       `json:"compiler_options"`
	Folders  []string       `json:"folders"` // where the script may have headers
	Defines  map[string]any `json:"defines"`
}

type callLaunch struct {
	Sizes      []expression            `json:"problem_size"`
	Divisors   map[string][]expression `json:"grid_div"`
	BlockNames []string                `json:"block_size_names"`
	Shared     map[string]expression   `json:"shared"`
}

// callArguments are what the kernel gets, and what results are compared with.
type callArguments struct {
	Arguments []recorded           `json:"arguments"`
	Constants map[string]*recorded `json:"constants"`
	Textures  []string             `json:"textures"`
	Answer    []*recorded          `json:"answer"`
	Verify    bool                 `json:"verify"`
	Absolute  any                  `json:"atol"`
}

type callObjective struct {
	Metrics   map[string]expression `json:"metrics"`
	Objective any                   `json:"objective"`
	Higher    *bool                 `json:"higher"` // whether more of it is better
}

// expression is one of pawl's, or a gap with what stood in the script.
type expression struct {
	Text   string `json:"text"`
	Whole  bool   `json:"whole"` // an integer
	Gap    string `json:"gap"`
	Python string `json:"python"`
}

type recorded struct {
	Kind  string  `json:"kind"`
	Type  string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	Value string  `json:"value"`
	Zeros bool    `json:"zeros"`
	Low   string  `json:"low"`
	High  string  `json:"high"`
	File  string  `json:"file"`
	Run   *int    `json:"run"` // it came out of run_kernel
	What  string  `json:"what"`
}

func (c call) content() (text, folder, name string, err error) {
	switch c.Source.Kind {
	case "file", "files":
		path := append(c.Source.Paths, c.Source.Path)[0]
		content, err := os.ReadFile(path)
		return string(content), filepath.Dir(path), filepath.Base(path), err
	case "text":
		return c.Source.Text, "", "", nil
	}
	return "", "", "", mistake("the source of %s is made by a Python function: write it into a file, with macros for "+
		"the parameters", c.Kernel)
}

// language returns the backend for a source, by what the script says or what stands in it.
func (c call) language(source string) (string, error) {
	name := ""
	if c.Language != nil {
		name = strings.ToUpper(*c.Language)
	}
	switch {
	case name == "CUDA", name == "CUPY", name == "NVCUDA", name == "" && strings.Contains(source, "__global__"):
		return kernels.CUDA, nil
	case name == "C", name == "" && !strings.Contains(source, "__kernel"):
		return kernels.Host, nil
	case name == "":
		name = "OPENCL"
	}
	return "", mistake("kernel %s is in %s: pawl runs CUDA, C and C++", c.Kernel, name)
}

func (c call) describe(calls []call, folder string) (*description, error) {
	source, beside, file, err := c.content()
	if err != nil {
		return nil, err
	}
	d := &description{entry: c.Kernel, contents: contents{recorded: folder}}
	if d.backend, err = c.language(source); err != nil {
		return nil, err
	}
	if err := d.takeParameters(c.Params, c.First); err != nil {
		return nil, err
	}
	if len(d.params) == 0 {
		return nil, mistake("kernel %s has no parameters to tune", c.Kernel)
	}
	for _, r := range c.Restricted {
		if r.Gap != "" {
			d.gap("the restriction %s was not carried over: %s", r.Python, r.Gap)
			continue
		}
		d.addConstraint(r.Text, r.Python)
	}
	names := c.blockNames()
	d.grid, d.block = c.launch(d, names, d.sizeNamed)
	d.shared = c.sharedMemory(d)
	if len(d.sizes) == 0 {
		d.sizes = []size{{"SIZE", 1}}
	}
	d.source = cleanName(file, map[string]string{kernels.CUDA: "kernel.cu", kernels.Host: "kernel.c"}[d.backend])
	if d.backend == kernels.Host && strings.Contains(source, `extern "C"`) {
		d.source = strings.TrimSuffix(d.source, filepath.Ext(d.source)) + ".cpp"
	}
	d.takeFlags(c.callSource, source, names)
	d.takeArguments(c.callArguments, source)
	d.takeConstants(c.Constants)
	d.takeObjective(c.callObjective)
	d.takeRest(c)
	prepared := d.takeSource(source)
	folders := slices.DeleteFunc(append([]string{beside}, c.Folders...), func(f string) bool { return f == "" })
	d.addIncludes(source, folders...)
	d.takeOtherSources(c.Source.Paths)
	return d, d.takeReference(c, calls, prepared)
}

func (d *description) takeParameters(params [][2]any, first map[string]any) error {
	for _, pair := range params {
		name, _ := pair[0].(string)
		values, _ := pair[1].([]any)
		if err := d.addParameter(name, values, first[name]); err != nil {
			return err
		}
	}
	return nil
}

// blockNames are the parameters that say how large a block of threads is.
func (c callLaunch) blockNames() []string {
	names := []string{"block_size_x", "block_size_y", "block_size_z"}
	copy(names, c.BlockNames)
	return names
}

// sizeNamed makes a number of the problem a dimension of the workload.
func (d *description) sizeNamed(axis string, n int64) string {
	name := "PROBLEM_" + axis
	d.sizes = append(d.sizes, size{name, n})
	return name
}

// launch returns the formulas of grid and block, as Kernel Tuner computes them: each size
// divided by the product of its divisors, rounded up. Named makes a name of a number.
func (c callLaunch) launch(d *description, names []string,
	named func(axis string, n int64) string) (grid, block []string) {
	for i, axis := range []string{"X", "Y", "Z"} {
		tuned, threads := d.tunes(names[i]), []string{"256", "1", "1"}[i]
		if tuned {
			threads = names[i]
		}
		block = append(block, threads)
		if i >= len(c.Sizes) {
			grid = append(grid, "1")
			continue
		}
		size := c.Sizes[i]
		if size.Gap != "" {
			d.gap("the problem's size in %s is not a formula (%s: %s)", axis, size.Python, size.Gap)
			size.Text = "1"
		}
		if n, err := strconv.ParseInt(size.Text, 10, 64); err == nil {
			size.Text = named(axis, n)
		}
		var divisors []string
		given, present := c.Divisors["grid_div_"+strings.ToLower(axis)]
		for _, e := range given {
			if e.Gap != "" {
				d.gap("a divisor of the grid in %s is not a formula (%s: %s)", axis, e.Python, e.Gap)
				continue
			}
			if !e.Whole { // Kernel Tuner cuts each off
				e.Text = "int(" + e.Text + ")"
			}
			divisors = append(divisors, e.Text)
		}
		if !present && tuned {
			divisors = []string{names[i]}
		}
		grid = append(grid, roundedQuotient(size.Text, divisors))
	}
	return grid, block
}

// roundedQuotient is a size divided by the product of its divisors, rounded up.
func roundedQuotient(size string, divisors []string) string {
	if len(divisors) == 0 {
		return size
	}
	return fmt.Sprintf("cdiv(%s, %s)", size, strings.Join(divisors, " * "))
}

func (c callLaunch) sharedMemory(d *description) string {
	for name, e := range c.Shared {
		if name == "size" && e.Gap == "" {
			return e.Text
		}
		d.gap("the shared memory %s was not carried over (%s)", name, e.Python)
	}
	return ""
}

// cleanName is the name of the source's file in the folder.
func cleanName(file, otherwise string) string {
	if file == "" || file == kernels.ManifestName || strings.ContainsAny(file, " \t'\"\\:") {
		return otherwise
	}
	if ext := filepath.Ext(file); ext != ".cu" && filepath.Ext(otherwise) == ".cu" {
		return strings.TrimSuffix(file, ext) + ".cu"
	}
	return file
}
