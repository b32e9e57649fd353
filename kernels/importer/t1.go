package importer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels"
)

// problem is a tuning problem in the community's T1 format. Numbers may be written as strings.
type problem struct {
	Space struct {
		Parameters []struct {
			Name    string          `json:"Name"`
			Values  json.RawMessage `json:"Values"`
			Default any             `json:"Default"`
		} `json:"TuningParameters"`
		Conditions []struct {
			Expression string `json:"Expression"`
		} `json:"Conditions"`
	} `json:"ConfigurationSpace"`
	// Config are constants that expressions may name.
	Config map[string]any `json:"BenchmarkConfig"`
	Kernel struct {
		Language  string   `json:"Language"`
		Name      string   `json:"KernelName"`
		File      string   `json:"KernelFile"`
		Options   []string `json:"CompilerOptions"`
		TypeNames []string `json:"KernelTypeNames"`
		SizeType  string   `json:"GlobalSizeType"`
		// ProblemSize is a number, a list of them, or one for each of X, Y and Z; the divisors make a grid of it.
		ProblemSize any            `json:"ProblemSize"`
		DivX        []any          `json:"GridDivX"`
		DivY        []any          `json:"GridDivY"`
		DivZ        []any          `json:"GridDivZ"`
		Global      map[string]any `json:"GlobalSize"`
		Local       map[string]any `json:"LocalSize"`
		Shared      any            `json:"SharedMemory"`
		Arguments   []t1Argument   `json:"Arguments"`
		References  any            `json:"ReferenceData"`
	} `json:"KernelSpecification"`
}

type t1Argument struct {
	Name   string `json:"Name"`
	Type   string `json:"Type"`
	Memory string `json:"MemoryType"`
	Access string `json:"AccessType"`
	Fill   string `json:"FillType"`
	Value  any    `json:"FillValue"`
	Size   any    `json:"Size"`
	Output any    `json:"Output"`
}

// t1Elements are the manifest's names of the format's types, and how many numbers one has.
var t1Elements = map[string]struct {
	name string
	each int64
}{
	"bool": {"u8", 1}, "int8": {"i8", 1}, "uint8": {"u8", 1}, "int16": {"i16", 1}, "uint16": {"u16", 1},
	"int32": {"i32", 1}, "uint32": {"u32", 1},
	"int64": {"i64", 1}, "uint64": {"u64", 1}, "half": {"f16", 1}, "half2": {"f16", 2}, "half4": {"f16", 4},
	"float": {"f32", 1}, "float2": {"f32", 2},
	"float4": {"f32", 4}, "float8": {"f32", 8}, "double": {"f64", 1}, "double2": {"f64", 2}, "double4": {"f64", 4},
}

// T1 imports a file. An empty folder means one with the kernel's name.
func T1(path, folder string) (*Folder, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, mistake("%v", err)
	}
	p, err := parseT1(content)
	if err != nil {
		return nil, mistake("%s: %v", path, err)
	}
	file := filepath.FromSlash(p.Kernel.File)
	source, err := os.ReadFile(filepath.Join(filepath.Dir(path), file))
	if err != nil {
		return nil, mistake("%s names the source %q, which is not beside it: %v", path, p.Kernel.File, err)
	}
	d, err := p.describe(string(source))
	if err != nil {
		return nil, err
	}
	d.addIncludes(string(source), filepath.Join(filepath.Dir(path), filepath.Dir(file)), filepath.Dir(path))
	d.origin = filepath.Base(path) + ", in the T1 format"
	return d.write(folder)
}

func parseT1(content []byte) (*problem, error) {
	var p problem
	if err := decode(content, &p); err != nil {
		return nil, err
	}
	switch {
	case len(p.Space.Parameters) == 0:
		return nil, fmt.Errorf("ConfigurationSpace has no TuningParameters")
	case p.Kernel.Name == "" || p.Kernel.File == "":
		return nil, fmt.Errorf("KernelSpecification has no KernelName or no KernelFile")
	case len(p.Kernel.Arguments) == 0:
		return nil, fmt.Errorf("KernelSpecification has no Arguments")
	}
	return &p, nil
}

func (p *problem) describe(source string) (*description, error) {
	if language := p.Kernel.Language; !strings.EqualFold(language, "CUDA") {
		return nil, mistake("the kernel is in %q: pawl runs CUDA, C and C++", language)
	}
	d := &description{
		entry:    p.Kernel.Name,
		backend:  kernels.CUDA,
		contents: contents{source: cleanName(filepath.Base(filepath.FromSlash(p.Kernel.File)), "kernel.cu")},
	}
	if len(p.Kernel.TypeNames) > 0 || !identifier.MatchString(d.entry) {
		d.entry, _, _ = strings.Cut(d.entry, "<")
		d.gap("%s is a template: give the source an extern \"C\" function that calls it", d.entry)
	}
	for _, parameter := range p.Space.Parameters {
		values, err := t1Values(parameter.Values)
		if err != nil {
			return nil, mistake("the values of %s: %v", parameter.Name, err)
		}
		if err := d.addParameter(parameter.Name, values, parameter.Default); err != nil {
			return nil, err
		}
	}
	for _, c := range p.Space.Conditions {
		text, err := p.formula(d, c.Expression)
		if err != nil {
			d.gap("the condition %s was not carried over: %v", c.Expression, err)
			continue
		}
		d.addConstraint(text, c.Expression)
	}
	for name, content := range p.Config {
		if text := fmt.Sprint(content); regexpNumber.MatchString(text) && identifier.MatchString(name) {
			d.flags = append(d.flags, "-D"+name+"="+text)
		}
	}
	slices.Sort(d.flags)
	d.flags = append(d.flags, p.Kernel.Options...)
	d.sizes = []size{{"SIZE", 1}}
	p.launch(d)
	p.arguments(d)
	if p.Kernel.References != nil {
		d.gap("ReferenceData was not carried over")
	}
	d.copyAsReference(d.takeSource(source))
	return d, nil
}

// launch carries grid and block over. OpenCL's grid counts threads.
func (p *problem) launch(d *description) {
	for i, axis := range []string{"X", "Y", "Z"} {
		block, grid := p.dimension(d, p.Kernel.Local, axis), p.dimension(d, p.Kernel.Global, axis)
		if size, given := p.constant(fmt.Sprintf("ProblemSize[%d]", i)); given && p.Kernel.Global == nil {
			grid = p.divided(d, fmt.Sprint(size), [][]any{p.Kernel.DivX, p.Kernel.DivY, p.Kernel.DivZ}[i], block)
		}
		if strings.EqualFold(p.Kernel.SizeType, "OpenCL") && grid != "1" {
			grid = fmt.Sprintf("cdiv(%s, %s)", grid, block)
		}
		d.block, d.grid = append(d.block, block), append(d.grid, grid)
	}
	if p.Kernel.Shared != nil && fmt.Sprint(p.Kernel.Shared) != "0" {
		if text, err := p.formula(d, fmt.Sprint(p.Kernel.Shared)); err != nil {
			d.gap("SharedMemory %v was not carried over: %v", p.Kernel.Shared, err)
		} else {
			d.shared = text
		}
	}
}

// divided is how many blocks a size takes, by the parameters that each of them covers.
func (p *problem) divided(d *description, size string, by []any, block string) string {
	var factors []string
	for _, each := range by {
		text, err := p.formula(d, fmt.Sprint(each))
		if err != nil {
			d.gap("the divisor %v of the grid was not carried over: %v", each, err)
			continue
		}
		factors = append(factors, text)
	}
	if by == nil {
		factors = []string{block}
	}
	return roundedQuotient(size, factors)
}

func (p *problem) dimension(d *description, sizes map[string]any, axis string) string {
	content, given := sizes[axis]
	if !given {
		return "1"
	}
	text, err := p.formula(d, fmt.Sprint(content))
	if err != nil {
		d.gap("the size %v in %s was not carried over: %v", content, axis, err)
		return "1"
	}
	if strings.Contains(text, "/ float(") { // Python's division of what is a number of blocks
		return "int(ceil(" + text + "))"
	}
	return text
}

func (p *problem) arguments(d *description) {
	outputs := false
	for i, a := range p.Kernel.Arguments {
		made := argument{name: a.Name}
		if !identifier.MatchString(a.Name) || d.has(a.Name) {
			made.name = fmt.Sprintf("argument%d", i)
		}
		e, known := t1Elements[a.Type]
		made.element = e.name
		if !known {
			made.element, e.each = "u8", 1
			d.lacks(&made, "argument %s has the type %s, which a manifest has no name for: bytes stand in", made.name, a.Type)
		}
		switch strings.ToLower(a.Memory) {
		case "scalar":
			made.value = fmt.Sprint(a.Value)
			if !regexpNumber.MatchString(made.value) {
				made.value = "0"
				d.lacks(&made, "the value of %s is %v", made.name, a.Value)
			}
		case "vector":
			var n int64
			var names []string
			text, err := p.formula(d, fmt.Sprint(a.Size))
			if err == nil {
				n, names, err = d.largest(text)
			}
			if made.shape = []int64{n * e.each}; err != nil {
				made.shape = []int64{1}
				d.lacks(&made, "the size %v of %s was not carried over: %v", a.Size, made.name, err)
			}
			made.out = strings.EqualFold(a.Access, "WriteOnly") || strings.EqualFold(a.Access, "ReadWrite") ||
				a.Output != nil && a.Output != false && fmt.Sprint(a.Output) != "0"
			made.zeros = strings.EqualFold(a.Fill, "Constant") &&
				regexp.MustCompile(`^0*\.?0*$`).MatchString(fmt.Sprint(a.Value))
			d.fill(&made, a)
			if len(names) > 0 {
				d.note("%s is as large as for the largest %s", made.name, strings.Join(names, ", "))
			}
			if len(names) > 0 && made.out {
				made.init = "0" // some points leave its end alone
			}
		default:
			made.shape = []int64{1}
			d.lacks(&made, "argument %s is in %s memory, which was not carried over", made.name, a.Memory)
		}
		outputs = outputs || made.out
		d.args = append(d.args, made)
	}
	if at := slices.IndexFunc(d.args, func(a argument) bool { return a.shape != nil }); !outputs && at >= 0 {
		d.args[at].out = true
		d.gap("the file does not say which argument is the result: %s is proposed", d.args[at].name)
	}
}

func (d *description) fill(a *argument, given t1Argument) {
	number := fmt.Sprint(given.Value)
	a.inout = a.out && strings.EqualFold(given.Access, "ReadWrite")
	switch fill := strings.ToLower(given.Fill); {
	case a.out && !a.inout, a.zeros, fill == "random" && (given.Value == nil || !strings.HasPrefix(a.element, "f")):
	case fill == "random" && regexpNumber.MatchString(number):
		a.low, a.high = "0", number
	case fill == "constant" && regexpNumber.MatchString(number):
		a.constant = number
	default:
		d.lacks(a, "argument %s is filled by %s, which was not carried over: random numbers stand in", a.name, given.Fill)
	}
}
