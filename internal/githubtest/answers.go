package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl/internal/git"
)

func (s *Server) listComments(c *call) {
	if !c.needs("read", "pull_requests", "issues") {
		return
	}
	p := s.pull(c)
	if p == nil {
		return
	}
	var found []any
	for _, comment := range s.comments {
		if comment.Pull == p.Number {
			found = append(found, commentJSON(comment))
		}
	}
	s.page(c, found)
}

func (s *Server) createComment(c *call) {
	if !c.needs("write", "pull_requests", "issues") {
		return
	}
	p, body := s.pull(c), c.body()
	if p == nil || !c.textual(body["body"]) {
		return
	}
	c.answer(http.StatusCreated, commentJSON(s.comment(p.Number, c.token.Login, body["body"].(string))))
}

func (s *Server) editComment(c *call) {
	if !c.needs("write", "pull_requests", "issues") {
		return
	}
	body := c.body()
	at := slices.IndexFunc(s.comments, func(found *Comment) bool { return fmt.Sprint(found.ID) == c.PathValue("id") })
	if at < 0 {
		c.refuse(http.StatusNotFound, "Not Found")
		return
	}
	if !c.textual(body["body"]) {
		return
	}
	s.comments[at].Body = body["body"].(string)
	s.comments[at].Edits++
	c.answer(http.StatusOK, commentJSON(s.comments[at]))
}

func commentJSON(comment *Comment) any {
	return map[string]any{"id": comment.ID, "body": comment.Body, "user": userJSON(comment.Author)}
}

func (s *Server) listPulls(c *call) {
	if !c.needs("read", "pull_requests") {
		return
	}
	owner, _, _ := strings.Cut(s.Repository, "/")
	state, head := c.URL.Query().Get("state"), c.URL.Query().Get("head")
	var found []any
	for _, p := range slices.Backward(s.pulls) { // the newest first
		if state != "all" && p.State != orOpen(state) {
			continue
		}
		// GitHub ignores a head that does not name its owner.
		if strings.Contains(head, ":") && head != owner+":"+p.Branch {
			continue
		}
		found = append(found, s.pullJSON(p))
	}
	s.page(c, found)
}

func orOpen(state string) string {
	if state == "" {
		return "open"
	}
	return state
}

func (s *Server) createPull(c *call) {
	if !c.needs("write", "pull_requests") {
		return
	}
	body := c.body()
	text := func(key string) string { t, _ := body[key].(string); return t }
	owner, _, _ := strings.Cut(s.Repository, "/")
	head, base := strings.TrimPrefix(text("head"), owner+":"), text("base")
	if text("title") == "" {
		c.refuse(http.StatusUnprocessableEntity, "Validation Failed", "title can't be blank")
		return
	}
	if message := s.refusesPull(c, head, base); message != "" {
		c.refuse(http.StatusUnprocessableEntity, "Validation Failed", message)
		return
	}
	if text("body") != "" && !c.textual(body["body"]) {
		return
	}
	draft, _ := body["draft"].(bool)
	p := &Pull{Title: text("title"), Body: text("body"), Branch: head, Base: base, Draft: draft, Author: c.token.Login}
	s.add(p)
	c.answer(http.StatusCreated, s.pullJSON(p))
}

// refusesPull says what is wrong with the branches of a new pull request.
func (s *Server) refusesPull(c *call, head, base string) string {
	for _, p := range s.pulls {
		if p.State == "open" && p.Branch == head && p.Base == base {
			return "A pull request already exists for " + s.Repository + ":" + head + "."
		}
	}
	if s.remote == "" {
		return ""
	}
	for _, branch := range []string{base, head} {
		if _, err := git.Run(c.ctx(), s.remote, nil, "rev-parse", "--verify", "--end-of-options",
			"refs/heads/"+branch); err != nil {
			return "the branch " + branch + " is invalid"
		}
	}
	ahead, err := git.Run(c.ctx(), s.remote, nil, "rev-list", "--count", "refs/heads/"+base+"..refs/heads/"+head)
	if err != nil || strings.TrimSpace(string(ahead)) == "0" {
		return "No commits between " + base + " and " + head
	}
	return ""
}

func (s *Server) editPull(c *call) {
	if !c.needs("write", "pull_requests") {
		return
	}
	p, body := s.pull(c), c.body()
	if p == nil {
		return
	}
	if text, ok := body["body"]; ok {
		if !c.textual(text) {
			return
		}
		p.Body = text.(string)
	}
	if title, ok := body["title"].(string); ok {
		p.Title = title
	}
	p.Edits++
	c.answer(http.StatusOK, s.pullJSON(p))
}

func (s *Server) pullJSON(p *Pull) any {
	return map[string]any{
		"number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": p.Draft, "user": userJSON(p.Author),
		"head": map[string]any{"ref": p.Branch}, "base": map[string]any{"ref": p.Base},
		"html_url": fmt.Sprintf("%s/%s/pull/%d", s.URL, s.Repository, p.Number),
	}
}

// pull returns the one that the path names; without it the call is answered.
func (s *Server) pull(c *call) *Pull {
	number, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || number < 1 || number > len(s.pulls) {
		c.refuse(http.StatusNotFound, "Not Found")
		return nil
	}
	return s.pulls[number-1]
}

func (c *call) body() map[string]any {
	body := map[string]any{}
	_ = json.NewDecoder(c.Body).Decode(&body) // what cannot be read has no text, which is refused
	return body
}

// textual answers 422 for what is no text, or too long a one.
func (c *call) textual(value any) bool {
	text, ok := value.(string)
	switch {
	case !ok || strings.TrimSpace(text) == "":
		c.refuse(http.StatusUnprocessableEntity, "Validation Failed", "body can't be blank")
	case utf8.RuneCountInString(text) > longestText:
		c.refuse(http.StatusUnprocessableEntity, "Validation Failed", "body is too long (maximum is 65536 characters)")
	default:
		return true
	}
	return false
}

// page answers with the part of a list that was asked for, and where the others are.
func (s *Server) page(c *call, all []any) {
	number := func(name string, otherwise, most int) int {
		n, err := strconv.Atoi(c.URL.Query().Get(name))
		if err != nil || n < 1 {
			return otherwise
		}
		return min(n, most)
	}
	size, at := number("per_page", 30, 100), number("page", 1, 1<<20)
	if at*size < len(all) {
		query := c.URL.Query()
		query.Set("page", strconv.Itoa(at+1))
		c.w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, c.URL.Path, query.Encode()))
	}
	part := all[min(len(all), (at-1)*size):min(len(all), at*size)]
	if part == nil {
		part = []any{}
	}
	c.answer(http.StatusOK, part)
}
