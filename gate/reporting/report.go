// Package reporting writes what a gate run found, for everyone who asks: a page for
// the reviewer, JSON for programs, JUnit for the CI server, a few lines for the
// step summary, and the trend over commits.
//
// Everything is computed from a Report; nothing is measured or decided here.
package reporting

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/profile"
)

// The files that WriteAll makes.
const (
	MarkdownName = "ratchet_report.md"
	JSONName     = "ratchet_report.json"
	JUnitName    = "ratchet_report.xml"
)

// Report is a gate run.
type Report struct {
	Time    time.Time `json:"time"`
	Device  string    `json:"device"`
	Commit  string    `json:"commit,omitempty"`
	Results []Result  `json:"results"`
	// Base is the commit whose baseline counted, empty where it was the file's own.
	Base string `json:"base,omitempty"`
	// Problem is why nothing was compared: a file that cannot be read, or broken machinery.
	Problem string `json:"problem,omitempty"`
	// Warnings are about the whole run.
	Warnings []string `json:"warnings,omitempty"`
	// Planned is how many configurations the policy names. With fewer results the run
	// has not come to its end: it was stopped, or the machinery failed.
	Planned int `json:"planned,omitempty"`
	// Strict says that what is undecided fails.
	Strict bool `json:"strict,omitempty"`
	// Updated says that the baseline file was written.
	Updated bool `json:"updated"`
	// Cost is what a machine that was woken for the run has taken; nil where none was.
	Cost *Cost `json:"cost,omitempty"`
	// Exit is the code that the gate exits with. A script holds the one it got
	// against it: a crash leaves a code and no report.
	Exit int `json:"exit"`
}

// Result is the comparison of one configuration.
type Result struct {
	baseline.Key
	Point string `json:"point"`
	// BaselinePoint and BaselineCommit are empty where there was no baseline.
	BaselinePoint  string `json:"baseline_point,omitempty"`
	BaselineCommit string `json:"baseline_commit,omitempty"`
	// Baseline and Current are times in milliseconds, 0 where not measured: of the
	// statistic that is compared where both sides were measured together, so that they
	// differ by exactly the change, and medians elsewhere.
	Baseline float64 `json:"baseline,omitempty"`
	Current  float64 `json:"current,omitempty"`
	gate.Comparison
	// Stage is where a candidate failed that is not measured.
	Stage  objective.Stage `json:"stage,omitempty"`
	Policy gate.Policy     `json:"policy"`
	// Changed are the keys of the manifest by which a branch changes what is right.
	Changed []string `json:"changed,omitempty"`
	// Sources identifies the candidate's files. AcceptedBy is who has accepted a loss or changed checks of exactly
	// these, AcceptedWhy the reason given.
	Sources     string `json:"sources,omitempty"`
	AcceptedBy  string `json:"accepted_by,omitempty"`
	AcceptedWhy string `json:"accepted_why,omitempty"`
	// Why says where a regression or an improvement comes from; nil where nothing is known.
	Why *profile.Comparison `json:"explanation,omitempty"`
	// Command repeats this comparison, at the report's commit.
	Command string `json:"command,omitempty"`
	// Moved says that this became the baseline, Lost that a provisional gain was not held.
	Moved   bool    `json:"moved"`
	Lost    bool    `json:"lost,omitempty"`
	Seconds float64 `json:"seconds"`
}

// open reports whether a person, or a better measurement, still has to decide.
func (r Result) open() bool { return r.Verdict.Undecided() || len(r.Changed) > 0 && r.AcceptedBy == "" }

// HeldTo fills in the baseline, as it was recorded.
func (r *Result) HeldTo(entry baseline.Entry) {
	r.BaselinePoint, r.BaselineCommit, r.Baseline = entry.Point, entry.Commit, entry.Median
}

// Config names the configuration for people.
func (r Result) Config() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Kernel, r.Workload, r.Type)) // a program's row has no type
}

// Count returns how many results have one of the verdicts.
func (r *Report) Count(verdicts ...gate.Verdict) int { return len(r.with(verdicts...)) }

func (r *Report) with(verdicts ...gate.Verdict) []Result {
	return collect.Where(r.Results, func(result Result) bool { return slices.Contains(verdicts, result.Verdict) })
}

// FailuresFirst returns the results, those that fail before all others.
func (r *Report) FailuresFirst() []Result {
	passes := func(result Result) bool { return !r.fails(result) }
	return slices.Concat(collect.Where(r.Results, r.fails), collect.Where(r.Results, passes))
}

// Finished reports whether every planned configuration has a result.
func (r *Report) Finished() bool { return len(r.Results) >= r.Planned }

// Failed reports whether the change must not land.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Results, r.fails)
}

// fails reports whether a result does. What is new passes always: it has to begin somewhere. A person may accept a
// loss, but no wrong result; changed checks that nobody has accepted fail.
func (r *Report) fails(s Result) bool {
	switch {
	case s.AcceptedBy != "":
		return s.Verdict == gate.Wrong
	case s.Verdict.Fails(), len(s.Changed) > 0:
		return true
	}
	return (r.Strict || s.Policy.Strict) && s.open() && s.Verdict != gate.New
}

// Decided reports whether something is known about every configuration.
func (r *Report) Decided() bool {
	return len(r.Results) > 0 && !slices.ContainsFunc(r.Results, Result.open)
}

// Passed reports whether every configuration was shown to be kept or improved.
func (r *Report) Passed() bool {
	return len(r.Results) > 0 && r.Finished() &&
		!slices.ContainsFunc(r.Results, func(s Result) bool { return !s.Verdict.Passes() })
}

// Family says how likely a false alarm of the whole run is, where several comparisons were measured.
func (r *Report) Family() string {
	measured, none, most := 0, 1.0, 0.0
	for _, s := range r.Results {
		if s.Method == gate.Interleaved && s.Evidence != nil {
			measured, none, most = measured+1, none*(1-s.Policy.Alarm), max(most, s.Policy.Alarm)
		}
	}
	if measured < 2 {
		return ""
	}
	return fmt.Sprintf("%d comparisons were measured. Of equal sides, each differs by chance in at most %s of runs, and "+
		"at least one of them in at most %s.", measured, page.Percent(most), page.Percent(1-none))
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error { return page.JSON(w, "pawl gate", 1, r) }

// WriteAll writes every form of the report into a folder and returns the paths.
// Each file is replaced completely or not at all.
func WriteAll(folder string, r *Report) ([]string, error) {
	return page.WriteFiles(folder,
		page.File{Name: MarkdownName, Render: func(w io.Writer) error { return Markdown(w, r) }},
		page.File{Name: JSONName, Render: r.JSON},
		page.File{Name: JUnitName, Render: func(w io.Writer) error { return JUnit(w, r) }},
	)
}
