// Package draft makes commits of what studies found, for the drafts that gate/ci/publish
// opens. It stands above both, because a study knows nothing of pull requests and a pull
// request nothing of studies.
//
// Its opinion: a draft changes what the kernel does by default and nothing else, so that
// merging it is all there is to do. What must not be applied (see studies/apply) is no
// draft either.
package draft

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"pawl/gate/ci/publish"
	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/studies"
	"pawl/studies/apply"
)

// Winners commits the winners of a database's studies as defaults of their kernels'
// manifests, in the repository of the working directory.
type Winners struct{ Store *studies.Store }

var _ publish.Applier = Winners{}

// Commit implements [publish.Applier].
func (w Winners) Commit(ctx context.Context, study int64, branch, onto string) (string, error) {
	s, err := w.Store.Study(ctx, study)
	if err != nil {
		return "", err
	}
	change, err := apply.Prepare(ctx, w.Store, study, apply.Options{Kernel: sources(s), Manifest: true, NoHeader: true})
	if err != nil {
		return "", refusal(err)
	}
	if change.Already {
		return "", nil
	}
	made, err := change.Commit(ctx, apply.Branch{Name: branch, Onto: onto})
	if err != nil {
		return "", refusal(err)
	}
	return made.Commit, nil
}

// sources is the folder of a kernel that is embedded in pawl, where this is the repository
// that it is embedded from; empty for the one that the study names.
func sources(s studies.Study) string {
	folder := filepath.Join("kernels", escape.FileName(s.Kernel))
	info, err := os.Stat(filepath.Join(folder, kernels.ManifestName))
	if s.Origin != s.Kernel || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return folder
}

// refusal is a refusal as the drafts know it; other errors stay.
func refusal(err error) error {
	if refused, ok := errors.AsType[*apply.Refusal](err); ok {
		return &publish.Refusal{Reason: refused.Reason.Error()}
	}
	return err
}
