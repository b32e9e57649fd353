package kernels

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Watched are a kernel's files as they were when Watch was called.
type Watched struct {
	folder string
	mu     sync.Mutex
	files  map[string]watchedFile // by path
}

type watchedFile struct {
	name string
	info fs.FileInfo
	// digest is that of the content; nil where the name and the time of the last change must do: data may be large.
	digest *[sha256.Size]byte
}

// Watch remembers the files that a kernel's machine code is made of and that its results are compared with, those
// outside of its folder included. An embedded kernel has none.
func (k *Kernel) Watch() (*Watched, error) {
	files, _, err := k.Depends()
	if err != nil {
		return nil, err
	}
	w := &Watched{folder: k.Dir, files: map[string]watchedFile{}}
	for _, file := range files {
		path := file.Name
		if !filepath.IsAbs(path) {
			path = filepath.Join(k.Dir, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // what one backend needs may be missing for another
		}
		watched := watchedFile{name: file.Name, info: info}
		if file.Content != nil {
			digest := sha256.Sum256(file.Content)
			watched.digest = &digest
		}
		w.files[path] = watched
	}
	return w, nil
}

// Changed returns the names of the files that are not what they were, sorted: changed, or gone. It reads those that
// were written to since.
func (w *Watched) Changed() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, file := range w.files {
		info, err := os.Stat(path)
		if err == nil && os.SameFile(info, file.info) && info.Size() == file.info.Size() &&
			info.ModTime().Equal(file.info.ModTime()) {
			continue
		}
		if err == nil && file.digest != nil {
			if content, err := os.ReadFile(path); err == nil && sha256.Sum256(content) == *file.digest {
				file.info = info // written again as it was
				w.files[path] = file
				continue
			}
		}
		names = append(names, file.name)
	}
	slices.Sort(names)
	return names
}
