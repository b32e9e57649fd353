package ratchet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pawl/internal/git"
)

// Tree is the files of a commit in a folder of their own.
type Tree struct {
	// Commit is the hash, Here the folder that has the place in the tree of the folder it was opened from.
	Commit, Here string
	root         string
}

// OpenTree unpacks the files of a commit, by any name that git knows. Close removes them.
func OpenTree(ctx context.Context, folder, name string) (*Tree, error) {
	top, err := git.Top(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("opening the tree of %s: %w", name, err)
	}
	commit, err := git.Resolve(ctx, folder, name)
	if err != nil {
		return nil, fmt.Errorf("opening the tree of %s: %w", name, err)
	}
	// Both without links: the place inside is the difference of the two.
	inside := ""
	if folder, err = filepath.Abs(folder); err == nil {
		if folder, err = filepath.EvalSymlinks(folder); err == nil {
			if top, err = filepath.EvalSymlinks(top); err == nil {
				inside, err = filepath.Rel(top, folder)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the tree of %s: %w", name, err)
	}
	root, err := os.MkdirTemp("", "pawl-base-tree-")
	if err != nil {
		return nil, err
	}
	t := &Tree{Commit: commit, Here: filepath.Join(root, inside), root: root}
	err = git.Export(ctx, top, commit, root)
	if err == nil {
		if _, missing := os.Stat(t.Here); missing != nil {
			err = fmt.Errorf("it has no folder %s", inside)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the tree of %s: %w", name, err), t.Close())
	}
	return t, nil
}

// Close removes the files.
func (t *Tree) Close() error { return os.RemoveAll(t.root) }
