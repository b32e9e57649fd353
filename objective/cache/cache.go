// Package cache keeps compiled kernels, and what was measured of them today, by the
// content they were made from.
//
// An entry is a folder named after its key, with the artifact and its digest.
// It is written beside its place and renamed into it, so that readers see all
// of it or nothing; it is verified every time it is read, so that an entry
// which a crash, a full disk or a person has damaged is made again. Any
// number of processes may share a cache: the worst that a race costs is one
// compilation done twice.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl/internal/process"
)

// Cache is a folder of entries. It is safe for concurrent use.
type Cache struct {
	dir string
	// mode is what the cache's folder permits. Entries permit the same, whatever the umask is: a cache that
	// several people share serves all of them.
	mode   os.FileMode
	making sync.Map // a *sync.Mutex for each key that this process has made
}

// Entry is an artifact in the cache.
type Entry struct {
	// Path is the artifact's file.
	Path string
	// Digest identifies the artifact's bytes.
	Digest string
	// Hit says that it was there already.
	Hit bool
}

// The files of an entry.
const (
	artifactName = "artifact"
	digestName   = "digest"
)

// Open returns the cache in a folder and creates it. Where the folder is somebody else's and closed to others,
// the cache is a folder beside it, named after this user.
func Open(dir string) (*Cache, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the compile cache: %w", err)
	}
	c, err := open(absolute)
	if errors.Is(err, os.ErrPermission) {
		if own, ownErr := open(fmt.Sprintf("%s-%d", absolute, os.Getuid())); ownErr == nil {
			return own, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the compile cache (--cache names another folder): %w", err)
	}
	return c, nil
}

// open makes a folder and tries to write there.
func open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	probe, err := os.MkdirTemp(dir, "making-")
	if err != nil {
		return nil, err
	}
	return &Cache{dir: dir, mode: info.Mode().Perm()}, os.Remove(probe)
}

// Dir returns the cache's folder.
func (c *Cache) Dir() string { return c.dir }

// Key collects everything that an artifact depends on. What that is, the backends say:
// host/cache_key.go and cuda/nvcc/cache_key.go.
type Key struct{ hash hash.Hash }

// NewKey returns an empty key.
func NewKey() *Key { return &Key{sha256.New()} }

// Add adds one named part. Parts are framed: moving a byte from one to the
// next makes another key.
func (k *Key) Add(name, content string) *Key {
	fmt.Fprintf(k.hash, "%d:%s=%d:", len(name), name, len(content))
	k.hash.Write([]byte(content))
	return k
}

// String returns the key as text.
func (k *Key) String() string { return hex.EncodeToString(k.hash.Sum(nil)) }

// Get returns the artifact of a key. If there is no good one, it calls create
// with a path to write the artifact to; an error of create is returned as it
// is, and nothing is kept. Other files that create leaves in the artifact's
// folder are kept and removed with it, but only the artifact is verified.
func (c *Cache) Get(key *Key, create func(path string) error) (Entry, error) {
	name := key.String()
	defer c.lock(name)()
	place := filepath.Join(c.dir, name[:2], name[2:])
	if entry, err := read(place); err == nil {
		now := time.Now()
		_ = os.Chtimes(place, now, now) // only the pruning cares
		entry.Hit = true
		return entry, nil
	}
	return c.create(place, create)
}

// lock makes this process create a key once. Other processes may create it at
// the same time; the rename decides.
func (c *Cache) lock(name string) (unlock func()) {
	found, _ := c.making.LoadOrStore(name, &sync.Mutex{})
	m := found.(*sync.Mutex)
	m.Lock()
	return m.Unlock
}

var errDamaged = errors.New("damaged cache entry")

func read(place string) (Entry, error) {
	want, err := os.ReadFile(filepath.Join(place, digestName))
	if err != nil {
		return Entry{}, err
	}
	path := filepath.Join(place, artifactName)
	content, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	digest := Digest(content)
	if digest != string(want) {
		return Entry{}, errDamaged
	}
	return Entry{Path: path, Digest: digest}, nil
}

// Digest identifies bytes.
func Digest(content []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func (c *Cache) create(place string, create func(path string) error) (Entry, error) {
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return Entry{}, fmt.Errorf("compile cache: %w", err)
	}
	_ = os.Chmod(filepath.Dir(place), c.mode) // it is another user's where this fails, and as they want it
	temporary, err := os.MkdirTemp(c.dir, "making-")
	if err != nil {
		return Entry{}, fmt.Errorf("compile cache: %w", err)
	}
	defer os.RemoveAll(temporary)
	artifact := filepath.Join(temporary, artifactName)
	if err := create(artifact); err != nil {
		if probed := os.WriteFile(filepath.Join(temporary, "probe"), []byte{0}, 0o600); probed != nil {
			return Entry{}, &process.MachineFault{What: "the compile cache cannot be written", Err: probed}
		}
		return Entry{}, err
	}
	content, err := os.ReadFile(artifact)
	if err == nil {
		err = os.WriteFile(filepath.Join(temporary, digestName), []byte(Digest(content)), 0o644)
	}
	if err == nil {
		err = c.admit(temporary)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("compile cache: %w", err)
	}
	return publish(temporary, place)
}

// admit gives an entry the permissions of the cache.
func (c *Cache) admit(entry string) error {
	return filepath.WalkDir(entry, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, c.mode)
		default:
			return os.Chmod(path, c.mode&0o666)
		}
	})
}

// publish renames an entry into place. A good entry that is there already, of
// another process, stays; a damaged one makes way.
func publish(temporary, place string) (Entry, error) {
	for range 3 {
		err := os.Rename(temporary, place)
		if err == nil {
			return read(place)
		}
		if entry, readErr := read(place); readErr == nil {
			return entry, nil
		}
		if _, statErr := os.Stat(place); statErr != nil {
			return Entry{}, fmt.Errorf("compile cache: %w", err)
		}
		// Move the damaged entry aside first: removing a folder in place is
		// not atomic, and another process may be reading it.
		aside := temporary + "-damaged"
		if err := os.Rename(place, aside); err == nil {
			os.RemoveAll(aside)
		}
	}
	return Entry{}, fmt.Errorf("compile cache: %s: %w", place, errDamaged)
}
