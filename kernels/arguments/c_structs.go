package arguments

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels/document"
	"pawl/kernels/element"
	"pawl/space"
)

// A structure has fields of different types, laid out as C does: each at the next multiple of
// its alignment, and the whole padded to a multiple of the largest. An array is aligned like
// one of its numbers, unless align says otherwise. To everything that does not look inside it
// is a number of bytes.

// StructFill is the content of a structure: that of its fields.
const StructFill = "struct"

// LargestValue is the size up to which a structure can be passed by value, in bytes.
const LargestValue = 128

// mostFields bounds a structure.
const mostFields = 64

var structName = regexp.MustCompile(`^(struct )?[A-Za-z_]\w*(::[A-Za-z_]\w*)*$`)

// Field is a part of a structure with the sizes of a problem put in. Its own content is
// that of all structures, one after the other.
type Field struct {
	Binding
	// Offset is where it lies in each structure, in bytes; Lanes is how many numbers it has.
	Offset int `json:"offset"`
	Lanes  int `json:"lanes"`
}

// structArgument checks and compiles a structure.
func (r Reader) structArgument(a Argument, entry Entry) (Argument, error) {
	at := entry.Name.At
	a.CType, a.Fill = entry.Type.Text, StructFill
	a.Element, _ = element.Named("u8")
	switch {
	case !structName.MatchString(a.CType):
		return a, at.Errorf("argument %s has fields: type is then what the source calls the structure, such as struct "+
			"particle, and not %q", a.Name, a.CType)
	case len(entry.Fields) == 0 || len(entry.Fields) > mostFields:
		return a, at.Errorf("argument %s has %d fields: a structure has 1 to %d", a.Name, len(entry.Fields), mostFields)
	case entry.Fill.given() || entry.From != nil || entry.Answer != nil || entry.Init.Text != "" || entry.Range != nil ||
		entry.Families != nil || entry.Large.Text != "" || entry.Tolerance != nil || entry.TensorMap != nil ||
		entry.Value.Text != "":
		return a, at.Errorf("argument %s is a structure: fill, range, families, large, value and tolerance belong to its "+
			"fields; from, answer, init and tensormap to numbers", a.Name)
	case entry.Shape == nil && (a.Written() || entry.Align.Text != ""):
		return a, at.Errorf("argument %s has no shape, so it is passed by value: out, inout, scratch and align belong to "+
			"buffers", a.Name)
	}
	role := Entry{
		Name: entry.Name, RoleEntry: entry.RoleEntry, Fill: fillEntry{kind: document.Scalar{Text: StructFill}},
	}
	if err := r.role(&a, role); err != nil {
		return a, err
	}
	if err := r.fields(&a, entry); err != nil {
		return a, err
	}
	switch {
	case entry.Shape == nil && a.Lanes > LargestValue:
		return a, at.Errorf("argument %s takes %d bytes; at most %d can be passed by value: give it a shape", a.Name,
			a.Lanes, LargestValue)
	case entry.Shape == nil:
		return a, nil
	}
	if err := r.shape(&a, entry); err != nil {
		return a, err
	}
	return a, a.aligned(entry.Align, a.Align)
}

// fields compiles the fields and lays them out.
func (r Reader) fields(a *Argument, entry Entry) error {
	end := 0
	for _, given := range entry.Fields {
		if given.Out || given.Inout || given.Scratch || given.Shape != nil || given.Fields != nil ||
			given.Symbol.Text != "" || given.From != nil || given.Answer != nil || given.Init.Text != "" ||
			given.TensorMap != nil {
			return given.Name.At.Errorf("field %s of %s: a field has name, type, align, and fill, range, families, large, "+
				"tolerance or value", given.Name.Text, a.Name)
		}
		align := given.Align
		given.Out, given.Inout, given.Scratch, given.Shape, given.Align = entry.Out, entry.Inout, entry.Scratch,
			entry.Shape, document.Scalar{}
		if a.Inout && !given.Fill.given() {
			return given.Name.At.Errorf("field %s of %s, which is inout: say with fill what it holds before every launch",
				given.Name.Text, a.Name)
		}
		f, err := r.argument(given)
		if err != nil {
			return err
		}
		if f.kind != nil {
			return given.Type.At.Errorf("field %s of %s: its type is a formula, and a structure is laid out once for "+
				"all sizes", f.Name, a.Name)
		}
		if slices.ContainsFunc(a.Fields, func(other Argument) bool { return other.Member == f.Name }) {
			return given.Name.At.Errorf("field %s of %s is listed twice", f.Name, a.Name)
		}
		f.Member, f.Name = f.Name, a.Name+"."+f.Name
		if err := f.aligned(align, f.Element.Size); err != nil {
			return err
		}
		f.Offset = (end + f.Align - 1) / f.Align * f.Align
		end = f.Offset + f.Element.Size*max(f.Lanes, 1)
		a.Fields, a.Align = append(a.Fields, f), max(a.Align, f.Align)
	}
	a.Lanes = (end + a.Align - 1) / a.Align * a.Align
	return nil
}

// aligned sets the alignment that is given, which is at least so many bytes.
func (a *Argument) aligned(given document.Scalar, least int) error {
	a.Align = least
	if given.Text == "" {
		return nil
	}
	n := given.Value.Integer()
	if given.Value.Kind() != space.Integer || n < int64(least) || n > 4096 || bits.OnesCount64(uint64(n)) != 1 {
		return given.At.Errorf("argument %s: align %s is not a power of two from %d to 4096", a.Name, given.Text, least)
	}
	a.Align = int(n)
	return nil
}

// bindFields evaluates the fields of a structure.
func (a Argument) bindFields(b *Binding, env space.Environment, family string) error {
	fields, err := List(a.Fields).Bind(env, family)
	if err != nil {
		return err
	}
	b.Stride = a.Lanes
	for i, f := range a.Fields {
		b.Fields = append(b.Fields, Field{fields[i], f.Offset, max(f.Lanes, 1)})
	}
	return nil
}

// LayoutChecks have the compiler say where a structure of the source is not what the manifest says: every number behind
// the difference would be another one. Taken are the positions of the arguments of a function, and check is what the
// language calls an assertion.
func (l List) LayoutChecks(check string, taken []int) string {
	var text strings.Builder
	for _, i := range taken {
		a := l[i]
		for _, f := range a.Fields {
			fmt.Fprintf(&text,
				"%[1]s(__builtin_offsetof(%[2]s, %[3]s) == %[4]d && sizeof(((%[2]s *)0)->%[3]s) == %[5]d, \"the manifest has "+
					"field %[6]s at byte %[4]d, with %[5]d bytes: the structure of the source differs\");\n",
				check, a.CType, f.Member, f.Offset, f.Element.Size*max(f.Lanes, 1), f.Name)
		}
		if a.Fields != nil {
			fmt.Fprintf(&text, "%s(sizeof(%s) == %d, \"the manifest's fields of %s take %d bytes\");\n", check, a.CType,
				a.Lanes, a.Name, a.Lanes)
		}
	}
	return text.String()
}

// Place is where a number of a field begins in the buffer, in bytes.
func (f Field) Place(number int64, stride, size int) int64 {
	return number/int64(f.Lanes)*int64(stride) + int64(f.Offset) + number%int64(f.Lanes)*int64(size)
}

// Parts are the contents of a buffer that are compared by themselves: each field of a
// structure, without what lies between them, or all of it.
func (b Binding) Parts(content []byte) (parts [][]byte) {
	if len(b.Fields) == 0 {
		return [][]byte{content}
	}
	for _, f := range b.Fields {
		size := f.Lanes * f.Size()
		part := make([]byte, 0, len(content)/b.Stride*size)
		for at := f.Offset; at < len(content); at += b.Stride {
			part = append(part, content[at:at+size]...)
		}
		parts = append(parts, part)
	}
	return parts
}

// Join is the other direction of Parts for one field.
func (f Field) Join(content, part []byte, stride int) {
	size := len(part) / max(len(content)/stride, 1)
	for i := range len(content) / stride {
		copy(content[i*stride+f.Offset:], part[i*size:(i+1)*size])
	}
}

// Outputs are what the kernel writes and the check compares, the fields of structures one by one.
func (l List) Outputs() (outputs []Argument) {
	for _, a := range l {
		switch {
		case a.Out && a.Fields != nil:
			outputs = append(outputs, a.Fields...)
		case a.Out:
			outputs = append(outputs, a)
		}
	}
	return outputs
}

// Formulas are those of a scalar's values; none of a buffer.
func (a Argument) Formulas() (formulas []*space.Expression) {
	if a.Value != nil {
		formulas = append(formulas, a.Value)
	}
	for _, f := range a.Fields {
		formulas = append(formulas, f.Formulas()...)
	}
	return formulas
}
