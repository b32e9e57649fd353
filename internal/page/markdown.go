package page

import (
	"fmt"
	"io"
	"strings"

	"pawl/internal/escape"
)

// Markdown is a page in the making. What comes from outside is escaped by the caller,
// with escape.Markdown in a sentence or escape.Code as code; formats are ours.
type Markdown struct{ text strings.Builder }

// Line adds one line.
func (m *Markdown) Line(format string, arguments ...any) {
	fmt.Fprintf(&m.text, format+"\n", arguments...)
}

// Paragraph adds a line and an empty one; headings are paragraphs too.
func (m *Markdown) Paragraph(format string, arguments ...any) {
	m.Line(format+"\n", arguments...)
}

// Code adds a block of code in a language; the text may come from outside.
func (m *Markdown) Code(language, text string) { m.Paragraph("%s", escape.Fence(language, text)) }

// Table adds a table; cells are Markdown.
func (m *Markdown) Table(header []string, rows [][]string) {
	m.Line("| %s |", strings.Join(header, " | "))
	m.Line("|%s", strings.Repeat("---|", len(header)))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = escape.Cell(cell)
		}
		m.Line("| %s |", strings.Join(cells, " | "))
	}
	m.Line("")
}

// Write writes the page.
func (m *Markdown) Write(w io.Writer) error {
	_, err := io.WriteString(w, m.text.String())
	return err
}
