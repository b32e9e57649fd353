package ci

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// outputName is what a step's output may be called.
var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// Output appends NAME=value to the file that GITHUB_OUTPUT or GITHUB_ENV names, where
// later steps find it. An empty path is no CI server and no error.
func Output(path, name, value string) (err error) {
	if path == "" {
		return nil
	}
	// A line more would be an output more, whatever it says.
	if !outputName.MatchString(name) || strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("%s=%q is no output of a step", name, value)
	}
	return appendTo(path, name+"="+value+"\n")
}

// Summarise appends Markdown to the file that GITHUB_STEP_SUMMARY names. An empty path is
// no CI server and no error.
func Summarise(path, markdown string) error {
	if path == "" {
		return nil
	}
	return appendTo(path, markdown)
}

func appendTo(path, text string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("writing for later steps: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = f.WriteString(text); err != nil {
		err = fmt.Errorf("writing for later steps: %w", err)
	}
	return err
}
