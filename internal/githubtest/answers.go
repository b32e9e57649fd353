package githubtest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl/internal/collect"
	"pawl/internal/git"
)

// longestText is what GitHub takes for a comment or a pull request.
const longestText = 65536

// refusal is an error as GitHub writes it.
type refusal struct {
	status          int
	message, detail string
}

var (
	notFound = &refusal{status: http.StatusNotFound, message: "Not Found"}
	noAccess = &refusal{status: http.StatusForbidden, message: "Resource not accessible by integration"}
)

func invalid(detail string) *refusal {
	return &refusal{http.StatusUnprocessableEntity, "Validation Failed", detail}
}

// route is what answers a question, and the permissions of which the token needs one.
type route struct {
	answer func(*call) (any, *refusal)
	needs  []string
}

func (s *Server) routes() map[string]route {
	reading, writing := []string{"pull_requests=read"}, []string{"pull_requests=write"}
	return map[string]route{
		"GET /user": {s.user, nil},
		"GET /repos/{owner}/{name}/issues/{number}/comments":  {s.listComments, append(reading, "issues=read")},
		"POST /repos/{owner}/{name}/issues/{number}/comments": {s.createComment, append(writing, "issues=write")},
		"PATCH /repos/{owner}/{name}/issues/comments/{id}":    {s.editComment, append(writing, "issues=write")},
		"GET /repos/{owner}/{name}/pulls":                     {s.listPulls, reading},
		"POST /repos/{owner}/{name}/pulls":                    {s.createPull, writing},
		"PATCH /repos/{owner}/{name}/pulls/{number}":          {s.editPull, writing},
		"POST /repos/{owner}/{name}/check-runs":               {s.createCheck, []string{"checks=write"}},
		"/":                                                   {func(*call) (any, *refusal) { return nil, notFound }, nil},
	}
}

// createCheck keeps the conclusion by name and commit.
func (s *Server) createCheck(c *call) (any, *refusal) {
	name, commit, conclusion := c.text("name"), c.text("head_sha"), c.text("conclusion")
	if name == "" || len(commit) < 40 || !slices.Contains([]string{"success", "failure", "neutral"}, conclusion) {
		return nil, invalid("no such check")
	}
	s.checks[name+" "+commit] = conclusion
	return map[string]any{"id": len(s.checks), "name": name}, nil
}

func (s *Server) user(c *call) (any, *refusal) {
	if strings.HasSuffix(c.token.Login, "[bot]") {
		return nil, noAccess
	}
	return userJSON(c.token.Login), nil
}

func userJSON(login string) map[string]any { return map[string]any{"login": login} }

func (s *Server) listComments(c *call) (any, *refusal) {
	return s.page(c, collect.Each(s.commentsOn(c.pull.Number), commentJSON)), nil
}

func (s *Server) createComment(c *call) (any, *refusal) {
	if refused := c.checkBody(); refused != nil {
		return nil, refused
	}
	return commentJSON(s.comment(c.pull.Number, c.token.Login, c.text("body"))), nil
}

func (s *Server) editComment(c *call) (any, *refusal) {
	at := slices.IndexFunc(s.comments, func(found *Comment) bool { return fmt.Sprint(found.ID) == c.PathValue("id") })
	if at < 0 {
		return nil, notFound
	}
	if refused := c.checkBody(); refused != nil {
		return nil, refused
	}
	s.comments[at].Body = c.text("body")
	s.comments[at].Edits++
	return commentJSON(s.comments[at]), nil
}

func commentJSON(comment *Comment) any {
	return map[string]any{"id": comment.ID, "body": comment.Body, "user": userJSON(comment.Author)}
}

func (s *Server) listPulls(c *call) (any, *refusal) {
	owner, _, _ := strings.Cut(s.Repository, "/")
	head := c.URL.Query().Get("head")
	found := collect.Where(s.pulls, func(p *Pull) bool {
		// GitHub ignores a head that does not name its owner.
		return p.State == "open" && (!strings.Contains(head, ":") || head == owner+":"+p.Branch)
	})
	slices.Reverse(found) // the newest first
	return s.page(c, collect.Each(found, pullJSON)), nil
}

func (s *Server) createPull(c *call) (any, *refusal) {
	owner, _, _ := strings.Cut(s.Repository, "/")
	draft, _ := c.body["draft"].(bool)
	p := &Pull{Title: c.text("title"), Body: c.text("body"), Base: c.text("base"), Draft: draft, Author: c.token.Login}
	p.Branch = strings.TrimPrefix(c.text("head"), owner+":")
	if p.Title == "" {
		return nil, invalid("title can't be blank")
	}
	if message := s.refusesPull(p); message != "" {
		return nil, invalid(message)
	}
	if refused := c.checkBody(); p.Body != "" && refused != nil {
		return nil, refused
	}
	s.add(p)
	return pullJSON(p), nil
}

// refusesPull says what is wrong with the branches of a new pull request.
func (s *Server) refusesPull(p *Pull) string {
	for _, other := range s.pulls {
		if other.State == "open" && other.Branch == p.Branch && other.Base == p.Base {
			return "A pull request already exists for " + s.Repository + ":" + p.Branch + "."
		}
	}
	if s.remote == "" {
		return ""
	}
	ctx := context.Background() // a client that has gone does not end it
	for _, branch := range []string{p.Base, p.Branch} {
		if _, err := git.Run(ctx, s.remote, nil, "rev-parse", "--verify", "--end-of-options",
			"refs/heads/"+branch); err != nil {
			return "the branch " + branch + " is invalid"
		}
	}
	ahead, err := git.Run(ctx, s.remote, nil, "rev-list", "--count", "refs/heads/"+p.Base+"..refs/heads/"+p.Branch)
	if err != nil || strings.TrimSpace(string(ahead)) == "0" {
		return "No commits between " + p.Base + " and " + p.Branch
	}
	return ""
}

func (s *Server) editPull(c *call) (any, *refusal) {
	if refused := c.checkBody(); refused != nil {
		return nil, refused
	}
	p := c.pull
	p.Body, p.Title, p.State = c.text("body"), cmp.Or(c.text("title"), p.Title), cmp.Or(c.text("state"), p.State)
	p.Edits++
	return pullJSON(p), nil
}

func pullJSON(p *Pull) any {
	return map[string]any{
		"number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": p.Draft, "user": userJSON(p.Author),
		"head": map[string]any{"ref": p.Branch}, "base": map[string]any{"ref": p.Base},
	}
}

// checkBody refuses what is no text, or too long a one.
func (c *call) checkBody() *refusal {
	switch text := c.text("body"); {
	case strings.TrimSpace(text) == "":
		return invalid("body can't be blank")
	case utf8.RuneCountInString(text) > longestText:
		return invalid("body is too long (maximum is 65536 characters)")
	}
	return nil
}

// page returns the part of a list that was asked for, and says whether there is more.
func (s *Server) page(c *call, all []any) []any {
	number := func(name string, otherwise int) int {
		n, _ := strconv.Atoi(c.URL.Query().Get(name))
		return cmp.Or(max(n, 0), otherwise)
	}
	size, at := min(number("per_page", 30), 100), number("page", 1)
	if at*size < len(all) {
		c.w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=%d&per_page=%d>; rel="next"`, s.URL, c.URL.Path, at+1, size))
	}
	return append([]any{}, all[min(len(all), (at-1)*size):min(len(all), at*size)]...)
}
