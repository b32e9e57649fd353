package ci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"pawl/gate"
	"pawl/gate/ci/github"
	"pawl/gate/reporting"
)

// Comment says what to tell a pull request.
type Comment struct {
	// Report is the file of the gate's run.
	Report string
	Pull   int
	Job    Job
	// Skipped says that there was nothing to gate.
	Skipped bool
}

// marker ends pawl's comment. It is not shown.
const marker = "<!-- pawl gate -->"

// skipped is the comment where an earlier commit of the pull request was gated, and this one needs no
// gate.
const skipped = "**pass**: the change touches nothing that a gated kernel depends on. No action needed.\n\n" + marker

// looks is how often the conversation is looked at anew, where an answer was lost or
// somebody else was faster.
const looks = 3

// Publish leaves the pull request with one comment of pawl's that says what the report
// says, or with none where there is nothing to say. It returns a sentence about what it
// did. A token that may not write is no error: the run's summary has it all.
func (c Comment) Publish(ctx context.Context, at *github.Client) (string, error) {
	r, err := reporting.Read(c.Report)
	if errors.Is(err, fs.ErrNotExist) {
		r, err = nil, nil // the gate has not come that far
	}
	if err != nil {
		return "", err
	}
	body := c.body(r)
	if c.Skipped {
		r, body = nil, skipped
	}
	for look := 1; ; look++ {
		done, err := c.once(ctx, at, r, body)
		again := github.Unknown(err) || github.Conflict(err) || github.NotFound(err)
		switch {
		case err == nil:
			return done, nil
		case github.Denied(err):
			return fmt.Sprintf("no comment: %v; the summary of the run has it all (a pull request from a fork has a token "+
				"that may only read)", err), nil
		case !again || look == looks:
			return "", err
		}
	}
}

// once looks at the conversation and does what is missing.
func (c Comment) once(ctx context.Context, at *github.Client, r *reporting.Report, body string) (string, error) {
	login, err := at.Login(ctx)
	if err != nil {
		return "", err
	}
	comments, err := at.Comments(ctx, c.Pull)
	if err != nil {
		return "", err
	}
	ours := slices.IndexFunc(comments, func(found github.Comment) bool {
		return found.User.Login == login && strings.HasSuffix(strings.TrimSpace(found.Body), marker)
	})
	switch {
	case ours < 0 && !worthTelling(r):
		return fmt.Sprintf("nothing to tell pull request %d: no comment", c.Pull), nil
	case ours < 0:
		return fmt.Sprintf("commented on pull request %d", c.Pull), at.CreateComment(ctx, c.Pull, body)
	case lines(comments[ours].Body) == lines(body):
		return fmt.Sprintf("the comment on pull request %d says so already", c.Pull), nil
	}
	return fmt.Sprintf("updated the comment on pull request %d", c.Pull), at.EditComment(ctx, comments[ours].ID, body)
}

// lines is a text as GitHub may return it.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// worthTelling reports whether anything has changed. A run that came to nothing is told
// where it would otherwise leave an older verdict standing; elsewhere it is red by itself.
func worthTelling(r *reporting.Report) bool {
	if r == nil {
		return false
	}
	quiet := r.Count(gate.Maintained, gate.NoDifference)
	return len(r.Results) > quiet || len(r.Warnings) > 0 || !r.Finished() || r.Problem != ""
}
