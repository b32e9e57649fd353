package console

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// written returns what a file holds after writes through an output.
func written(t *testing.T, texts ...string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := &Output{File: f}
	for _, text := range texts {
		if n, err := io.WriteString(o, text); err != nil || n != len(text) {
			t.Fatal(n, err)
		}
	}
	content, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestOutputIsText(t *testing.T) {
	for _, test := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"our own lines stay", []string{"a: 1 µs\n", "  b\tc\n", "\n"}, "a: 1 µs\n  b\tc\n\n"},
		{"an escape sequence", []string{"failed: \x1b[31mred\x1b[0m\n"}, "failed: \\x1b[31mred\\x1b[0m\n"},
		{"a command on a line of its own", []string{"failed: x\n::error::y\n"}, "failed: x\n\\::error::y\n"},
		{"a command behind blanks", []string{"failed:\n \t::add-mask::y\n"}, "failed:\n \t\\::add-mask::y\n"},
		{"a command in a write of its own", []string{"x\n", "::error::y\n"}, "x\n\\::error::y\n"},
		{"two colons in the middle of a line", []string{"std", "::vector\n"}, "std::vector\n"},
		{"the title of the window", []string{"\x1b]0;x\x07"}, `\x1b]0;x\a`},
		{"a bar of another line", []string{"right\rwrong\n"}, "right\\rwrong\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := written(t, test.texts...); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
