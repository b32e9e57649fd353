package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// retry is a transport that tries again. Answers are read to their end before they count,
// so that a connection that drops in the middle of one is a dropped connection.
type retry struct {
	next   http.RoundTripper
	clock  Clock
	notice func(string)
}

var _ http.RoundTripper = (*retry)(nil)

// RoundTrip sends a request until it is answered.
func (r *retry) RoundTrip(request *http.Request) (*http.Response, error) {
	waited := time.Duration(0)
	for attempt := 1; ; attempt++ {
		response, err := r.once(request)
		wait, why := r.wait(request, response, err, attempt)
		switch {
		case why == "":
			return response, err
		case request.Context().Err() != nil:
			return response, errors.Join(err, request.Context().Err())
		case attempt == attempts || waited+wait > longestWait:
			return r.giveUp(response, err, why, attempt, wait)
		}
		if r.notice != nil {
			r.notice(fmt.Sprintf("%s; trying again in %s", why, wait.Round(time.Second)))
		}
		if err := r.clock.Sleep(request.Context(), wait); err != nil {
			return nil, err
		}
		waited += wait
	}
}

// once sends the request and reads the answer to its end.
func (r *retry) once(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(request.Context(), attemptTimeout)
	defer cancel()
	copied := request.Clone(ctx)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		copied.Body = body
	}
	response, err := r.next.RoundTrip(copied)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

// wait says how long to wait before trying again, and why; no reason means that the
// answer counts.
func (r *retry) wait(request *http.Request, response *http.Response, err error, attempt int) (time.Duration, string) {
	growing := time.Second << (attempt - 1)
	switch {
	case err != nil && harmless(request):
		return growing, "the connection to GitHub dropped"
	case err != nil:
		return 0, ""
	case response.StatusCode >= 500 && harmless(request):
		return growing, fmt.Sprintf("GitHub answers %d", response.StatusCode)
	}
	if !limited(response) {
		return 0, ""
	}
	asked := secondaryWait << (attempt - 1)
	if seconds, err := strconv.ParseInt(response.Header.Get("Retry-After"), 10, 32); err == nil && seconds >= 0 {
		asked = time.Duration(seconds) * time.Second
	} else if reset, err := strconv.ParseInt(response.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil &&
		response.Header.Get("X-RateLimit-Remaining") == "0" {
		asked = time.Unix(reset, 0).Sub(r.clock.Now())
	}
	return max(asked, time.Second), "GitHub's rate limit is reached"
}

// giveUp returns the last answer, or what kept it away; of a rate limit, how long it lasts.
func (r *retry) giveUp(response *http.Response, err error, why string, attempt int,
	wait time.Duration) (*http.Response, error) {
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %d times: %w", why, attempt, err)
	case limited(response):
		return nil, &limitError{wait: wait, attempts: attempt}
	}
	return response, nil
}

// harmless reports whether a request may be sent twice. All that are used here may, but
// those that create something.
func harmless(request *http.Request) bool { return request.Method != http.MethodPost }

// limited reports whether GitHub refuses a request because there were too many. Such a
// request was not executed, so that even a creation may be sent again.
func limited(response *http.Response) bool {
	if response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusTooManyRequests {
		return false
	}
	if response.StatusCode == http.StatusTooManyRequests || response.Header.Get("Retry-After") != "" ||
		response.Header.Get("X-RateLimit-Remaining") == "0" {
		return true
	}
	content, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(content))
	return err == nil && strings.Contains(strings.ToLower(string(content)), "secondary rate limit")
}

// limitError is a rate limit that lasts too long to be waited for.
type limitError struct {
	wait     time.Duration
	attempts int
}

func (e *limitError) Error() string {
	return fmt.Sprintf("GitHub's rate limit is reached: it asks to wait %s more (tried %d times); run the job "+
		"again then", e.wait.Round(time.Second), e.attempts)
}
