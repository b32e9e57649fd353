package arguments

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arrays"
	"pawl/kernels/document"
	"pawl/kernels/element"
	"pawl/space"
)

// dataFile is a file that a manifest names for an argument, and what it holds.
type dataFile struct {
	name document.Scalar
	arrays.File
}

// data notes the files of an argument; load looks into them.
func (r Reader) data(a *Argument, entry Entry) error {
	switch {
	case entry.From != nil && a.Written() && !a.Inout:
		return entry.From[0].At.Errorf("argument %s is an output: from belongs to inputs, and answer says what an output "+
			"should be", a.Name)
	case entry.Answer != nil && !a.Out:
		return entry.Answer[0].At.Errorf("argument %s is an input: answer belongs to outputs, and from says what an "+
			"input holds", a.Name)
	}
	file := func(name document.Scalar) *dataFile { return &dataFile{name: name} }
	a.from, a.answer = collect.Each(entry.From, file), collect.Each(entry.Answer, file)
	return nil
}

// Answered reports whether results are held against answers in files: only those for the
// workloads' own inputs are known.
func (l List) Answered() bool {
	return slices.ContainsFunc(l, func(a Argument) bool { return len(a.answer) > 0 })
}

// Pinned are the sizes that cannot vary because a file has them.
func (l List) Pinned() map[string]bool {
	found := map[string]bool{}
	for _, a := range l {
		if len(a.from) > 0 {
			maps.Copy(found, space.NamesOf(a.Shape...))
		}
	}
	return found
}

// Describe looks into the files of all arguments.
func (l List) Describe(folder fs.FS) error {
	for _, a := range l {
		for _, f := range slices.Concat(a.from, a.answer) {
			described, err := arrays.Describe(folder, f.name.Text)
			if err != nil {
				return f.name.At.Errorf("argument %s: %s", a.Name, err)
			}
			f.File = described
		}
	}
	return nil
}

// Answers checks that answers are all that is needed in place of a reference: one for
// every output, and inputs that are always the same.
func (l List) Answers(entries []Entry, reference bool) error {
	for i, a := range l {
		entry := entries[i]
		switch {
		case entry.Answer != nil && reference:
			return entry.Answer[0].At.Errorf("argument %s has an answer, and the kernel a reference: strike one of them; a "+
				"reference checks other sizes and inputs as well", a.Name)
		case a.Out && entry.Answer == nil:
			return entry.Name.At.Errorf("output %s has no answer, and there is no reference: without one no result can be "+
				"checked", a.Name)
		case (!a.Written() || a.Inout) && a.Shape != nil && !a.fixed():
			return entry.Name.At.Errorf("argument %s is filled with %s, other numbers for every seed, and an answer is right "+
				"for one content only: give it from, a constant, or a formula without %s", a.Name, a.Fill, "random")
		}
	}
	return nil
}

// AnswerAt is where the manifest says what an output should be; none for others.
func (a Argument) AnswerAt() (at document.Place, given bool) {
	if len(a.answer) == 0 {
		return at, false
	}
	return a.answer[0].name.At, true
}

// matching returns the file that has the content of a buffer.
func matching(files []*dataFile, element element.Type, shape []int64) (*arrays.File, error) {
	if files[0].Digest == "" {
		return nil, nil // not looked into: a manifest without its folder
	}
	var first error
	var found *arrays.File
	for _, f := range files {
		err := f.Fits(element.Name, element.Size, shape)
		switch {
		case err == nil && found != nil:
			return nil, fmt.Errorf("both %s and %s fit; files are told apart by their shape", found.Name, f.Name)
		case err == nil:
			found = &f.File
		case first == nil:
			first = err
		}
	}
	if found != nil {
		return found, nil
	}
	if len(files) > 1 {
		names := collect.Each(files, func(f *dataFile) string { return f.name.Text })
		return nil, fmt.Errorf("none of %s fits; %w", strings.Join(names, ", "), first)
	}
	return nil, first
}
