package pages

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	gates "pawl/gate/reporting"
	"pawl/internal/escape"
	pages "pawl/internal/page"
	"pawl/studies"
	"pawl/studies/report"
)

// page is an answer: a template's name, what it shows, and what the page is called.
type page struct {
	Title    string
	Template string
	Data     any
	// Refresh asks the browser to come again after so many seconds; 0 for not.
	Refresh int
	// Status is that of HTTP; 0 means 200.
	Status int
	// Notices are what a reader should know about the database.
	Notices []string
}

// requestError is the answer to a request for something that is not there, or that makes no sense.
type requestError struct {
	status          int
	title, sentence string
}

func (e *requestError) Error() string { return e.sentence }

func notFound(format string, arguments ...any) error {
	return &requestError{http.StatusNotFound, "Not here", fmt.Sprintf(format, arguments...)}
}

func badRequest(format string, arguments ...any) error {
	return &requestError{http.StatusBadRequest, "That makes no sense here", fmt.Sprintf(format, arguments...)}
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"ratio": pages.RatioInterval,
	"when":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") },
	"figure": func(f report.Figure) (template.HTML, error) {
		var out strings.Builder
		err := report.WriteFigure(&out, f)
		return template.HTML(out.String()), err
	},
	"count":    pages.Count,
	"commit":   gates.ShortCommit,
	"change":   pages.Change,
	"point":    report.Breakable,
	"speed":    func(x float64) string { return fmt.Sprintf("%.2f×", x) },
	"duration": func(d time.Duration) string { return d.Round(time.Second).String() },
}).ParseFS(assets, "assets/*.html"))

// answer makes a page and sends it whole, or says why there is none.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, make func(*http.Request) (page, error)) {
	made, err := make(r)
	if err != nil {
		made = s.failure(err)
	}
	body, err := render("layout", made)
	if err != nil {
		made = s.failure(err)
		if body, err = render("layout", made); err != nil {
			http.Error(w, "The page could not be made.", http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if made.Refresh > 0 {
		w.Header().Set("Refresh", fmt.Sprint(made.Refresh))
	}
	w.WriteHeader(max(made.Status, http.StatusOK))
	io.WriteString(w, body) //nolint:errcheck // the client has gone
}

// render fills in a template, with nothing hidden in it.
func render(name string, data any) (string, error) {
	var out strings.Builder
	err := templates.ExecuteTemplate(&out, name, data)
	return escape.Page(out.String()), err
}

// inside renders the inside of a page, which the layout puts in its place.
func (p page) Inside() (template.HTML, error) {
	inside, err := render(p.Template, p.Data)
	return template.HTML(inside), err
}

func (s *Server) failure(err error) page {
	p := page{
		Title:    "This cannot be shown",
		Template: "problem",
		Data:     sentence(err),
		Status:   http.StatusInternalServerError,
	}
	wrong, isWrong := errors.AsType[*requestError](err)
	switch {
	case isWrong:
		p.Title, p.Status = wrong.title, wrong.status
	case errors.Is(err, studies.ErrNoStudy), errors.Is(err, fs.ErrNotExist):
		p.Title, p.Status = "Not here", http.StatusNotFound
	case studies.Locked(err):
		p.Title, p.Status, p.Refresh = "The database is locked", http.StatusServiceUnavailable, 5
	}
	return p
}

func sentence(err error) string {
	text := err.Error()
	switch {
	case studies.Locked(err):
		text = "another process holds the study database. This page tries again in a few seconds"
	case errors.Is(err, studies.ErrNoStudy):
		text = "there is no such study in the database, or it was deleted. The list of studies has those that are there"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		text = "the request ended before its answer was there. Reload the page"
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
