package ratchet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// Acceptance is a person's decision to move a baseline to what a run measured, also where that is
// slower, or to take a kernel out of it.
type Acceptance struct {
	// Baseline is the file.
	Baseline string
	// From is the folder with the results and the report of a run; empty means beside the baseline.
	From string
	// Kernels are names or folders; none means all that were measured.
	Kernels []string
	// Reason is kept in the file, and By, who decides.
	Reason, By string
	// Release makes erosion count from what is accepted.
	Release bool
}

// Accept moves the baseline, adds that to the history, and returns the configurations that it is
// about; none means that there was nothing to accept. It refuses results that are older than what they would
// replace, and a loss beyond the limit of erosion that is no release. How large a loss is, the run has
// measured: times of different hours are not compared.
func (a Acceptance) Accept() (keys []baseline.Key, err error) {
	file, err := baseline.Read(a.Baseline)
	if err != nil {
		return nil, err
	}
	current, err := readCurrent(a.Results())
	if err != nil {
		return nil, err
	}
	report, err := reporting.Read(filepath.Join(a.folder(), reporting.JSONName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	accepted := a.among(current)
	if len(accepted) == 0 && a.Release {
		accepted = a.among(file) // nothing new: what is the baseline already
	}
	if missing := a.unmeasured(accepted, report); len(missing) > 0 {
		return nil, devices.Nothingf("nothing was measured of %s, so that there is nothing to accept",
			strings.Join(missing, ", "))
	}
	var events []baseline.Event
	accept := func(file *baseline.File) error {
		if err := errors.Join(checkOvertaken(file, accepted), a.checkErosion(report, accepted)); err != nil {
			return err
		}
		for _, e := range accepted {
			e.Gain = 0
			acceptance := baseline.Acceptance{Time: time.Now().UTC(), Reason: a.Reason, By: a.By, Release: a.Release}
			if s := resultFor(report, e.Key); s != nil && s.Evidence != nil {
				acceptance.Change = &s.Evidence.Change
			}
			decision := file.Accept(e, acceptance)
			event := decision.Event(e)
			if s := resultFor(report, e.Key); s != nil {
				event.Sources = s.Sources
			}
			if evidence := evidenceFor(report, e.Key); evidence != nil {
				event.Change = &evidence.Change
			}
			events = append(events, event)
		}
		return nil
	}
	if len(accepted) > 0 {
		if err := baseline.Update(a.Baseline, accept); err != nil {
			return nil, err
		}
	}
	if events = append(events, a.checks(report, events)...); len(events) == 0 {
		return nil, nil
	}
	return a.record(events)
}

// unmeasured are the kernels that were named and that the run has nothing of to accept.
func (a Acceptance) unmeasured(accepted []baseline.Entry, report *reporting.Report) (missing []string) {
	for _, name := range a.Kernels {
		one := Acceptance{Kernels: []string{name}}
		known := slices.ContainsFunc(accepted, func(e baseline.Entry) bool { return one.names(e.Kernel, e.Origin) })
		if !known && len(one.checks(report, nil)) == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// checks are decisions about changed checks of what was not measured, and about checks that fit no more.
func (a Acceptance) checks(report *reporting.Report, done []baseline.Event) (events []baseline.Event) {
	if report == nil {
		return nil
	}
	for _, s := range report.Results {
		known := func(e baseline.Event) bool { return e.Key == s.Key }
		decides := len(s.Changed) > 0 || s.Verdict == gate.Vanished && s.Sources != ""
		if decides && a.names(s.Kernel, "") && !slices.ContainsFunc(done, known) {
			event := a.event(baseline.Accepted, s.Key, report.Commit, s.Point)
			event.Sources = s.Sources
			events = append(events, event)
		}
	}
	return events
}

// Remove takes kernels out of the baseline, adds that to the history, and returns the configurations
// that it was about. A kernel without an entry can be removed too: the branch's history says so then.
func (a Acceptance) Remove() (keys []baseline.Key, err error) {
	var events []baseline.Event
	err = baseline.Update(a.Baseline, func(file *baseline.File) error {
		for _, e := range file.Remove(func(e baseline.Entry) bool { return a.names(e.Kernel, e.Origin) }) {
			events = append(events, a.event(baseline.Removed, e.Key, e.Commit, e.Point))
		}
		return nil
	})
	for _, name := range a.Kernels {
		kernel := filepath.Base(filepath.Clean(name))
		if !slices.ContainsFunc(events, func(e baseline.Event) bool { return e.Kernel == kernel || e.Kernel == name }) {
			events = append(events, a.event(baseline.Removed, baseline.Key{Kernel: kernel}, "", ""))
		}
	}
	if err != nil {
		return nil, err
	}
	return a.record(events)
}

// event is a decision about what was not measured.
func (a Acceptance) event(v gate.Verdict, key baseline.Key, commit, point string) baseline.Event {
	return baseline.Event{
		Time: time.Now().UTC(), Key: key, Commit: commit, Point: point, Verdict: v, Reason: a.Reason, By: a.By,
	}
}

// record adds decisions to the history, and returns what they are about.
func (a Acceptance) record(events []baseline.Event) (keys []baseline.Key, err error) {
	keys = collect.Each(events, func(e baseline.Event) baseline.Key { return e.Key })
	return keys, baseline.AppendHistory(baseline.HistoryPath(a.Baseline), events)
}

func (a Acceptance) folder() string { return cmp.Or(a.From, filepath.Dir(a.Baseline)) }

// Results is the file with what the run measured.
func (a Acceptance) Results() string { return filepath.Join(a.folder(), CurrentName) }

func (a Acceptance) names(kernel, origin string) bool {
	return len(a.Kernels) == 0 || slices.ContainsFunc(a.Kernels, func(name string) bool {
		return name == kernel || origin != "" && filepath.Clean(name) == filepath.Clean(origin) ||
			filepath.Base(filepath.Clean(name)) == kernel
	})
}

// among returns the entries of the named kernels, or all.
func (a Acceptance) among(file *baseline.File) (entries []baseline.Entry) {
	for _, b := range file.Entries {
		if a.names(b.Kernel, b.Origin) {
			entries = append(entries, b.Entry)
		}
	}
	return entries
}

// Baseline returns the file that performance is compared with, nil where there is none.
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
	if errors.Is(err, baseline.ErrForeign) {
		return nil, fmt.Errorf("%s was not written by pawl gate: run that first", path)
	}
	return current, err
}

// checkOvertaken refuses results that are older than what they would replace.
func checkOvertaken(file *baseline.File, accepted []baseline.Entry) error {
	for _, e := range accepted {
		if now, ok := file.Find(e.Key); ok && now.Measured.After(e.Measured) {
			return fmt.Errorf("%s: its baseline is newer than these results, which were compared with an older one: run "+
				"pawl gate again", e.Key)
		}
	}
	return nil
}

// checkErosion refuses what the next gate would fail: an acceptance beyond the
// erosion limit has to be declared a release.
func (a Acceptance) checkErosion(report *reporting.Report, accepted []baseline.Entry) error {
	if a.Release || report == nil {
		return nil
	}
	for _, e := range accepted {
		evidence := evidenceFor(report, e.Key)
		if evidence == nil {
			continue
		}
		limit := resultFor(report, e.Key).Policy.Erosion
		if loss := -evidence.Change; loss > limit {
			return fmt.Errorf("%s is %s slower than its best accepted entry, more than the %s that erosion allows: accept it "+
				"with --release to make it what erosion is measured against", e.Key, page.Percent(loss), page.Percent(limit))
		}
	}
	return nil
}

// resultFor returns the result of a run about a configuration; nil where it has none.
func resultFor(report *reporting.Report, key baseline.Key) *reporting.Result {
	if report != nil {
		for i := range report.Results {
			if report.Results[i].Key == key {
				return &report.Results[i]
			}
		}
	}
	return nil
}

// evidenceFor returns what a run measured against the best accepted entry, or the baseline.
func evidenceFor(report *reporting.Report, key baseline.Key) *gate.Evidence {
	if s := resultFor(report, key); s != nil {
		return cmp.Or(s.Best, s.Evidence)
	}
	return nil
}
