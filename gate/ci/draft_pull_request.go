package ci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/gate/ci/github"
	"pawl/gate/reporting"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/studies"
	"pawl/studies/apply"
	"pawl/studies/report"
)

// Applier turns a study's winner into a commit.
type Applier interface {
	// Index lists the studies, as their index does.
	Index(ctx context.Context) ([]report.Entry, error)
	// Commit makes a commit on top of another one that has the winner of a study in the
	// kernel's sources, as the last one of a local branch, and returns its hash; none where
	// the sources have it already. The checkout stays as it is. What must not be applied is
	// an [*apply.Refusal]; any other error is broken machinery.
	Commit(ctx context.Context, study int64, branch, onto string) (hash string, err error)
	// Weeks returns what is known of a study, and of the last one before it of the same kernel, workload
	// and device that has a winner; nil for none.
	Weeks(ctx context.Context, study int64) (this, last *report.Summary, err error)
}

// Drafts says what to open drafts for.
type Drafts struct {
	// Out is the folder with the pages of the studies.
	Out string
	// Base is the branch to merge into.
	Base string
	// Folder is inside the checkout.
	Folder string
	// Machine has the price of the machine that searched; nil where it is not known.
	Machine *reporting.Cost
	Job     Job
	// Say gets a sentence about each kernel; it may be nil.
	Say func(string)
}

// Draft is what became of one kernel.
type Draft struct {
	Kernel string `json:"kernel"`
	// Study is the one whose winner is proposed; 0 where none is.
	Study int64 `json:"study,omitempty"`
	// Pull is the number of the pull request; 0 where there is none.
	Pull int `json:"pull,omitempty"`
	// What says what was done, or why nothing, in a sentence.
	What string `json:"what"`
}

// Publish leaves one draft for each kernel whose studies suggest a change. A kernel whose
// draft cannot be made does not keep the others from theirs; the error names each.
func (d Drafts) Publish(ctx context.Context, at *github.Client, by Applier) ([]Draft, error) {
	all, err := by.Index(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := d.remote(ctx)
	if err != nil {
		return nil, err
	}
	var drafts []Draft
	var failures error
	for _, kernel := range byKernel(all) {
		draft, err := d.kernel(ctx, at, by, tree, kernel)
		if err != nil {
			failures = errors.Join(failures, fmt.Errorf("the draft for %s: %w", escape.Line(kernel[0].Kernel), err))
			continue
		}
		drafts = append(drafts, draft)
		if d.Say != nil {
			d.Say(fmt.Sprintf("%s: %s", draft.Kernel, draft.What))
		}
	}
	return drafts, failures
}

// kernel makes the draft of one kernel from its studies.
func (d Drafts) kernel(ctx context.Context, at *github.Client, by Applier, r *remote,
	studies []report.Entry) (Draft, error) {
	draft := Draft{Kernel: studies[0].Kernel}
	// Dots are allowed in the name of a file, and some of them not in that of a branch.
	branch := "pawl/" + escape.FileName(strings.ReplaceAll(draft.Kernel, ".", "/"))
	chosen, commit, refused, err := choose(ctx, by, branch, r.base, studies)
	if err != nil {
		return draft, err
	}
	if commit == "" {
		draft.What = "nothing to propose" + because(refused)
		closed, err := withdraw(ctx, at, branch, draft.What)
		draft.What += closed
		return draft, err
	}
	kept, err := r.push(ctx, branch, commit)
	if theirs, ok := errors.AsType[*notOurs](err); ok {
		draft.What = theirs.Error()
		return draft, nil
	}
	if err != nil {
		return draft, err
	}
	p := github.Draft{Title: title(chosen), Branch: branch, Base: d.Base}
	this, last, err := by.Weeks(ctx, chosen.Study)
	if err != nil {
		return draft, err
	}
	if p.Body, err = d.body(d.weeks(this, last), chosen, studies, refused); err != nil {
		return draft, err
	}
	draft.Study = chosen.Study
	draft.Pull, draft.What, err = open(ctx, at, p, kept)
	return draft, err
}

// choose takes the winner with the largest speedup that may be applied.
func choose(ctx context.Context, by Applier, branch, base string,
	studies []report.Entry) (chosen report.Entry, commit string, refused map[int64]string, err error) {
	refused = map[int64]string{}
	ordered := slices.SortedStableFunc(slices.Values(studies),
		func(a, b report.Entry) int { return cmp.Compare(gain(b), gain(a)) })
	for _, s := range ordered {
		if reason := notWorthIt(s); reason != "" {
			refused[s.Study] = reason
			continue
		}
		if !s.Suggests {
			continue
		}
		commit, err := by.Commit(ctx, s.Study, branch, base)
		refusal, isRefused := errors.AsType[*apply.Refusal](err)
		switch {
		case isRefused:
			refused[s.Study] = refusal.Reason.Error()
		case err != nil:
			return s, "", refused, err
		case commit == "":
			refused[s.Study] = "you already run this"
		default:
			return s, commit, refused, nil
		}
	}
	return chosen, "", refused, nil
}

func because(refused map[int64]string) string {
	if len(refused) == 0 {
		return ""
	}
	return ": " + strings.Join(collect.Each(slices.Sorted(maps.Keys(refused)), func(study int64) string {
		return fmt.Sprintf("study %d: %s", study, refused[study])
	}), "; ")
}

// open leaves one draft of the branch with this text. It looks again where the answer to a
// creation was lost, or somebody else was faster.
func open(ctx context.Context, at *github.Client, p github.Draft, kept bool) (number int, what string, err error) {
	for look := 1; ; look++ {
		found, err := at.OpenPulls(ctx, p.Branch)
		if err != nil {
			return 0, "", err
		}
		if len(found) > 0 {
			return renew(ctx, at, found[0], p, kept)
		}
		created, err := at.CreateDraft(ctx, p)
		switch {
		case err == nil:
			return created.Number, fmt.Sprintf("opened draft %d", created.Number), nil
		case github.NoCommits(err):
			return 0, "nothing to propose: " + p.Base + " has it already", nil
		case look == looks || !github.Unknown(err) && !github.Exists(err) && !github.Conflict(err):
			return 0, "", err
		}
	}
}

// withdraw closes the draft of a branch that has nothing to propose any more. One that a person has
// taken over, or made ready for review, stays.
func withdraw(ctx context.Context, at *github.Client, branch, why string) (string, error) {
	found, err := at.OpenPulls(ctx, branch)
	if err != nil || len(found) == 0 || !found[0].Draft {
		return "", err
	}
	login, err := at.Login(ctx)
	if err != nil || found[0].User.Login != login {
		return "", err
	}
	body := fmt.Sprintf("Closed: %s.\n\n%s", escape.Markdown(why), found[0].Body)
	return fmt.Sprintf("; closed draft %d", found[0].Number), at.ClosePull(ctx, found[0].Number, body)
}

// renew gives a pull request that is there the text of today. A person may have made it
// ready for review, or taken it over: only pawl's own text is replaced.
func renew(ctx context.Context, at *github.Client, found github.Pull, p github.Draft, kept bool) (int, string, error) {
	login, err := at.Login(ctx)
	switch {
	case err != nil:
		return 0, "", err
	case found.User.Login != login:
		return found.Number,
			fmt.Sprintf("pull request %d of %s is %s's: its text stays", found.Number, p.Branch, found.User.Login), nil
	case lines(found.Body) != lines(p.Body) || found.Title != p.Title:
		err = at.EditPull(ctx, found.Number, p.Title, p.Body)
	case kept:
		return found.Number, fmt.Sprintf("draft %d says so already", found.Number), nil
	}
	return found.Number, fmt.Sprintf("updated draft %d", found.Number), err
}

// notWorthIt says why a winner is no draft, whatever its gain over the default; empty
// where it may be one.
func notWorthIt(s report.Entry) string {
	if s.Gate == nil {
		return ""
	}
	return map[studies.Standing]string{
		studies.Running: "you already run this", studies.Equal: "no better than what you run today",
		studies.Refused: "the gate refuses it",
	}[s.Gate.Standing]
}

// gain is the speedup that is certain, 0 for none.
func gain(s report.Entry) float64 {
	if s.Interval == nil || !s.Interval.Bounded() {
		return 0
	}
	return s.Interval.Low
}
