package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/nvcc"
)

// compareSignature compares what the manifest says a step takes with what its compiler made of it: the sizes of its
// parameters, the types that its symbol names, and the variables that arguments are stored in. It returns what differs,
// or an empty text. A launch would read arguments from wrong places, and no driver notices that.
func compareSignature(k *kernels.Kernel, step kernels.Step, module nvcc.Module, symbol string,
	bindings []arguments.Binding) string {
	sizes, known := module.Parameters[symbol]
	types := nvcc.ParameterTypes(symbol)
	taken := collect.Each(step.Arguments, func(i int) arguments.Binding { return bindings[i] })
	if known && len(sizes) != len(taken) {
		return fmt.Sprintf("%s takes %d arguments, and the manifest has %d for it (%s)", nvcc.Readable(symbol), len(sizes),
			len(taken), strings.Join(collect.Each(taken, func(b arguments.Binding) string { return b.Name }), ", "))
	}
	for i, b := range taken {
		wanted, is := b.Size(), "a "+b.Type
		switch {
		case b.IsBuffer():
			wanted, is = addressSize, "a pointer"
		case b.Fields != nil:
			is = "a structure"
		}
		descriptor := k.Arguments[step.Arguments[i]].TensorMap != nil && known && sizes[i] == driver.TensorMapSize
		if known && sizes[i] != wanted && !descriptor {
			return fmt.Sprintf("argument %s is %s of %d bytes in the manifest, and parameter %d of %s has %d", b.Name, is,
				wanted, i+1, nvcc.Readable(symbol), sizes[i])
		}
		if len(types) == len(taken) && differs(types[i], b) {
			return fmt.Sprintf("argument %s is of type %s in the manifest, and parameter %d of %s is %s", b.Name, b.Type, i+1,
				nvcc.Readable(symbol), types[i])
		}
	}
	return ""
}

// compareVariables does the same for the variables that arguments are stored in.
func compareVariables(module nvcc.Module, bindings []arguments.Binding) string {
	for _, b := range bindings {
		if b.Symbol == "" || module.Variables == nil {
			continue
		}
		room, found := module.Variables[b.Symbol]
		if !found {
			return fmt.Sprintf("the module has no variable %s for argument %s: declare it at file scope without static, "+
				"__constant__ or __device__, and use it", b.Symbol, b.Name)
		}
		size := b.Size()
		if b.IsBuffer() {
			size *= int(b.Count)
		}
		if room < size {
			return fmt.Sprintf("the variable %s has %d bytes, and argument %s %d", b.Symbol, room, b.Name, size)
		}
	}
	return ""
}

const addressSize = 8

// elementTypes are the types of C++ that are certain to be an element's; others are the source's own.
var elementTypes = map[string][]string{
	"double": {"f64"}, "float": {"f32"}, "__half": {"f16"}, "__nv_bfloat16": {"bf16"}, "float2": {"c64", "f32x2"},
	"int": {"i32"}, "unsigned int": {"u32"}, "short": {"i16"}, "unsigned short": {"u16", "f16", "bf16"},
	"long": {"i64"}, "unsigned long": {"u64"}, "long long": {"i64"}, "unsigned long long": {"u64"},
}

var qualifier = regexp.MustCompile(`\b(const|volatile|restrict|__restrict__)\b`)

// differs reports whether a type of C++ is certainly not that of an argument. Signs are a matter of taste.
func differs(declared string, b arguments.Binding) bool {
	plain := strings.TrimSpace(qualifier.ReplaceAllString(declared, ""))
	element, pointer := strings.CutSuffix(plain, "*")
	names, known := elementTypes[strings.TrimSpace(element)]
	if !known || strings.Contains(element, "*") || b.Fields != nil {
		return false
	}
	if pointer != b.IsBuffer() {
		return true
	}
	unsigned := func(name string) string { return strings.Replace(name, "u", "i", 1) }
	lanes, _, _ := strings.Cut(b.Type, "x") // a vector may be read as its numbers
	return !slices.ContainsFunc(names, func(name string) bool {
		return unsigned(name) == unsigned(b.Type) || unsigned(name) == unsigned(lanes)
	})
}
