package ci

import (
	"context"
	"fmt"
	"io"
	"path"

	"pawl/gate/baseline"
	"pawl/internal/git"
	"pawl/internal/page"
)

// BaselineBranch is the branch of origin that keeps the baseline.
const BaselineBranch = baseline.Branch

// Restore puts the baseline of [BaselineBranch] and its history into the checkout, with what people
// have decided there that the branch does not know yet. It takes origin's branch as it was fetched last
// and reports whether there is one; without one the checkout's own file counts.
func Restore(ctx context.Context, file string) (found bool, err error) {
	root, name, _, err := git.Locate(ctx, file)
	if err != nil {
		return false, err
	}
	tip, err := git.Resolve(ctx, root, git.Tracked(baseline.Branch))
	if err != nil {
		return false, nil // it is not there
	}
	s := &publishing{root: root, name: name, history: path.Join(path.Dir(name), baseline.HistoryName)}
	kept, err := s.fileAt(ctx, tip)
	if err != nil {
		return false, err
	}
	events, err := s.historyAt(ctx, tip)
	if err != nil {
		return false, err
	}
	own, err := baseline.Read(file)
	if err != nil {
		return false, err
	}
	ownEvents, err := page.ReadIfThere(baseline.HistoryPath(file))
	if err != nil {
		return false, err
	}
	here, _ := baseline.ParseHistory(ownEvents)
	there, _ := baseline.ParseHistory(events)
	kept.Follow(own, baseline.Decisions(here, there))
	if err := kept.WriteResults(file); err != nil {
		return false, fmt.Errorf("restoring the baseline: %w", err)
	}
	joined, _ := baseline.MergeHistory(ownEvents, events)
	return true, page.WriteFile(baseline.HistoryPath(file), func(w io.Writer) error {
		_, err := w.Write(joined)
		return err
	})
}
