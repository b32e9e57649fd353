// Package pages shows what was recorded on a local web page: the studies of a database,
// live while one runs, and the gate's files.
//
//  1. Listen opens the address. Loopback needs nothing more; every other address demands a
//     token (access_guard.go).
//  2. A request is looked at before anything is read: its method, the host that it names,
//     its token. Only GET and HEAD are answered: nothing can be changed from here.
//  3. A page is made from the database as it is now (open_database.go). What cannot be read is a
//     sentence on the page and a status, and the next request tries again.
//  4. While another process runs a study, its page hears of each trial as a server-sent event
//     (live_progress.go).
//
// Pages need nothing from elsewhere, and work without JavaScript but for the live part.
// Everything from outside is escaped by the templates, and shown where it would be hidden.
package pages

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"pawl/studies"
	"pawl/studies/report"
)

//go:embed assets
var assets embed.FS

// Options say what is served, and to whom.
type Options struct {
	// Database is the file of the studies, or the URL of a server's. It need not be there yet.
	Database string
	// Place is where the user says that the studies are. Beside its baseline lie the gate's history and report.
	Place studies.Place
	// Address is where to listen, such as 127.0.0.1:7295; port 0 takes a free one.
	Address string
	// Token is what a request beyond loopback must bring. Empty means that one is made up.
	Token string
	// Poll is how often a running study is looked at; 0 means every 500 ms.
	Poll time.Duration
}

// Server is an open address.
type Server struct {
	options  Options
	listener net.Listener
	guard    guard
	library  *library
	closing  chan struct{} // ends the live streams
	streams  chan struct{} // one token for each of them
}

// mostStreams bounds the live pages that are open at once.
const mostStreams = 100

func cannotListen(address, reason string) error {
	return fmt.Errorf("cannot listen at %s: %s", address, reason)
}

// Listen opens the address. Nothing is answered before Serve.
func Listen(o Options) (*Server, error) {
	o.Poll = cmp.Or(o.Poll, 500*time.Millisecond)
	g, err := newGuard(o.Address, o.Token)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		reason := err.Error()
		var dns *net.DNSError
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			reason = "the address is in use, perhaps by another pawl serve; name another port, such as --addr " +
				"127.0.0.1:7296, or port 0 for any that is free"
		case errors.Is(err, syscall.EACCES):
			reason = "not permitted; ports below 1024 are reserved"
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			reason = "this machine has no such address"
		case errors.As(err, &dns):
			reason = "no machine is called " + dns.Name
		}
		return nil, cannotListen(o.Address, reason)
	}
	return &Server{
		options:  o,
		listener: listener,
		guard:    g,
		library:  newLibrary(o.Database, o.Place),
		closing:  make(chan struct{}),
		streams:  make(chan struct{}, mostStreams),
	}, nil
}

// URL is what to open in a browser, with the token where one is demanded.
func (s *Server) URL() string {
	url := "http://" + s.listener.Addr().String() + "/"
	if s.guard.token != "" {
		url += "?token=" + s.guard.token
	}
	return url
}

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		close(s.closing)
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err := server.Shutdown(patience)
		if err != nil {
			err = server.Close()
		}
		ended <- err
	}()
	err := server.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		err = <-ended
	}
	return errors.Join(err, s.library.Close())
}

// Handler is the pages behind their guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	pages := map[string]func(*http.Request) (page, error){
		"/{$}":                            s.home,
		"/studies":                        s.studies,
		"/studies/{study}":                s.study,
		"/studies/{study}/trials":         s.trials,
		"/studies/{study}/trials/{trial}": s.trial,
		"/compare":                        s.compare,
		"/gate":                           s.gate,
	}
	for pattern, make := range pages {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, make) })
	}
	mux.HandleFunc("/studies/{study}/events", s.events)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, func(*http.Request) (page, error) { return page{}, notFound("there is no such page here") })
	})
	asset := func(kind string, content []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(content) //nolint:errcheck // the client has gone
		}
	}
	read := func(name string) []byte {
		content, err := fs.ReadFile(assets, "assets/"+name)
		if err != nil {
			panic("pages: " + err.Error())
		}
		return content
	}
	mux.HandleFunc("/style.css", asset("text/css; charset=utf-8", append([]byte(report.Style), read("serve.css")...)))
	mux.HandleFunc("/pawl.js", asset("text/javascript; charset=utf-8", read("pawl.js")))
	mux.HandleFunc("/icon.svg", asset("image/svg+xml", read("icon.svg")))
	return s.guard.before(mux)
}
