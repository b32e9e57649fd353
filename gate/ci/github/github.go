// Package github talks to GitHub for jobs: comments on pull requests, and pull requests.
// It is a façade over google/go-github, which nothing else imports.
//
// Its opinion: a job runs unattended, so that whatever passes by itself is waited for,
// within a bound, and whatever a person must change is said in a sentence that names it.
//
//  1. Every request goes through a transport that tries again (see retry.go): after the
//     time that GitHub asks for when its rate limits are hit, and after a dropped
//     connection or a fault of the server where trying again can do no harm.
//  2. Creating something twice is harm. Where the answer to a creation is lost, the
//     caller gets an error for which [Unknown] is true, and looks before it tries again.
//  3. Lists are read to their last page.
//  4. A refusal becomes an [Error] that says which permission is missing.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	api "github.com/google/go-github/v88/github"
)

// Options says where GitHub is and who asks.
type Options struct {
	// URL is that of the API; empty means GitHub's own.
	URL string
	// Token is what the job was given.
	Token string
	// Repository is OWNER/NAME.
	Repository string
	// Transport carries the requests; nil means the usual one, through a proxy where the
	// environment names one.
	Transport http.RoundTripper
	// Clock waits between attempts; nil means the real one.
	Clock Clock
	// Notice gets a sentence before each wait; it may be nil.
	Notice func(string)
}

// Client asks GitHub about one repository. Its methods may be called at the same time.
type Client struct {
	api         *api.Client
	owner, name string
}

// repositoryName is what GitHub allows: what else there is in a path never gets there.
var repositoryName = regexp.MustCompile(`^([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)$`)

// New returns a client. It asks nothing yet.
func New(o Options) (*Client, error) {
	words := repositoryName.FindStringSubmatch(o.Repository)
	if words == nil || strings.Trim(words[1], ".") == "" || strings.Trim(words[2], ".") == "" {
		return nil,
			fmt.Errorf("%q is no repository: GITHUB_REPOSITORY must be OWNER/NAME, as GitHub Actions sets it", o.Repository)
	}
	if o.Token == "" {
		return nil, errors.New("no token: give the step GITHUB_TOKEN (env: GITHUB_TOKEN: ${{ github.token }})")
	}
	base := strings.TrimSuffix(cmp.Or(o.URL, "https://api.github.com"), "/") + "/"
	if err := checkURL(base); err != nil {
		return nil, err
	}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	retrying := &retry{next: transport, clock: o.Clock, notice: o.Notice}
	client, err := api.NewClient(
		api.WithHTTPClient(&http.Client{Transport: retrying, CheckRedirect: stay}),
		api.WithAuthToken(o.Token), api.WithUserAgent("pawl"), api.WithURLs(&base, nil),
		api.WithDisableRateLimitCheck()) // limits are waited for below, by the clock that was given
	if err != nil {
		return nil, err
	}
	return &Client{api: client, owner: words[1], name: words[2]}, nil
}

// checkURL refuses to send a token through a network in the clear.
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("the address of GitHub's API: %w", err)
	}
	host := u.Hostname()
	local := host == "localhost" || net.ParseIP(host).IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return fmt.Errorf("the address of GitHub's API is %s, where a token can be read on the way: https is needed", address)
	}
	return nil
}

// stay follows a redirection on the same host only, because the token goes with it, and
// only where the method stays: a creation that becomes a question is answered wrongly.
func stay(request *http.Request, via []*http.Request) error {
	switch first := via[0]; {
	case len(via) > 5:
		return errors.New("GitHub redirects in circles")
	case request.URL.Host != first.URL.Host || request.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("GitHub redirects to %s, which does not get the token", request.URL.Host)
	case request.Method != first.Method:
		return errors.New("the repository has another name now: use that one")
	}
	return nil
}

// JobLogin is who comments with the token that GitHub gives to every job.
const JobLogin = "github-actions[bot]"

// Login returns who the token belongs to. The token of a job may not ask, and is known by
// that. What somebody else wrote is not ours, whatever it says.
func (c *Client) Login(ctx context.Context) (string, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	if err == nil {
		return user.GetLogin(), nil
	}
	if err = failed(err, "asking who the token belongs to", ""); Denied(err) {
		return JobLogin, nil
	}
	return "", err
}

// everyPage collects the pages of a list. GitHub counts pages; more than a hundred of a
// hundred entries are taken for an answer that never ends.
func everyPage[T any](list func(api.ListOptions) ([]T, *api.Response, error)) ([]T, error) {
	var all []T
	options := api.ListOptions{PerPage: 100, Page: 1}
	for range 100 {
		some, response, err := list(options)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if response.NextPage <= options.Page {
			return all, nil
		}
		options.Page = response.NextPage
	}
	return nil, errors.New("the list has more than a hundred pages")
}

// Clock tells the time and waits. Sleep ends early with the context's error.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

type realClock struct{}

var _ Clock = realClock{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
