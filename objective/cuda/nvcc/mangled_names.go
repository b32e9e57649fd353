package nvcc

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ianlancetaylor/demangle"

	"pawl/internal/collect"
)

// A kernel has two names: the one that people write, tiled::reduce<4, float>, and the symbol
// of the cubin. An instance of a template has none before somebody asks for it, so that a unit
// with such Instances takes their addresses. The symbol is looked for by its identifiers, and where several
// instances have the same, in the PTX text of a unit that names them.

// hostAddresses and deviceAddresses take the address of an instance: one for the host's half of nvcc, so that nothing
// of it is in the cubin, the other for the text of PTX.
const (
	hostAddresses = "extern const void *const pawl_entry_%[1]d;\n" +
		"const void *const pawl_entry_%[1]d = (const void *)&%[2]s;\n"
	deviceAddresses = "__device__ const void *pawl_entry_%d = (const void *)&%s;\n"
)

// writeAddresses writes a source that includes another, with its checks and a declaration for every instance.
func writeAddresses(unit Unit, source, scratch, declaration string) (string, error) {
	if strings.ContainsAny(source, "\"\\") {
		return "", fmt.Errorf("the path %s cannot be included: remove quotes and backslashes from it", source)
	}
	text := fmt.Sprintf("#include \"%s\"\n%s", source, unit.Checks)
	for i, instance := range unit.Instances {
		text += fmt.Sprintf(declaration, i, instance)
	}
	path := filepath.Join(scratch, "entries.cu")
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// names finds the symbols of a unit's instances in its cubin.
func (t *Toolchain) names(ctx context.Context, allowed time.Duration, unit Unit,
	scratch, cubin string) (map[string]string, error) {
	content, err := os.ReadFile(cubin)
	if err != nil {
		return nil, fmt.Errorf("nvcc succeeded without a cubin: %w", err)
	}
	code, err := readMachineCode(content)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, instance := range unit.Instances {
		found := called(slices.Sorted(maps.Keys(code.kernels)), instance)
		if len(found) != 1 {
			return t.namesInPTX(ctx, allowed, unit, scratch)
		}
		names[instance] = found[0]
	}
	return names, nil
}

var addressLine = regexp.MustCompile(`(?m)^\.(?:visible )?\.?global .* pawl_entry_(\d+) = ([\w$]+);`)

// namesInPTX compiles once more, to text in which variables hold the instances' addresses.
func (t *Toolchain) namesInPTX(ctx context.Context, allowed time.Duration, unit Unit,
	scratch string) (map[string]string, error) {
	source, err := filepath.Abs(filepath.Join(unit.Dir, unit.Source))
	if err != nil {
		return nil, err
	}
	path, err := writeAddresses(unit, source, scratch, deviceAddresses)
	if err != nil {
		return nil, err
	}
	text := filepath.Join(scratch, "entries.ptx")
	arguments := slices.Concat([]string{"-ptx", ArchitectureFlag(unit.Architecture), "-include",
		filepath.Join(scratch, "defines.h")}, unit.Flags, []string{"-o", text, path})
	if _, err := t.run(ctx, allowed, unit, scratch, arguments); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(text)
	if err != nil {
		return nil, fmt.Errorf("nvcc succeeded without PTX: %w", err)
	}
	names := map[string]string{}
	for _, match := range addressLine.FindAllStringSubmatch(string(content), -1) {
		if i, err := strconv.Atoi(match[1]); err == nil && i < len(unit.Instances) {
			names[unit.Instances[i]] = match[2]
		}
	}
	if len(names) < len(unit.Instances) {
		return nil, fmt.Errorf("nvcc does not say what the symbols of %s are; write extern \"C\" __global__ functions "+
			"around them", strings.Join(unit.Instances, ", "))
	}
	return names, nil
}

// Symbol returns the symbol of a kernel: of one of the unit's instances, or of the only kernel
// with that name, whether it is extern "C" or not.
func (m Module) Symbol(name string) (string, error) {
	if symbol, known := m.Names[name]; known {
		return symbol, nil
	}
	if _, exact := m.Kernels[name]; exact {
		return name, nil
	}
	symbols := slices.Sorted(maps.Keys(m.Kernels))
	found := called(symbols, name)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "",
			fmt.Errorf("%d kernels are called %s (%s): name the arguments of a template, or one by its symbol", len(found),
				name, strings.Join(found, ", "))
	case len(symbols) == 0:
		return "",
			fmt.Errorf("there is no kernel %s, nor any other: kernels are __global__, and one that is static or a template "+
				"is there only where something uses it", name)
	}
	readable := collect.Each(symbols, Readable)
	return "", fmt.Errorf("there is no kernel %s; there are %s", name, strings.Join(slices.Compact(readable), ", "))
}

func called(symbols []string, name string) []string {
	name, _, _ = strings.Cut(name, "<")
	return collect.Where(symbols, func(symbol string) bool {
		return strings.TrimSuffix(Readable(symbol), someArguments) == name
	})
}

// someArguments stands for the arguments of a template.
const someArguments = "<…>"

// unnamed are the namespaces that compilers add.
var unnamed = regexp.MustCompile(`(\(anonymous namespace\)|_INTERNAL_\w*)::`)

// Readable returns a symbol as people write it, without the arguments of a template or of the
// function.
func Readable(symbol string) string {
	name := demangle.Filter(symbol, demangle.NoParams, demangle.NoTemplateParams)
	if demangle.Filter(symbol, demangle.NoParams) != name {
		name += someArguments
	}
	return unnamed.ReplaceAllString(name, "")
}

// ParameterTypes are the types that a symbol of C++ names, such as float const*; nil for one of C.
func ParameterTypes(symbol string) []string {
	readable, err := demangle.ToString(symbol)
	open := strings.LastIndex(readable, "(")
	if err != nil || open < 0 || !strings.HasSuffix(readable, ")") {
		return nil
	}
	list, depth, start := readable[open+1:len(readable)-1], 0, 0
	var types []string
	for i, c := range list + "," {
		switch c {
		case '<', '[':
			depth++
		case '>', ']':
			depth--
		case ',':
			if depth == 0 {
				types = append(types, strings.TrimSpace((list + ",")[start:i]))
				start = i + 1
			}
		}
	}
	return types
}
