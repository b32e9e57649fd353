package ratchet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"pawl/gate/baseline"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
)

// cleanCommit is a commit whose sources can be found again. A mark for changes
// does not match, nor does anything that git could take for an option.
var cleanCommit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// rebuild prepares a baseline's own point from its own sources. Where that is not
// possible it returns nil and why; an error means that the machinery broke.
func (r *run) rebuild(ctx context.Context, candidate *devices.Configuration,
	entry baseline.Entry) (base *devices.Configuration, why string, err error) {
	folder, err := r.sources(ctx, candidate.Kernel, entry)
	if err != nil {
		return nil, err.Error(), nil
	}
	return OpenSources(ctx, r.On, folder, candidate.Kernel.Backend, entry.Workload, entry.Point, entry.Dims)
}

// OpenSources opens a point of the kernel in a folder. What does not work on the device, or has other sizes, is nil
// with the reason; an error means that the program is being stopped.
func OpenSources(ctx context.Context, on Device, folder, backend, workload, at,
	dims string) (c *devices.Configuration, why string, err error) {
	k, err := kernels.Load(folder, backend)
	if err == nil {
		c, err = on.Open(ctx, k, workload, at)
	}
	switch {
	case err == nil && c.Prepared.Failure != nil:
		why = c.Prepared.Failure.String()
	case err == nil && c.Workload.Dims.String() != dims:
		why = fmt.Sprintf("its workload has the sizes %s, not %s", c.Workload.Dims, dims)
	case err == nil && ctx.Err() == nil:
		return c, "", nil
	case err != nil:
		why = err.Error()
	}
	if c != nil {
		c.Close()
	}
	return nil, why, context.Cause(ctx)
}

// sources returns a folder with the sources of an entry. They are kept in the cache
// by their digest, so that the next gate need not unpack them again.
func (r *run) sources(ctx context.Context, k *kernels.Kernel, entry baseline.Entry) (string, error) {
	if digest, err := k.Digest(); err == nil && digest == entry.Source {
		return r.Folder(k) // only the point differs
	}
	folder := filepath.Join(r.Cache, "baselines", k.Name+"-"+entry.Source)
	if holds(folder, k.Backend, entry.Source) {
		return folder, nil
	}
	return folder, page.WriteFolder(folder, func(temporary string) error {
		if err := unpackSources(ctx, k, entry, temporary); err != nil {
			return err
		}
		if !holds(temporary, k.Backend, entry.Source) {
			return fmt.Errorf("the sources of %s are not those that were measured", entry.Commit)
		}
		return os.RemoveAll(folder) // a damaged one
	})
}

func holds(folder, backend, digest string) bool {
	k, err := kernels.Load(folder, backend)
	if err != nil {
		return false
	}
	found, err := k.Digest()
	return err == nil && found == digest
}

// unpackSources writes an entry's sources into a folder: from the archive in the
// baseline, or from the recorded commit.
func unpackSources(ctx context.Context, k *kernels.Kernel, entry baseline.Entry, folder string) error {
	switch {
	case entry.Archive != "":
		return baseline.Unpack(entry.Archive, folder)
	case !cleanCommit.MatchString(entry.Commit):
		return errors.New("neither an archive nor a commit of its sources was recorded")
	case k.Dir == "":
		return errors.New("the kernel is embedded now and was a folder then")
	}
	// In a subfolder git archives that subfolder, with names relative to it.
	packed, err := git.Run(ctx, k.Dir, nil, "archive", "--format=tar", entry.Commit)
	if err != nil {
		return fmt.Errorf("%w (a shallow clone has no old commits: fetch the whole history)", err)
	}
	return kernels.Unpack(bytes.NewReader(packed), folder)
}
