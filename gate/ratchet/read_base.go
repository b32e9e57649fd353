package ratchet

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/internal/git"
	"pawl/objective/devices"
)

// MergeBase returns the commit that the checked-out branch left another one at, in the
// repository that a baseline file belongs to. It is part of the other branch's history:
// nothing that the checked-out branch adds can change it.
func MergeBase(ctx context.Context, path, branch string) (string, error) {
	folder, _, err := inRepository(ctx, path)
	if err != nil {
		return "", err
	}
	other, err := resolve(ctx, folder, branch)
	if err != nil {
		return "", err
	}
	return git.Line(ctx, folder, "merge-base", "HEAD", other)
}

// MergeParent returns what GitHub has merged a pull request into, where the checked-out commit is that merge: it is
// newer than the base that the event names, whose later changes are not the pull request's. Ref and commit are what
// the job runs for. Elsewhere it returns the base as it is; a merge of the branch's own is none.
func MergeParent(ctx context.Context, path, base, ref, commit string) (string, error) {
	if !mergeRef.MatchString(ref) || commit == "" {
		return base, nil
	}
	folder, _, err := inRepository(ctx, path)
	if err != nil {
		return "", err
	}
	words, err := git.Line(ctx, folder, "rev-list", "--parents", "--max-count=1", "HEAD")
	hashes := strings.Fields(words)
	if err != nil || len(hashes) != 3 || hashes[0] != commit {
		return base, err
	}
	named, err := resolve(ctx, folder, base)
	if err != nil {
		return "", err
	}
	if newer, err := git.Has(ctx, folder, hashes[1], named); err != nil || !newer {
		return base, err
	}
	return hashes[1], nil
}

var mergeRef = regexp.MustCompile(`^refs/pull/\d+/merge$`)

// readBase returns the baseline of a commit, as the file and as its text, which is nil
// where the commit has none. The working tree has no say in it. Where a branch of its own keeps the
// baseline, that is the file.
func readBase(ctx context.Context, path, ref string) (file *baseline.File, text []byte, commit string, err error) {
	folder, name, err := inRepository(ctx, path)
	if err != nil {
		return nil, nil, "", err
	}
	if commit, err = resolve(ctx, folder, ref); err != nil {
		return nil, nil, "", err
	}
	if text, _, err = git.Blob(ctx, folder, commit, name); err != nil {
		return nil, nil, commit, err
	}
	kept, found, err := git.Blob(ctx, folder, git.Tracked(baseline.Branch), name)
	if err != nil || !found {
		kept = text
	}
	if kept == nil {
		return baseline.New(), text, commit, nil
	}
	file, err = baseline.Parse(ref+":"+path, kept)
	return file, text, commit, err
}

// readDecisions returns what people have decided on this branch: what its history has and that of
// the commit has not.
func readDecisions(ctx context.Context, path, commit string) (decided []baseline.Event, err error) {
	events, _, err := baseline.ReadHistory(path)
	if err != nil {
		return nil, err
	}
	folder, name, err := inRepository(ctx, path)
	if err != nil {
		return nil, err
	}
	text, _, err := git.Blob(ctx, folder, commit, name)
	before, _ := baseline.ParseHistory(text)
	return baseline.Decisions(events, before), err
}

// readBasePolicy returns the policy of a commit, nil where the commit has none or the file
// is not of the repository.
func readBasePolicy(ctx context.Context, path, commit string) (*policy.File, error) {
	if path == "" {
		return nil, nil
	}
	folder, name, inside, err := git.Locate(ctx, path)
	if err != nil || !inside {
		return nil, err
	}
	text, found, err := git.Blob(ctx, folder, commit, name)
	if err != nil || !found {
		return nil, err
	}
	return policy.Parse(commit+":"+path, text)
}

// inRepository returns the root of the repository that the program runs in and the file's
// name there.
func inRepository(ctx context.Context, path string) (root, name string, err error) {
	root, name, inside, err := git.Locate(ctx, path)
	if err == nil && !inside {
		err = devices.Argumentf("--baseline %s is not in the repository %s, whose base is asked for",
			path, root)
	}
	return root, name, err
}

// resolve returns the commit of a name. What git could take for an option is refused.
func resolve(ctx context.Context, folder, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") {
		return "", devices.Argumentf("%q is no name of a commit", ref)
	}
	commit, err := git.Resolve(ctx, folder, ref)
	if err != nil {
		return "",
			fmt.Errorf("the base %s is not here: %w (a shallow clone has no other branches: fetch the whole history)", ref, err)
	}
	return commit, nil
}
