package report

import (
	_ "embed" // the page
	"html/template"
	"io"
	"regexp"
	"strings"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/space"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed study.html
	studySource string
	// Style is what the pages look like, in light and dark.
	//
	//go:embed style.css
	Style string
)

var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"count":      page.Count,
	"percent":    page.WholePercent,
	"timedHead":  (*Summary).timedHead,
	"withheld":   Withheld,
	"applicable": (*Summary).applicable,
	"applying":   (*Summary).applying,
	"across":     func(s *Summary) *page.Grid { return page.NewGrid(acrossRows(s, plain, plain), acrossHeader...) },
	"ungated":    ungated,
	"data":       dataGrid,
	"gated":      func(s *Summary) *page.Grid { return page.NewGrid(gateRows(s, plain, plain), gateHeader...) },
	"checked":    func(s *Summary) *page.Grid { return page.NewGrid(checkedRows(s), "", "default", "winner") },
	"unchecked":  unchecked,
	"needs":      func(s *Summary) *page.Grid { return page.NewGrid(needRows(s), "", "needs", "throughput") },
	"style":      func() template.CSS { return template.CSS(Style) },
	"background": background,
	"measured":   func(s *Summary) *page.Grid { return page.NewGrid(measuredRows(s), "", "default", "winner") },
	"point":      Breakable,
}).Parse(pageSource + studySource))

// Breakable lets a point's text break after commas instead of inside names.
func Breakable(p space.Point) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(p.String()), ",", ",<wbr>"))
}

// plain leaves text to the template, which escapes it.
func plain(text string) string { return text }

// HTML writes one page that needs nothing from elsewhere.
func HTML(w io.Writer, s *Summary) error { return render(w, htmlPage, "page", NewView(s, nil)) }

// Body writes what is inside of a study's page, for a page around it.
func Body(w io.Writer, v *View) error { return render(w, htmlPage, "study", v) }

// WriteFigure writes a picture with its words, for a page around it.
func WriteFigure(w io.Writer, f Figure) error {
	if f.Width == 0 {
		return nil
	}
	return render(w, htmlPage, "figure", f)
}

// render shows as text what text from outside would hide.
func render(w io.Writer, pages *template.Template, name string, data any) error {
	var out strings.Builder
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	body := escape.Page(out.String())
	if before, after, found := strings.Cut(body, contents); found {
		links := ""
		for _, heading := range headings.FindAllStringSubmatch(after, -1) {
			links += `<a href="#` + heading[1] + `">` + heading[2] + "</a>"
		}
		body = before + contents + links + after
	}
	_, err := io.WriteString(w, body)
	return err
}

// contents is where the links to the headings of a page belong, and headings are these.
const contents = `<nav class="contents" aria-label="Contents">`

var headings = regexp.MustCompile(`<h2 id="(\w+)">([^<]*)</h2>`)
