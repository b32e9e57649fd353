package github

import (
	"context"
	"fmt"

	api "github.com/google/go-github/v88/github"

	"pawl/internal/escape"
)

// Pull is a pull request.
type Pull struct {
	Number      int
	Title, Body string
	// Branch is what is to be merged, Base into what.
	Branch, Base string
	Author       string
	Draft        bool
	// URL is its page.
	URL string
}

// pulling is the permission for opening and changing pull requests.
const pulling = "pull-requests: write"

// OpenPulls returns the open pull requests of a branch of the repository itself.
func (c *Client) OpenPulls(ctx context.Context, branch string) ([]Pull, error) {
	found, err := everyPage(func(page api.ListOptions) ([]*api.PullRequest, *api.Response, error) {
		return c.api.PullRequests.List(ctx, c.owner, c.name,
			&api.PullRequestListOptions{State: "open", Head: c.owner + ":" + branch, ListOptions: page})
	})
	if err != nil {
		return nil, failed(err, fmt.Sprintf("looking for a pull request of %s", escape.Line(branch)), "pull-requests: read")
	}
	var pulls []Pull
	for _, f := range found {
		if p := fromAPI(f); p.Branch == branch { // a head that GitHub cannot read is no filter
			pulls = append(pulls, p)
		}
	}
	return pulls, nil
}

// CreateDraft opens a draft. It returns the pull request with its number.
func (c *Client) CreateDraft(ctx context.Context, p Pull) (Pull, error) {
	draft := true
	created, _, err := c.api.PullRequests.Create(ctx, c.owner, c.name, &api.NewPullRequest{
		Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &p.Base, Draft: &draft,
	})
	if err != nil {
		return Pull{}, failedCreation(err, fmt.Sprintf("opening a draft of %s", escape.Line(p.Branch)), pulling)
	}
	return fromAPI(created), nil
}

// EditPull replaces title and text of a pull request.
func (c *Client) EditPull(ctx context.Context, number int, title, body string) error {
	_, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &api.PullRequest{Title: &title, Body: &body})
	return failed(err, fmt.Sprintf("updating pull request %d", number), pulling)
}

func fromAPI(p *api.PullRequest) Pull {
	return Pull{
		Number: p.GetNumber(), Title: p.GetTitle(), Body: p.GetBody(), Branch: p.GetHead().GetRef(),
		Base:   p.GetBase().GetRef(),
		Author: p.GetUser().GetLogin(), Draft: p.GetDraft(), URL: p.GetHTMLURL(),
	}
}
