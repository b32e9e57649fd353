package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"pawl/gate/baseline"
	"pawl/kernels"
)

// cleanCommit is a commit whose sources can be found again. A mark for changes
// does not match, nor does anything that git could take for an option.
var cleanCommit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// rebuild prepares a baseline's own point from its own sources. Where that is not
// possible it returns nil and why; an error means that the machinery broke.
func (r *gateRun) rebuild(ctx context.Context, candidate *configuration, entry baseline.Entry) (base *configuration, why string, err error) {
	folder, err := r.baselineSources(ctx, candidate.kernel, entry)
	if err != nil {
		return nil, err.Error(), nil
	}
	k, err := kernels.Load(folder, candidate.kernel.Backend)
	if err != nil {
		return nil, err.Error(), nil
	}
	base, err = r.openConfiguration(ctx, k, candidate.accelerator, entry.Workload, entry.Point)
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, err.Error(), nil
	case base.prepared.Failure != nil:
		base.close()
		return nil, base.prepared.Failure.String(), nil
	case base.workload.Dims.String() != entry.Dims:
		base.close()
		return nil, fmt.Sprintf("its workload has the sizes %s, not %s", base.workload.Dims, entry.Dims), nil
	}
	return base, "", nil
}

// baselineSources returns a folder with the sources of an entry. They are kept in
// the cache by their digest, so that the next gate need not unpack them again.
func (r *gateRun) baselineSources(ctx context.Context, k *kernels.Kernel, entry baseline.Entry) (string, error) {
	if digest, err := k.Digest(); err == nil && digest == entry.Source {
		return r.sourceFolder(k) // only the point differs
	}
	cache, err := r.cacheFolder()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "baselines", k.Name+"-"+entry.Source)
	if holds(folder, k.Backend, entry.Source) {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(folder), "unpacking-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	if err := r.unpackSources(ctx, k, entry, temporary); err != nil {
		return "", err
	}
	if !holds(temporary, k.Backend, entry.Source) {
		return "", fmt.Errorf("the sources of %s are not those that were measured", entry.Commit)
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.Rename(temporary, folder); err != nil && !holds(folder, k.Backend, entry.Source) {
		return "", err
	}
	return folder, nil
}

// holds reports whether a folder has the sources of a digest.
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
func (r *gateRun) unpackSources(ctx context.Context, k *kernels.Kernel, entry baseline.Entry, folder string) error {
	if text := r.file.Sources[entry.Source]; text != "" {
		return baseline.Unpack(text, folder)
	}
	switch {
	case !cleanCommit.MatchString(entry.Commit):
		return errors.New("neither an archive nor a commit of its sources was recorded")
	case k.Dir == "":
		return errors.New("the kernel is embedded now and was a folder then")
	}
	// In a subfolder git archives that subfolder, with names relative to it.
	archive, err := git(ctx, k.Dir, "archive", "--format=tar", entry.Commit)
	if err != nil {
		return fmt.Errorf("%w (a shallow clone has no old commits: fetch the whole history)", err)
	}
	return baseline.UnpackTar(bytes.NewReader(archive), folder)
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, folder string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		message, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", arguments[0], err, message)
	}
	return output, nil
}

// sourceFolder returns the folder of a kernel's sources; an embedded kernel is
// unpacked into the cache.
func (r *gateRun) sourceFolder(k *kernels.Kernel) (string, error) {
	cache, err := r.cacheFolder()
	if err != nil {
		return "", err
	}
	return k.Materialise(filepath.Join(cache, "kernels"))
}

func (r *gateRun) cacheFolder() (string, error) {
	if folder := r.c.String("cache"); folder != "" {
		return folder, nil
	}
	return defaultCache()
}
