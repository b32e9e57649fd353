// Package github talks to GitHub's API for jobs: comments on pull requests, and pull
// requests.
//
// Its opinion: a job runs unattended, so that whatever passes by itself is waited for,
// within a bound, and whatever a person must change is said in a sentence that names it.
//
//  1. Every request is tried again: after the time that GitHub asks for when its rate
//     limits are hit, and after a dropped connection or a fault of the server where trying
//     again can do no harm.
//  2. Creating something twice is harm. Where the answer to a creation is lost, the
//     caller gets an error for which [Unknown] is true, and looks before it tries again.
//  3. Lists are read to their last page.
//  4. A refusal becomes an [Error] that says which permission is missing.
//  5. Redirections are not followed, so that the token goes to GitHub alone.
package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The bounds of trying again.
const (
	// attempts is how often a request is sent.
	attempts = 5
	// longestWait is how long a request waits in all. A limit that lasts longer is an
	// error: a job that waits for an hour costs more than one that is run again.
	longestWait = 5 * time.Minute
	// attemptTimeout is how long one answer may take to its last byte.
	attemptTimeout = 30 * time.Second
	// secondaryWait is what GitHub's documentation asks for where a limit names no time.
	secondaryWait = time.Minute
	// largestAnswer is more than any page of a hundred comments has.
	largestAnswer = 32 << 20
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
	// Now and Sleep are the clock; nil means the real one. Sleep ends early with the
	// context's error.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	// Notice gets a sentence before each wait; it may be nil.
	Notice func(string)
}

// Client asks GitHub about one repository. Its methods may be called at the same time.
type Client struct {
	Options
	http  http.Client
	owner string
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
	o.URL = strings.TrimSuffix(cmp.Or(o.URL, "https://api.github.com"), "/")
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of GitHub's API: %w", err)
	}
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return nil, fmt.Errorf("the address of GitHub's API is %s, where a token can be read on the way: https is needed",
			o.URL)
	}
	if o.Now == nil {
		o.Now, o.Sleep = time.Now, sleep
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{Options: o, owner: words[1], http: http.Client{
		Transport:     o.Transport,
		CheckRedirect: stay,
		Timeout:       attemptTimeout,
	}}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request is one question. What creates something is a POST.
type request struct {
	method, path string
	// body is written as JSON; nil for none.
	body any
	// doing and permission are for the errors: see [Error].
	doing, permission string
}

// answer is what GitHub said, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request until it is answered and reads the answer into a value. More says
// that the list has another page.
func (c *Client) ask(ctx context.Context, r request, into any) (more bool, err error) {
	waited := time.Duration(0)
	for attempt := 1; ; attempt++ {
		a, err := c.once(ctx, r)
		wait, why := c.wait(r, a, err, attempt)
		if ctx.Err() != nil {
			return false, fmt.Errorf("%s: %w", r.doing, ctx.Err())
		}
		if why == "" || attempt == attempts || waited+wait > longestWait {
			if err == nil && a.limited() {
				return false, fmt.Errorf("%s: GitHub's rate limit is reached: it asks to wait %s more (tried %d times); run "+
					"the job again then", r.doing, wait.Round(time.Second), attempt)
			}
			if err == nil && a.status < 300 {
				err = json.Unmarshal(a.body, into)
			} else if err == nil {
				err = refused(r, a)
			}
			return err == nil && strings.Contains(a.header.Get("Link"), `rel="next"`), r.explain(err)
		}
		if c.Notice != nil {
			c.Notice(fmt.Sprintf("%s; trying again in %s", why, wait.Round(time.Second)))
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return false, fmt.Errorf("%s: %w", r.doing, err)
		}
		waited += wait
	}
}

// once sends a request and reads the answer to its end, so that a connection that drops in
// the middle of one is a dropped connection.
func (c *Client) once(ctx context.Context, r request) (answer, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(text)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, c.URL+r.path, body)
	if err != nil {
		return answer{}, err
	}
	sent.Header = http.Header{
		"Accept":               {"application/vnd.github+json"},
		"Authorization":        {"Bearer " + c.Token},
		"Content-Type":         {"application/json"},
		"User-Agent":           {"pawl"},
		"X-Github-Api-Version": {"2022-11-28"},
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	return answer{response.StatusCode, response.Header, content}, err
}

// wait says how long to wait before trying again, and why; no reason means that the
// answer counts.
func (c *Client) wait(r request, a answer, err error, attempt int) (time.Duration, string) {
	harmless, growing := r.method != http.MethodPost, time.Second<<(attempt-1)
	switch {
	case err != nil && harmless:
		return growing, "the connection to GitHub dropped"
	case err != nil:
		return 0, ""
	case a.status >= 500 && harmless:
		return growing, fmt.Sprintf("GitHub answers %d", a.status)
	case !a.limited():
		return 0, ""
	}
	asked := secondaryWait << (attempt - 1)
	if seconds, err := strconv.ParseInt(a.header.Get("Retry-After"), 10, 32); err == nil && seconds >= 0 {
		asked = time.Duration(seconds) * time.Second
	} else if reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64); err == nil &&
		a.header.Get("X-RateLimit-Remaining") == "0" {
		asked = time.Unix(reset, 0).Sub(c.Now())
	}
	return max(asked, time.Second), "GitHub's rate limit is reached"
}

// limited reports whether GitHub refuses a request because there were too many. Such a
// request was not executed, so that even a creation may be sent again.
func (a answer) limited() bool {
	return a.status == http.StatusTooManyRequests || a.status == http.StatusForbidden &&
		(a.header.Get("Retry-After") != "" || a.header.Get("X-RateLimit-Remaining") == "0" ||
			strings.Contains(strings.ToLower(string(a.body)), "secondary rate limit"))
}
