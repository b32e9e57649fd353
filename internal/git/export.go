package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Export writes the files of a commit into a new folder. Every object on the way, from the commit over
// its trees to each file, is hashed here and must have the name that leads to it: what a repository's
// object store, its filters or its attributes say about a commit counts for nothing. Submodules come
// with it where they are checked out, and files of LFS where they are stored; a link is a link.
func Export(ctx context.Context, folder, commit, to string) error {
	e := &export{ctx: ctx, folder: folder}
	objects, err := e.objects("commit", []string{commit})
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(objects[commit]), "\n")
	tree, found := strings.CutPrefix(first, "tree ")
	if !found {
		return fmt.Errorf("exporting %.12s: it names no tree", commit)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := e.trees(map[string][]string{tree: {"."}}); err != nil {
		return err
	}
	return e.write(to)
}

// export collects what a commit consists of.
type export struct {
	ctx    context.Context
	folder string
	files  []treeEntry
}

// treeEntry is a file of a tree, with its name from the root.
type treeEntry struct{ mode, id, name string }

// The modes of a tree's entries.
const (
	modeTree, modeLink, modeSubmodule, modeProgram = "40000", "120000", "160000", "100755"
)

// trees reads trees, which are named by where they lie, and those below them.
func (e *export) trees(level map[string][]string) error {
	for len(level) > 0 {
		ids := make([]string, 0, len(level))
		for id := range level {
			ids = append(ids, id)
		}
		objects, err := e.objects("tree", ids)
		if err != nil {
			return err
		}
		below := map[string][]string{}
		for id, folders := range level {
			entries, err := parseTree(objects[id], len(id)/2)
			if err != nil {
				return fmt.Errorf("reading the tree %.12s: %w", id, err)
			}
			for _, entry := range entries {
				for _, folder := range folders {
					name := path.Join(folder, entry.name)
					if entry.mode == modeTree {
						below[entry.id] = append(below[entry.id], name)
					} else {
						e.files = append(e.files, treeEntry{entry.mode, entry.id, name})
					}
				}
			}
		}
		level = below
	}
	return nil
}

// parseTree reads a tree: mode, name and hash of each entry.
func parseTree(content []byte, hashSize int) (entries []treeEntry, err error) {
	for len(content) > 0 {
		mode, rest, hasMode := bytes.Cut(content, []byte(" "))
		name, rest, hasName := bytes.Cut(rest, []byte{0})
		if !hasMode || !hasName || len(rest) < hashSize {
			return nil, errors.New("it ends too early")
		}
		plain := string(name)
		if plain == "" || plain == "." || plain == ".." || strings.Contains(plain, "/") ||
			strings.EqualFold(plain, ".git") {
			return nil, fmt.Errorf("an entry is called %q", plain)
		}
		entries = append(entries, treeEntry{string(mode), hex.EncodeToString(rest[:hashSize]), plain})
		content = rest[hashSize:]
	}
	return entries, nil
}

// batch is how many bytes of files are in memory at a time.
const batch = 64 << 20

// write writes the files below a folder. Links come last, so that none is written through.
func (e *export) write(to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	byID := map[string][]treeEntry{}
	var ids []string
	var links []treeEntry
	for _, f := range e.files {
		switch f.mode {
		case modeSubmodule:
			if err := e.submodule(f, to); err != nil {
				return err
			}
			continue
		case modeLink:
			links = append(links, f)
		}
		if byID[f.id] == nil {
			ids = append(ids, f.id)
		}
		byID[f.id] = append(byID[f.id], f)
	}
	sizes, err := e.sizes(ids)
	if err != nil {
		return err
	}
	targets := map[string]string{}
	for len(ids) > 0 {
		count, total := 0, int64(0)
		for count < len(ids) && (count == 0 || total+sizes[ids[count]] <= batch) {
			total += sizes[ids[count]]
			count++
		}
		objects, err := e.objects("blob", ids[:count])
		if err != nil {
			return err
		}
		for id, content := range objects {
			for _, f := range byID[id] {
				if f.mode == modeLink {
					targets[f.name] = string(content)
				} else if err := e.writeFile(root, f, content); err != nil {
					return err
				}
			}
		}
		ids = ids[count:]
	}
	for _, f := range links {
		name := filepath.FromSlash(f.name)
		if err := errors.Join(root.MkdirAll(filepath.Dir(name), 0o755), root.Symlink(targets[f.name], name)); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeFile(root *os.Root, f treeEntry, content []byte) error {
	name, mode := filepath.FromSlash(f.name), os.FileMode(0o644)
	if f.mode == modeProgram {
		mode = 0o755
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, e.stored(content), mode)
}

// submodule writes a submodule of the commit, which is an empty folder where it is not checked out.
func (e *export) submodule(f treeEntry, to string) error {
	target := filepath.Join(to, filepath.FromSlash(f.name))
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	checkout := filepath.Join(e.folder, filepath.FromSlash(f.name))
	if _, err := os.Stat(filepath.Join(checkout, ".git")); err != nil {
		return nil
	}
	if _, err := Resolve(e.ctx, checkout, f.id); err != nil {
		return nil // it was never fetched
	}
	return Export(e.ctx, checkout, f.id, target)
}

// pointerStart is how the text begins that stands in a commit for a file of LFS.
const pointerStart = "version https://git-lfs.github.com/spec/v1\n"

// stored returns the file that a pointer of LFS names by its hash; what is no pointer, or not stored
// here, is as it is.
func (e *export) stored(content []byte) []byte {
	if !bytes.HasPrefix(content, []byte(pointerStart)) || len(content) > 1024 {
		return content
	}
	_, after, _ := strings.Cut(string(content), "\noid sha256:")
	id, _, _ := strings.Cut(after, "\n")
	if decoded, err := hex.DecodeString(id); err != nil || len(decoded) != sha256.Size {
		return content
	}
	folder, err := Line(e.ctx, e.folder, "rev-parse", "--git-common-dir")
	if err != nil {
		return content
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(e.folder, folder)
	}
	file, err := os.ReadFile(filepath.Join(folder, "lfs", "objects", id[:2], id[2:4], id))
	if err != nil {
		if file, err = RunWith(e.ctx, e.folder, nil, bytes.NewReader(content), "lfs", "smudge"); err != nil {
			return content
		}
	}
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != id {
		return content
	}
	return file
}

// sizes are the bytes of objects.
func (e *export) sizes(ids []string) (map[string]int64, error) {
	output, err := RunWith(e.ctx, e.folder, nil, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file",
		"--batch-check=%(objectname) %(objectsize)")
	sizes := map[string]int64{}
	for line := range strings.Lines(string(output)) {
		id, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		sizes[id], _ = strconv.ParseInt(size, 10, 64) // one that is missing is found when it is read
	}
	return sizes, err
}

// objects returns objects of one kind. Each has the hash that it is asked for by.
func (e *export) objects(kind string, ids []string) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	output, err := RunWith(e.ctx, e.folder, nil, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	objects := map[string][]byte{}
	for _, id := range ids {
		line, rest, _ := bytes.Cut(output, []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) != 3 || words[0] != id || words[1] != kind {
			return nil, fmt.Errorf("the %s %.12s is not in the repository: git cat-file says %q", kind, id, line)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("reading the %s %.12s: %w", kind, id, errors.New("it ends too early"))
		}
		if found := objectID(kind, rest[:size], len(id)); found != id {
			return nil, fmt.Errorf("the %s %.12s of the repository is damaged or was replaced: its content has the hash %.12s",
				kind, id, found)
		}
		objects[id], output = rest[:size], rest[size+1:]
	}
	return objects, nil
}

// objectID is the name of an object, which has so many digits.
func objectID(kind string, content []byte, digits int) string {
	var h hash.Hash = sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
