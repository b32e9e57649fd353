package kernels

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels/document"
)

//go:embed attention* gemm* matmul reduce rmsnorm softmax
var embedded embed.FS

// ManifestName is the name of the manifest in a kernel's folder.
const ManifestName = "kernel.yaml"

// NoSourceError says that a kernel has nothing for a backend.
type NoSourceError struct{ Kernel, Backend string }

func (e *NoSourceError) Error() string {
	return fmt.Sprintf("kernel %s has no source for backend %s", e.Kernel, e.Backend)
}

func isNoSource(err error) bool { return errors.As(err, new(*NoSourceError)) }

// NotFoundError says that a name is neither an embedded kernel nor a folder
// with a manifest.
type NotFoundError struct {
	Name string
	// Known are the names of the embedded kernels.
	Known []string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no kernel %q: it is neither embedded (%s) nor a folder with a %s", e.Name,
		strings.Join(e.Known, ", "), ManifestName)
}

// Names returns the names of the embedded kernels, sorted.
func Names() []string {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic("kernels: embedded files: " + err.Error())
	}
	return collect.Each(entries, fs.DirEntry.Name)
}

// Files returns the files of an embedded kernel.
func Files(name string) fs.FS {
	folder, err := fs.Sub(embedded, name)
	if err != nil {
		panic("kernels: embedded files: " + err.Error())
	}
	return folder
}

// Load returns a kernel for a backend by the name of an embedded kernel or by
// the path of a folder. A path wins where it looks like one (./attention).
func Load(name, backend string) (*Kernel, error) {
	if slices.Contains(Names(), name) {
		return loadEmbedded(name, backend)
	}
	info, err := os.Stat(filepath.Join(name, ManifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NotFoundError{name, Names()}
	case err != nil:
		return nil, fmt.Errorf("loading kernel %s: %w", name, err)
	case info.IsDir():
		return nil, fmt.Errorf("loading kernel %s: %s is a folder", name, ManifestName)
	case !info.Mode().IsRegular(): // reading a pipe would wait for ever
		return nil, fmt.Errorf("loading kernel %s: %s is not a regular file", name, ManifestName)
	}
	return loadFolder(name, backend)
}

func loadFolder(dir, backend string) (*Kernel, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("loading kernel: %w", err)
	}
	defer root.Close()
	k, err := load(root.FS(), filepath.Join(dir, ManifestName), backend)
	if err != nil {
		return nil, err
	}
	if k.Dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("loading kernel: %w", err)
	}
	k.Origin = escape.File(dir)
	return k, nil
}

func loadEmbedded(name, backend string) (*Kernel, error) {
	k, err := load(Files(name), name+"/"+ManifestName, backend)
	if err != nil {
		return nil, err
	}
	k.Origin = name
	return k, nil
}

// load reads the manifest and makes sure that the files it names are there and
// inside the folder: an os.Root refuses links that lead out as well.
func load(folder fs.FS, file, backend string) (*Kernel, error) {
	content, err := fs.ReadFile(folder, ManifestName)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", file, err)
	}
	k, err := parse(file, content, backend)
	if err != nil {
		return nil, err
	}
	if err := k.alike(folder); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range append([]string{k.Reference}, k.Sources()...) {
		if name == "" {
			continue
		}
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: file %q leaves the kernel's folder", file, name)
		}
		// Not opened before it is known to be a file: a pipe would wait for ever.
		info, err := fs.Stat(folder, filepath.ToSlash(filepath.Clean(name)))
		if err != nil {
			if at := (*fs.PathError)(nil); errors.As(err, &at) {
				err = at.Err // its operation is nobody's word
			}
			return nil, fmt.Errorf("%s: file %q: %w", file, name, err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: %q is not a regular file", file, name)
		}
	}
	for _, name := range k.Include {
		if info, err := fs.Stat(folder, filepath.ToSlash(filepath.Clean(name))); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s: include: %q is not a folder beside the manifest", file, name)
		}
	}
	if err := k.look(folder); err != nil {
		return nil, document.Locate(file, content, err)
	}
	return k, nil
}

// Digest identifies the content of the kernel's files: results of one content say
// nothing about another. See Files.
func (k *Kernel) Digest() (string, error) {
	files, err := k.Files()
	if err != nil {
		return "", err
	}
	return digestOf(files), nil
}

func digestOf(files []File) string {
	hash := sha256.New()
	for _, file := range files {
		fmt.Fprintf(hash, "%s %x\n", file.Name, sha256.Sum256(file.Content))
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// Materialise makes sure that the kernel's sources are on disk and returns
// their folder. The user's folder is used as it is; an embedded kernel is
// unpacked below parent, once per content, safely beside other processes.
func (k *Kernel) Materialise(parent string) (string, error) {
	if k.Dir != "" {
		return k.Dir, nil
	}
	folder := Files(k.Origin)
	digest, err := folderDigest(folder)
	if err != nil {
		return "", fmt.Errorf("unpacking kernel %s: %w", k.Name, err)
	}
	target := filepath.Join(parent, k.Name+"-"+digest)
	if unpacked, err := os.OpenRoot(target); err == nil {
		defer unpacked.Close()
		if found, err := folderDigest(unpacked.FS()); err == nil && found == digest {
			now := time.Now()
			_ = os.Chtimes(target, now, now) // it is in use, for whoever prunes the folder
			return target, nil
		}
		if err := os.RemoveAll(target); err != nil {
			return "", fmt.Errorf("unpacking kernel %s: %w", k.Name, err)
		}
	}
	if err := page.WriteFolder(target, func(to string) error { return os.CopyFS(to, folder) }); err != nil {
		return "", fmt.Errorf("unpacking kernel %s: %w", k.Name, err)
	}
	return target, nil
}

// Missing reports whether a file of an embedded kernel is not in the folder any more that Materialise returned.
func (k *Kernel) Missing(folder string) bool {
	if k.Dir != "" {
		return false
	}
	missing := false
	_ = fs.WalkDir(Files(k.Origin), ".", func(path string, entry fs.DirEntry, err error) error {
		if _, gone := os.Stat(filepath.Join(folder, path)); gone != nil {
			missing = true
		}
		return err
	})
	return missing
}

// folderDigest identifies the names and contents of a folder's files.
func folderDigest(folder fs.FS) (string, error) {
	var files []File
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		files = append(files, File{Name: path, Content: content})
		return err
	})
	return digestOf(files), err
}

// Records are sweeps of the embedded kernels that were recorded on real devices: every valid
// point, or of a large space 600 or more drawn at random, its raw samples or the reason of its
// failure, what the compiler said and how long it took. search/replay reads them.
//
//go:embed records/*.json.gz
var Records embed.FS
