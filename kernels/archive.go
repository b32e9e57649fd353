package kernels

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Pack writes files as an archive of tar: names and contents only, neither times nor owners, so that the same files
// are the same bytes.
func Pack(w io.Writer, files []File) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o644, Size: int64(len(f.Content)), Format: tar.FormatPAX})
		if err == nil {
			_, err = archive.Write(f.Content)
		}
		if err != nil {
			return fmt.Errorf("packing %s: %w", f.Name, err)
		}
	}
	return archive.Close()
}

// Unpack writes the regular files of an archive into a folder, and nothing outside it: whoever may file a task on a
// farm, or change a baseline, may have packed them.
func Unpack(r io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("unpacking sources: %w", err)
	}
	defer root.Close()
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && header.Typeflag == tar.TypeReg {
			err = unpackFile(root, filepath.FromSlash(header.Name), archive)
		}
		if err != nil {
			return fmt.Errorf("unpacking sources: %w", err)
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
