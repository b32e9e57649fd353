package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// writeAll brings the files into the repository. Everything that stands in the way is found
// before the first file is written.
func writeAll(top string, files []file, force bool) ([]Outcome, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var outcomes []Outcome
	for _, f := range files {
		state, err := look(root, f, force)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, Outcome{Path: f.path, State: state, Owned: f.owned})
	}
	for i, f := range files {
		if s := outcomes[i].State; s != Written && s != Replaced {
			continue
		}
		if err := write(root, f); err != nil {
			return outcomes[:i], fmt.Errorf("writing %s: %w", f.path, err)
		}
	}
	return outcomes, nil
}

// look says what is to become of a file.
func look(root *os.Root, f file, force bool) (State, error) {
	parts := strings.Split(f.path, "/")
	for i := range parts {
		name := strings.Join(parts[:i+1], "/")
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return Written, nil
		}
		if err != nil {
			return "", fmt.Errorf("looking at %s: %w", name, err)
		}
		switch last := i == len(parts)-1; {
		case info.Mode()&fs.ModeSymlink != 0:
			return "",
				fmt.Errorf("%s is a symbolic link: pawl writes to no other place than the one that it names; nothing was written",
					name)
		case last && !info.Mode().IsRegular():
			return "", fmt.Errorf("%s is no regular file; nothing was written", name)
		case !last && !info.IsDir():
			return "", fmt.Errorf("%s is no folder; nothing was written", name)
		}
	}
	old, err := root.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", f.path, err)
	}
	switch {
	case bytes.Equal(old, f.content):
		return Unchanged, nil
	case force && !f.owned, f.added:
		return Replaced, nil
	}
	return Kept, nil
}

// write puts a file in its place as a whole or not at all. The root refuses every path that
// leaves the repository, also if a link was put there since look.
func write(root *os.Root, f file) error {
	if err := root.MkdirAll(path.Dir(f.path), 0o755); err != nil {
		return err
	}
	temporary := path.Join(path.Dir(f.path), "."+path.Base(f.path)+".new")
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // of a run that was killed
	}
	out, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(f.content)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(temporary, f.path)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}
