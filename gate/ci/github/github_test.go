package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pawl/gate/ci/github"
	"pawl/internal/githubtest"
)

// clock stands still until somebody sleeps.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

func (c *clock) total() (sum time.Duration) {
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// start returns a server with one pull request, and a client whose job may write.
func start(t *testing.T) (*githubtest.Server, *github.Client, *clock) {
	t.Helper()
	s := githubtest.New("someone/kernels", "")
	t.Cleanup(s.Close)
	s.Give("secret", githubtest.JobToken("pull_requests=write"))
	s.AddPull("someone", "faster", "main", "Faster")
	at := &clock{now: time.Unix(1_000_000, 0)}
	return s, client(t, s, "secret", at), at
}

func client(t *testing.T, s *githubtest.Server, token string, at *clock) *github.Client {
	t.Helper()
	// On a connection that was used before, net/http itself tries some requests again, unseen.
	transport := &http.Transport{DisableKeepAlives: true}
	c, err := github.New(github.Options{
		URL:        s.URL,
		Token:      token,
		Repository: s.Repository,
		Now:        at.Now,
		Sleep:      at.Sleep,
		Transport:  transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestListsHaveAllPages(t *testing.T) {
	s, c, _ := start(t)
	const n = 251 // three pages of a hundred, the last with one more than half
	for i := range n {
		s.AddComment(1, "someone", fmt.Sprint(i))
	}
	comments, err := c.Comments(t.Context(), 1)
	if err != nil || len(comments) != n {
		t.Fatalf("%d comments, %v", len(comments), err)
	}
	for i, comment := range comments {
		if comment.Body != fmt.Sprint(i) || comment.User.Login != "someone" {
			t.Fatalf("comment %d is %+v", i, comment)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestLogin(t *testing.T) {
	s, c, at := start(t)
	s.Give("personal", githubtest.Token{Login: "octavia", Permissions: map[string]string{"metadata": "read"}})
	for _, want := range []struct {
		client *github.Client
		login  string
	}{{c, github.JobLogin}, {client(t, s, "personal", at), "octavia"}} {
		if login, err := want.client.Login(t.Context()); err != nil || login != want.login {
			t.Errorf("%q, %v", login, err)
		}
	}
	if _, err := client(t, s, "stolen", at).Login(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "token is not valid") {
		t.Errorf("%v", err)
	}
}

// What passes by itself is waited for, by the clock that was given.
func TestWaitsForWhatPasses(t *testing.T) {
	for name, test := range map[string]struct {
		faults []githubtest.Fault
		waited time.Duration
	}{
		"the time that GitHub asks for": {[]githubtest.Fault{githubtest.SecondaryLimit("POST", 17)}, 17 * time.Second},
		"a limit that names no time":    {[]githubtest.Fault{githubtest.SecondaryLimit("POST", -1)}, time.Minute},
		"a limit that asks for no time": {[]githubtest.Fault{githubtest.SecondaryLimit("POST", 0)}, time.Second},
		"several limits": {[]githubtest.Fault{githubtest.SecondaryLimit("POST", 5),
			githubtest.SecondaryLimit("POST", 6)}, 11 * time.Second},
		"too many requests": {[]githubtest.Fault{{
			Request: "POST",
			Status:  429,
			Header:  map[string]string{"Retry-After": "3"},
		}}, 3 * time.Second},
		"the limit of the hour": {[]githubtest.Fault{{
			Request: "POST",
			Status:  403,
			Header:  map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000042"},
		}}, 42 * time.Second},
		"a dropped connection, reading":   {[]githubtest.Fault{{Request: "GET", Drop: true, Times: 2}}, 3 * time.Second},
		"a fault of the server, reading":  {[]githubtest.Fault{{Request: "GET", Status: 502}}, time.Second},
		"a dropped connection, replacing": {[]githubtest.Fault{{Request: "PATCH", Drop: true, After: true}}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s, c, at := start(t)
			for _, f := range test.faults {
				s.Plant(f)
			}
			if err := c.CreateComment(t.Context(), 1, "first"); err != nil {
				t.Fatal(err)
			}
			comments, err := c.Comments(t.Context(), 1)
			if err != nil || len(comments) != 1 {
				t.Fatalf("%v, %v", comments, err)
			}
			if err := c.EditComment(t.Context(), comments[0].ID, "second"); err != nil {
				t.Fatal(err)
			}
			if left := s.Planted(); left > 0 || at.total() != test.waited {
				t.Errorf("%d faults left, waited %v, want %v", left, at.slept, test.waited)
			}
			if found := s.Comments(1); len(found) != 1 || found[0].Body != "second" {
				t.Errorf("%+v", found)
			}
		})
	}
}

// Waiting has a bound, and the error says how long it would be.
func TestDoesNotWaitForEver(t *testing.T) {
	s, c, at := start(t)
	s.Plant(githubtest.SecondaryLimit("GET", 3600))
	if _, err := c.Comments(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "wait 1h0m0s more") {
		t.Errorf("%v", err)
	}
	if len(at.slept) > 0 {
		t.Errorf("slept %v", at.slept)
	}
	again := githubtest.SecondaryLimit("GET", 1)
	again.Times = 100
	s.Plant(again)
	if _, err := c.Comments(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "tried 5 times") {
		t.Errorf("%v", err)
	}
	s, c, at = start(t)
	s.Plant(githubtest.Fault{Request: "GET", Drop: true, Times: 100})
	if _, err := c.Comments(t.Context(), 1); err == nil ||
		!strings.Contains(err.Error(), "reading the comments of pull request 1: ") || github.Unknown(err) {
		t.Errorf("%v", err)
	}
	if at.total() != 15*time.Second { // 1 + 2 + 4 + 8
		t.Errorf("slept %v", at.slept)
	}
}

func TestACancelledWaitEnds(t *testing.T) {
	s, c, _ := start(t)
	s.Plant(githubtest.SecondaryLimit("GET", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Comments(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Nothing is created twice: whether it was created is not known, and the caller looks.
func TestALostAnswerToACreationIsUnknown(t *testing.T) {
	for _, fault := range []githubtest.Fault{{Drop: true}, {Drop: true, After: true}, {Status: 502, After: true}} {
		s, c, at := start(t)
		fault.Request = "POST"
		s.Plant(fault)
		err := c.CreateComment(t.Context(), 1, "text")
		if !github.Unknown(err) || len(at.slept) > 0 {
			t.Errorf("%+v: %v, slept %v", fault, err, at.slept)
		}
		if n := len(s.Comments(1)); n != 0 && !fault.After || n != 1 && fault.After {
			t.Errorf("%+v: %d comments", fault, n)
		}
	}
}

// A refusal says which permission is missing.
func TestRefusalsSayWhatIsMissing(t *testing.T) {
	s, c, at := start(t)
	s.Give("reader", githubtest.JobToken("pull_requests=read"))
	s.Give("blind", githubtest.Token{Login: github.JobLogin})
	reader, blind := client(t, s, "reader", at), client(t, s, "blind", at)
	for _, test := range []struct {
		err  error
		is   func(error) bool
		want string
	}{
		{reader.CreateComment(t.Context(), 1, "text"), github.Denied,
			"commenting on pull request 1: GitHub answers 403 (Resource not accessible by integration): the token needs " +
				"pull-requests: write or issues: write in the job's permissions"},
		{blind.CreateComment(t.Context(), 1, "text"), github.NotFound,
			"it does not exist, or the token needs pull-requests: write in the job's permissions"},
		{c.CreateComment(t.Context(), 7, "text"), github.NotFound, "GitHub answers 404 (Not Found)"},
		{c.EditComment(t.Context(), 7, "text"), github.NotFound, "updating pawl's comment"},
		{c.CreateComment(t.Context(), 1, strings.Repeat("x", 65537)), nil,
			"GitHub answers 422 (Validation Failed body is too long"},
		{client(t, s, "stolen", at).CreateComment(t.Context(), 1, "text"), nil,
			"GITHUB_TOKEN must be the token of this very job"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) || test.is != nil && !test.is(test.err) ||
			github.Unknown(test.err) {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
	for message, want := range map[string]string{
		"GitHub Actions is not permitted to create or approve pull requests.": "Settings, Actions, General",
		"Unable to create comment because issue is locked.":                   "the conversation is locked",
		"Hostile\x1b[2J\nwords": `Hostile\x1b[2J words`,
	} {
		s.Plant(githubtest.Fault{Request: "POST", Status: 403, Message: message})
		if err := c.CreateComment(t.Context(), 1, "text"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s.Plant(githubtest.Fault{Request: "PATCH", Status: 409, Message: "Conflict"})
	if err := c.EditPull(t.Context(), 1, "a", "b"); !github.Conflict(err) ||
		!strings.Contains(err.Error(), "at the same moment") {
		t.Errorf("%v", err)
	}
}

func TestDrafts(t *testing.T) {
	s, c, _ := start(t)
	for range 40 { // others, so that the list has pages
		s.AddPull("someone", "other", "main", "Other")
	}
	opened, err := c.CreateDraft(t.Context(),
		github.Draft{Title: "Tune", Body: "text", Branch: "pawl/scale", Base: "main"})
	if err != nil || opened.Number != 42 || !opened.Draft {
		t.Fatalf("%+v, %v", opened, err)
	}
	if _, err := c.CreateDraft(t.Context(),
		github.Draft{Title: "Tune", Body: "text", Branch: "pawl/scale", Base: "main"}); !github.Exists(err) {
		t.Errorf("%v", err)
	}
	pulls, err := c.OpenPulls(t.Context(), "pawl/scale")
	if err != nil || len(pulls) != 1 || pulls[0] != opened || opened.User.Login != github.JobLogin {
		t.Errorf("%+v, %v", pulls, err)
	}
	if err := c.EditPull(t.Context(), 42, "Tune again", "other text"); err != nil {
		t.Error(err)
	}
	if p := s.Pulls()[41]; p.Title != "Tune again" || p.Body != "other text" || p.Edits != 1 {
		t.Errorf("%+v", p)
	}
	s.ClosePull(42)
	if pulls, err := c.OpenPulls(t.Context(), "pawl/scale"); err != nil || len(pulls) != 0 {
		t.Errorf("%+v, %v", pulls, err)
	}
}

// A token is sent to GitHub alone, and never in the clear through a network.
func TestTokensStayWithGitHub(t *testing.T) {
	for _, o := range []github.Options{
		{URL: "http://api.example.org", Token: "t", Repository: "a/b"},
		{URL: "ftp://localhost", Token: "t", Repository: "a/b"},
		{Token: "", Repository: "a/b"},
		{Token: "t", Repository: "a"},
		{Token: "t", Repository: "a/.."},
		{Token: "t", Repository: "a/b/../../user"},
	} {
		if _, err := github.New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	other := githubtest.New("a/b", "")
	defer other.Close()
	s, c, _ := start(t)
	s.Plant(githubtest.Fault{
		Request: "GET",
		Status:  http.StatusTemporaryRedirect,
		Header:  map[string]string{"Location": other.URL + "/user"},
	})
	if _, err := c.Comments(t.Context(), 1); err == nil ||
		!strings.Contains(err.Error(), "GitHub answers 307: the repository has another name") {
		t.Errorf("%v", err)
	}
	if len(other.Requests()) > 0 {
		t.Error("another host got a request")
	}
}
