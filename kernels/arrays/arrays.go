// Package arrays reads the content of buffers from files beside a kernel: NumPy's .npy,
// and raw bytes under any other name.
//
// A file is untrusted. Nothing is allocated on its word: Describe reads it once, from
// beginning to end, and says what it holds, so that every flaw is known before anything
// is timed; Read then fills a buffer of the size that its caller wants, and refuses a
// file that is no longer the one that was described.
//
// There is one layout in memory, so there is one in files: little-endian numbers, the
// last dimension the fastest. Anything else is a sentence that says how to save it, and
// nothing is converted: a conversion that nobody asked for is a wrong input.
package arrays

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// Largest bounds a file's content, in bytes.
const Largest = 1 << 30

// File is an array in a file of a kernel's folder.
type File struct {
	// Name is relative to the folder.
	Name string `json:"name"`
	// Digest is of the bytes on disk.
	Digest string `json:"digest"`
	// Bytes is the size of the content.
	Bytes int64 `json:"bytes"`
	// Header is what a .npy file says of its content; nil for raw bytes.
	Header *Header `json:"-"`
}

// Describe reads a file of a folder and says what it holds. The folder must refuse
// links that lead out of it, as an os.Root does.
func Describe(folder fs.FS, name string) (File, error) {
	f := File{Name: name}
	var err error
	f.Digest, err = walk(folder, name, func(r io.Reader) (err error) {
		if isNumPy(name) {
			if f.Header, err = readHeader(r); err != nil {
				return err
			}
			if f.Bytes, err = io.Copy(io.Discard, io.LimitReader(r, f.Header.bytes+1)); err == nil &&
				f.Bytes != f.Header.bytes {
				err = f.Header.cut(f.Bytes)
			}
			return err
		}
		if f.Bytes, err = io.Copy(io.Discard, io.LimitReader(r, Largest+1)); err == nil && f.Bytes > Largest {
			err = fmt.Errorf("more than %d bytes; at most that many are supported", Largest)
		}
		return err
	})
	return f, err
}

// Read fills a buffer with the content of a file that was described.
func (f File) Read(folder fs.FS, into []byte) error {
	digest, err := walk(folder, f.Name, func(r io.Reader) error {
		if isNumPy(f.Name) {
			if _, err := readHeader(r); err != nil {
				return err
			}
		}
		if n, err := io.ReadFull(r, into); err != nil {
			return fmt.Errorf("%d bytes of content, not %d", n, len(into))
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil || n > 0 {
			return fmt.Errorf("more than %d bytes of content", len(into))
		}
		return nil
	})
	if err == nil && digest != f.Digest {
		err = fmt.Errorf("file %s has changed since the kernel was read: begin again", f.Name)
	}
	return err
}

// walk shows the content of a file and returns the digest of all its bytes.
func walk(folder fs.FS, name string, visit func(io.Reader) error) (digest string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("file %s: %w", name, err)
		}
	}()
	if !filepath.IsLocal(name) {
		return "", errors.New("it leaves the kernel's folder; copy it there")
	}
	path := filepath.ToSlash(filepath.Clean(name))
	// Not opened before it is known to be a file: a pipe would wait for ever.
	switch info, err := fs.Stat(folder, path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("not there; its name counts from the kernel's folder")
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	case info.Size() > Largest:
		return "", fmt.Errorf("%d bytes; at most %d are supported", info.Size(), Largest)
	}
	opened, err := folder.Open(path)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	hash := sha256.New()
	onDisk := bufio.NewReaderSize(io.TeeReader(io.LimitReader(opened, Largest+1), hash), 1<<16)
	if err := visit(onDisk); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it is cut off: it ends before its content does")
		}
		return "", err
	}
	if _, err := io.Copy(io.Discard, onDisk); err != nil { // the rest belongs to the digest
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func isNumPy(name string) bool { return strings.EqualFold(filepath.Ext(name), ".npy") }
