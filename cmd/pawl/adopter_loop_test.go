package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/kerneltest"
	"pawl/internal/thorough"
)

// What breaks when a team lives with the loop, played by the workflows that pawl ci init writes into
// somebody else's repository.
func TestTheLoopLivedIn(t *testing.T) {
	thorough.Only(t, "it plays many workflows")
	s := newScratch(t)
	s.adopt()
	if err := os.Remove(filepath.Join(s.desk, "runner.yaml")); err != nil { // nothing sleeps here
		t.Fatal(err)
	}
	s.git(s.desk, "config", "user.name", "A Person")
	s.git(s.desk, "config", "user.email", "person@example.org")
	s.privatePawl()
	s.protectedMain()
	s.anotherDevice()
	s.ownRules()
	s.undone()
	s.newKernel()
	s.provisional()
	s.acceptsWhatWasMeasured()
	s.skippedCommits()
	s.removed()
	s.badInput()
	s.addsRunner()
	s.appToken()
}

// privatePawl: where not everybody may read pawl, a secret may.
func (s *scratch) privatePawl() {
	s.host.Private = map[string]string{"maker/pawl": "reads pawl"}
	s.file("gate.yaml", monthPolicy)
	s.save("A policy")
	run := s.play("gate.yml", s.pushed(strings.Repeat("0", 40), s.git(s.desk, "rev-parse", "HEAD")))
	s.result(run, "changes", "failure")
	s.result(run, "verdict", "failure")
	s.host.Secrets["PAWL_SOURCE"] = "reads pawl"
}

// protectedMain: the rules of main refuse the job's own token, and the baseline is kept all the same.
func (s *scratch) protectedMain() {
	if err := kerneltest.WriteProgram(filepath.Join(s.remote, "hooks/update"), "#!/bin/sh\n"+
		"[ \"$1\" != refs/heads/main ] || [ -z \"$GITHUB_ACTIONS\" ] || [ \"$GITHUB_TOKEN\" = the-app ]\n"); err != nil {
		s.t.Fatal(err)
	}
	s.kernel("scale", "2", "0, 7", "7", 6)
	s.kernel("negate", "-1", "0", "0", 48)
	s.save("Two kernels")
	e := s.pushed(strings.Repeat("0", 40), s.git(s.desk, "rev-parse", "HEAD"))
	run, _ := s.gate(e, gate.New)
	s.result(run, "baseline", "success")
	if log := run.Jobs["verdict"].Log; len(s.baseline()) != 2 ||
		!strings.Contains(log, "let it pass: neutral: negate small f32: there is no baseline yet") {
		s.t.Errorf("%v: %s", s.baseline(), log)
	}
}

// addsRunner: a pull request that says how to wake the runner is gated without it.
func (s *scratch) addsRunner() {
	s.branch("wakes")
	s.file("runner.yaml", "wake: [cloud, wake]\ncheck: ['true']\nsleep: [cloud, sleep]\n")
	s.save("Let it sleep")
	pull := s.server.AddPull("someone", "wakes", "main", "Let it sleep")
	run, _ := s.gate(s.proposed(pull, "wakes"), gate.Maintained)
	s.result(run, "wake", "skipped")
	s.result(run, "gate", "success")
	s.result(run, "verdict", "success")
}

// appToken: with the token of an app that may pass the rules, main keeps the baseline itself. A branch
// that the gate would read first is named.
func (s *scratch) appToken() {
	s.host.Secrets["PAWL_TOKEN"] = "the-app"
	s.branch("main")
	s.restored()
	s.file("scale/kernel.c", monthSource("scale", "2", 27))
	s.save("With its baseline")
	head := s.git(s.desk, "rev-parse", "HEAD")
	run := s.play("gate.yml", s.pushed(head, head))
	s.result(run, "baseline", "failure")
	if !strings.Contains(run.Jobs["baseline"].Log, "which the gate reads first: delete it") {
		s.t.Errorf("%s", run.Jobs["baseline"].Log)
	}
	s.git(s.remote, "update-ref", "-d", "refs/heads/"+baseline.Branch)
	run = s.play("gate.yml", s.pushed(head, head))
	s.result(run, "baseline", "success")
	if s.onMain("results/history.jsonl") == s.at(head, "results/history.jsonl") {
		s.t.Errorf("%s", run.Jobs["baseline"].Log)
	}
}

// change begins a branch with a change of the kernel scale, and opens its pull request.
func (s *scratch) change(branch string, times int) (pull int) {
	s.branch(branch)
	s.file("scale/kernel.c", monthSource("scale", "2", times))
	s.save(branch)
	return s.server.AddPull("someone", branch, "main", branch)
}

// laptop is a device that is not here.
const laptop = "a laptop"

// anotherDevice: the baseline is a laptop's. A pull request is compared with its base all the same,
// and main begins an entry that it calls unproven.
func (s *scratch) anotherDevice() {
	s.branch("main")
	s.restored()
	s.git(s.remote, "update-ref", "-d", "refs/heads/"+baseline.Branch) // it was never made
	err := baseline.Update(filepath.Join(s.desk, "results/baseline.json"), func(f *baseline.File) error {
		for _, e := range f.Remove(func(baseline.Entry) bool { return true }) {
			e.Device = laptop
			f.Put(e)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.save("A baseline from a laptop")
	pull := s.change("slow", 36)
	run, r := s.gate(s.proposed(pull, "slow"), gate.Regression)
	s.result(run, "verdict", "failure")
	if r.Count(gate.Maintained) != 1 || s.checkOf("slow") != "failure" {
		s.t.Errorf("%+v", r)
	}
	comment, _ := s.comment(pull)
	s.repeats(comment.Body)
	profiles := filepath.Join(s.host.Artifact(run.ID, "results"), "profiles/scale/small")
	for _, suffix := range []string{"*.json", "*.svg"} {
		found, err := filepath.Glob(filepath.Join(profiles, suffix))
		for _, result := range r.Results {
			if err != nil || result.Why != nil && result.Why.Profiled != (len(found) == 2) {
				s.t.Errorf("%v, %v: %+v", found, err, result.Why)
			}
		}
	}
	s.branch("main")
	before := s.git(s.desk, "rev-parse", "HEAD")
	s.file("scale/kernel.c", monthSource("scale", "2", 7))
	s.save("A change on main")
	run, _ = s.gate(s.pushed(before, s.git(s.desk, "rev-parse", "HEAD")), gate.New)
	if text := s.at(baseline.Branch, "results/baseline.json"); strings.Count(text, `"unproven": true`) != 2 ||
		!strings.Contains(text, laptop) || !strings.Contains(run.Jobs["gate"].Summary, "NOT COMPARED") {
		s.t.Errorf("%s", run.Jobs["gate"].Summary)
	}
}

// repeats: in any clone, a comment's commands lead to what was gated.
func (s *scratch) repeats(body string) {
	clone := filepath.Join(s.t.TempDir(), "clone")
	s.git(s.desk, "clone", "--quiet", s.remote, clone)
	for line := range strings.Lines(body) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "git "); ok {
			s.git(clone, strings.Fields(command)...)
		}
	}
	if parents := strings.Fields(s.git(clone, "rev-list", "--parents", "-n", "1", "HEAD")); len(parents) != 3 {
		s.t.Errorf("no merge of a pull request: %v in %s", parents, body)
	}
}

// ownRules: a branch chooses neither the limits, from another folder, nor what is right.
func (s *scratch) ownRules() {
	s.branch("renamed")
	s.git(s.desk, "mv", "scale", "elsewhere")
	s.file("elsewhere/kernel.c", monthSource("scale", "2", 36))
	loose := strings.NewReplacer("./scale", "./elsewhere", "regression: 50%", "regression: 99%")
	s.file("gate.yaml", loose.Replace(monthPolicy))
	s.save("Elsewhere")
	pull := s.server.AddPull("someone", "renamed", "main", "Elsewhere")
	_, r := s.gate(s.proposed(pull, "renamed"), gate.Regression)
	if comment, _ := s.comment(pull); r.Count(gate.Regression) != 1 ||
		!strings.Contains(comment.Body, "has other limits for scale") {
		s.t.Errorf("%s", comment.Body)
	}

	s.branch("near")
	s.file("scale/kernel.c", monthSource("scale", "1.9f", 1))
	s.file("scale/kernel.yaml", strings.ReplaceAll(s.onMain("scale/kernel.yaml"), "1e-6", "0.2"))
	s.save("Near enough")
	pull = s.server.AddPull("someone", "near", "main", "Near enough")
	run, r := s.gate(s.proposed(pull, "near"), gate.Wrong)
	s.result(run, "verdict", "failure")
	if comment, _ := s.comment(pull); r.Count(gate.Wrong) != 1 ||
		!strings.Contains(comment.Body, "wrong: by the checks of ") {
		s.t.Errorf("%s", comment.Body)
	}

	s.branch("shapes")
	s.file("scale/kernel.yaml", strings.Replace(s.onMain("scale/kernel.yaml"), "[1, 7]", "[1]", 1))
	s.save("Fewer shapes")
	pull = s.server.AddPull("someone", "shapes", "main", "Fewer shapes")
	s.gate(s.proposed(pull, "shapes"))
	if conclusion := s.checkOf("shapes"); conclusion != "failure" {
		s.t.Errorf("the check is %s", conclusion)
	}
	if output, code := s.pawl("gate", "--base", "origin/main"); code != 1 {
		s.t.Fatalf("%d: %s", code, output)
	}
	if output, code := s.pawl("baseline", "accept", "scale", "--reason", "seven is one"); code != 0 {
		s.t.Fatalf("%s", output)
	}
	s.save("Accepted")
	s.gate(s.proposed(pull, "shapes"))
	comment, _ := s.comment(pull)
	if conclusion := s.checkOf("shapes"); conclusion != "success" ||
		!strings.Contains(comment.Body, "accepted by A Person <person@example.org>: seven is one") {
		s.t.Errorf("the check is %s: %s", conclusion, comment.Body)
	}
}

// checkOf is the conclusion of the check of a branch's last commit.
func (s *scratch) checkOf(branch string) string {
	return s.server.Check("pawl", s.git(s.remote, "rev-parse", "refs/heads/"+branch))
}

// undone: where the slow commit is gone, so is what the comment says about it.
func (s *scratch) undone() {
	s.git(s.desk, "checkout", "--quiet", "slow")
	s.git(s.desk, "merge", "--quiet", "-X", "theirs", "--no-edit", "origin/main")
	s.git(s.desk, "checkout", "origin/main", "--", "scale")
	s.file("README", "words\n")
	s.save("Only words")
	run := s.play("gate.yml", s.proposed(1, "slow"))
	s.result(run, "gate", "skipped")
	s.result(run, "comment", "success")
	if _, first := s.comment(1); !strings.HasPrefix(first, "**pass**: the change touches nothing") ||
		s.checkOf("slow") != "success" {
		s.t.Errorf("%s", first)
	}
}

// newKernel: what is new is neutral, and passes where everything must be decided.
func (s *scratch) newKernel() {
	s.branch("new")
	s.kernel("triple", "3", "0", "0", 6)
	s.file("gate.yaml", strings.Replace(monthPolicy, "preset: relaxed", "preset: relaxed\nundecided: fail", 1)+
		"  - {kernel: ./triple, backend: host, workloads: [small]}\n")
	s.save("One more")
	pull := s.server.AddPull("someone", "new", "main", "One more")
	s.host.Vars = map[string]any{"PAWL_STRICT": "true"}
	run, r := s.gate(s.proposed(pull, "new"), gate.New)
	s.host.Vars = nil
	s.result(run, "verdict", "success")
	if r.Count(gate.New) != 1 || s.checkOf("new") != "neutral" {
		s.t.Errorf("%+v: %s", r.Results, s.checkOf("new"))
	}
}

// mainAt pushes a change of the kernel scale to main and gates it.
func (s *scratch) mainAt(times int, wanted gate.Verdict) *reporting.Report {
	s.branch("main")
	before := s.git(s.desk, "rev-parse", "HEAD")
	s.file("scale/kernel.c", monthSource("scale", "2", times))
	s.save(fmt.Sprint(times, " times"))
	run, r := s.gate(s.pushed(before, s.git(s.desk, "rev-parse", "HEAD")), wanted)
	s.result(run, "baseline", "success")
	if r.Count(wanted) != 1 {
		s.t.Fatalf("%s: %+v", wanted, r.Results)
	}
	return r
}

// provisional: one fast build binds nobody, the second one does.
func (s *scratch) provisional() {
	before := s.baseline()
	s.mainAt(1, gate.Improvement)
	if now := s.baseline(); now["scale"] != before["scale"] || now["scale at last"] == (held{}) {
		s.t.Fatalf("one build has moved the baseline: %v", s.baseline())
	}
	r := s.mainAt(2, gate.Improvement)
	if now := s.baseline(); now["scale"] == before["scale"] || !r.Updated {
		s.t.Fatalf("two builds have not moved the baseline: %v", s.baseline())
	}
}

// acceptsWhatWasMeasured: a person accepts the verdict of a run on CI, at a desk.
func (s *scratch) acceptsWhatWasMeasured() {
	pull := s.change("layout", 24)
	run, r := s.gate(s.proposed(pull, "layout"), gate.Regression)
	output, code := s.pawl("baseline", "accept", "./scale", "--reason", monthReason, "--release", "--from",
		s.host.Artifact(run.ID, "results"))
	if code != 0 {
		s.t.Fatalf("%s", output)
	}
	events, _, err := baseline.ReadHistory(filepath.Join(s.desk, "results/history.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	last := events[len(events)-1]
	for _, result := range r.Results {
		if result.Kernel == "scale" && (last.Change == nil || *last.Change != result.Evidence.Change) {
			s.t.Errorf("%+v, and the run measured %v", last, result.Evidence.Change)
		}
	}
	if last.Verdict != baseline.Accepted || last.By != "A Person <person@example.org>" || last.Reason != monthReason {
		s.t.Errorf("%+v", last)
	}
	s.save("Accepted")
	start, merged := s.merge("layout")
	run, _ = s.gate(s.pushed(start, merged))
	s.result(run, "verdict", "success")
}

// skippedCommits: a push whose run was cancelled is gated with the next one, which changes only words.
func (s *scratch) skippedCommits() {
	words := func(text string) string {
		s.branch("main")
		before := s.git(s.desk, "rev-parse", "HEAD")
		s.file("README", text)
		s.save(text)
		run := s.play("gate.yml", s.pushed(before, s.git(s.desk, "rev-parse", "HEAD")))
		return run.Jobs["gate"].Result
	}
	s.branch("main")
	s.file("scale/kernel.c", monthSource("scale", "2", 25))
	s.save("Its run is cancelled")
	if got := words("words"); got == "skipped" {
		s.t.Error("nobody has gated a kernel that was pushed")
	}
	if got := words("more words"); got != "skipped" {
		s.t.Errorf("gated twice: %s", got)
	}
}

// removed: a kernel goes with a reason, and no later pull request hears of it.
func (s *scratch) removed() {
	s.branch("gone")
	s.git(s.desk, "rm", "--quiet", "-r", "negate")
	s.file("gate.yaml", strings.Replace(monthPolicy, "  - {kernel: ./negate, backend: host, workloads: [small]}\n", "", 1))
	s.save("Without it")
	pull := s.server.AddPull("someone", "gone", "main", "Without it")
	run, r := s.gate(s.proposed(pull, "gone"), gate.Vanished)
	s.result(run, "verdict", "failure")
	junit, err := os.ReadFile(filepath.Join(s.host.Artifact(run.ID, "results"), reporting.JUnitName))
	if err != nil || r.Count(gate.Vanished) != 1 || !strings.Contains(string(junit), `<failure type="vanished"`) {
		s.t.Errorf("%s, %v", junit, err)
	}
	if output, code := s.pawl("baseline", "remove", "negate", "--reason", "nobody calls it"); code != 0 {
		s.t.Fatalf("%s", output)
	}
	s.save("Removed")
	run, _ = s.gate(s.proposed(pull, "gone"))
	s.result(run, "verdict", "success")
	if comment, _ := s.comment(pull); !strings.Contains(comment.Body, "is removed by A Person") {
		s.t.Errorf("%s", comment.Body)
	}
	start, merged := s.merge("gone")
	run, _ = s.gate(s.pushed(start, merged))
	s.result(run, "verdict", "success")
	if _, there := s.baseline()["negate"]; there {
		s.t.Errorf("%v", s.baseline())
	}
	pull = s.change("later", 26)
	run, _ = s.gate(s.proposed(pull, "later"))
	s.result(run, "verdict", "success")
}

// badInput: a file that is broken is red, with one sentence on the page and in the comment.
func (s *scratch) badInput() {
	for name, content := range map[string]string{"gate.yaml": "kernels: 7\n", "scale/kernel.yaml": "name: [\n"} {
		headline := map[string]string{"gate.yaml": "**error**", "scale/kernel.yaml": "**fail**"}[name] // one kernel is a row
		branch := "bad-" + filepath.Base(filepath.Dir(name)) + "x"
		s.branch(branch)
		s.file(name, content)
		s.save("Broken")
		pull := s.server.AddPull("someone", branch, "main", "Broken")
		run := s.play("gate.yml", s.proposed(pull, branch))
		s.result(run, "verdict", "failure")
		s.result(run, "comment", "success")
		_, first := s.comment(pull)
		if !strings.HasPrefix(first, headline+": ") || !strings.Contains(first, filepath.Base(name)) ||
			!strings.Contains(run.Jobs["gate"].Summary, headline) || s.checkOf(branch) != "failure" {
			s.t.Errorf("%s: %s\n%s", name, first, run.Jobs["gate"].Summary)
		}
	}
}
