// Package bisect finds the commit that made a kernel slower or wrong.
//
// Its opinion is that times of one commit are worth nothing beside times of another hour:
// every commit that is tried is rebuilt and measured against the good one in the same
// rounds, by the rule of the gate. And that the user's checkout is the user's: git is asked
// for objects, which are unpacked into a temporary folder.
//
//  1. The line of commits from good to bad is listed, by first parents. Those that leave
//     the kernel's folder as it was cannot be to blame and are left out.
//  2. Good is built and checked, and bad is compared with it. What bad is (slower, or
//     wrong) is what is searched for; where it is neither, there is nothing to find.
//  3. [Search] halves the line. What does not build, what has other sizes and what the
//     comparison cannot decide is skipped.
package bisect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/gate"
	"pawl/gate/ratchet"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// Options says what to search.
type Options struct {
	// Kernel is a folder in a git repository; Beside are further paths that it needs,
	// headers outside of its folder for one.
	Kernel string
	Beside []string
	// Good and Bad name commits.
	Good, Bad string
	// Backend is where the kernel runs. Workload and At choose the point, as in
	// [devices.Builder.Open]; what At leaves out has the default of each commit.
	Backend, Workload, At string
	Policy                gate.Policy
	Seed                  uint64
	// Begin gets the number of commits in the line and of those that change the kernel
	// before anything is built, Finished each commit as it is judged. Both may be nil.
	Begin    func(commits, changes int)
	Finished func(Finding)
}

// Finding is a commit and what is known of it.
type Finding struct {
	Commit
	Answer Answer `json:"answer"`
	// Verdict is against good; empty where nothing was compared.
	Verdict gate.Verdict `json:"verdict,omitempty"`
	Reason  string       `json:"reason"`
	// Evidence is missing where nothing was measured.
	Evidence *gate.Evidence `json:"evidence,omitempty"`
}

// Result is a finished search.
type Result struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Good     Commit `json:"good"`
	// Bad is the last commit that changes the kernel, which has what the commit that was called bad has.
	Bad Finding `json:"bad"`
	// Commits are in the line after good, Changes of them change the kernel.
	Commits int `json:"commits"`
	Changes int `json:"changes"`
	// Suspects are in order. One alone is the commit; of several, all but the last could
	// not be judged. None means that there was nothing to find.
	Suspects []Finding `json:"suspects"`
	// Before is the last commit that was found good, missing where that is Good itself.
	Before *Finding `json:"before,omitempty"`
	// Tested are all commits that were judged, in that order, bad first.
	Tested []Finding `json:"tested"`
	// Nothing says why there was nothing to find.
	Nothing string `json:"nothing,omitempty"`
}

// Found reports whether the search came to one commit.
func (r *Result) Found() bool { return len(r.Suspects) == 1 }

type search struct {
	Options
	builder    *devices.Builder
	repository *repository
	temporary  string // the folder of what is unpacked
	good       *devices.Configuration
	// wanted is the verdict of bad, which the search is for; empty until it is known.
	wanted gate.Verdict
	// unmeasured says that bad failed its checks, so that checks alone decide.
	unmeasured bool
	// known are findings by the content of the kernel's folder, same by the machine code and what it is called with.
	known, same map[string]Finding
	result      *Result
}

// Run searches. A mistake in what was asked for is a *devices.ArgumentError; any other
// error means that the machinery broke.
func Run(ctx context.Context, b *devices.Builder, o Options) (*Result, error) {
	r, err := open(ctx, o.Kernel, o.Beside)
	if err != nil {
		return nil, err
	}
	line, err := r.line(ctx, o.Good, o.Bad)
	if err != nil {
		return nil, err
	}
	if line[0].content == "" {
		return nil, devices.Argumentf("%s has no %s", o.Good, o.Kernel)
	}
	temporary, err := os.MkdirTemp("", "pawl-bisect-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	s := &search{
		Options: o, builder: b, repository: r, temporary: temporary, known: map[string]Finding{}, same: map[string]Finding{},
		result: &Result{Kernel: o.Kernel, Good: line[0], Commits: len(line) - 1},
	}
	return s.result, s.run(ctx, changes(line))
}

func changes(line []Commit) (changed []Commit) {
	for i, c := range line[1:] {
		if c.content != line[i].content {
			changed = append(changed, c)
		}
	}
	return changed
}

func (s *search) run(ctx context.Context, changed []Commit) error {
	s.result.Changes = len(changed)
	if s.Begin != nil {
		s.Begin(s.result.Commits, len(changed))
	}
	if len(changed) == 0 {
		s.result.Nothing = "no commit of the line changes the kernel's folder"
		return nil
	}
	if err := s.build(ctx); err != nil || s.result.Nothing != "" {
		return err
	}
	defer s.good.Close()
	if err := s.compareEnds(ctx, changed[len(changed)-1]); err != nil || s.result.Nothing != "" {
		return err
	}
	findings := map[int]Finding{len(changed) - 1: s.result.Bad}
	suspects, err := Search(len(changed), func(commit int) (Answer, error) {
		f, err := s.test(ctx, changed[commit])
		findings[commit] = f
		return f.Answer, err
	})
	if err != nil {
		return err
	}
	s.result.Suspects = collect.Each(suspects, func(commit int) Finding { return findings[commit] })
	if before, tested := findings[suspects[0]-1]; tested {
		s.result.Before = &before
	}
	return nil
}

// build opens the good commit. One that does not work leaves nothing to search.
func (s *search) build(ctx context.Context) error {
	folder, err := s.unpack(ctx, s.result.Good)
	if err != nil {
		return err
	}
	k, err := s.builder.Machine.Load(ctx, folder, s.Backend)
	if err != nil {
		return err
	}
	if s.good, err = s.builder.Open(ctx, k, s.Workload, s.At); err != nil {
		return err
	}
	s.result.Workload = s.good.Workload.Name
	failure := s.good.Prepared.Failure
	if failure == nil {
		failure, err = s.good.Evaluator.Verify(ctx, s.good.Prepared)
	}
	code := ""
	if err == nil && failure == nil {
		code, err = machineCode(s.good)
	}
	if failure != nil {
		s.result.Nothing = fmt.Sprintf("the good commit itself fails: %s", failure)
	}
	if err != nil || failure != nil {
		s.good.Close()
		return err
	}
	s.known[s.result.Good.content] = Finding{Answer: Good, Reason: "its kernel is that of the good commit"}
	s.same[code] = Finding{Answer: Good, Verdict: gate.Maintained, Reason: "its machine code is that of the good commit"}
	return nil
}

func (s *search) compareEnds(ctx context.Context, bad Commit) error {
	f, err := s.test(ctx, bad)
	if err != nil {
		return err
	}
	s.wanted, s.result.Bad = f.Verdict, f
	switch f.Answer {
	case Good:
		s.result.Nothing = "the bad commit is neither slower than the good one nor wrong: " + f.Reason
	case Skip:
		s.result.Nothing = "the bad commit cannot be judged: " + f.Reason
	}
	return nil
}

// test judges a commit, unless the same kernel was judged before.
func (s *search) test(ctx context.Context, c Commit) (Finding, error) {
	f, seen := s.known[c.content]
	if !seen {
		var err error
		if f, err = s.judge(ctx, c); err != nil {
			return f, err
		}
		// The temporary folder is gone when this is read.
		f.Reason = strings.ReplaceAll(f.Reason, filepath.Join(s.temporary, c.Hash)+string(filepath.Separator), "")
		s.known[c.content] = f
	}
	f.Commit = c
	s.result.Tested = append(s.result.Tested, f)
	if s.Finished != nil {
		s.Finished(f)
	}
	return f, nil
}

// judge builds a commit and holds it to the good one.
func (s *search) judge(ctx context.Context, c Commit) (Finding, error) {
	if c.content == "" {
		return skipped("it does not have the kernel"), nil
	}
	folder, err := s.unpack(ctx, c)
	if err != nil && ctx.Err() == nil {
		return skipped(err.Error()), nil
	}
	candidate, why, err := ratchet.OpenSources(ctx, ratchet.Here(s.builder), folder, s.good.Kernel.Backend,
		s.good.Workload.Name, s.At, s.good.Workload.Dims.String())
	if err != nil || candidate == nil { // good was built on this machine, so that it is not the machine's fault
		return skipped(why), err
	}
	defer candidate.Close()
	failure, err := candidate.Evaluator.Verify(ctx, candidate.Prepared)
	switch {
	case err != nil:
		return Finding{}, err
	case failure != nil:
		d := gate.Broken(failure)
		s.unmeasured = s.unmeasured || s.wanted == "" && d.Verdict == gate.Wrong
		return s.finding(gate.Comparison{Decision: d}), nil
	case s.unmeasured:
		return Finding{Answer: Good, Reason: "its results are right"}, nil
	}
	code, err := machineCode(candidate)
	if err != nil {
		return Finding{}, err
	}
	if f, seen := s.same[code]; seen {
		return f, nil
	}
	compared, err := ratchet.ComparePair(ctx, s.good, candidate, s.Policy, gate.Options{
		Seed: gate.OrderSeed(s.Seed, s.good.Kernel.Name, s.good.Workload.Name+" "+c.Hash, 0),
	})
	if err != nil {
		return Finding{}, err
	}
	f := s.finding(compared)
	if f.Answer != Skip {
		s.same[code] = f
	}
	return f, nil
}

func (s *search) unpack(ctx context.Context, c Commit) (string, error) {
	folder := filepath.Join(s.temporary, c.Hash)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	return s.repository.extract(ctx, c, folder)
}

// machineCode identifies what runs when a configuration is timed.
func machineCode(c *devices.Configuration) (string, error) {
	problem, err := c.Evaluator.Problem()
	return c.Prepared.Binary.Digest + " " + problem, err
}

func (s *search) finding(c gate.Comparison) Finding {
	f := Finding{Answer: Skip, Verdict: c.Verdict, Reason: c.Reason, Evidence: c.Evidence}
	switch c.Verdict {
	case gate.Improvement, gate.Maintained, gate.NoDifference:
		f.Answer = Good
	case gate.Regression, gate.Wrong:
		switch {
		case s.wanted == c.Verdict, s.wanted == "":
			f.Answer = Bad
		case s.wanted == gate.Wrong: // slower, and right
			f.Answer = Good
		case s.wanted == gate.Regression:
			f.Reason = "it is wrong, so that its speed says nothing: " + c.Reason
		}
	}
	return f
}

func skipped(why string) Finding { return Finding{Answer: Skip, Reason: why} }

// Change writes the change against good with its interval, or nothing.
func (f Finding) Change() string {
	if f.Evidence == nil {
		return ""
	}
	return fmt.Sprintf("%s (95 %% interval %s, %s)", page.Change(f.Evidence.Change),
		page.ChangeInterval(f.Evidence.Interval), page.Count(f.Evidence.Rounds, "round"))
}
