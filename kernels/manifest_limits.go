package kernels

import (
	"bytes"
	"regexp"

	"pawl/space"
)

// What a manifest may hold. The numbers are far beyond what a person writes; what
// lies beyond them would make the parser or the search very slow, or crash it.
const (
	longestManifest = 1 << 18 // bytes
	deepestManifest = 100     // brackets and lists inside each other
	mostEntries     = 1000    // of a list or a mapping
	mostLets        = 100     // each is compiled for every one that uses it
	mostShapes      = 10_000  // of the fuzz matrix
)

// Lists in lists on one line, and tags, anchors and keys in a row, nest without
// brackets.
var compactNesting = regexp.MustCompile(`(?:[-?][ \t]+|[!&][^ \t\n]*[ \t]+|[^ \t\n:]+:[ \t]+){101}`)

// checkText refuses a text whose parsing could overflow the stack, which no program
// survives.
func checkText(content []byte) error {
	if len(content) > longestManifest {
		return position{1, 1}.errorf("the manifest has %d bytes, at most %d are supported", len(content), longestManifest)
	}
	place := func(at int) position {
		before := content[:at]
		return position{1 + bytes.Count(before, []byte("\n")), at - bytes.LastIndexByte(before, '\n')}
	}
	depth := 0
	for at, c := range content {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
		if depth > deepestManifest {
			return place(at).errorf("more than %d brackets inside each other", deepestManifest)
		}
	}
	if found := compactNesting.FindIndex(content); found != nil {
		return place(found[0]).errorf("more than %d lists inside each other", deepestManifest)
	}
	return nil
}

// sizes refuses lists that are too long. Parameters and their values have limits of
// their own: see space.New.
func (b *builder) sizes() error {
	k := b.keys
	for _, list := range []struct {
		name  string
		count int
		most  int
	}{
		{"constraints", len(k.Constraints), mostEntries}, {"args", len(k.Args), mostEntries}, {"flags", len(k.Flags), mostEntries},
		{"domain", len(k.Domain), mostEntries}, {"let", count(k.Let), mostLets}, {"workloads", count(k.Workloads), mostEntries},
		{"defines", count(k.Defines), mostEntries}, {"params", count(k.Params), space.MostParams},
	} {
		if list.count > list.most {
			return b.top().errorf("%s has %d entries, at most %d are supported", list.name, list.count, list.most)
		}
	}
	shapes := 1
	for _, sizes := range k.Fuzz.all() {
		if shapes *= max(1, len(sizes)); shapes > mostShapes {
			return k.Fuzz.keys[0].at.errorf("fuzz gives more than %d shapes: every finalist is checked on all of them", mostShapes)
		}
	}
	return nil
}

func count[T any](e *entries[T]) int {
	if e == nil {
		return 0
	}
	return len(e.keys)
}

// excerpt returns a line of a manifest, cut to what fits on a screen around a
// column, and the column in it.
func excerpt(line string, column int) (string, int) {
	const widest = 160
	text := []rune(line)
	if len(text) <= widest {
		return string(text), column
	}
	from := min(max(0, column-widest/2), len(text)-widest)
	return string(text[from : from+widest]), column - from
}
