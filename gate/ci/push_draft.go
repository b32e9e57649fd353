package ci

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pawl/internal/git"
)

// patience bounds each call that waits for the remote.
const patience = 2 * time.Minute

// remote is the repository's origin as seen from the checkout.
type remote struct {
	git.Remote
	// base is the commit that drafts are made on: the base branch as the origin has it.
	base string
}

// notOurs says that a branch's last commit is a person's.
type notOurs struct{ branch, commit string }

func (e *notOurs) Error() string {
	return fmt.Sprintf("the last commit of %s (%.12s) is not pawl's, so that it stays: merge or delete the branch to "+
		"get a new draft", e.branch, e.commit)
}

func (d Drafts) remote(ctx context.Context) (*remote, error) {
	r := &remote{Remote: git.Remote{
		Folder:    d.Folder,
		Variables: git.Authorization(d.Job.Server, d.Job.Token),
		Patience:  patience,
	}}
	if _, err := git.Run(ctx, r.Folder, nil, "check-ref-format", "refs/heads/"+d.Base); err != nil ||
		strings.HasPrefix(d.Base, "-") {
		return nil, fmt.Errorf("%q is no name of a branch", d.Base)
	}
	var err error
	if r.base, err = r.Fetch(ctx, d.Base); err == nil && r.base == "" {
		err = fmt.Errorf("the origin has no branch %s", d.Base)
	}
	return r, err
}

// push makes the origin's branch point to a commit of pawl's. A branch whose last commit is
// somebody else's stays: the error is a *notOurs. Kept says that the branch has the same
// already. Of two pushes at the same moment one fails.
func (r *remote) push(ctx context.Context, branch, commit string) (kept bool, err error) {
	before, err := r.Fetch(ctx, branch)
	if err != nil {
		return false, err
	}
	if before != "" {
		own, err := git.Own(ctx, r.Folder, before)
		if err != nil {
			return false, err
		}
		if !own {
			// Nothing is lost where the base has all of it.
			if merged, err := git.Has(ctx, r.Folder, r.base, before); err != nil || !merged {
				return false, errors.Join(err, &notOurs{branch, before})
			}
		}
		if same, err := r.same(ctx, before, commit); err != nil || same {
			return same, err
		}
	}
	lease := fmt.Sprintf("--force-with-lease=refs/heads/%s:%s", branch, before)
	_, err = r.Run(ctx, "push", "--quiet", "--no-verify", lease, "origin", commit+":refs/heads/"+branch)
	if err != nil {
		return false, err
	}
	if after, err := r.Fetch(ctx, branch); err != nil || after != commit {
		return false, errors.Join(err, fmt.Errorf("the origin has %.12s as %s, and not what was pushed", after, branch))
	}
	return false, nil
}

// same reports whether two commits have the same files on the same parent.
func (r *remote) same(ctx context.Context, a, b string) (bool, error) {
	first, err := git.Line(ctx, r.Folder, "show", "--no-patch", "--format=%T %P", a)
	if err != nil {
		return false, err
	}
	second, err := git.Line(ctx, r.Folder, "show", "--no-patch", "--format=%T %P", b)
	return first == second, err
}
