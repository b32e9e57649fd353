package github

import (
	"context"
	"fmt"

	api "github.com/google/go-github/v88/github"
)

// Comment is one in the conversation of a pull request.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// commenting is the permission for comments on pull requests.
const commenting = "pull-requests: write"

// Comments returns the conversation of a pull request, the oldest first.
func (c *Client) Comments(ctx context.Context, pull int) ([]Comment, error) {
	found, err := everyPage(func(page api.ListOptions) ([]*api.IssueComment, *api.Response, error) {
		return c.api.Issues.ListComments(ctx, c.owner, c.name, pull, &api.IssueListCommentsOptions{ListOptions: page})
	})
	if err != nil {
		return nil, failed(err, fmt.Sprintf("reading the comments of pull request %d", pull), "pull-requests: read")
	}
	var comments []Comment
	for _, f := range found {
		comments = append(comments, Comment{ID: f.GetID(), Author: f.GetUser().GetLogin(), Body: f.GetBody()})
	}
	return comments, nil
}

// CreateComment adds a comment to a pull request.
func (c *Client) CreateComment(ctx context.Context, pull int, body string) error {
	_, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.name, pull, &api.IssueComment{Body: &body})
	return failedCreation(err, fmt.Sprintf("commenting on pull request %d", pull), commenting)
}

// EditComment replaces the text of a comment.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.api.Issues.EditComment(ctx, c.owner, c.name, id, &api.IssueComment{Body: &body})
	return failed(err, "updating pawl's comment", commenting)
}
