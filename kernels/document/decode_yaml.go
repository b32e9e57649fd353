// Package document reads a YAML file that people write: strictly, with the place of every
// value, so that a mistake is reported with file, line, column and the offending text, and
// with limits, because the file is untrusted. A value can be replaced where it stands, and
// nothing else changes.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/goccy/go-yaml"
)

// Decode reads a YAML file strictly into a value; what names the file in messages. The
// library's panics on hostile input become errors: a manifest is untrusted text.
func Decode(content []byte, what string, into any) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("not valid YAML: %v", problem)
		}
	}()
	// The library counts a line of two bytes twice behind a comment; YAML itself takes
	// both endings for one and the same.
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	if err := decoder.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the %s is empty", what)
		}
		return err
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return errors.New("more than one document in the file")
	}
	return nil
}

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
