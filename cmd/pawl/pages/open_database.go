package pages

import (
	"context"
	"errors"
	"html/template"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"pawl/studies"
	"pawl/studies/report"
)

// library is the database, opened when it is needed and again when another file has taken
// its place. It is safe for concurrent use.
type library struct {
	path  string
	place studies.Place

	mu        sync.Mutex
	store     *studies.Store
	opened    os.FileInfo
	summaries map[int64]*known
	order     []int64 // of summaries, the oldest first
	lines     map[int64]report.Line
	revision  string             // of the database when all lines were up to date
	reading   singleflight.Group // of lines, beside the requests
	watched   map[int64]*watched // by live pages; each notices another file itself
}

// known is a study as its page shows it, and what it was when that was made.
type known struct {
	pulse   studies.Pulse
	summary *report.Summary
	body    template.HTML
}

// mostSummaries are kept: one of ten thousand trials takes tens of megabytes.
const mostSummaries = 8

func newLibrary(path string, place studies.Place) *library {
	return &library{path: path, place: place, summaries: map[int64]*known{}, lines: map[int64]report.Line{},
		watched: map[int64]*watched{}}
}

// Close closes the database.
func (l *library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return nil
	}
	err := l.store.Close()
	l.store = nil
	return err
}

// open returns the database as it is now. Nothing takes the place of one on a server.
func (l *library) open(ctx context.Context) (*studies.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	server, err := studies.OnServer(l.path)
	if err != nil {
		return nil, err
	}
	var info os.FileInfo
	if !server {
		info, err = os.Stat(l.path)
	}
	if err == nil && l.store != nil && (server || os.SameFile(info, l.opened) &&
		(l.store.Writable() == nil || info.ModTime().Equal(l.opened.ModTime()))) {
		return l.store, nil
	}
	l.forget()
	var store *studies.Store
	if err == nil {
		store, err = studies.OpenExisting(ctx, l.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound("There is no study database at %s. %s makes one; this page finds it as soon as it "+
			"is there.", studies.Name(l.path), l.place.Pawl("tune"))
	case err != nil:
		return nil, err
	case server:
		store.Hurry()
	}
	store.Place, l.store, l.opened = l.place, store, info
	return store, nil
}

// forget lets go of the file. Requests that still read it are given time to end.
func (l *library) forget() {
	if old := l.store; old != nil {
		time.AfterFunc(10*time.Second, func() { old.Close() }) //nolint:errcheck // it was only read
	}
	l.store, l.summaries, l.order, l.lines, l.revision = nil, map[int64]*known{}, nil, map[int64]report.Line{}, ""
}

// known returns a study as its page shows it, from memory where nothing was recorded since.
func (l *library) known(ctx context.Context, store *studies.Store, id int64) (*known, error) {
	pulse, err := store.Pulse(ctx, id)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	kept := l.summaries[id]
	l.mu.Unlock()
	if kept != nil && kept.pulse == pulse {
		return kept, nil
	}
	made := &known{pulse: pulse}
	if made.summary, err = report.Read(ctx, store, id); err != nil {
		return nil, err
	}
	var body strings.Builder
	if err := report.Body(&body, report.NewView(made.summary, trialLink(id))); err != nil {
		return nil, err
	}
	made.body = template.HTML(body.String())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == store {
		if l.summaries[id] == nil {
			l.order = append(l.order, id)
		}
		l.summaries[id] = made
		if len(l.order) > mostSummaries {
			delete(l.summaries, l.order[0])
			l.order = l.order[1:]
		}
	}
	return made, nil
}
