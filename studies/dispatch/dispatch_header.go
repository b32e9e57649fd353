package dispatch

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/space"
)

//go:embed header.h.tmpl
var headerText string

var headerTemplate = template.Must(template.New("header").Funcs(template.FuncMap{
	"comment":  escape.Comment,
	"text":     escape.String,
	"shell":    func(words []string) string { return escape.Shell(words...) },
	"join":     func(words []string) string { return strings.Join(words, ", ") },
	"both":     func(words []string) string { return strings.Join(words, " and ") },
	"type":     cType,
	"constant": cConstant,
	"integer":  cInteger,
}).Parse(headerText))

// header is what the template is filled with.
type header struct {
	*Table
	Upper, Digest, Each string
	Devices, Builds     []string
	// Free are the sizes that need not be as they were measured.
	Free []string
	Last int
}

// Header writes the table for C and C++. Where PREFIX_BUILD is a variant's number, it is
// instead the macros that the variant was measured with, for the file that is compiled. All
// names begin with the prefix. Including it twice is harmless; two different tables of one
// prefix, or a macro that is defined already, are errors.
func (t *Table) Header(w io.Writer) error {
	h := header{
		Table: t, Upper: strings.ToUpper(t.Prefix), Digest: fmt.Sprintf("0x%08xL", t.digest()),
		Devices: t.devices(), Last: len(t.Variants) - 1,
	}
	var each []string
	for i := range t.Variants {
		build, err := t.build(i)
		if err != nil {
			return err
		}
		h.Builds = append(h.Builds, build)
		if _, symbols := t.functions(i); symbols != nil {
			each = append(each, fmt.Sprintf("X(%d, %s)", i, strings.Join(symbols, ", ")))
		}
	}
	h.Each = strings.Join(each, " ")
	h.Free = collect.Where(t.Sizes, func(name string) bool { return !slices.Contains(t.Fixed, name) })
	return headerTemplate.Execute(w, h)
}

// Naming says how the functions of the variants are called.
func (h header) Naming() string {
	_, symbols := h.functions(0)
	switch entry, symbols := escape.Comment(h.Entry), strings.Join(symbols, ", "); {
	case symbols == "":
		return fmt.Sprintf("The functions are %s in all of them: keep them apart, in libraries of their own.", entry)
	case kernels.IsInstance(h.Entry):
		return fmt.Sprintf("%s is behind the pointer %s there, and so on.", entry, symbols)
	default:
		return fmt.Sprintf("The function %s is called %s there, and so on.", entry, symbols)
	}
}

// build returns the macros of a variant, for the file that is compiled.
func (t *Table) build(variant int) (string, error) {
	v, file := t.Variants[variant], t.Prefix+".h"
	text, err := v.Defines(file)
	names, symbols := t.functions(variant)
	for n, name := range names {
		if len(v.Instances) > 0 { // the pointer has the symbol
			symbols[n] += "_instance"
		}
		if !slices.Contains(names[:n], name) {
			text += fmt.Sprintf("#define %s %s\n", name, symbols[n])
		}
	}
	return text + v.Instantiate(file, fmt.Sprintf("%s_%d", t.Prefix, variant)), err
}

// cType is the type of a parameter, with the blank or star before its name.
func cType(v space.Value) string {
	if v.Kind() == space.Text {
		return "const char *"
	}
	return "long long "
}

func cConstant(v space.Value) string {
	if v.Kind() == space.Text {
		return escape.String(v.Define())
	}
	return cInteger(v.Integer())
}

// cInteger is a constant of type long long; the smallest one has no literal.
func cInteger(n int64) string {
	if n == -1<<63 {
		return "(-9223372036854775807LL - 1)"
	}
	return fmt.Sprintf("%dLL", n)
}
