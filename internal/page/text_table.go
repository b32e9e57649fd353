package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"pawl/internal/collect"
	"pawl/internal/escape"
)

// Table writes rows under a header as plain text: no boxes, the header as it is, no
// blanks at the ends of lines. Cells may hold text from outside. The writer remembers
// that it failed, as for Fprintf.
func Table(w io.Writer, header []string, rows [][]string) {
	var text strings.Builder
	table := tablewriter.NewTable(&text,
		tablewriter.WithHeaderAutoFormat(tw.Off), // it would be in capitals
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithRendition(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.Off},
			},
		}),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "   "}),
	)
	table.Header(header)
	for _, row := range rows {
		if err := table.Append(collect.Each(row, escape.Line)); err != nil {
			panic("page: " + err.Error())
		}
	}
	if err := table.Render(); err != nil {
		panic("page: " + err.Error())
	}
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// Wrap breaks a text between words into lines of so many letters.
func Wrap(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line+" "+word)) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
