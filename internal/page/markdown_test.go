package page

import (
	"bytes"
	"testing"
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
	m := &Markdown{}
	m.Paragraph("# %s", "Title")
	m.Line("- one")
	m.Paragraph("- two")
	m.Table([]string{"a", ""}, [][]string{{"x | y", "**z**"}})
	m.Code("sh", "echo ```")
	var got bytes.Buffer
	const want = "# Title\n\n- one\n- two\n\n| a |  |\n|---|---|\n| x \\| y | **z** |\n\n````sh\necho ```\n````\n\n"
	if err := m.Write(&got); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
}
