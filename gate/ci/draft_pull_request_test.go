package ci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate/ci/github"
	"pawl/gate/reporting"
	"pawl/internal/git"
	"pawl/internal/githubtest"
	"pawl/internal/stats"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies/apply"
	"pawl/studies/report"
)

// bench is a scratch repository with a bare remote, GitHub before it, and an index of
// studies.
type bench struct {
	t        *testing.T
	server   *githubtest.Server
	checkout string
	drafts   Drafts
	// contents are what the winner of a study writes; a missing one is refused.
	contents map[int64]string
	entries  []report.Entry
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	folder := t.TempDir()
	b := &bench{t: t, checkout: filepath.Join(folder, "checkout"), contents: map[int64]string{}}
	remote := filepath.Join(folder, "remote.git")
	b.git("", "init", "--quiet", "--bare", "-b", "main", remote)
	b.git("", "clone", "--quiet", remote, b.checkout)
	b.git(b.checkout, "checkout", "--quiet", "-b", "main")
	b.write("kernel.yaml", "default: 1\n")
	b.commit("first")
	b.git(b.checkout, "push", "--quiet", "origin", "main")
	b.server = githubtest.New("someone/kernels", remote)
	t.Cleanup(b.server.Close)
	b.server.Give("secret", githubtest.JobToken("pull_requests=write", "contents=write"))
	out := filepath.Join(folder, "tuning")
	b.drafts = Drafts{
		Out:     out,
		Base:    "main",
		Folder:  b.checkout,
		Machine: &reporting.Cost{PricePerHour: 4, Currency: "EUR"},
		Job:     Job{API: b.server.URL, Token: "secret", Repository: "someone/kernels"},
	}
	for _, page := range []string{"scale/small", "scale/large", "sum/small"} {
		b.writeAt(filepath.Join(out, page, "suggestions.md"), "# The page of "+page+"\n")
	}
	b.index(`{"study": 1, "kernel": "scale", "workload": "small", "folder": "scale/small", "verdict": "apply", "speedup": 2, "interval": {"low": 1.9, "high": 2.1}, "suggests": true, "action": "read the page"}`)
	return b
}

func (b *bench) git(folder string, arguments ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, arguments...)...)
	cmd.Dir = folder
	output, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

func (b *bench) write(name, content string) { b.writeAt(filepath.Join(b.checkout, name), content) }

func (b *bench) writeAt(path, content string) {
	b.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) commit(message string) {
	b.git(b.checkout, "add", "-A")
	b.git(b.checkout, "commit", "--quiet", "-m", message)
}

func (b *bench) index(lines ...string) {
	b.t.Helper()
	b.entries = nil
	if err := json.Unmarshal([]byte("["+strings.Join(lines, ",\n")+"]"), &b.entries); err != nil {
		b.t.Fatal(err)
	}
}

// Index implements Applier.
func (b *bench) Index(context.Context) ([]report.Entry, error) { return b.entries, nil }

// Weeks implements Applier: last time the model guessed that at most 2 % was left, and 4 % was found since.
func (b *bench) Weeks(_ context.Context, study int64) (this, last *report.Summary, err error) {
	week := func(id int64, day int, seconds, speedup, left float64) *report.Summary {
		winner, err := space.ParsePoint(fmt.Sprintf("BLOCK=%d", day))
		if err != nil {
			b.t.Fatal(err)
		}
		s := &report.Summary{
			Search:   report.SearchFacts{Asked: day, Seconds: seconds},
			Default:  &report.Timed{},
			Winner:   &report.Timed{Point: winner},
			Evidence: &report.Evidence{Speedup: speedup, Interval: stats.Interval{Low: speedup - 0.1, High: speedup + 0.1}},
		}
		s.Study.ID, s.Study.Created = id, time.Date(2026, 11, day, 3, 17, 0, 0, time.UTC)
		s.Study.Regret = &trial.Regret{Left: left, Sure: 0.9}
		return s
	}
	return week(study, 16, 1200, 2, 0.01), week(0, 9, 600, 1.92, 0.02), nil
}

// Commit implements Applier with real commits.
func (b *bench) Commit(ctx context.Context, study int64, branch, onto string) (string, error) {
	content, ok := b.contents[study]
	if !ok {
		return "", &apply.Refusal{Reason: errors.New("another workload would pay for it")}
	}
	if content == b.git(b.checkout, "show", onto+":kernel.yaml")+"\n" {
		return "", nil
	}
	made, err := git.Commit{
		Onto:    onto,
		Files:   []git.File{{Name: "kernel.yaml", Content: []byte(content)}},
		Message: fmt.Sprintf("study %d", study),
	}.Write(ctx, b.checkout)
	if err != nil {
		return "", err
	}
	return git.MoveBranch(ctx, b.checkout, branch, made)
}

func (b *bench) publish() ([]Draft, error) {
	b.t.Helper()
	client, err := b.drafts.Job.Client(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.drafts.Publish(b.t.Context(), client, b)
}

// want publishes and expects one kernel with this outcome.
func (b *bench) want(what string) Draft {
	b.t.Helper()
	drafts, err := b.publish()
	if err != nil || len(drafts) != 1 || !strings.HasPrefix(drafts[0].What, what) {
		b.t.Fatalf("%+v, %v; want %s", drafts, err, what)
	}
	return drafts[0]
}

func (b *bench) remoteFile(branch string) string {
	b.t.Helper()
	b.git(b.checkout, "fetch", "--quiet", "origin")
	return b.git(b.checkout, "show", "origin/"+branch+":kernel.yaml")
}

func TestADraftIsOpenedUpdatedAndLeftAlone(t *testing.T) {
	b := newBench(t)
	b.contents[1] = "default: 2\n"
	if d := b.want("opened draft 1"); d.Pull != 1 || d.Study != 1 {
		t.Errorf("%+v", d)
	}
	p := b.server.Pulls()[0]
	if !p.Draft || p.Branch != "pawl/scale" || p.Base != "main" || p.Title != "Tune scale for small: 2.00× faster" ||
		!strings.Contains(p.Body, "# The page of scale/small") || b.remoteFile("pawl/scale") != "default: 2" {
		t.Errorf("%+v", p)
	}
	b.want("draft 1 says so already")

	// Another week: another winner, and main has moved.
	b.write("other", "x")
	b.commit("main goes on")
	b.git(b.checkout, "push", "--quiet", "origin", "main")
	b.contents[1] = "default: 3\n"
	b.want("updated draft 1")
	if count := b.git(b.checkout, "rev-list", "--count",
		"origin/main..origin/pawl/scale"); b.remoteFile("pawl/scale") != "default: 3" || count != "1" {
		t.Errorf("%s commits, %s", count, b.remoteFile("pawl/scale"))
	}

	// A person's commit on the branch stays.
	b.git(b.checkout, "checkout", "--quiet", "-b", "mine", "origin/pawl/scale")
	b.write("kernel.yaml", "default: 4\n")
	b.commit("better still")
	b.git(b.checkout, "push", "--quiet", "origin", "mine:pawl/scale")
	b.contents[1] = "default: 5\n"
	b.want("the last commit of pawl/scale")
	if b.remoteFile("pawl/scale") != "default: 4" {
		t.Error("a person's commit is gone")
	}

	// Merged, whatever the branch says: it is main's now, and what runs already is no draft.
	b.git(b.checkout, "push", "--quiet", "origin", "mine:main")
	b.server.ClosePull(1)
	b.contents[1] = "default: 4\n"
	b.want("nothing to propose: study 1: you already run this")
	b.contents[1] = "default: 6\n"
	b.want("opened draft 2")
}

// A draft that is no longer better is closed, and says why; one that a person has made ready stays.
func TestADraftThatIsNoLongerBetter(t *testing.T) {
	b := newBench(t)
	b.contents[1] = "default: 2\n"
	b.want("opened draft 1")
	delete(b.contents, 1)
	b.want("nothing to propose: study 1: another workload would pay for it; closed draft 1")
	if p := b.server.Pulls()[0]; p.State != "closed" || !strings.HasPrefix(p.Body, "Closed: nothing to propose: study 1") {
		t.Errorf("%+v", p)
	}
	b.want("nothing to propose: study 1: another workload would pay for it")
	b.server.AddPull("someone", "pawl/scale", "main", "Mine")
	b.want("nothing to propose: study 1: another workload would pay for it")
	if p := b.server.Pulls()[1]; p.State != "open" {
		t.Errorf("%+v", p)
	}
}

func TestTheBestWinnerThatMayBeApplied(t *testing.T) {
	b := newBench(t)
	b.index(
		`{"study": 1, "kernel": "scale", "workload": "small", "folder": "scale/small", "verdict": "apply", "speedup": 2, "interval": {"low": 1.9, "high": 2.1}, "gate": {"standing": "faster", "verdict": "improvement", "speedup": 1.5}, "suggests": true, "action": "a"}`,
		`{"study": 2, "kernel": "scale", "workload": "large|<b>", "folder": "scale/large", "verdict": "apply", "speedup": 9, "interval": {"low": 8, "high": 10}, "suggests": true, "action": "a"}`,
		`{"study": 3, "kernel": "sum", "workload": "small", "folder": "sum/small", "verdict": "apply", "gate": {"standing": "running", "verdict": "maintained"}, "suggests": true, "action": "nothing"}`,
		`{"study": 4, "verdict": "damaged", "suggests": false, "action": "tune again"}`)
	b.contents[1] = "default: 2\n"
	drafts, err := b.publish()
	if err != nil || len(drafts) != 2 || drafts[0].Study != 1 ||
		drafts[1].What != "nothing to propose: study 3: you already run this" {
		t.Fatalf("%+v, %v", drafts, err)
	}
	golden(t, "draft.md", b.server.Pulls()[0].Body)
}

// A lost answer opens no second draft, and one kernel's trouble is not another's.
func TestNeverTwoDrafts(t *testing.T) {
	for _, fault := range []githubtest.Fault{
		{Drop: true},
		{Drop: true, After: true},
		{Status: 502, After: true},
		{Status: 409},
	} {
		b := newBench(t)
		b.contents[1] = "default: 2\n"
		fault.Request = "POST"
		b.server.Plant(fault)
		if drafts, err := b.publish(); err != nil || len(drafts) != 1 || drafts[0].Pull != 1 || len(b.server.Pulls()) != 1 {
			t.Errorf("%+v: %+v, %v, %+v", fault, drafts, err, b.server.Pulls())
		}
	}
	b := newBench(t)
	b.contents[1], b.contents[2] = "default: 2\n", "default: 3\n"
	b.index(
		`{"study": 1, "kernel": "scale", "workload": "small", "folder": "gone", "suggests": true}`,
		`{"study": 2, "kernel": "sum", "workload": "small", "folder": "sum/small", "suggests": true}`)
	if drafts, err := b.publish(); err == nil || !strings.Contains(err.Error(), "the draft for scale: ") ||
		len(drafts) != 1 || drafts[0].Pull != 1 {
		t.Errorf("%+v, %v", drafts, err)
	}
}

func TestHostileNames(t *testing.T) {
	b := newBench(t)
	b.contents[1] = "default: 2\n"
	b.index(`{"study": 1, "kernel": "../../main --force", "workload": "$(id)", "folder": "scale/small", "suggests": true}`)
	if d := b.want("opened draft 1"); strings.Contains(b.server.Pulls()[0].Branch, " ") ||
		strings.Contains(b.server.Pulls()[0].Branch, "..") {
		t.Errorf("%+v, %+v", d, b.server.Pulls()[0])
	}
	b.index()
	b.drafts.Base = "--upload-pack=x"
	if _, err := b.publish(); err == nil {
		t.Error("an option is a branch")
	}
}

// A token that may not open pull requests is an error that says so: a weekly run that
// leaves nothing behind must not be green.
func TestDraftsNeedAPermission(t *testing.T) {
	b := newBench(t)
	b.contents[1] = "default: 2\n"
	b.server.Give("secret", githubtest.JobToken("pull_requests=read", "contents=write"))
	if _, err := b.publish(); !github.Denied(err) || !strings.Contains(err.Error(), "pull-requests: write") {
		t.Errorf("%v", err)
	}
}
