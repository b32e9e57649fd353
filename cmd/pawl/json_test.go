package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
)

// written are the calls that write and read JSON for programs, with the format and the version. That of a
// baseline has names; page's own tests and doc comments are not calls.
var (
	written = regexp.MustCompile(`(?:page\.(?:Read)?JSON\(|\bo\.Show\()[^\n]*`)
	named   = regexp.MustCompile(`^(?:page\.(?:Read)?JSON\([\w.&]+, |o\.Show\()"(pawl [a-z ]+)", (\d+), `)
	listed  = regexp.MustCompile("(?m)^\\| `\"(pawl [a-z ]+)\"` \\| (\\d+) \\|")
)

// Every format that is written stands in docs/notes/json.md with its version, and no other.
func TestFormatsAreDescribed(t *testing.T) {
	described := map[string]string{}
	for _, row := range listed.FindAllStringSubmatch(readPage(t, "notes/json.md"), -1) {
		described[row[1]] = row[2]
	}
	found := map[string]string{"pawl baseline": "3", "pawl record": "2"}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, call := range written.FindAllString(string(content), -1) {
			format := named.FindStringSubmatch(call)
			switch {
			case format == nil && strings.Contains(call, "format, version, "): // the baseline's, and what Show is given
			case format == nil:
				t.Errorf("%s: %s names no format and version", path, call)
			case found[format[1]] != "" && found[format[1]] != format[2]:
				t.Errorf("%s: %s has version %s elsewhere", path, format[1], found[format[1]])
			default:
				found[format[1]] = format[2]
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(described, found) {
		t.Errorf("described %v\nwritten %v", described, found)
	}
}

// Every command that has --json is run with it by a script, which looks at the format of what is printed.
func TestEveryJSONIsLookedAt(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := regexp.MustCompile(`(?m)pawl ([^\n]*--json[^\n]*)\nstdout '"format": "pawl [a-z ]+"'$`)
	var calls []string
	for _, path := range scripts {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range checked.FindAllStringSubmatch(string(content), -1) {
			calls = append(calls, call[1])
		}
	}
	var walk func(before string, all []*cli.Command)
	walk = func(before string, all []*cli.Command) {
		for _, c := range all {
			name := before + c.Name + " "
			if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") }) &&
				!slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, name) }) {
				t.Errorf("no script looks at pawl %s--json", name)
			}
			walk(name, c.Subcommands)
		}
	}
	walk("", newApp(console.Environment{}).Commands)
}
