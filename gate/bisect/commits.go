package bisect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective/devices"
)

// Commit is a commit as its author described it: text from outside.
type Commit struct {
	Hash    string    `json:"hash"`
	Date    time.Time `json:"date"` // of the author
	Subject string    `json:"subject"`
	// Parents are more than one for a merge.
	Parents []string `json:"parents"`
	// content identifies the kernel in this commit, and paths are those of the
	// repository's that it has; empty where it has no such kernel.
	content string
	paths   []string
}

// repository reads the history that a kernel's folder lies in. It asks git for objects
// only: neither the index nor the files of the checkout are read or written.
type repository struct {
	root string
	// paths are the kernel's folder and what it needs beside it, from the root, with slashes.
	paths []string
}

// open finds the repository of a kernel's folder. Beside are further paths, relative to
// the working directory as the folder is.
func open(ctx context.Context, folder string, beside []string) (*repository, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, devices.Argumentf("%q is not a folder: only a kernel in a folder of a repository has a history", folder)
	}
	root, err := git.Top(ctx, folder)
	if err != nil {
		return nil, devices.Argumentf("%s is in no git repository: %w", folder, err)
	}
	r := &repository{root: root}
	for _, name := range append([]string{folder}, beside...) {
		inside, err := r.relative(name)
		if err != nil {
			return nil, err
		}
		r.paths = append(r.paths, inside)
	}
	return r, nil
}

func (r *repository) relative(name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", devices.Argumentf("%w", err)
	}
	inside, err := filepath.Rel(r.root, absolute)
	if inside = filepath.ToSlash(inside); err != nil || inside == ".." || strings.HasPrefix(inside, "../") ||
		strings.ContainsAny(inside, "\n\x00") {
		return "", devices.Argumentf("%q is not in the repository %q", name, r.root)
	}
	return inside, nil
}

// line returns the commit that is called good and those after it up to the one called
// bad, in order. A branch that was merged is one commit, its merge (--first-parent).
func (r *repository) line(ctx context.Context, good, bad string) ([]Commit, error) {
	begin, err := r.resolve(ctx, good)
	if err != nil {
		return nil, err
	}
	end, err := r.resolve(ctx, bad)
	if err != nil {
		return nil, err
	}
	line, err := r.list(ctx, "--max-count=1", begin)
	if err != nil {
		return nil, err
	}
	after, err := r.list(ctx, "--first-parent", "--reverse", begin+".."+end)
	if err != nil {
		return nil, err
	}
	if len(after) == 0 || len(after[0].Parents) == 0 || after[0].Parents[0] != begin {
		return nil, devices.Argumentf("%s is not an earlier commit of the line that leads to %s: it must be reached from "+
			"there by first parents", good, bad)
	}
	line = append(line, after...)
	return line, r.identify(ctx, line)
}

func (r *repository) resolve(ctx context.Context, reference string) (string, error) {
	if reference == "" || strings.HasPrefix(reference, "-") {
		return "", devices.Argumentf("%q is no name of a commit", reference)
	}
	hash, err := git.Resolve(ctx, r.root, reference)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", devices.Argumentf("there is no commit %q; a shallow clone has no old commits: fetch the whole "+
			"history", reference)
	}
	return hash, nil
}

func (r *repository) list(ctx context.Context, arguments ...string) ([]Commit, error) {
	output, err := git.Run(ctx, r.root, nil,
		append([]string{"rev-list", "--format=%H%x00%P%x00%aI%x00%s"}, arguments...)...)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for text := range strings.Lines(string(output)) {
		fields := strings.SplitN(strings.TrimSuffix(text, "\n"), "\x00", 4)
		if len(fields) < 4 {
			continue // the line "commit HASH" above each
		}
		date, err := time.Parse(time.RFC3339, fields[2])
		if err != nil {
			return nil, fmt.Errorf("git rev-list: the date of %s: %w", fields[0], err)
		}
		commits = append(commits, Commit{Hash: fields[0], Parents: strings.Fields(fields[1]), Date: date, Subject: fields[3]})
	}
	return commits, nil
}

// identify finds out which kernel each commit has, by git's own digests.
func (r *repository) identify(ctx context.Context, commits []Commit) error {
	var asked strings.Builder
	for _, c := range commits {
		for _, name := range r.paths {
			fmt.Fprintf(&asked, "%s:%s\n", c.Hash, strings.TrimPrefix(name, "."))
		}
	}
	output, err := git.Run(ctx, r.root, strings.NewReader(asked.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return err
	}
	answers := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	if len(answers) != len(commits)*len(r.paths) {
		return fmt.Errorf("git cat-file answered %d times to %d questions", len(answers), len(commits)*len(r.paths))
	}
	for i := range commits {
		for j, name := range r.paths {
			digest := answers[i*len(r.paths)+j]
			if strings.HasSuffix(digest, " missing") {
				continue
			}
			commits[i].paths = append(commits[i].paths, name)
			commits[i].content += name + " " + digest + "\n"
		}
		if !slices.Contains(commits[i].paths, r.paths[0]) {
			commits[i].content = ""
		}
	}
	return nil
}

// extract writes the kernel of a commit, and what it needs beside it, into an empty
// folder, and returns where the kernel is in there.
func (r *repository) extract(ctx context.Context, c Commit, folder string) (kernel string, err error) {
	arguments := append([]string{"archive", "--format=tar", c.Hash, "--"}, c.paths...)
	packed, err := git.Run(ctx, r.root, nil, arguments...)
	if err != nil {
		return "", err
	}
	if err := kernels.Unpack(bytes.NewReader(packed), folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.FromSlash(r.paths[0])), nil
}
