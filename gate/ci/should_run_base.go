package ci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"pawl/gate/baseline"
	"pawl/internal/git"
)

// base returns the commit that the change is compared with.
func (q Question) base(ctx context.Context, root string) (string, error) {
	if q.Push && q.Base == "" {
		if commit, err := q.lastGated(ctx, root); err != nil || commit != "" {
			return commit, err
		}
	}
	named, err := q.named()
	if err != nil {
		return "", err
	}
	for _, name := range named {
		if strings.HasPrefix(name, "-") {
			return "", fmt.Errorf("%q is no name of a commit", name)
		}
		var commit string
		if commit, err = git.Resolve(ctx, root, name); err == nil {
			return commit, nil
		}
	}
	if err == nil {
		err = errors.New("no base is known: name one with --base")
	}
	return "", err
}

// lastGated returns the last commit of the branch that was gated and did not fail, by its history;
// empty where it has none. So a slow kernel is gated until it is mended or accepted. What was gated on
// a branch that was merged is no commit of this line, and a run that is repeated does not ask about
// its own.
func (q Question) lastGated(ctx context.Context, root string) (string, error) {
	events, _, err := baseline.ReadHistory(baseline.HistoryPath(q.Baseline))
	if err != nil || len(events) == 0 {
		return "", err
	}
	gated, failed := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if hash, changed := git.Hash(e.Commit); !changed && !e.Decision() {
			gated[hash], failed[hash] = true, failed[hash] || e.Verdict.Fails()
		}
	}
	line, err := git.Run(ctx, root, nil, "rev-list", "--first-parent", "--skip=1", "HEAD")
	for commit := range strings.FieldsSeq(string(line)) {
		if gated[commit] && !failed[commit] {
			return commit, nil
		}
	}
	return "", err
}

// named are the names of the base, the best first.
func (q Question) named() ([]string, error) {
	if q.Base != "" {
		return []string{q.Base}, nil
	}
	var names []string
	if q.Target != "" {
		names = append(names, "refs/remotes/origin/"+q.Target)
	}
	event, err := ReadEvent(q.Event)
	for _, name := range []string{event.PullRequest.Base.SHA, event.Before} {
		if hash.MatchString(name) && strings.Trim(name, "0") != "" { // all zeros: the branch is new
			names = append(names, name)
		}
	}
	return names, err
}

// Event is what matters of the event that caused a run.
type Event struct {
	PullRequest struct {
		// Number is 0 where no pull request caused it.
		Number int `json:"number"`
		Base   struct {
			SHA string `json:"sha"`
		} `json:"base"`
		Head struct {
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	// Before is what a branch was at before a push.
	Before string `json:"before"`
}

// ReadEvent reads the file that GITHUB_EVENT_PATH names; an empty path is no event.
func ReadEvent(path string) (e Event, err error) {
	if path == "" {
		return e, nil
	}
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &e)
	}
	if err != nil {
		err = fmt.Errorf("reading the event of the run, %s: %w", path, err)
	}
	return e, err
}

// isOwn reports whether a file of pawl's own repository is part of the program. The kernels
// that are embedded in it count only where they are gated.
func isOwn(name string) bool {
	parts := strings.Split(name, "/")
	switch {
	case slices.Contains(parts[:len(parts)-1], "testdata"), path.Ext(name) == ".md", strings.HasSuffix(name, "_test.go"),
		parts[0] == "results", parts[0] == "tuning":
		return false
	case path.Ext(name) == ".go", name == "go.mod", name == "go.sum":
		return true
	case len(parts) > 2 && parts[0] == "kernels":
		return false // a kernel's folder
	}
	return parts[0] != "docs" && !strings.HasPrefix(parts[0], ".") && len(parts) > 1
}
