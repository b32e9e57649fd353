package kernels

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels/document"
	"pawl/space"
)

// cPlusPlusName is a function by its full name, perhaps an instance of a template. Parameters
// may be among its arguments: as the macros that they are, or in braces.
var cPlusPlusName = regexp.MustCompile(`^[A-Za-z_]\w*(::[A-Za-z_]\w*)*(<[\w ,:<>*&{}-]*>)?$`)

// callable reports whether the source may be called by such a name. Of a backend without
// a source it is not asked.
func (b *builder) callable(entry string) bool {
	if b.files.Source.Text == "" || document.IsIdentifier(entry) {
		return true
	}
	suffix := strings.ToLower(path.Ext(b.files.Source.Text))
	return (b.on.GPU || slices.Contains(CPlusPlusSuffixes, suffix)) && cPlusPlusName.MatchString(entry)
}

func (b *builder) notCallable(entry document.Scalar) error {
	if cPlusPlusName.MatchString(entry.Text) {
		return entry.At.Errorf("entry %q is C++, and %s is taken for C by its name: call it .cpp", entry.Text,
			b.files.Source.Text)
	}
	return entry.At.Errorf("entry %q is not a function name", entry.Text)
}

// entryParameters makes sure that what stands in braces in an entry is a parameter.
func (b *builder) entryParameters(entry document.Scalar) error {
	for _, match := range placeholder.FindAllStringSubmatch(entry.Text, -1) {
		if !slices.ContainsFunc(b.kernel.params, func(p space.Param) bool { return p.Name == match[1] }) {
			return entry.At.Errorf("entry %q: there is no parameter %s", entry.Text, match[1])
		}
	}
	if rest := placeholder.ReplaceAllString(entry.Text, ""); strings.ContainsAny(rest, "{}") {
		return entry.At.Errorf("entry %q: braces stand round the name of a parameter", entry.Text)
	}
	return nil
}

// EntryAt puts the values of a point into an entry that names parameters in braces, as in
// reduce<{BLOCK}>, the way C++ writes them.
func EntryAt(entry string, point space.Point) string {
	return placeholder.ReplaceAllStringFunc(entry, func(name string) string {
		value, known := point.Get(strings.Trim(name, "{}"))
		switch {
		case !known:
			return name
		case value.Kind() == space.Boolean:
			return value.String()
		}
		return value.Define()
	})
}

// IsInstance says that an entry is an instance of a template, which is there only where
// something asks for it.
func IsInstance(entry string) bool { return strings.Contains(entry, "<") }

// PlainName is how the reference is called: templates and
// namespaces are the kernel's own business.
func PlainName(entry string) string {
	name, _, _ := strings.Cut(entry, "<")
	return name[strings.LastIndex(name, ":")+1:]
}
