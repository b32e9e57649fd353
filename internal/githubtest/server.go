// Package githubtest plays GitHub's API for tests.
//
// It is a local HTTP server that behaves as GitHub's does, as far as pawl uses it: who a token belongs to, comments on
// pull requests, and pull requests. It is strict where GitHub is, because a test is worth as much as its server: lists
// come in pages, a token without a permission gets 403 with the permission's name, and a pull request needs a branch
// that has commits which its base has not. Faults are planted one by one with [Server.Plant].
package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"pawl/internal/collect"
)

// Server is GitHub with one repository.
type Server struct {
	// URL is for GITHUB_API_URL, Repository for GITHUB_REPOSITORY.
	URL, Repository string

	http *httptest.Server
	mu   sync.Mutex
	// remote is the bare repository behind it, empty for none.
	remote   string
	tokens   map[string]Token
	pulls    []*Pull
	comments []*Comment
	checks   map[string]string // conclusions by name and commit
	lastID   int64
	faults   []*Fault
	requests []string
}

// Token is what a job was given.
type Token struct {
	// Login is who writes with it; a bot's may not ask for it.
	Login string
	// Permissions are by their names in the API, such as pull_requests, with read or
	// write. A token that has none of the repository does not see it.
	Permissions map[string]string
}

// JobToken is that of a job with permissions such as "pull_requests=write".
func JobToken(permissions ...string) Token {
	t := Token{Login: "github-actions[bot]", Permissions: map[string]string{"metadata": "read"}}
	for _, p := range permissions {
		name, level, _ := strings.Cut(p, "=")
		t.Permissions[name] = level
	}
	return t
}

// Pull is a pull request.
type Pull struct {
	Number                           int
	Title, Body, Branch, Base, State string
	Draft                            bool
	Author                           string
	// Edits counts how often its text was changed.
	Edits int
}

// Comment is one in the conversation of a pull request.
type Comment struct {
	ID           int64
	Pull         int
	Author, Body string
	Edits        int
}

// New starts a server with a repository OWNER/NAME. Remote is the folder of its bare git
// repository, or empty: then every branch is taken to exist. The caller closes it.
func New(repository, remote string) *Server {
	s := &Server{Repository: repository, remote: remote, lastID: 1000}
	s.tokens, s.checks = map[string]Token{}, map[string]string{}
	s.http = httptest.NewServer(s.handler())
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Give makes a token valid.
func (s *Server) Give(secret string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[secret] = t
}

// AddPull opens a pull request as a person does on the site, and returns its number.
func (s *Server) AddPull(author, branch, base, title string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&Pull{Title: title, Branch: branch, Base: base, Author: author})
}

// ClosePull closes or merges a pull request; the merge itself is git's business.
func (s *Server) ClosePull(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[number-1].State = "closed"
}

// AddComment writes a comment as a person does on the site.
func (s *Server) AddComment(pull int, author, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comment(pull, author, body)
}

// Comments returns the conversation of a pull request.
func (s *Server) Comments(pull int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return collect.Each(s.commentsOn(pull), func(c *Comment) Comment { return *c })
}

func (s *Server) commentsOn(pull int) []*Comment {
	return collect.Where(s.comments, func(c *Comment) bool { return c.Pull == pull })
}

// Check returns the conclusion of a commit's check, empty where it has none.
func (s *Server) Check(name, commit string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checks[name+" "+commit]
}

// Pulls returns all pull requests, the oldest first.
func (s *Server) Pulls() []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	return collect.Each(s.pulls, func(p *Pull) Pull { return *p })
}

// Requests returns every request that arrived, as "GET /user".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) add(p *Pull) int {
	p.Number, p.State = len(s.pulls)+1, "open"
	s.pulls = append(s.pulls, p)
	return p.Number
}

func (s *Server) comment(pull int, author, body string) *Comment {
	s.lastID++
	c := &Comment{ID: s.lastID, Pull: pull, Author: author, Body: body}
	s.comments = append(s.comments, c)
	return c
}

// call is a request that is being answered.
type call struct {
	*http.Request
	w     http.ResponseWriter
	token Token
	pull  *Pull // that the path names
	body  map[string]any
}

// text is one of the body's.
func (c *call) text(name string) string {
	text, _ := c.body[name].(string)
	return text
}

func (c *call) refuse(r refusal) {
	c.answer(r.status, map[string]any{"message": r.message, "errors": []map[string]string{{"message": r.detail}}})
}

func (c *call) answer(status int, value any) {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(status)
	_ = json.NewEncoder(c.w).Encode(value) // a client that has gone is no fault of the server's
}

// handler routes requests. One is answered at a time.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, to := range s.routes() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.serve(&call{Request: r, w: w}, to)
		})
	}
	return mux
}

func (s *Server) serve(c *call, to route) {
	s.requests = append(s.requests, c.Method+" "+c.URL.Path)
	fault := s.takeFault(c.Request)
	if fault != nil && !fault.After {
		fault.happen(c)
		return
	}
	if fault != nil { // it is done, and the answer is lost
		defer fault.happen(&call{Request: c.Request, w: c.w})
		c.w = httptest.NewRecorder()
	}
	var value any
	refused := s.permitted(c, to.needs)
	if refused == nil {
		_ = json.NewDecoder(c.Body).Decode(&c.body) // what cannot be read has no text, which is refused
		value, refused = to.answer(c)
	}
	switch {
	case refused != nil:
		c.refuse(*refused)
	case c.Method == http.MethodPost:
		c.answer(http.StatusCreated, value)
	default:
		c.answer(http.StatusOK, value)
	}
}

// permitted finds the token of a request, what it may do, and the pull request that is named.
func (s *Server) permitted(c *call, needs []string) *refusal {
	secret, isBearer := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	token, known := s.tokens[secret]
	if !isBearer || !known {
		return &refusal{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	c.token = token
	owner, name := c.PathValue("owner"), c.PathValue("name")
	if owner != "" && (!strings.EqualFold(owner+"/"+name, s.Repository) || len(token.Permissions) == 0) {
		return notFound
	}
	has := func(need string) bool {
		name, level, _ := strings.Cut(need, "=")
		return token.Permissions[name] == "write" || token.Permissions[name] == level
	}
	if len(needs) > 0 && !slices.ContainsFunc(needs, has) {
		c.w.Header().Set("X-Accepted-GitHub-Permissions", strings.Join(needs, "; "))
		return noAccess
	}
	number := c.PathValue("number")
	named, found := collect.First(s.pulls, func(p *Pull) bool { return fmt.Sprint(p.Number) == number })
	if c.pull = named; number != "" && !found {
		return notFound
	}
	return nil
}
