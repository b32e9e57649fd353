package baseline

import (
	"errors"
	"fmt"
	"io"

	"pawl/internal/page"
)

// Update changes the file at path as it is now, under its lock. Nothing is written
// where the file is damaged or change returns an error.
func Update(path string, change func(*File) error) (err error) {
	unlock, err := page.Lock(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f, err := Read(path)
	if err != nil {
		return err
	}
	if err := change(f); err != nil {
		return err
	}
	return f.WriteResults(path)
}

// WriteResults seals the file and writes it over whatever is there. Killed at any
// instant, the file is the old one or the new one.
func (f *File) WriteResults(path string) error {
	text, err := f.Text()
	if err != nil {
		return fmt.Errorf("baseline %s: refusing to write it: %w", path, err)
	}
	return page.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
