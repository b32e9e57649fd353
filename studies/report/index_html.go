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
	"slices"

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
	"against": Entry.Against,
}).Parse(indexSource))

// OtherPage is a page of a study that is not in the index.
type OtherPage struct {
	studies.Study
	Page, When string
}

// IndexHTML writes the index as one page that needs nothing from elsewhere.
func IndexHTML(w io.Writer, place studies.Place, entries []Entry, others []OtherPage) error {
	return render(w, htmlIndex, "index", struct {
		Place   studies.Place
		Entries []Entry
		Others  []OtherPage
	}{place, entries, others})
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

// Against is the column about what is run today.
func (e Entry) Against() string {
	if e.Gate == nil || e.Gate.Standing == studies.Undecided {
		return page.Unknown
	}
	return Against(*e.Gate)
}

// otherPages are those below a folder that were written and are not in the index, newest
// first.
func otherPages(out string, all []studies.Study) []OtherPage {
	var others []OtherPage
	folders, front := Folders(all), FrontStudies(all)
	for _, s := range all {
		if s.Damaged != "" || front[SubjectOf(s)].ID == s.ID {
			continue
		}
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(folders[s.ID]), HTMLName)); err == nil {
			others = append(others, OtherPage{s, pageAddress(folders[s.ID]), s.Created.UTC().Format("2006-01-02 15:04 MST")})
		}
	}
	return others
}

// predecessor returns the study that was in front of its subject before a study was, if its page is not
// there yet: the folder that was its own is the other one's now. It returns 0 for none.
func predecessor(out string, all []studies.Study, of studies.Study) int64 {
	if FrontStudies(all)[SubjectOf(of)].ID != of.ID {
		return 0
	}
	others := slices.DeleteFunc(slices.Clone(all), func(s studies.Study) bool { return s.ID == of.ID })
	before, found := FrontStudies(others)[SubjectOf(of)]
	if !found {
		return 0
	}
	if _, err := os.Stat(filepath.Join(studyFolder(out, all, before.ID), HTMLName)); err == nil {
		return 0
	}
	return before.ID
}
