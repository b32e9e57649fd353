package kernels

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/document"
	"pawl/space"
)

// levels are the beginnings of flags that decide about optimization; so does -G,
// which has nvcc build for a debugger.
var levels = []string{"-O", "--optimize", "--device-debug"}

// flags takes the flags as they are, behind a level of optimization where they name
// none. -O0 asks for none.
func (b *builder) flags() error {
	if b.on.Program {
		return nil
	}
	if b.tiled() {
		if len(b.keys.Flags) > 0 {
			return b.keys.Flags[0].At.Errorf("the compiler of %s takes no flags: its options are parameters, such as num_warps",
				b.files.Source.Text)
		}
		return nil
	}
	for i, flag := range b.keys.Flags {
		if err := cmp.Or(b.flagParameters(i, flag), b.programFlag(flag)); err != nil {
			return err
		}
		b.kernel.Flags = append(b.kernel.Flags, flag.Text)
	}
	if !optimizes(b.kernel.Flags) {
		b.kernel.Flags = slices.Insert(b.kernel.Flags, 0, b.on.Optimization)
	}
	given := b.keys.ArchSpecific
	b.kernel.ArchSpecific = given.Text != "" && given.Text != "false"
	if !b.kernel.ArchSpecific || given.Text == "true" {
		return nil
	}
	if !specificArchitecture.MatchString(given.Text) {
		return given.At.Errorf("arch_specific is %q: it is true, false, or the architecture that the kernel needs, such "+
			"as sm_90a", given.Text)
	}
	b.kernel.Architecture = given.Text
	return nil
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_]\w*)\}`)

// includeFlags are the beginnings of flags that decide which files belong to a kernel,
// which must be known before any point is.
var includeFlags = []string{"-I", "-i", "--include", "--system-include", "--pre-include"}

// flagParameters checks the parameters inside a flag.
func (b *builder) flagParameters(i int, flag document.Scalar) error {
	for _, match := range placeholder.FindAllStringSubmatch(flag.Text, -1) {
		if !slices.ContainsFunc(b.kernel.params, func(p space.Param) bool { return p.Name == match[1] }) {
			return flag.At.Errorf("flag %q: there is no parameter %s", flag.Text, match[1])
		}
		before := ""
		if i > 0 {
			before = b.keys.Flags[i-1].Text
		}
		for _, prefix := range includeFlags {
			if strings.HasPrefix(flag.Text, prefix) || strings.HasPrefix(before, prefix) {
				return flag.At.Errorf("flag %q: a parameter cannot choose what is included", flag.Text)
			}
		}
	}
	return nil
}

// FlagParameters are the parameters that flags name.
func FlagParameters(flags []string) []string {
	matches := placeholder.FindAllStringSubmatch(strings.Join(flags, " "), -1)
	return collect.Distinct(collect.Each(matches, func(match []string) string { return match[1] }))
}

// FlagsAt puts the values of a point into flags that name parameters in braces, as in
// -maxrregcount={REGISTERS}. One that is a parameter alone may become several, or none.
func FlagsAt(flags []string, point space.Point) []string {
	var filled []string
	for _, flag := range flags {
		text := placeholder.ReplaceAllStringFunc(flag, func(name string) string {
			if value, known := point.Get(strings.Trim(name, "{}")); known {
				return value.Define()
			}
			return name
		})
		if placeholder.FindString(flag) == flag {
			filled = append(filled, strings.Fields(text)...)
		} else if text != "" {
			filled = append(filled, text)
		}
	}
	return filled
}

var specificArchitecture = regexp.MustCompile(`^sm_\d+a$`)

// optimizes reports whether flags say how much to optimize. What follows -Xlinker
// or -Xptxas is another program's.
func optimizes(flags []string) bool {
	for i, flag := range flags {
		if i > 0 && strings.HasPrefix(flags[i-1], "-X") && !strings.Contains(flags[i-1], "=") {
			continue
		}
		if flag == "-G" || slices.ContainsFunc(levels, func(level string) bool { return strings.HasPrefix(flag, level) }) {
			return true
		}
	}
	return false
}
