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
