package ratchet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/internal/page"
)

// Accepted is the verdict of an acceptance in the history.
const Accepted = baseline.Accepted

// Acceptance is a person's decision to move a baseline to what the last run measured,
// also where that is slower.
type Acceptance struct {
	// Baseline is the file; the results lie beside it.
	Baseline string
	// Kernels are names or folders; none means all that were measured.
	Kernels []string
	// Reason is kept in the file.
	Reason string
	// Release makes erosion count from what is accepted.
	Release bool
	// Policy limits erosion; nil means the default limits.
	Policy *policy.File
}

// Accept moves the baseline, adds that to the history, and returns the entries that it moved to; none means that
// there was nothing to accept. It refuses results that are older than what they would
// replace, and a loss beyond the limit of erosion that is no release.
func (a Acceptance) Accept() ([]baseline.Entry, error) {
	file, err := baseline.Read(a.Baseline)
	if err != nil {
		return nil, err
	}
	current, err := readCurrent(a.Results())
	if err != nil {
		return nil, err
	}
	accepted := a.among(current.Entries)
	if len(accepted) == 0 && a.Release {
		accepted = a.among(file.Entries) // nothing new: what is the baseline already
	}
	if len(accepted) == 0 {
		return nil, nil
	}
	var events []baseline.Event
	err = baseline.Update(a.Baseline, func(file *baseline.File) error {
		if err := errors.Join(checkOvertaken(file, accepted), a.checkErosion(file, accepted)); err != nil {
			return err
		}
		for _, e := range accepted {
			archive := cmp.Or(current.Sources[e.Source], file.Sources[e.Source])
			decision := file.Accept(e, baseline.Acceptance{Time: time.Now().UTC(), Reason: a.Reason, Release: a.Release})
			file.Keep(e.Source, archive)
			events = append(events, decision.Event(e))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return accepted, baseline.AppendHistory(baseline.HistoryPath(a.Baseline), events)
}

// Results is the file with what the last run measured.
func (a Acceptance) Results() string { return filepath.Join(filepath.Dir(a.Baseline), CurrentName) }

// among returns the entries of the named kernels, or all.
func (a Acceptance) among(entries []baseline.Entry) []baseline.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e baseline.Entry) bool {
		return len(a.Kernels) > 0 && !slices.Contains(a.Kernels, e.Kernel) && !slices.Contains(a.Kernels, e.Origin)
	})
}

// Baseline returns the file that performance is held to, nil where there is none.
func Baseline(path string) (*baseline.File, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return baseline.Read(path)
}

// History returns the file with the gate runs of a baseline, its events in the order
// written, and how many lines could not be read.
func History(path string) (file string, events []baseline.Event, damaged int, err error) {
	file = baseline.HistoryPath(path)
	events, damaged, err = baseline.ReadHistory(file)
	return file, events, damaged, err
}

// Merge joins two baselines that came from base and writes the result over ours, as a merge
// driver of git does. It returns what it had to choose between. A base that is missing or
// empty has no entries; any other damage is an error, and nothing is written.
func Merge(base, ours, theirs string) (chosen []string, err error) {
	var files [3]*baseline.File
	for i, path := range []string{base, ours, theirs} {
		info, err := os.Stat(path)
		switch {
		case i == 0 && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0):
			files[i] = baseline.New()
			continue
		case err != nil:
			return nil, fmt.Errorf("reading the baseline: %w", err)
		}
		if files[i], err = baseline.Read(path); err != nil {
			return nil, err
		}
	}
	merged, chosen := baseline.Merge(files[0], files[1], files[2])
	return chosen, merged.WriteResults(ours)
}

// readCurrent reads the results of the last gate run. Those of pawl bench have
// another form and no sources to rebuild.
func readCurrent(path string) (*baseline.File, error) {
	current, err := baseline.Read(path)
	if problem, ok := errors.AsType[*baseline.ProblemError](err); ok && problem.Problem == baseline.Foreign {
		return nil, fmt.Errorf("%s was not written by pawl gate: run that first", path)
	}
	return current, err
}

// checkOvertaken refuses results that are older than what they would replace.
func checkOvertaken(file *baseline.File, accepted []baseline.Entry) error {
	for _, e := range accepted {
		if now, ok := file.Find(e.Key); ok && now.Measured.After(e.Measured) {
			return fmt.Errorf("%s: its baseline was measured after these results, so that they were held to another one: run "+
				"pawl gate again", e.Key)
		}
	}
	return nil
}

// checkErosion refuses what the next gate would fail: an acceptance beyond the
// erosion limit has to be declared a release.
func (a Acceptance) checkErosion(file *baseline.File, accepted []baseline.Entry) error {
	if a.Release {
		return nil
	}
	limits := map[string]float64{}
	if a.Policy != nil {
		for _, k := range a.Policy.Kernels {
			limits[k.Name] = k.Policy.Erosion
		}
	}
	for _, e := range accepted {
		best, ok := file.FindBest(e.Key)
		if !ok {
			best, ok = file.Find(e.Key)
		}
		if !ok || best.Dims != e.Dims {
			continue
		}
		limit, ok := limits[e.Origin]
		if !ok {
			limit = policy.Default(e.Origin).Kernels[0].Policy.Erosion
		}
		if loss := e.Median/best.Median - 1; loss > limit {
			return fmt.Errorf("%s is %s slower than its best accepted entry, more than the %s that erosion allows: accept it "+
				"with --release to make it what erosion is measured against", e.Key, page.Percent(loss), page.Percent(limit))
		}
	}
	return nil
}
