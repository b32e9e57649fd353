package page

import (
	"fmt"
	"strings"
	"text/template"

	"pawl/internal/collect"
	"pawl/internal/escape"
)

// Markdown returns the template of a page. What comes from outside is escaped by text in a sentence, and by code and
// fence as code; the cells of a table are Markdown.
func Markdown(source string, more template.FuncMap) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"text":     func(outside any) string { return escape.Markdown(fmt.Sprint(outside)) },
		"code":     func(outside any) string { return escape.Code(fmt.Sprint(outside)) },
		"fence":    escape.Fence,
		"table":    markdownTable,
		"count":    Count,
		"percent":  Percent,
		"seconds":  Seconds,
		"change":   Change,
		"interval": ChangeInterval,
	}).Funcs(more).Parse(source))
}

// Grid is a table: the names of its columns, and their cells.
type Grid struct {
	Head []string
	Rows [][]string
}

// NewGrid returns nil where there are no rows. Names of columns that the rows lack are left out.
func NewGrid(rows [][]string, head ...string) *Grid {
	if len(rows) == 0 {
		return nil
	}
	return &Grid{head[:len(rows[0])], rows}
}

func markdownTable(g *Grid) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %s |\n|%s\n", strings.Join(g.Head, " | "), strings.Repeat("---|", len(g.Head)))
	for _, row := range g.Rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(collect.Each(row, escape.Cell), " | "))
	}
	return text.String() + "\n"
}
