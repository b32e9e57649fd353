package ci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"pawl/gate/ci/github"
	"pawl/gate/reporting"
	"pawl/internal/escape"
)

// CheckName is the check beside the jobs of the workflow. A job is green or red; a check may also be
// neutral.
const CheckName = "pawl"

// Check says what a commit's check shows: green where everything was decided, red where the change
// must not land, and neutral where nothing is known.
func (c Comment) Check(ctx context.Context, at *github.Client) (string, error) {
	event, err := ReadEvent(c.Job.Event)
	sha := event.PullRequest.Head.SHA
	if err != nil || sha == "" {
		return "", err
	}
	check := github.Check{Name: CheckName, Commit: sha, Conclusion: "success", Title: "nothing to gate"}
	if !c.Skipped {
		r, err := reporting.Read(c.Report)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r = &reporting.Report{Planned: 1}
		case err != nil:
			return "", err
		}
		check.Conclusion, check.Title = conclusion(r), escape.Line(reporting.PlainHeadline(r))
	}
	switch err := at.CreateCheck(ctx, check); {
	case github.Denied(err):
		return fmt.Sprintf("no check: %v", err), nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("the check %s is %s", CheckName, check.Conclusion), nil
}

func conclusion(r *reporting.Report) string {
	switch {
	case r.Failed() || !r.Finished() || r.Problem != "":
		return "failure"
	case r.Decided():
		return "success"
	}
	return "neutral"
}
