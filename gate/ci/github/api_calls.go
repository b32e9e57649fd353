package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"pawl/internal/collect"
	"pawl/internal/escape"
)

// The permissions that calls need, as a workflow's permissions name them.
const (
	reading = "pull-requests: read"
	writing = "pull-requests: write"
)

// JobLogin is who comments with the token that GitHub gives to every job.
const JobLogin = "github-actions[bot]"

type user struct {
	Login string `json:"login"`
}

// Comment is one in the conversation of a pull request.
type Comment struct {
	ID   int64  `json:"id"`
	User user   `json:"user"`
	Body string `json:"body"`
}

type branch struct {
	Ref string `json:"ref"`
}

// Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	// Head is what is to be merged, Base into what.
	Head  branch `json:"head"`
	Base  branch `json:"base"`
	User  user   `json:"user"`
	Draft bool   `json:"draft"`
}

// Draft is a pull request that is to be opened.
type Draft struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// Branch is what is to be merged, Base into what.
	Branch string `json:"head"`
	Base   string `json:"base"`
}

// Login returns who the token belongs to. The token of a job may not ask, and is known by
// that. What somebody else wrote is not ours, whatever it says.
func (c *Client) Login(ctx context.Context) (string, error) {
	var u user
	_, err := c.ask(ctx, request{method: http.MethodGet, path: "/user", doing: "asking who the token belongs to"}, &u)
	if Denied(err) {
		return JobLogin, nil
	}
	return u.Login, err
}

// Comments returns the conversation of a pull request, the oldest first.
func (c *Client) Comments(ctx context.Context, pull int) ([]Comment, error) {
	doing := fmt.Sprintf("reading the comments of pull request %d", pull)
	return everyPage[Comment](ctx, c, fmt.Sprintf("/issues/%d/comments", pull), url.Values{}, doing)
}

// CreateComment adds a comment to a pull request.
func (c *Client) CreateComment(ctx context.Context, pull int, body string) error {
	return c.write(ctx, http.MethodPost, fmt.Sprintf("/issues/%d/comments", pull), map[string]string{"body": body},
		new(Comment), fmt.Sprintf("commenting on pull request %d", pull))
}

// EditComment replaces the text of a comment.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	return c.write(ctx, http.MethodPatch, fmt.Sprintf("/issues/comments/%d", id), map[string]string{"body": body},
		new(Comment), "updating pawl's comment")
}

// OpenPulls returns the open pull requests of a branch of the repository itself.
func (c *Client) OpenPulls(ctx context.Context, name string) ([]Pull, error) {
	query := url.Values{"state": {"open"}, "head": {c.owner + ":" + name}}
	found, err := everyPage[Pull](ctx, c, "/pulls", query, "looking for a pull request of "+escape.Line(name))
	// A head that GitHub cannot read is no filter.
	return collect.Where(found, func(p Pull) bool { return p.Head.Ref == name }), err
}

// CreateDraft opens a draft. It returns the pull request with its number.
func (c *Client) CreateDraft(ctx context.Context, d Draft) (created Pull, err error) {
	body := struct {
		Draft
		IsDraft bool `json:"draft"`
	}{d, true}
	err = c.write(ctx, http.MethodPost, "/pulls", body, &created, "opening a draft of "+escape.Line(d.Branch))
	return created, err
}

// EditPull replaces title and text of a pull request.
func (c *Client) EditPull(ctx context.Context, number int, title, body string) error {
	return c.write(ctx, http.MethodPatch, fmt.Sprintf("/pulls/%d", number),
		map[string]string{"title": title, "body": body}, new(Pull), fmt.Sprintf("updating pull request %d", number))
}

// Check is what stands beside a commit.
type Check struct {
	Name   string
	Commit string
	// Conclusion is success, failure or neutral; Title says why.
	Conclusion, Title string
}

// CreateCheck adds a check to a commit. A later one of the same name takes its place.
func (c *Client) CreateCheck(ctx context.Context, check Check) error {
	body := map[string]any{
		"name": check.Name, "head_sha": check.Commit, "status": "completed", "conclusion": check.Conclusion,
		"output": map[string]string{"title": check.Title, "summary": check.Title},
	}
	_, err := c.ask(ctx, request{http.MethodPost, "/repos/" + c.Repository + "/check-runs", body,
		"setting the check of " + escape.Line(check.Commit), "checks: write"}, new(struct{}))
	return err
}

// ClosePull closes a pull request with a last text.
func (c *Client) ClosePull(ctx context.Context, number int, body string) error {
	return c.write(ctx, http.MethodPatch, fmt.Sprintf("/pulls/%d", number),
		map[string]string{"state": "closed", "body": body}, new(Pull), fmt.Sprintf("closing pull request %d", number))
}

func (c *Client) write(ctx context.Context, method, path string, body, into any, doing string) error {
	_, err := c.ask(ctx, request{method, "/repos/" + c.Repository + path, body, doing, writing}, into)
	return err
}

// everyPage collects the pages of a list. More than a hundred of a hundred entries are
// taken for an answer that never ends.
func everyPage[T any](ctx context.Context, c *Client, path string, query url.Values, doing string) ([]T, error) {
	var all []T
	query.Set("per_page", "100")
	for page := range 100 {
		query.Set("page", fmt.Sprint(page+1))
		var some []T
		more, err := c.ask(ctx, request{
			method:     http.MethodGet,
			path:       "/repos/" + c.Repository + path + "?" + query.Encode(),
			doing:      doing,
			permission: reading,
		}, &some)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); !more {
			return all, nil
		}
	}
	return nil, errors.New(doing + ": the list has more than a hundred pages")
}
