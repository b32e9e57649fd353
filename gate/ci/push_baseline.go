package ci

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// Publication puts the baseline of this checkout and its history on a branch of origin,
// in a commit of their own. The checkout and its index are left as they are.
type Publication struct {
	// Baseline is the file; the history lies beside it.
	Baseline string
	// Branch is its name there: [baseline.Branch], which is made where there is none and has
	// nothing else, or the branch that is checked out.
	Branch string
	// Server and Token let git speak to the remote; both may be empty.
	Server, Token string
	// Attempts is how often a push is tried; 0 means 6.
	Attempts int
	// Pause is the time before the second attempt, twice as long before each further one;
	// 0 means a second.
	Pause time.Duration
	// Patience bounds each call that waits for the remote; 0 means two minutes.
	Patience time.Duration
	// Say gets a sentence about each attempt that failed. It may be nil.
	Say func(string)
}

// Published is what came of it.
type Published struct {
	// Commit is on the branch; empty where nothing had moved.
	Commit string
	// Moved are the entries that the commit changed, Events the lines that it added to the history.
	Moved  []Move
	Events int
	// Chosen says what there was to choose where the branch had moved the same entries.
	Chosen   []string
	Attempts int
}

// again is a reason to try once more.
type again struct{ error }

// Run publishes. An error leaves the remote as it was, except one that says that the remote
// could not be asked. Killed at any instant, it can be run again.
func (p Publication) Run(ctx context.Context) (Published, error) {
	p.Attempts = cmp.Or(p.Attempts, 6)
	p.Pause, p.Patience = cmp.Or(p.Pause, time.Second), cmp.Or(p.Patience, 2*time.Minute)
	s, err := p.open(ctx)
	if err != nil {
		return Published{}, fmt.Errorf("publishing the baseline: %w", err)
	}
	for attempt := 1; ; attempt++ {
		published, err := s.attempt(ctx)
		switch {
		case err == nil:
			published.Attempts = attempt
			return published, nil
		case ctx.Err() != nil || !errors.As(err, new(again)):
			return Published{}, fmt.Errorf("publishing the baseline: %w", err)
		case attempt == p.Attempts:
			return Published{}, fmt.Errorf("publishing the baseline: given up after %d attempts: %w. What was measured is in "+
				"%s: run this again", attempt, err, p.Baseline)
		case p.Say != nil:
			p.Say(fmt.Sprintf("attempt %d of %d: %v; trying again", attempt, p.Attempts, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.Pause << min(attempt-1, 5)):
		}
	}
}

type publishing struct {
	Publication
	remote              git.Remote
	root, name, history string // the repository, and the files in it
	head                string // the commit that is checked out
	base, ours          *baseline.File
	events              []byte   // our history
	pushed              []string // commits whose push may have arrived
}

// open reads what this checkout has, and what it began with.
func (p Publication) open(ctx context.Context) (*publishing, error) {
	root, name, inside, err := git.Locate(ctx, p.Baseline)
	if err != nil {
		return nil, err
	}
	if !inside {
		return nil, devices.Argumentf("--baseline %s is not in the repository %s", p.Baseline, root)
	}
	s := &publishing{Publication: p, root: root, name: name, history: path.Join(path.Dir(name), baseline.HistoryName)}
	s.remote = git.Remote{
		Folder:    root,
		Variables: git.Authorization(p.Server, p.Token),
		Patience:  p.Patience,
	}
	if _, err := git.Run(ctx, root, nil, "check-ref-format", "refs/heads/"+p.Branch); err != nil {
		return nil, devices.Argumentf("%q is no name of a branch", p.Branch)
	}
	if s.head, err = git.Resolve(ctx, root, "HEAD"); err != nil {
		return nil, err
	}
	// What a run has not come to is gated with the next push, so that its commit must not be in the history.
	report, err := reporting.Read(filepath.Join(filepath.Dir(p.Baseline), reporting.JSONName))
	if err == nil && !report.Finished() {
		return nil, fmt.Errorf("the run has compared %d of %d configurations: gate again first", len(report.Results),
			report.Planned)
	}
	if s.ours, err = baseline.Read(p.Baseline); err != nil {
		return nil, err
	}
	if s.events, err = page.ReadIfThere(baseline.HistoryPath(p.Baseline)); err != nil {
		return nil, err
	}
	if _, err := git.Resolve(ctx, root, git.Tracked(baseline.Branch)); err == nil && !p.apart() {
		return nil, fmt.Errorf("origin has a branch %s, which the gate reads first: delete it, or publish there",
			baseline.Branch)
	}
	s.base, err = s.fileAt(ctx, s.head)
	return s, err
}

// apart says that the branch has no sources.
func (p Publication) apart() bool { return p.Branch == baseline.Branch }

// attempt does all of it once.
func (s *publishing) attempt(ctx context.Context) (Published, error) {
	tip, err := s.fetch(ctx)
	if err != nil {
		return Published{}, err
	}
	if s.apart() {
		s.base, err = s.began(ctx, tip)
	} else if part, failed := git.Has(ctx, s.root, tip, s.head); failed != nil {
		err = failed
	} else if !part {
		return Published{}, fmt.Errorf("this checkout (%.12s) is no part of %s of origin (%.12s): what it has measured does "+
			"not belong there", s.head, s.Branch, tip)
	}
	if err != nil {
		return Published{}, err
	}
	c, err := s.changeOn(ctx, tip)
	if err != nil {
		return Published{}, err
	}
	published := Published{Moved: c.moved, Events: c.events, Chosen: c.chosen}
	if c.file == nil && c.history == nil {
		// Either there was nothing to do, or an earlier attempt has arrived after all.
		for _, commit := range s.pushed {
			if arrived, err := git.Has(ctx, s.root, tip, commit); err == nil && arrived {
				published.Commit = commit
			}
		}
		return published, nil
	}
	if published.Commit, err = s.commit(ctx, tip, c); err != nil {
		return Published{}, err
	}
	return published, s.push(ctx, tip, published.Commit)
}

// change is what a commit on a tip has to do.
type change struct {
	file    []byte // the baseline, nil where it stays
	history []byte // nil where it stays
	moved   []Move
	events  int
	chosen  []string
}

// changeOn joins what this checkout has with what the branch has now.
func (s *publishing) changeOn(ctx context.Context, tip string) (c change, err error) {
	theirs, err := s.fileAt(ctx, tip)
	if err != nil {
		return c, err
	}
	var merged *baseline.File
	merged, c.chosen = baseline.Merge(s.base, s.ours, theirs)
	if c.moved = moves(theirs, merged); !same(theirs, merged) {
		if c.file, err = merged.Text(); err != nil {
			return c, err
		}
	}
	events, err := s.historyAt(ctx, tip)
	if err != nil {
		return c, err
	}
	joined, added := baseline.MergeHistory(s.events, events)
	if c.events = added; added > 0 {
		c.history = joined
	}
	return c, nil
}

// same reports whether two files have the same entries, decisions and sources.
func same(a, b *baseline.File) bool {
	textA, errA := a.Text()
	textB, errB := b.Text()
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}

// began returns the baseline that the run began with: that of the branch's last commit whose history
// the run has as a whole.
func (s *publishing) began(ctx context.Context, tip string) (*baseline.File, error) {
	if tip == "" {
		return baseline.New(), nil
	}
	line, err := git.Run(ctx, s.root, nil, "rev-list", "--first-parent", tip)
	for commit := range strings.FieldsSeq(string(line)) {
		events, err := s.historyAt(ctx, commit)
		if err != nil {
			return nil, err
		}
		if _, unknown := baseline.MergeHistory(events, s.events); unknown == 0 {
			return s.fileAt(ctx, commit)
		}
	}
	return baseline.New(), err
}

func (s *publishing) historyAt(ctx context.Context, commit string) (text []byte, err error) {
	if commit != "" {
		text, _, err = git.Blob(ctx, s.root, commit, s.history)
	}
	return text, err
}

// fileAt returns the baseline of a commit; one without has no entries.
func (s *publishing) fileAt(ctx context.Context, commit string) (*baseline.File, error) {
	if commit == "" {
		return baseline.New(), nil
	}
	text, found, err := git.Blob(ctx, s.root, commit, s.name)
	if err != nil || !found {
		return baseline.New(), err
	}
	return baseline.Parse(fmt.Sprintf("%.12s:%s", commit, s.name), text)
}

// push moves the branch from tip to commit. Whatever the push said, the remote is asked what
// it has.
func (s *publishing) push(ctx context.Context, tip, commit string) error {
	s.pushed = append(s.pushed, commit)
	_, pushed := s.remote.Run(ctx, "push", "--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no",
		"origin", commit+":refs/heads/"+s.Branch)
	listed, err := s.remote.Run(ctx, "ls-remote", "origin", "refs/heads/"+s.Branch)
	if err != nil {
		return again{fmt.Errorf("origin cannot be asked what it has after the push: %w", err)}
	}
	now, _, _ := strings.Cut(string(listed), "\t")
	switch {
	case now == commit:
		return nil
	case now != tip:
		// Others have pushed: before this push, or after it.
		if now, err = s.fetch(ctx); err == nil {
			if arrived, err := git.Has(ctx, s.root, now, commit); err == nil && arrived {
				return nil
			}
		}
		return again{fmt.Errorf("%s has moved meanwhile", s.Branch)}
	case pushed == nil:
		return again{fmt.Errorf("origin accepted the push, and does not have it: %s is still at %.12s", s.Branch, now)}
	}
	return s.refusal(pushed)
}

// refusal says why a push that failed has left the remote as it was.
func (s *publishing) refusal(err error) error {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return again{err}
	}
	reason := ""
	for line := range strings.Lines(failed.Stdout) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 && fields[0] == "!" {
			reason = escape.Line(fields[2])
		}
	}
	switch {
	case strings.Contains(reason, "declined"): // by a hook, a protected branch or a rule
		return fmt.Errorf("origin does not let this token move %s: %s. Exempt the branch from the rule, or give the "+
			"workflow the token of an app that may pass it (the secret PAWL_TOKEN)", s.Branch, reason)
	case strings.Contains(failed.Stderr, "403") || strings.Contains(failed.Stderr, "denied"):
		return fmt.Errorf("origin does not let this token write (%w): the job needs the permission contents: write",
			err)
	case reason != "":
		return again{fmt.Errorf("origin refused the push: %s", reason)}
	}
	return again{err}
}

// fetch returns the commit that the branch is at, with its history.
func (s *publishing) fetch(ctx context.Context) (string, error) {
	tip, err := s.remote.Fetch(ctx, s.Branch)
	switch {
	case err != nil:
		return "", again{err}
	case tip == "" && !s.apart():
		return "", fmt.Errorf("origin has no branch %s", s.Branch)
	}
	return tip, nil
}

// commit makes the commit on a tip; no branch points to it yet.
func (s *publishing) commit(ctx context.Context, tip string, c change) (hash string, err error) {
	files := []git.File{{Name: s.name, Content: c.file}, {Name: s.history, Content: c.history}}
	changed := func(file git.File) bool { return file.Content != nil }
	made := git.Commit{Onto: tip, Message: message(c), Files: collect.Where(files, changed)}
	return made.Write(ctx, s.root)
}
