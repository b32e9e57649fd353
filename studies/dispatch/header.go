package dispatch

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/space"
)

// Header writes the table for C and C++. Where PREFIX_BUILD is a variant's number, it is
// instead the macros that the variant was measured with, for the file that is compiled. All
// names begin with the prefix. Including it twice is harmless; two different tables of one
// prefix, or a macro that is defined already, are errors.
func (t *Table) Header(w io.Writer) error {
	h := header{Table: t, upper: strings.ToUpper(t.Prefix)}
	h.line("/* Written by pawl: %d variants of %s for %d workloads on %s.", len(t.Variants), escape.Comment(t.Kernel),
		len(t.Entries), escape.Comment(strings.Join(t.devices(), ", ")))
	h.line(" * int %s(device, sizes...) says which variant to use. Each is compiled in the folder of", t.Prefix)
	h.line(" * the kernel with this header beside it, as it was measured:")
	for i := range t.Variants {
		h.line(" *   %s", escape.Comment(t.Command(i)))
	}
	_, symbols := t.functions(0)
	switch entry, symbols := escape.Comment(t.Entry), strings.Join(symbols, ", "); {
	case symbols == "":
		h.line(" * The functions are %s in all of them: keep them apart, in libraries of their own.", entry)
	case kernels.IsInstance(t.Entry):
		h.line(" * %s is behind the pointer %s there, and so on.", entry, symbols)
	default:
		h.line(" * The function %s is called %s there, and so on.", entry, symbols)
	}
	if libraries := t.Variants[0].Libraries; len(libraries) > 0 {
		h.line(" * Link with %s.", escape.Comment(escape.Shell(libraries...)))
	}
	if len(t.Domain) > 0 {
		h.line(" * The kernel is right only where %s.", escape.Comment(strings.Join(t.Domain, " and ")))
	}
	h.line(" */")
	if err := h.build(); err != nil {
		return err
	}
	h.line("#elif defined(%s_H) && %s_H != 0x%08xL", h.upper, h.upper, t.digest())
	h.line("#error \"two different tables with the prefix %s in one file: pawl dispatch --prefix gives one "+
		"another name\"", t.Prefix)
	h.line("#elif !defined(%s_H)", h.upper)
	h.line("#define %s_H 0x%08xL", h.upper, t.digest())
	h.types()
	h.variants()
	h.entries()
	h.selection()
	h.line("\n#endif")
	_, err := io.WriteString(w, h.text.String())
	return err
}

type header struct {
	*Table
	upper string
	text  strings.Builder
}

func (h *header) line(format string, arguments ...any) {
	fmt.Fprintf(&h.text, format+"\n", arguments...)
}

// build writes the macros of each variant, for the file that is compiled.
func (h *header) build() error {
	h.line("#if defined(%[1]s_BUILD)\n#ifndef %[1]s_BUILDING\n#define %[1]s_BUILDING", h.upper)
	for i, v := range h.Variants {
		h.line("#if %s_BUILD == %d", h.upper, i)
		defines, err := v.Defines(h.Prefix + ".h")
		if err != nil {
			return err
		}
		h.text.WriteString(defines)
		names, symbols := h.functions(i)
		for n, name := range names {
			if len(v.Instances) > 0 { // the pointer has the symbol
				symbols[n] += "_instance"
			}
			if !slices.Contains(names[:n], name) {
				h.line("#define %s %s", name, symbols[n])
			}
		}
		h.text.WriteString(v.Instantiate(h.Prefix+".h", fmt.Sprintf("%s_%d", h.Prefix, i)))
		h.line("#endif")
	}
	h.line("#if %s_BUILD < 0 || %s_BUILD >= %d\n#error \"%s_BUILD: there are the variants 0 to %d\"\n#endif\n#endif",
		h.upper, h.upper, len(h.Variants), h.upper, len(h.Variants)-1)
	return nil
}

func (h *header) types() {
	h.line(`
#if defined(__cplusplus) && __cplusplus >= 201402L
#define %[1]s_CONSTANT static constexpr
#define %[1]s_FUNCTION static constexpr
#else
#define %[1]s_CONSTANT static const
#define %[1]s_FUNCTION static inline
#endif`, h.upper)
	h.line("\n/* The parameters of a variant. */")
	h.line("typedef struct %s_variant {\n\tconst char *point;", h.Prefix)
	for _, a := range h.Variants[0].Point.Assignments() {
		h.line("\t%sparam_%s;", cType(a.Value), a.Name)
	}
	h.line("} %s_variant;", h.Prefix)
	h.line("\n/* What was measured: a variant on the sizes of a workload. */")
	h.line("typedef struct %s_entry {\n\tconst char *device;\n\tconst char *workload;", h.Prefix)
	for _, name := range h.Sizes {
		h.line("\tlong long size_%s;", name)
	}
	h.line("\tint variant;\n\tdouble milliseconds;\n\tdouble loss; /* against the best point there, as a share */\n} "+
		"%s_entry;", h.Prefix)
}

// cType is the type of a parameter, with the blank or star before its name.
func cType(v space.Value) string {
	if v.Kind() == space.Text {
		return "const char *"
	}
	return "long long "
}

func (h *header) variants() {
	h.line("\n#define %s_VARIANTS %d\n#define %s_ENTRIES %d", h.upper, len(h.Variants), h.upper, len(h.Entries))
	if names, _ := h.functions(0); names != nil {
		var each []string
		for i := range h.Variants {
			_, symbols := h.functions(i)
			each = append(each, fmt.Sprintf("X(%d, %s)", i, strings.Join(symbols, ", ")))
		}
		h.line("/* X(number, function...) for each variant. */\n#define %s_EACH(X) %s", h.upper, strings.Join(each, " "))
	}
	h.line("\n%s_CONSTANT %s_variant %s_variants[%s_VARIANTS] = {", h.upper, h.Prefix, h.Prefix, h.upper)
	for _, v := range h.Variants {
		fields := []string{escape.String(v.Point.String())}
		for _, a := range v.Point.Assignments() {
			if a.Value.Kind() == space.Text {
				fields = append(fields, escape.String(a.Value.Define()))
			} else {
				fields = append(fields, cInteger(a.Value.Integer()))
			}
		}
		h.line("\t{%s},", strings.Join(fields, ", "))
	}
	h.line("};")
}

// cInteger is a constant of type long long; the smallest one has no literal.
func cInteger(n int64) string {
	if n == -1<<63 {
		return "(-9223372036854775807LL - 1)"
	}
	return fmt.Sprintf("%dLL", n)
}

func (h *header) entries() {
	h.line("\n%s_CONSTANT %s_entry %s_entries[%s_ENTRIES] = {", h.upper, h.Prefix, h.Prefix, h.upper)
	for _, e := range h.Entries {
		fields := []string{escape.String(e.Device), escape.String(e.Workload)}
		for _, name := range h.Sizes {
			fields = append(fields, cInteger(e.Sizes[name]))
		}
		h.line("\t{%s, %d, %.4g, %.4g},", strings.Join(fields, ", "), e.Variant, e.Milliseconds, e.Loss)
	}
	h.line("};")
}

// selection writes the function that chooses.
func (h *header) selection() {
	var parameters, fixed, distance []string
	for _, name := range h.Sizes {
		parameters = append(parameters, "long long size_"+name)
		measured := fmt.Sprintf("%s_entries[i].size_%s", h.Prefix, name)
		if slices.Contains(h.Fixed, name) {
			fixed = append(fixed, fmt.Sprintf(" || %s != size_%s", measured, name))
		} else {
			distance = append(distance, fmt.Sprintf("%s_apart(%s, size_%s)", h.Prefix, measured, name))
		}
	}
	if len(distance) == 0 {
		distance = []string{"0.0"}
	}
	h.line(`
%[2]s_FUNCTION int %[1]s_same(const char *a, const char *b) {
	int i = 0;
	if (!a || !b)
		return 0;
	while (a[i] && a[i] == b[i])
		i++;
	return a[i] == b[i];
}

/* How different two sizes are: 0 for equal ones, near 1 for very different ones. */
%[2]s_FUNCTION double %[1]s_apart(long long a, long long b) {
	return a == b ? 0.0 : ((double)a > (double)b ? (double)a - (double)b : (double)b - (double)a) /
		(((double)a < 0.0 ? -(double)a : (double)a) + ((double)b < 0.0 ? -(double)b : (double)b));
}`, h.Prefix, h.upper)
	var device string
	if devices := h.devices(); len(devices) == 1 {
		device = "The device is " + devices[0]
	} else {
		device = "The device is one of " + strings.Join(devices, ", ")
	}
	h.line("\n/* The variant for sizes on a device: the one of the workload that is nearest in size.\n * %s.",
		escape.Comment(device))
	if len(h.Fixed) > 0 {
		h.line(" * A variant is built or valid for one value of %s: these must be as they were measured.",
			escape.Comment(strings.Join(h.Fixed, ", ")))
	}
	h.line(" * -1 where nothing was measured on the device, or at those sizes. */")
	h.line(`%[2]s_FUNCTION int %[1]s(const char *device, %[3]s) {
	int variant = -1, i = 0;
	double nearest = 0.0;
	for (i = 0; i < %[2]s_ENTRIES; i++) {
		double distance = 0.0;
		if (!%[1]s_same(%[1]s_entries[i].device, device)%[4]s)
			continue;
		distance = %[5]s;
		if (variant < 0 || distance < nearest) {
			variant = %[1]s_entries[i].variant;
			nearest = distance;
		}
	}
	return variant;
}`, h.Prefix, h.upper, strings.Join(parameters, ", "), strings.Join(fixed, ""), strings.Join(distance, " + "))
}
