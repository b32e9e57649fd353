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

// Tone is how a line is meant. A terminal shows it as a color, where it has any; nothing else is said by it alone.
type Tone int

const (
	Plain Tone = iota
	Good
	Bad
	Warning
)

// Toned writes a line, with a part of it in a tone where the writer knows tones.
func Toned(w io.Writer, tone Tone, before, part, after string) {
	if toned, ok := w.(interface {
		Toned(tone Tone, before, part, after string)
	}); ok {
		toned.Toned(tone, before, part, after)
		return
	}
	fmt.Fprintln(w, before+part+after)
}

// Fill breaks prose between words into lines of so many letters, and keeps a command of pawl up to the end of its
// sentence together where that fits, so that it can be copied.
func Fill(text string, most int) string {
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		if words[i] != "pawl" {
			continue
		}
		end := i + 1
		for end < len(words) && !strings.ContainsAny(words[end-1][len(words[end-1])-1:], ".,;:)") {
			end++
		}
		if command := strings.Join(words[i:end], " "); len([]rune(command)) <= most {
			words = append(append(words[:i:i], command), words[end:]...)
		}
	}
	return strings.Join(fill(words, most), "\n")
}

// Wrap breaks a text between words into lines of so many letters.
func Wrap(text string, most int) (lines []string) {
	return fill(strings.Fields(text), most)
}

func fill(words []string, most int) (lines []string) {
	line := ""
	for _, word := range words {
		if line != "" && len([]rune(line+" "+word)) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
