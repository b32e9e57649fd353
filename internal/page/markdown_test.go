package page

import (
	"bytes"
	"testing"
	"text/template"
)

func TestTable(t *testing.T) {
	var got bytes.Buffer
	Table(&got, []string{"", "time", "point"},
		[][]string{{"default", "1 µs", "A=1"}, {"1", "~ ms", ""}, {"two\nlines", "~", "x\x1b[2J"}})
	const want = `             time   point
default      1 µs   A=1
1            ~ ms
two\nlines   ~      x\x1b[2J
`
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
}

func TestMarkdown(t *testing.T) {
	m := Markdown("# {{text .}}\n\n- one\n- two\n\n{{table grid}}{{fence `sh` echo}}\n\n", template.FuncMap{
		"grid": func() *Grid { return NewGrid([][]string{{"x | y", "**z**"}}, "a", "") },
		"echo": func() string { return "echo ```" },
	})
	var got bytes.Buffer
	const want = "# Title\n\n- one\n- two\n\n| a |  |\n|---|---|\n| x \\| y | **z** |\n\n````sh\necho ```\n````\n\n"
	if err := m.Execute(&got, "Title"); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
}
