// Package setup writes what a repository needs to be gated and tuned on GitHub: two
// workflows and the action by which they build pawl, a policy, a template for pull requests
// and a page about the runner.
//
// Its opinion: what a repository runs should be readable in that repository. So the
// workflows are plain files, written once and reviewed like code, and not a reference to
// an action elsewhere. pawl's own are what it writes: a test compares.
//
//  1. Find the top of the repository, its main branch and its kernels (find_kernels.go).
//  2. Fill in the templates (workflow_files.go).
//  3. Write what is missing, replace only what is pawl's and only when forced, follow no
//     symbolic link (write_files.go), and say what is left to do (next_steps.go).
package setup

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"pawl/gate/ci"
	"pawl/objective/devices"
)

// Options say what to write, and where.
type Options struct {
	// Folder lies in the repository; empty is the current one.
	Folder string
	// Pawl is where the workflows take pawl from. The zero value is right in pawl's own
	// repository only.
	Pawl Source
	// Runner is the label of the self-hosted runner; empty gates on a runner that GitHub
	// hosts, until the variable PAWL_RUNNER of the repository names another.
	Runner string
	// Force replaces workflows and page that differ. The policy and the template for
	// pull requests are the repository's own and stay.
	Force bool
}

// Source is a commit of a repository that holds pawl.
type Source struct {
	Repository string // OWNER/NAME
	Commit     string // 40 hexadecimal digits
}

var (
	repositoryName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}$`)
	commitName     = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// ParseSource reads OWNER/REPOSITORY@COMMIT. Without a commit it is built, the one that
// this program was built from, where that is known. A branch or a tag is refused: it can be
// moved, and then something else runs than what was reviewed.
func ParseSource(text, built string) (Source, error) {
	repository, commit, given := strings.Cut(text, "@")
	if !repositoryName.MatchString(repository) || strings.HasSuffix(repository, "/.") ||
		strings.HasSuffix(repository, "/..") {
		return Source{}, fmt.Errorf("%q is no OWNER/REPOSITORY", repository)
	}
	if !given {
		commit = built
	}
	switch {
	case commitName.MatchString(commit):
		return Source{repository, commit}, nil
	case !given:
		return Source{},
			fmt.Errorf("this pawl does not know which commit it was built from: name one, as in %s@COMMIT", repository)
	}
	return Source{}, fmt.Errorf("%q is no full commit: branches and tags can be moved; git rev-parse 'TAG^{commit}' "+
		"prints the 40 digits", commit)
}

// State is what became of a file.
type State string

const (
	Written   State = "wrote"
	Replaced  State = "replaced"
	Unchanged State = "unchanged"
	Kept      State = "kept" // it differs, and nobody said that it may be replaced
)

// Result is what Init did.
type Result struct {
	// Top is the folder of the repository.
	Top   string
	Files []Outcome
	// Next is what a person has to do now, in order.
	Next []string
}

// Outcome is one file, by its path from the top.
type Outcome struct {
	Path  string
	State State
	// Owned says that the repository's people write the file, so that it is never replaced.
	Owned bool
}

// ErrNoSource says that a repository other than pawl's own must name one that has pawl.
var ErrNoSource = &devices.ArgumentError{Err: errors.New("which pawl shall the workflows build? Name a repository " +
	"that has it and a commit: --pawl OWNER/REPOSITORY@COMMIT")}

// Init writes the files. What was written before an error is in the result.
func Init(ctx context.Context, o Options) (*Result, error) {
	if o.Runner != "" {
		if err := ci.CheckRunner(o.Runner); err != nil {
			return nil, devices.Argumentf("--runner: %w", err)
		}
	}
	r, err := find(ctx, o.Folder)
	if err != nil {
		return nil, err
	}
	if o.Pawl == (Source{}) && !r.own {
		return nil, ErrNoSource
	}
	files, err := render(o, r)
	if err != nil {
		return nil, err
	}
	result := &Result{Top: r.top}
	result.Files, err = writeAll(r.top, files, o.Force)
	if err != nil {
		return result, err
	}
	result.Next = next(o, r)
	return result, nil
}
