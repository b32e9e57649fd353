// Package apply puts the winner of a study to use: as a header with its values, as the
// defaults of the kernel's manifest, or as a commit on a branch.
//
// Its opinion: what is applied is what was measured. So there is no change for a study of
// other sources than those in the folder, for a winner that was not checked in full or is
// not better for sure, for one that the gate has found wanting, and for one that another
// workload would pay for. Such a study is refused, with the reason and what to do; see
// refuse.go. Nothing is asked, and nothing is half done.
//
//  1. Prepare holds a study against these rules and against the kernel as it is now, and
//     returns a Change: the files with their new content.
//  2. Change.Write replaces the files, each at once or not at all.
//  3. Change.Commit makes a commit of them on a branch instead, and touches neither the
//     checkout nor its index.
package apply

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

// Options say what is changed. The zero value writes the header into the kernel's folder.
type Options struct {
	// Kernel is the kernel's folder, where that is not the one that the study names any
	// more: a study names it as it was seen from the working directory of then.
	Kernel string
	// To is the folder for the header. Empty means the kernel's own, and the working
	// directory for an embedded kernel.
	To string
	// Manifest makes the winner the default in the manifest.
	Manifest bool
	// NoHeader leaves the header out, for callers that want the manifest alone.
	NoHeader bool
	// WorstLoss is how much slower another workload may get, as a share such as 3% or
	// 0.03; empty means DefaultWorstLoss.
	WorstLoss string
	// Force applies a winner that is only promising: too few rounds were measured.
	Force bool
}

// Change is what applying a study changes.
type Change struct {
	Summary *report.Summary
	// Kernel is the kernel as it is now.
	Kernel *kernels.Kernel
	// Winner is the point that is applied, in the place of Default.
	Winner, Default space.Point
	// Already says that the manifest's default is the winner: nothing is left to do.
	Already bool
	// Files are what there is to be, also where it is so already.
	Files []File
}

// File is a file with the content that it is to have.
type File struct {
	Path    string
	Content []byte
	// before is what is there now, nil for nothing.
	before []byte
}

// Prepare finds out what applying a study changes. It writes nothing. A study that must
// not be applied is a *Refusal.
func Prepare(ctx context.Context, store *studies.Store, study int64, o Options) (*Change, error) {
	limit, err := ParseLoss(o.WorstLoss)
	if err != nil {
		return nil, err
	}
	summary, err := report.Read(ctx, store, study)
	if err != nil {
		return nil, err
	}
	if refusal := judge(summary, o, limit); refusal != nil {
		return nil, refusal
	}
	c := &Change{Summary: summary, Winner: summary.Winner.Point, Default: summary.Default.Point}
	if c.Kernel, err = load(summary.Study, o); err != nil {
		return nil, err
	}
	if c.Already = c.Kernel.Default() == c.Winner; c.Already {
		return c, nil
	}
	if err := sameSources(summary.Study, c.Kernel); err != nil {
		return nil, err
	}
	for _, make := range []func(Options) error{c.header, c.manifest} {
		if err := make(o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Change) header(o Options) error {
	if o.NoHeader {
		return nil
	}
	if c.Summary.Suggestion.Header == "" {
		if !o.Manifest {
			return c.refuse("%s is built by commands of its manifest and takes no header",
				c.Kernel.Name).advise("--manifest makes the winner the default of its manifest")
		}
		return nil
	}
	folder := o.To
	if folder == "" && c.Kernel.Dir != "" {
		folder = c.Kernel.Origin
	}
	var text bytes.Buffer
	if err := report.Header(&text, c.Summary); err != nil {
		return err
	}
	path := filepath.Join(folder, c.Summary.Suggestion.Header)
	before, err := page.ReadIfThere(path)
	if err != nil {
		return err
	}
	if before != nil && !report.IsHeader(before) {
		return c.refuse("%s is there, and pawl has not written it",
			path).advise("move it away, or name another folder with --to")
	}
	c.Files = append(c.Files, File{path, text.Bytes(), before})
	return nil
}

func (c *Change) manifest(o Options) error {
	if !o.Manifest {
		return nil
	}
	if c.Kernel.Dir == "" {
		return c.refuse("%s is embedded in pawl, so there is no manifest to change",
			c.Kernel.Name).advise("use the header, without --manifest")
	}
	path := filepath.Join(c.Kernel.Origin, kernels.ManifestName)
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := kernels.WithDefaults(path, before, c.Kernel.Backend, c.Winner)
	if err != nil {
		return c.refuse("%w", err).advise("nothing was changed")
	}
	c.Files = append(c.Files, File{path, after, before})
	return nil
}

// Write puts the files in place, each at once or not at all, and returns the paths of
// those that were not so already. A file that was changed since Prepare has looked at it
// is left alone, and is an error.
func (c *Change) Write() (written []string, err error) {
	for _, f := range c.Files {
		now, err := page.ReadIfThere(f.Path)
		switch {
		case err != nil:
			return written, err
		case now != nil && bytes.Equal(now, f.Content):
			continue
		case !bytes.Equal(now, f.before):
			return written,
				fmt.Errorf("%s was changed by somebody else just now: nothing was written over it; try again", f.Path)
		}
		if err := page.WriteFile(f.Path, func(w io.Writer) error { _, err := w.Write(f.Content); return err }); err != nil {
			return written, err
		}
		written = append(written, f.Path)
	}
	return written, nil
}

func load(study studies.Study, o Options) (*kernels.Kernel, error) {
	name := cmp.Or(o.Kernel, study.Origin)
	k, err := kernels.Load(name, study.Backend)
	switch {
	case errors.As(err, new(*kernels.NotFoundError)):
		return nil, refuse(study.ID, "%w", err).advise("name its folder with --kernel")
	case err != nil:
		return nil, err
	case k.Name != study.Kernel:
		return nil, refuse(study.ID, "it is a study of kernel %s, and %s has kernel %s", study.Kernel, name,
			k.Name).advise("name the folder of %s with --kernel", study.Kernel)
	}
	return k, nil
}

// sameSources refuses a study of other files than those that are there now.
func sameSources(study studies.Study, k *kernels.Kernel) error {
	digest, err := k.Digest()
	if err != nil {
		return err
	}
	if digest != study.Source {
		return refuse(study.ID, "the files of kernel %s are not those that were measured (digest %s then, %s now)", k.Name,
			study.Source, digest).
			advise("tune again, or go back to the sources of then")
	}
	return nil
}
