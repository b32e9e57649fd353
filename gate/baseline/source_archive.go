package baseline

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pawl/kernels"
)

// archiveLimit bounds a kernel's sources in the baseline, in bytes before they
// are packed: it is a file for a repository.
const archiveLimit = 1 << 20

// ErrTooLarge says that a kernel's files are too many bytes for a baseline.
var ErrTooLarge = fmt.Errorf("they are larger than %d bytes: commit them instead", archiveLimit)

// Pack returns the files of a kernel as text for [Entry.Archive]. The same files
// pack to the same text.
func Pack(files []kernels.File) (string, error) {
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	total := 0
	for _, f := range files {
		if total += len(f.Content); total > archiveLimit {
			return "", fmt.Errorf("packing the sources: %w", ErrTooLarge)
		}
		// Names and contents only: neither times nor owners.
		if err := archive.WriteHeader(&tar.Header{
			Name:   f.Name,
			Mode:   0o644,
			Size:   int64(len(f.Content)),
			Format: tar.FormatPAX,
		}); err != nil {
			return "", fmt.Errorf("packing the sources: %w", err)
		}
		if _, err := archive.Write(f.Content); err != nil {
			return "", fmt.Errorf("packing the sources: %w", err)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return "", fmt.Errorf("packing the sources: %w", err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// Unpack writes packed sources into a folder.
func Unpack(text, folder string) error {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("unpacking stored sources: %w", err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("unpacking stored sources: %w", err)
	}
	return UnpackTar(plain, folder)
}

// UnpackTar writes the regular files of an archive into a folder, and nothing
// outside it.
func UnpackTar(r io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("unpacking sources: %w", err)
	}
	defer root.Close()
	archive := tar.NewReader(io.LimitReader(r, 16*archiveLimit))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpacking sources: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := unpackFile(root, filepath.FromSlash(strings.TrimPrefix(header.Name, "./")), archive); err != nil {
			return fmt.Errorf("unpacking sources: %w", err)
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) (err error) {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, content)
	return err
}
