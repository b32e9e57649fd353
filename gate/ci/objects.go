package ci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pawl/internal/git"
)

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
	made := git.Commit{Onto: tip, Message: message(c)}
	for _, file := range []git.File{{Name: s.name, Content: c.file}, {Name: s.history, Content: c.history}} {
		if file.Content != nil {
			made.Files = append(made.Files, file)
		}
	}
	return made.Write(ctx, s.root)
}

// readIfThere returns a file's content, nothing where there is none.
func readIfThere(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}
