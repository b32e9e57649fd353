package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

type agedEntry struct {
	place string
	used  time.Time
	size  int64
}

// Prune removes the least recently used entries until the rest take at most
// limit bytes, and what interrupted processes left more than an hour ago.
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
		if err := os.RemoveAll(e.place); err != nil {
			return fmt.Errorf("pruning the compile cache: %w", err)
		}
		total -= e.size
	}
	if err := c.removeLeftovers(time.Now().Add(-time.Hour)); err != nil {
		return fmt.Errorf("pruning the compile cache: %w", err)
	}
	return nil
}

// list returns the entries and their size. What is not there is another process's,
// which prunes as well.
func (c *Cache) list() (entries []agedEntry, total int64, err error) {
	digests, err := filepath.Glob(filepath.Join(c.dir, "??", "*", digestName))
	for _, digest := range digests {
		place := filepath.Dir(digest)
		folder, folderErr := os.Stat(place)
		artifact, artifactErr := os.Stat(filepath.Join(place, artifactName))
		if folderErr == nil && artifactErr == nil {
			entries = append(entries, agedEntry{place, folder.ModTime(), artifact.Size()})
			total += artifact.Size()
		}
	}
	return entries, total, err
}

func (c *Cache) removeLeftovers(before time.Time) error {
	leftovers, err := filepath.Glob(filepath.Join(c.dir, "making-*"))
	for _, path := range leftovers {
		if info, statErr := os.Stat(path); statErr == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}
