package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies"
)

// IndexHTMLName is the index of all studies, for a browser.
const IndexHTMLName = "index.html"

//go:embed index.html
var indexSource string

var htmlIndex = template.Must(template.New("index").Funcs(template.FuncMap{
	"style":   func() template.CSS { return template.CSS(Style) },
	"page":    func(e Entry) string { return pageAddress(e.Folder) },
	"speedup": Entry.speedup,
	"against": Entry.against,
}).Parse(indexSource))

// OlderPage is a page of a study that is not its subject's newest.
type OlderPage struct {
	studies.Study
	Page, When string
}

// IndexHTML writes the index as one page that needs nothing from elsewhere.
func IndexHTML(w io.Writer, entries []Entry, older []OlderPage) error {
	var out strings.Builder
	err := htmlIndex.Execute(&out, struct {
		Count   string
		Entries []Entry
		Older   []OlderPage
	}{page.Count(len(entries), "study", "studies"), entries, older})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escape.Page(out.String()))
	return err
}

// pageAddress is a study's page, seen from the index.
func pageAddress(folder string) string {
	return (&url.URL{Path: path.Join(folder, HTMLName)}).EscapedPath()
}

// speedup is the column of the indexes.
func (e Entry) speedup() string {
	if e.Speedup == nil {
		return page.Unknown
	}
	return fmt.Sprintf("%.2f× (%s)", *e.Speedup, page.RatioInterval(*e.Interval))
}

// against is the column about what is run today.
func (e Entry) against() string {
	if e.Gate == nil {
		return page.Unknown
	}
	return againstText(e.Gate.Verdict, e.Gate.Speedup)
}

// olderPages are those below a folder that were written and are not in the index, newest
// first.
func olderPages(out string, all []studies.Study) []OlderPage {
	var older []OlderPage
	folders, newest := Folders(all), newestStudies(all)
	for _, s := range all {
		if s.Damaged != "" || newest[SubjectOf(s)].ID == s.ID {
			continue
		}
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(folders[s.ID]), HTMLName)); err == nil {
			older = append(older, OlderPage{s, pageAddress(folders[s.ID]), s.Created.UTC().Format("2006-01-02 15:04 MST")})
		}
	}
	return older
}

// predecessor returns the newest of the older studies of a study's subject whose page is not
// there yet: the folder that was its own is the newer one's now. It returns 0 for none.
func predecessor(out string, all []studies.Study, of studies.Study) int64 {
	folders := Folders(all)
	if newestStudies(all)[SubjectOf(of)].ID != of.ID {
		return 0
	}
	before := int64(0)
	for _, s := range all {
		if s.Damaged == "" && s.ID < of.ID && s.ID > before && SubjectOf(s) == SubjectOf(of) {
			before = s.ID
		}
	}
	if before == 0 {
		return 0
	}
	if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(folders[before]), HTMLName)); err == nil {
		return 0
	}
	return before
}
