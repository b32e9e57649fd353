package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type agedEntry struct {
	place string
	used  time.Time
	size  int64
	// compiled says that it is an entry of the cache itself.
	compiled bool
}

// Limit is how much the cache may hold between runs, in bytes.
const Limit = 2 << 30

// inUse is how long a folder that is no entry stays after its last use: a search may need the sources in it.
const inUse = 24 * time.Hour

// Prune removes what was not used for longest until the rest takes at most limit bytes, and what
// interrupted processes left more than an hour ago. It sees everything below the cache's folder: entries, and
// the folders that others keep here.
func (c *Cache) Prune(limit int64) error {
	entries, total, err := c.list()
	if err != nil {
		return fmt.Errorf("pruning the compile cache: %w", err)
	}
	slices.SortFunc(entries, func(a, b agedEntry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= limit {
			break
		}
		if !e.compiled && time.Since(e.used) < inUse {
			continue
		}
		if err := os.RemoveAll(e.place); err != nil {
			return fmt.Errorf("pruning the compile cache: %w", err)
		}
		total -= e.size
	}
	if err := RemoveOld(filepath.Join(c.dir, "making-*"), time.Hour); err != nil {
		return fmt.Errorf("pruning the compile cache: %w", err)
	}
	return nil
}

// list returns what is two levels down, with its size. What is not there any more is another process's work,
// which prunes as well.
func (c *Cache) list() (entries []agedEntry, total int64, err error) {
	places, err := filepath.Glob(filepath.Join(c.dir, "*", "*"))
	for _, place := range places {
		parent := filepath.Base(filepath.Dir(place))
		info, statErr := os.Stat(place)
		if statErr != nil || strings.HasPrefix(parent, "making-") {
			continue
		}
		e := agedEntry{place: place, used: info.ModTime(), size: Size(place), compiled: len(parent) == 2}
		entries, total = append(entries, e), total+e.size
	}
	return entries, total, err
}

// Size is how many bytes a folder holds.
func Size(folder string) (total int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// RemoveOld removes what processes have left behind under some names, where its age says that they were killed.
func RemoveOld(pattern string, age time.Duration) error {
	leftovers, err := filepath.Glob(pattern)
	for _, path := range leftovers {
		if info, statErr := os.Stat(path); statErr == nil && time.Since(info.ModTime()) > age {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}
