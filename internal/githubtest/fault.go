package githubtest

import (
	"fmt"
	"net/http"
	"strings"
)

// Fault is one thing that goes wrong, for one request or several.
type Fault struct {
	// Request is the beginning of those that it meets, as "POST /repos"; empty is any.
	Request string
	// Times is how many requests it meets; 0 means one.
	Times int
	// After lets the request be done first, so that only its answer is lost.
	After bool
	// Drop closes the connection without an answer. Otherwise Status, Message and Header
	// are the answer.
	Drop    bool
	Status  int
	Message string
	Header  map[string]string
}

// SecondaryLimit is the answer to too many requests; seconds below 0 name no time.
func SecondaryLimit(request string, seconds int) Fault {
	f := Fault{Request: request, Status: http.StatusForbidden, Header: map[string]string{},
		Message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	if seconds >= 0 {
		f.Header["Retry-After"] = fmt.Sprint(seconds)
	}
	return f
}

// Plant lets a fault happen to the next requests that it is for. Faults happen in the
// order planted.
func (s *Server) Plant(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(1, f.Times)
	s.faults = append(s.faults, &f)
}

// Planted returns how many faults have not happened yet.
func (s *Server) Planted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults)
}

func (s *Server) takeFault(r *http.Request) *Fault {
	for i, f := range s.faults {
		if !strings.HasPrefix(r.Method+" "+r.URL.Path, f.Request) {
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		return f
	}
	return nil
}

func (f *Fault) happen(c *call) {
	if f.Drop {
		panic(http.ErrAbortHandler) // the server closes the connection and says nothing
	}
	for name, value := range f.Header {
		c.w.Header().Set(name, value)
	}
	c.refuse(refusal{status: f.Status, message: f.Message})
}
