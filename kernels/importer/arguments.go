package importer

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/kernels"
)

// takeFlags carries the compiler's options over, and the macros that Kernel Tuner defines.
func (d *description) takeFlags(c callSource, source string, names []string) {
	d.flags = d.macrosOf(source, names)
	for i, option := range c.Options {
		switch folder, include := strings.CutPrefix(option, "-I"); {
		case strings.HasPrefix(option, "-arch"), strings.HasPrefix(option, "--gpu-architecture"),
			strings.HasPrefix(option, "-gencode"):
			d.note("%s was left out: pawl compiles for the device that it runs on", option)
			continue
		case include && folder != "" && !filepath.IsAbs(folder):
			d.gap("%s is relative to where the script runs: put what it has into the kernel's folder", option)
			continue
		case i > 0 && c.Options[i-1] == "-I" && !filepath.IsAbs(option):
			d.gap("-I %s is relative to where the script runs: put what it has into the kernel's folder", option)
		}
		d.flags = append(d.flags, option)
	}
	for name, content := range c.Defines {
		if text := fmt.Sprint(content); content != nil && regexpNumber.MatchString(text) {
			d.flags = append(d.flags, "-D"+name+"="+text)
		} else {
			d.gap("the define %s is computed from the parameters: write it into the source", name)
		}
	}
}

// takeArguments carries arguments over, in the order of the function. Which of them the kernel
// writes is known by the answers, and otherwise by what the source declares constant.
func (d *description) takeArguments(c callArguments, source string) {
	declared := d.formals(source)
	if len(declared) != len(c.Arguments) {
		declared = nil
	}
	answered := slices.ContainsFunc(c.Answer, func(r *recorded) bool { return r != nil })
	for i, r := range c.Arguments {
		a := argument{name: fmt.Sprintf("argument%d", i)}
		if declared != nil && !d.has(declared[i].name) {
			a.name = declared[i].name
		}
		switch r.Kind {
		case "scalar":
			d.takeScalar(&a, r)
		case "array":
			if answered {
				a.out = i < len(c.Answer) && c.Answer[i] != nil
			} else {
				a.out = declared != nil && declared[i].pointer && !declared[i].constant
			}
			d.takeArray(&a, r, declared != nil && declared[i].read)
			if declared != nil && !a.out && !declared[i].constant && d.backend == kernels.Host &&
				strings.HasSuffix(d.source, ".cpp") && a.gap == "" {
				d.lacks(&a, "the source declares %s as a pointer that it may write through: make it const", a.name)
			}
		default:
			a.element, a.shape = "f32", []int64{1}
			d.lacks(&a, "argument %s is a %s, which the stand-in cannot record: say its type and its shape", a.name, r.What)
		}
		d.args = append(d.args, a)
	}
	if slices.ContainsFunc(d.args, func(a argument) bool { return a.out }) {
		return
	}
	for i := range slices.Backward(d.args) {
		if a := &d.args[i]; a.shape != nil {
			a.out, a.file, a.low = true, "", ""
			d.lacks(a, "neither the script nor the source says which argument is the result: %s is proposed", a.name)
			return
		}
	}
}

func (d *description) takeScalar(a *argument, r recorded) {
	e, known := elements[r.Type]
	a.element, a.value = e, cmp.Or(map[string]string{"True": "1", "False": "0"}[r.Value], r.Value)
	number, err := strconv.ParseFloat(a.value, 64)
	if !known || err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		a.element, a.value = "i32", "0"
		d.lacks(a, "the value of %s is %s, of type %s, which a manifest has no name for", a.name, r.Value, r.Type)
	}
}

func (d *description) takeArray(a *argument, r recorded, read bool) {
	e, known := elements[r.Type]
	a.element, a.shape, a.zeros = e, append([]int64{}, r.Shape...), r.Zeros
	if len(a.shape) == 0 {
		a.shape = []int64{1}
	}
	switch {
	case !known:
		a.element = "u8"
		d.lacks(a, "argument %s has the type %s, which a manifest has no name for: bytes stand in", a.name, r.Type)
	case slices.Contains(a.shape, 0):
		a.shape = []int64{1}
		d.lacks(a, "argument %s is empty", a.name)
	case a.out && r.Run != nil:
		d.lacks(a, "argument %s comes out of run_kernel and is written: say what it holds before, as inout with a fill, or "+
			"that it is out alone", a.name)
	case a.out && !a.zeros && r.File == "":
		d.lacks(a, "argument %s is written and holds something before that was not recorded: where the kernel reads it, say "+
			"so by inout and a fill", a.name)
	case a.out && !a.zeros:
		a.inout, a.file = true, d.keep(a.name, r)
	case a.out && read:
		a.init = "0"
		d.note("%s starts at zero for every launch, as the script has it: the source reads it before it writes it", a.name)
	case a.out, a.zeros:
	case r.File == "":
		a.low, a.high = r.Low, r.High
		d.lacks(a, "what the script puts into %s was not recorded (it is too large, or comes out of run_kernel): random "+
			"numbers stand in", a.name)
	default:
		a.file = d.keep(a.name, r)
	}
}

func (d *description) takeRest(c call) {
	for _, name := range c.Textures {
		d.gap("the texture %s was not carried over: pawl has none", name)
	}
	for _, name := range c.Observers {
		d.gap("the observer %s is Python and was not carried over: pawl measures time, clock, power and temperature itself",
			name)
	}
	if c.Verify {
		d.gap("the script verifies results by a Python function: a reference does that here")
	}
	if given := fmt.Sprint(c.Absolute); c.Absolute != nil && regexpNumber.MatchString(given) {
		d.atol = given
	}
}

// takeReference finds what results are compared with: the kernel whose results the script takes for
// the answer, the answer itself, or, until somebody writes one, the kernel.
func (d *description) takeReference(c call, calls []call, source string) error {
	var run *int
	recordedAll := len(c.Answer) > 0
	for i, r := range c.Answer {
		if r == nil {
			continue
		}
		if r.Run != nil {
			run = r.Run
		}
		recordedAll = recordedAll && r.Run == nil && (r.File != "" || r.Zeros) && i < len(d.args)
	}
	runs := slices.DeleteFunc(slices.Clone(calls), func(other call) bool { return other.Call != "run_kernel" })
	if run != nil && *run < len(runs) && d.referenceFrom(runs[*run], c) {
		return nil
	}
	fixed := !slices.ContainsFunc(d.args,
		func(a argument) bool { return a.shape != nil && (!a.out || a.inout) && a.file == "" && !a.zeros })
	if recordedAll && c.Runs == 0 && fixed && len(d.referenceParams) == 0 {
		return d.answers(c.callArguments)
	}
	if len(c.Answer) > 0 {
		d.gap("the script's answer could not be carried over: it comes from a kernel that was not run, or from inputs " +
			"that were not recorded")
	}
	d.copyAsReference(source)
	return nil
}

func (d *description) referenceFrom(run, tuned call) bool {
	text, _, _, err := run.content()
	taken := len(run.Arguments) - len(tuned.Arguments) // constants that it takes behind the others
	if err != nil || taken != 0 && taken != len(d.constants) || !identifier.MatchString(run.Kernel) ||
		d.backend != kernels.CUDA {
		return false
	}
	plainly := description{entry: run.Kernel, backend: d.backend}
	if plainly.takeParameters(run.Params, nil) != nil {
		return false
	}
	grid, block := run.launch(&plainly, run.blockNames(),
		func(_ string, n int64) string { return strconv.FormatInt(n, 10) })
	for _, formula := range [][]string{grid, block} {
		for i, t := range formula {
			for _, p := range plainly.params {
				t = wordOf(p.name).ReplaceAllString(t, p.first.Define())
			}
			formula[i] = t
		}
	}
	plainly.block = block
	plainly.flags = plainly.macrosOf(text, run.blockNames())
	text = plainly.withC(text)
	if len(plainly.gaps) > 0 {
		return false
	}
	name := kernels.PlainName(d.entry)
	if run.Kernel != name {
		text = swapNames(text, name, run.Kernel)
	}
	if plainly.entry = name; taken == 0 {
		plainly.constants = d.constants
		if text, err = plainly.withConstants(text); err != nil {
			d.gap("%v", err)
		}
	}
	d.addReference(fmt.Sprintf("/* The script's own reference, %s, under the name of the kernel. */\n", run.Kernel) +
		plainly.defined(text))
	d.referenceGrid, d.referenceBlock = grid, block
	d.note("%s, whose results the script takes for the answer, is the reference", run.Kernel)
	return true
}

func (d *description) answers(c callArguments) error {
	for i, r := range c.Answer {
		if r == nil {
			continue
		}
		a := &d.args[i]
		if r.File == "" { // nothing but zeros is a strange answer, and a file would say so
			return mistake("the script's answer for %s is nothing but zeros, which every kernel that does nothing passes",
				a.name)
		}
		a.answer = d.keep(a.name+"_answer", *r)
	}
	d.note("results are compared with the script's answer, on its own inputs only; a reference is compared on more, see " +
		"docs/correctness.md")
	return nil
}
