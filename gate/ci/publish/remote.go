package publish

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"pawl/internal/git"
)

// patience bounds each call that waits for the remote.
const patience = 2 * time.Minute

// remote is the repository's origin as seen from the checkout.
type remote struct {
	folder string
	auth   []string
	// base is the commit that drafts are made on: the base branch as the origin has it.
	base string
}

// notOurs says that a branch's last commit is a person's.
type notOurs struct{ branch, commit string }

func (e *notOurs) Error() string {
	return fmt.Sprintf("the last commit of %s (%.12s) is not pawl's, so that it stays: merge or delete the branch to get a new draft", e.branch, e.commit)
}

func (d Drafts) remote(ctx context.Context) (*remote, error) {
	r := &remote{folder: d.Folder, auth: git.Authorization(d.Job.Server, d.Job.Token)}
	for _, branch := range []string{d.Base, d.Prefix + "x"} {
		if _, err := git.Run(ctx, r.folder, nil, "check-ref-format", "refs/heads/"+branch); err != nil || strings.HasPrefix(branch, "-") {
			return nil, fmt.Errorf("%q is no name of a branch", branch)
		}
	}
	var err error
	if r.base, err = r.fetch(ctx, d.Base); err == nil && r.base == "" {
		err = fmt.Errorf("the origin has no branch %s", d.Base)
	}
	return r, err
}

// fetch returns the commit that a branch of the origin is at, with its history; empty
// where there is none.
func (r *remote) fetch(ctx context.Context, branch string) (string, error) {
	tracked := "refs/remotes/origin/" + branch
	_, err := r.run(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", "+refs/heads/"+branch+":"+tracked)
	var failed *git.Error
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "find remote ref") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return r.line(ctx, "rev-parse", "--verify", tracked+"^{commit}")
}

// push makes the origin's branch point to a commit of pawl's. A branch whose last commit is
// somebody else's stays: the error is a *notOurs. Kept says that the branch has the same
// already. Of two pushes at the same moment one fails.
func (r *remote) push(ctx context.Context, branch, commit string) (kept bool, err error) {
	before, err := r.fetch(ctx, branch)
	if err != nil {
		return false, err
	}
	if before != "" {
		own, err := git.Own(ctx, r.folder, before)
		if err != nil {
			return false, err
		}
		if !own {
			// Nothing is lost where the base has all of it.
			if merged, err := r.has(ctx, r.base, before); err != nil || !merged {
				return false, errors.Join(err, &notOurs{branch, before})
			}
		}
		if same, err := r.same(ctx, before, commit); err != nil || same {
			return same, err
		}
	}
	lease := fmt.Sprintf("--force-with-lease=refs/heads/%s:%s", branch, before)
	_, err = r.run(ctx, "push", "--quiet", "--no-verify", lease, "origin", commit+":refs/heads/"+branch)
	if err != nil {
		return false, err
	}
	if after, err := r.fetch(ctx, branch); err != nil || after != commit {
		return false, errors.Join(err, fmt.Errorf("the origin has %.12s as %s, and not what was pushed", after, branch))
	}
	return false, nil
}

// same reports whether two commits have the same files on the same parent.
func (r *remote) same(ctx context.Context, a, b string) (bool, error) {
	first, err := r.line(ctx, "show", "--no-patch", "--format=%T %P", a)
	if err != nil {
		return false, err
	}
	second, err := r.line(ctx, "show", "--no-patch", "--format=%T %P", b)
	return first == second, err
}

// has reports whether a commit is part of another one's history.
func (r *remote) has(ctx context.Context, tip, commit string) (bool, error) {
	_, err := git.Run(ctx, r.folder, nil, "merge-base", "--is-ancestor", commit, tip)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // no, and nothing is wrong
		return false, nil
	}
	return err == nil, err
}

// run runs git where it speaks to the origin.
func (r *remote) run(ctx context.Context, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return git.RunWith(ctx, r.folder, r.auth, nil, arguments...)
}

func (r *remote) line(ctx context.Context, arguments ...string) (string, error) {
	output, err := git.Run(ctx, r.folder, nil, arguments...)
	return strings.TrimSpace(string(output)), err
}
