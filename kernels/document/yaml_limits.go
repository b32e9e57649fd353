package document

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// What a file may hold. The numbers are far beyond what a person writes; what
// lies beyond them would make the parser or the search very slow, or crash it.
const (
	longestText = 1 << 18 // bytes
	deepestText = 100     // brackets and lists inside each other
	// MostEntries bounds a list or a mapping.
	MostEntries = 1000
)

// Lists in lists on one line, and tags, anchors and keys in a row, nest without
// brackets.
var compactNesting = regexp.MustCompile(`(?:[-?][ \t]+|[!&][^ \t\n]*[ \t]+|[^ \t\n:]+:[ \t]+){101}`)

// Check refuses a text whose parsing could overflow the stack, which no program
// survives.
func Check(content []byte) error {
	if len(content) > longestText {
		return Place{1, 1}.Errorf("the manifest has %d bytes, at most %d are supported", len(content), longestText)
	}
	place := func(at int) Place {
		before := content[:at]
		return Place{1 + bytes.Count(before, []byte("\n")), at - bytes.LastIndexByte(before, '\n')}
	}
	depth := 0
	for at, c := range content {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
		if depth > deepestText {
			return place(at).Errorf("more than %d brackets inside each other", deepestText)
		}
	}
	if found := compactNesting.FindIndex(content); found != nil {
		return place(found[0]).Errorf("more than %d lists inside each other", deepestText)
	}
	return nil
}

// Unknown is the text of a value that somebody has to fill in, written in quotes.
const Unknown = "?"

var unknownValue = regexp.MustCompile(`"\?"`)

// Filled refuses a file with values that nobody has filled in, and names all of their lines.
func Filled(content []byte) error {
	var first *Place
	var others []string
	for i, line := range strings.Split(string(content), "\n") {
		value, _, _ := strings.Cut(line, " #")
		found := unknownValue.FindStringIndex(value)
		switch {
		case found == nil || strings.HasPrefix(strings.TrimSpace(line), "#"):
		case first == nil:
			first = &Place{i + 1, found[0] + 1}
		default:
			others = append(others, fmt.Sprint(i+1))
		}
	}
	if first == nil {
		return nil
	}
	more := ""
	if len(others) > 0 {
		more = ", and those on line " + strings.Join(others, ", ")
	}
	return first.Errorf(`fill in the value "?"%s`, more)
}
