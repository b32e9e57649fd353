package setup

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/internal/git"
	"pawl/kernels"
)

// repository is what is known of the one that is set up.
type repository struct {
	top string
	// branch is the one that everything is merged into.
	branch string
	// own says that this is pawl's own repository, which builds the pawl that it has.
	own bool
	// kernels are the folders with a manifest, from the top, sorted.
	kernels []string
	// broken are those whose manifest cannot be read.
	broken []string
	// sleeps says that there is a file of commands that wake the runner.
	sleeps bool
}

// find looks at the repository that a folder lies in.
func find(ctx context.Context, folder string) (repository, error) {
	folder = cmp.Or(folder, ".")
	top, err := git.Top(ctx, folder)
	if err != nil {
		return repository{}, err
	}
	r := repository{top: top, branch: mainBranch(ctx, top), own: ci.IsPawl(top)}
	if _, err := os.Lstat(filepath.Join(r.top, runner.FileName)); err == nil {
		r.sleeps = true
	}
	return r, r.findKernels(ctx)
}

var safeBranch = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// mainBranch is the remote's default where that is known, then main or master where there
// is one, then main. The branch that is checked out says nothing: init itself
// is often run on one that is to be reviewed.
func mainBranch(ctx context.Context, top string) string {
	const remote = "refs/remotes/origin/"
	head, err := git.Line(ctx, top, "symbolic-ref", "--quiet", remote+"HEAD")
	if name := strings.TrimPrefix(head, remote); err == nil && safeBranch.MatchString(name) {
		return name
	}
	for _, name := range []string{"main", "master"} {
		for _, where := range []string{remote, "refs/heads/"} {
			if _, err := git.Run(ctx, top, nil, "rev-parse", "--verify", "--quiet", where+name); err == nil {
				return name
			}
		}
	}
	return "main"
}

// findKernels lists the kernels among the files that git knows or would add.
func (r *repository) findKernels(ctx context.Context) error {
	output, err := git.Run(ctx, r.top, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(output), "\x00") {
		if path.Base(name) != kernels.ManifestName {
			continue
		}
		folder := path.Dir(name)
		if slices.Contains(r.kernels, folder) || slices.Contains(r.broken, folder) {
			continue // git lists a file in conflict several times
		}
		if _, err := kernels.LoadAny(filepath.Join(r.top, filepath.FromSlash(folder)), ""); err == nil {
			r.kernels = append(r.kernels, folder)
		} else {
			r.broken = append(r.broken, folder)
		}
	}
	slices.Sort(r.kernels)
	slices.Sort(r.broken)
	return nil
}
