package host

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/space"
)

// unit returns the translation unit around a source file: it adds pawl_call,
// which takes the arguments as an array of pointers and calls the steps in order. The
// compiler checks the functions' signatures against the manifest on the way. The source
// stands first: it must compile alone, because that is how it will be used.
func unit(k *kernels.Kernel, source string, point space.Point, steps ...kernels.Step) []byte {
	in := languageOf(source)
	var text strings.Builder
	if source == "" {
		text.WriteString("#include <stdint.h>\n")
		writePrototypes(&text, k, steps)
	} else {
		fmt.Fprintf(&text, "#include %q\n#include <stdint.h>\n", source)
	}
	writeSymbols(&text, k, in, steps)
	check := "_Static_assert"
	if in == languageCPlusPlus {
		writePointers(&text, k.Arguments)
		check = "static_assert"
	}
	for _, step := range steps {
		text.WriteString(k.Arguments.LayoutChecks(check, step.Arguments))
	}
	fmt.Fprintf(&text, "%[1]svoid pawl_call(void **arguments);\n%[1]svoid pawl_call(void **arguments) {\n", in.linkage())
	for _, step := range steps {
		passed := collect.Each(step.Arguments, func(i int) string { return pass(k.Arguments[i], i, in) })
		fmt.Fprintf(&text, "\t%s(%s);\n", kernels.EntryAt(step.Entry, point), strings.Join(passed, ", "))
	}
	text.WriteString("}\n")
	return []byte(text.String())
}

// writePrototypes declares the functions of a source that is not C, as the manifest has them.
func writePrototypes(text *strings.Builder, k *kernels.Kernel, steps []kernels.Step) {
	for _, step := range steps {
		var types []string
		for _, i := range step.Arguments {
			a, kind := k.Arguments[i], ""
			switch {
			case a.Value != nil:
				kind = a.Element.C
			case a.Lanes > 1:
				kind = "void *"
			case a.Out || a.Scratch:
				kind = a.Element.C + " *"
			default:
				kind = "const " + a.Element.C + " *"
			}
			types = append(types, kind)
		}
		fmt.Fprintf(text, "void %s(%s);\n", step.Entry, strings.Join(types, ", "))
	}
}

// anyPointer becomes a pointer to whatever structure the function takes, which C does by itself.
const anyPointer = "template <class T> operator T *() const { return static_cast<T *>(to); }"

// pointersTo are the types of C++ that an element may have in a source, beside the one that the manifest means: C takes
// a pointer to either, C++ does not.
var pointersTo = map[string][]string{
	"i8": {"signed char", "char"}, "u8": {"unsigned char", "char", "bool"},
	"i64": {"long", "long long"}, "u64": {"unsigned long", "unsigned long long"},
}

// writePointers declares what becomes a pointer to any of these types.
func writePointers(text *strings.Builder, all arguments.List) {
	written := map[string]bool{}
	for _, a := range all {
		name := pointerName(a)
		if name == "" || written[name] {
			continue
		}
		written[name] = true
		conversions := anyPointer
		if a.Lanes == 1 {
			conversions = strings.Join(collect.Each(pointersTo[a.Element.Name], func(kind string) string {
				return fmt.Sprintf("operator %[1]s *() const { return static_cast<%[1]s *>(to); }", kind)
			}), " ")
		}
		fmt.Fprintf(text, "namespace { struct %s { void *to; %s }; }\n", name, conversions)
	}
}

// pointerName is what an argument is handed to a function of C++ as, empty for a plain pointer.
func pointerName(a arguments.Argument) string {
	switch {
	case a.Lanes > 1:
		return "PawlPointer"
	case pointersTo[a.Element.Name] != nil:
		return "PawlPointer_" + a.Element.Name
	}
	return ""
}

// pass is how an argument is handed to a function.
func pass(a arguments.Argument, i int, in language) string {
	qualifier := "const "
	if a.Out || a.Scratch {
		qualifier = ""
	}
	switch {
	case a.Fields != nil && a.Shape == nil:
		return fmt.Sprintf("*(const %s *)arguments[%d]", a.CType, i)
	case a.Value != nil:
		return fmt.Sprintf("*(%s *)arguments[%d]", a.Element.C, i)
	case in == languageCPlusPlus && pointerName(a) != "":
		return fmt.Sprintf("%s{arguments[%d]}", pointerName(a), i)
	case a.Lanes > 1:
		return fmt.Sprintf("(%svoid *)arguments[%d]", qualifier, i)
	}
	return fmt.Sprintf("(%s%s *)arguments[%d]", qualifier, a.Element.C, i)
}

// writeSymbols adds a function for each variable of the source that is an argument: it says where the
// variable is, or how large. What takes the argument as a parameter has no such variable.
func writeSymbols(text *strings.Builder, k *kernels.Kernel, in language, steps []kernels.Step) {
	first := true
	for i, a := range k.Arguments {
		if a.Symbol == "" ||
			slices.ContainsFunc(steps, func(s kernels.Step) bool { return slices.Contains(s.Arguments, i) }) {
			continue
		}
		if first && in == languageC { // a constant cannot be set; C++ says so by itself
			text.WriteString("#pragma GCC diagnostic error \"-Wdiscarded-qualifiers\"\n")
		}
		first = false
		function := symbolFunction(i)
		fmt.Fprintf(text, "%[1]suint64_t %[2]s(uint64_t size);\n%[1]suint64_t %[2]s(uint64_t size) {\n", in.linkage(),
			function)
		fmt.Fprintf(text, "\tvoid *at = &%[1]s;\n\treturn size ? sizeof %[1]s : (uint64_t)(uintptr_t)at;\n}\n", a.Symbol)
	}
}
