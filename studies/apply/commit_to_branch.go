package apply

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/studies/report"
)

// Branch says where a commit goes.
type Branch struct {
	// Name is the branch's, without refs/heads/. It is made, or moved if its last commit
	// is pawl's own.
	Name string
	// Onto is the commit below, by any name that git knows; empty means HEAD.
	Onto string
}

// Committed is a commit on a branch.
type Committed struct {
	Branch string `json:"branch"`
	// Commit is the last one of the branch, Onto the one below it, both as hashes. Commit
	// is empty where Onto has every file as it should be: then there is no branch.
	Commit string `json:"commit,omitempty"`
	Onto   string `json:"onto"`
	// Files are the names of the files in it, from the repository's root, with slashes.
	Files []string `json:"files"`
}

// Commit makes a commit of the change on a branch. The checkout and its index are neither
// read nor written, but for one question: every file of the kernel must be in the commit
// below as it was measured, or the change would land on something else. A branch that
// cannot be made or moved is a *git.BranchError.
func (c *Change) Commit(ctx context.Context, b Branch) (*Committed, error) {
	root, err := c.repository(ctx)
	if err != nil {
		return nil, err
	}
	onto := cmp.Or(b.Onto, "HEAD")
	if strings.HasPrefix(onto, "-") {
		return nil, fmt.Errorf("%q is no name of a commit", onto)
	}
	hash, err := git.Resolve(ctx, root, onto)
	if err != nil {
		return nil, fmt.Errorf("%s has no commit %q: %w", root, onto, err)
	}
	done := &Committed{Branch: b.Name, Onto: hash, Files: []string{}}
	if err := c.measuredIn(ctx, root, done.Onto); err != nil {
		return nil, err
	}
	commit := git.Commit{Onto: done.Onto, Message: c.message()}
	for _, f := range c.Files {
		name, err := inside(root, f.Path)
		if err != nil {
			return nil, err
		}
		before, found, err := git.Blob(ctx, root, done.Onto, name)
		if err != nil {
			return nil, err
		}
		if found && bytes.Equal(before, f.Content) {
			continue
		}
		commit.Files, done.Files = append(commit.Files, git.File{Name: name, Content: f.Content}), append(done.Files, name)
	}
	if len(commit.Files) == 0 {
		return done, nil
	}
	made, err := commit.Write(ctx, root)
	if err == nil {
		done.Commit, err = git.MoveBranch(ctx, root, b.Name, made)
	}
	return done, err
}

// repository returns the root of the repository that the files are in.
func (c *Change) repository(ctx context.Context) (string, error) {
	folder := c.Kernel.Dir
	if folder == "" && len(c.Files) > 0 {
		folder = filepath.Dir(c.Files[0].Path)
	}
	folder = cmp.Or(folder, ".")
	root, err := git.Top(ctx, folder)
	if err != nil {
		return "",
			c.refuse("%s is in no git repository: %w", folder,
				err).advise("without --branch the files are written where they are")
	}
	return root, nil
}

// measuredIn makes sure that a commit has the kernel's files as they are in the folder,
// which are those that were measured.
func (c *Change) measuredIn(ctx context.Context, root, commit string) error {
	if c.Kernel.Dir == "" || c.Already {
		return nil
	}
	files, err := c.Kernel.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		name, err := inside(root, filepath.Join(c.Kernel.Dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return err
		}
		content, found, err := git.Blob(ctx, root, commit, name)
		if err != nil {
			return err
		}
		if !found || !bytes.Equal(content, f.Content) {
			return c.refuse("%s is not in commit %.12s as it was measured", name,
				commit).advise("commit it first, or apply without --branch")
		}
	}
	return nil
}

// inside returns the name of a file from the root of its repository, with slashes. The
// file itself need not be there; a link to it is not followed.
func inside(root, path string) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the folder of %s is not there: %w", path, err)
	}
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, filepath.Join(folder, filepath.Base(path)))
	if err != nil || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not in the repository %s", path, root)
	}
	return filepath.ToSlash(name), nil
}

// message is that of the commit: what changes, how sure the gain is, and which study
// says so.
func (c *Change) message() string {
	study := c.Summary.Study
	var text strings.Builder
	fmt.Fprintf(&text, "Apply the winner of study %d to %s\n\n", study.ID, escape.Line(study.Kernel))
	fmt.Fprintf(&text, "Workload %s on %s: %s. %s\n\n", escape.Line(study.Workload),
		escape.Line(study.Environment.Device), c.Summary.Figures(), escape.Line(c.Summary.Advice.Sentence))
	for _, change := range c.Changes() {
		fmt.Fprintf(&text, "  %s\n", change)
	}
	fmt.Fprintf(&text, "\nPawl-Study: %d\nPawl-Source: %s\n", study.ID, study.Source)
	return text.String()
}

// Changes returns the parameters that differ, such as "BLOCK 16 → 64".
func (c *Change) Changes() []string {
	return collect.Each(report.Changes(c.Default, c.Winner), report.Change.String)
}
