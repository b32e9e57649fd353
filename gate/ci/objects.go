package ci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pawl/internal/git"
)

// The author where git knows none: that is whose token pushes.
const (
	authorName  = "github-actions[bot]"
	authorEmail = "41898282+github-actions[bot]@users.noreply.github.com"
)

// fetch returns the commit that the branch is at, with its history.
func (s *publishing) fetch(ctx context.Context) (string, error) {
	tip, err := s.remote.Fetch(ctx, s.Branch)
	switch {
	case err != nil:
		return "", again{err}
	case tip == "":
		return "", fmt.Errorf("%s has no branch %s", s.Remote, s.Branch)
	}
	return tip, nil
}

// commit makes the commit on a tip; no branch points to it yet.
func (s *publishing) commit(ctx context.Context, tip string, c change) (hash string, err error) {
	made := git.Commit{Onto: tip, Message: message(c), Identity: s.identity(ctx)}
	for _, file := range []git.File{{Name: s.name, Content: c.file}, {Name: s.history, Content: c.history}} {
		if file.Content != nil {
			made.Files = append(made.Files, file)
		}
	}
	return made.Write(ctx, s.root)
}

// identity returns the variables that name an author where nobody has told git one.
func (s *publishing) identity(ctx context.Context) []string {
	// Asked so, git does not guess one from the name of the machine.
	strict := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.useConfigOnly", "GIT_CONFIG_VALUE_0=true"}
	if _, err := git.RunWith(ctx, s.root, strict, nil, "var", "GIT_COMMITTER_IDENT"); err == nil {
		if _, err = git.RunWith(ctx, s.root, strict, nil, "var", "GIT_AUTHOR_IDENT"); err == nil {
			return []string{} // git's own
		}
	}
	return git.Identity(authorName, authorEmail)
}

// readIfThere returns a file's content, nothing where there is none.
func readIfThere(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}
