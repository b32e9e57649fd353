package ci

import (
	"context"
	"os"
	"path/filepath"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/studies"
	"pawl/studies/apply"
	"pawl/studies/report"
)

// Winners commits the winners of a database's studies as defaults of their kernels'
// manifests, in the repository of the working directory. It changes nothing else, so that
// merging a draft is all there is to do.
type Winners struct{ Store *studies.Store }

var _ Applier = Winners{}

// Index implements [Applier].
func (w Winners) Index(ctx context.Context) ([]report.Entry, error) {
	return report.Index(ctx, w.Store)
}

// Commit implements [Applier].
func (w Winners) Commit(ctx context.Context, study int64, branch, onto string) (string, error) {
	s, err := w.Store.Study(ctx, study)
	if err != nil {
		return "", err
	}
	change, err := apply.Prepare(ctx, w.Store, study, apply.Options{Kernel: sources(s), Manifest: true, NoHeader: true})
	if err != nil {
		return "", err
	}
	if change.Already {
		return "", nil
	}
	made, err := change.Commit(ctx, apply.Branch{Name: branch, Onto: onto})
	if err != nil {
		return "", err
	}
	return made.Commit, nil
}

// Weeks implements [Applier].
func (w Winners) Weeks(ctx context.Context, study int64) (this, last *report.Summary, err error) {
	if this, err = report.Read(ctx, w.Store, study); err != nil {
		return nil, nil, err
	}
	all, err := w.Store.List(ctx)
	for _, s := range all { // newest first
		if s.ID >= study || report.SubjectOf(s) != report.SubjectOf(this.Study) {
			continue
		}
		// One that is damaged is passed over.
		if last, err := report.Read(ctx, w.Store, s.ID); err == nil && last.Evidence != nil {
			return this, last, nil
		}
	}
	return this, nil, err
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
