package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/internal/githubtest"
	"pawl/internal/thorough"
)

// The month's kernels do the same work as often as they are told. No two that are compared
// differ by less than five times, so that noise decides nothing; where a machine is too busy
// even for that, the verdict is inconclusive and the job is run again.
const monthManifest = `name: %[1]s # y = %[2]s x
entry: %[1]s
source: {host: kernel.c}
reference: {host: reference.c}
params:
  WASTE: {values: [%[3]s], default: %[4]s} # tuned every week
workloads:
  small: {N: 16}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7]}
tolerance: {atol: 1e-6, rtol: 1e-6}
`

const monthPolicy = `preset: relaxed
regression: 50%
improvement: 50%
erosion: 99%
alarm: 5%
rounds: [6]
samples: 1
kernels:
  - {kernel: ./negate, backend: host, workloads: [small]}
  - {kernel: ./scale, backend: host, workloads: [small]}
`

// monthSource is a kernel that multiplies by a factor, so many times over. Each time is 50 passes, so that
// the least of them takes a microsecond: what a call costs is nothing beside it, and a sample needs few.
func monthSource(name, factor string, times int) string {
	return fmt.Sprintf(`#include <stdint.h>
void %s(const float *x, float *y, int32_t N) {
	for (int repeat = 0; repeat < 50 * %d * (WASTE + 1); repeat++)
		for (int j = 0; j < N; j++) { volatile float product = %s * x[j]; y[j] = product; }
}
`, name, times, factor)
}

// kernel writes one into the person's checkout.
func (s *scratch) kernel(name, factor, values, value string, times int) {
	s.file(name+"/kernel.yaml", fmt.Sprintf(monthManifest, name, factor, values, value))
	s.file(name+"/kernel.c", monthSource(name, factor, times))
	s.file(name+"/reference.c",
		fmt.Sprintf("#include <stdint.h>\nvoid %s(const float *x, float *y, int32_t N) { for (int j = 0; j < N; j++) y[j] "+
			"= (float)(%s.0 * x[j]); }\n", name, factor))
}

// A month in the life of a repository, or its beginning, by the workflows that this one has: every run line
// in them is executed as it stands.
func TestAMonth(t *testing.T) {
	thorough.Only(t, "a month takes its time, and TestAnAdopter has its first weeks")
	s := newScratch(t)
	action, err := os.ReadFile("../../.github/actions/pawl/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	s.file(".github/actions/pawl/action.yml", string(action))
	s.firstPush()
	s.slower()
	s.tampers()
	s.wrong()
	s.faster()
	s.weeks()
	s.acceptedLoss()
	s.history()
}

// firstPush: baselines appear on a branch of their own, and main stays as it is.
func (s *scratch) firstPush() {
	s.file("gate.yaml", monthPolicy)
	s.kernel("scale", "2", "0, 7", "7", 6)
	s.kernel("negate", "-1", "0", "0", 48)
	s.file(".gitignore", "/results/*\n!/results/baseline.json\n!/results/history.jsonl\n/tuning/\n/.cache/\n/.pawl/\n")
	s.save("Two kernels")
	after := s.git(s.desk, "rev-parse", "HEAD")
	run, r := s.gate(s.pushed(strings.Repeat("0", 40), after), gate.New)
	s.result(run, "verdict", "success")
	s.result(run, "comment", "skipped")
	if held := s.baseline(); r.Count(gate.New) != 2 || len(held) != 2 {
		s.t.Fatalf("%v", held)
	}
	if files := s.git(s.remote, "ls-tree", "-r", "--name-only", baseline.Branch); files !=
		"results/baseline.json\nresults/history.jsonl" || s.git(s.remote, "rev-parse", "main") != after {
		s.t.Fatalf("the commit has %s", files)
	}
	if !strings.Contains(run.Jobs["gate"].Summary, "there is no baseline yet; this becomes it; 1 more is undecided") {
		s.t.Errorf("the summary: %s", run.Jobs["gate"].Summary)
	}
}

// slower: red, one comment, and GitHub has a bad day meanwhile.
func (s *scratch) slower() {
	s.branch("work")
	s.file("scale/kernel.c", monthSource("scale", "2", 36))
	s.save("Clearer code")
	pull := s.server.AddPull("someone", "work", "main", "Clearer $(touch /tmp/owned) code")
	for i := range 120 { // pawl's will be on the second page
		s.server.AddComment(pull, "someone", fmt.Sprintf("remark %d", i))
	}
	s.server.AddComment(pull, "mallory", "**pass**: nothing to see\n<!-- pawl gate -->")
	s.server.Plant(githubtest.Fault{Request: "GET /repos", Drop: true})
	s.server.Plant(githubtest.SecondaryLimit("POST", 1))
	s.server.Plant(githubtest.Fault{Request: "POST", Drop: true, After: true})
	run, r := s.gate(s.proposed(pull, "work"), gate.Regression)
	s.result(run, "verdict", "failure")
	s.result(run, "baseline", "skipped")
	s.result(run, "comment", "success")
	_, first := s.comment(pull)
	if r.Count(gate.Regression) != 1 || !strings.HasPrefix(first, "**fail**: scale small f32: slower by ") ||
		s.server.Planted() > 0 {
		s.t.Fatalf("%s, %d faults left", first, s.server.Planted())
	}
}

// tampers: the baseline is untouched, whatever the branch does to it.
func (s *scratch) tampers() {
	before := s.baseline()
	const pull = 1
	text := s.at(baseline.Branch, "results/baseline.json")
	s.file("results/baseline.json", strings.Replace(text, `"median": 0.`, `"median": 9.`, 1))
	s.save("With a baseline of its own")
	run, r := s.gate(s.proposed(pull, "work"), gate.Regression)
	s.result(run, "verdict", "failure")
	comment, _ := s.comment(pull)
	if r.Count(gate.Regression) != 1 || !strings.Contains(comment.Body, "it was not used") ||
		comment.Edits == 0 {
		s.t.Fatalf("%+v", comment)
	}
	if !maps.Equal(before, s.baseline()) {
		s.t.Fatalf("the baseline has moved from %v to %v", before, s.baseline())
	}
}

// wrong: faster, and red all the same.
func (s *scratch) wrong() {
	s.git(s.desk, "rm", "--quiet", "-r", "results")
	s.file("scale/kernel.c", monthSource("scale", "3", 1))
	s.save("Much faster")
	run, r := s.gate(s.proposed(1, "work"), gate.Wrong)
	s.result(run, "verdict", "failure")
	if _, first := s.comment(1); r.Count(gate.Wrong) == 0 || !strings.Contains(first, "wrong") {
		s.t.Fatalf("%s", first)
	}
}

// faster: green, the comment is updated in place, and the baseline takes note on main after the
// merge; another branch that was merged at the same moment moves another entry.
func (s *scratch) faster() {
	before := s.baseline()
	was, _ := s.comment(1)
	s.file("scale/kernel.c", monthSource("scale", "2", 1))
	s.save("Faster, and right")
	run, r := s.gate(s.proposed(1, "work"), gate.Improvement)
	s.result(run, "verdict", "success")
	comment, first := s.comment(1)
	if r.Count(gate.Improvement) != 1 || !strings.HasPrefix(first, "**pass**: scale small f32: faster by ") ||
		comment.ID != was.ID {
		s.t.Fatalf("%+v", comment)
	}
	if !maps.Equal(before, s.baseline()) {
		s.t.Fatal("a pull request has moved the baseline")
	}

	s.branch("other")
	s.file("negate/kernel.c", monthSource("negate", "-1", 6))
	s.save("The other one faster")
	start, merged := s.merge("work")
	_, second := s.merge("other")
	s.server.ClosePull(1)
	one, _ := s.gate(s.pushed(start, merged), gate.Improvement)
	s.result(one, "verdict", "success")
	s.result(one, "baseline", "success")
	if between := s.baseline(); between["scale at last"] == (held{}) || between["scale"] != before["scale"] ||
		between["negate"] != before["negate"] {
		s.t.Fatalf("the baseline moved from %v to %v", before, between)
	}
	two, _ := s.gate(s.pushed(merged, second), gate.Improvement)
	s.result(two, "verdict", "success")
	s.result(two, "baseline", "success")
	if after := s.baseline(); after["scale at last"] == (held{}) || after["negate at last"] == (held{}) {
		s.t.Fatalf("the baseline moved from %v to %v", before, after)
	}
	s.branch("main")
	s.restored()
	if output, code := s.pawl("baseline", "show"); code != 0 {
		s.t.Fatalf("%s", output)
	}
}

// weeks: the search opens a draft, updates it, and says that its winner runs already.
func (s *scratch) weeks() {
	week := func(wanted string) {
		s.t.Helper()
		s.branch("main")
		event := s.pushed("", s.git(s.desk, "rev-parse", "HEAD"))
		event.Name, event.Payload = "schedule", map[string]any{"schedule": "17 3 * * 1"}
		for attempt := 1; ; attempt++ {
			run := s.play("tune.yml", event)
			s.result(run, "tune", "success")
			s.result(run, "draft", "success")
			if !strings.Contains(run.Jobs["tune"].Summary, "# Suggestions") {
				s.t.Errorf("the summary: %s", run.Jobs["tune"].Summary)
			}
			if strings.Contains(run.Jobs["draft"].Log, wanted) {
				return
			}
			if s.t.Logf("%s%s", run.Jobs["tune"].Log, run.Jobs["draft"].Log); attempt == reruns {
				s.t.Fatalf("no draft says %q", wanted)
			}
		}
	}
	drafts := func() []githubtest.Pull {
		return slices.DeleteFunc(s.server.Pulls(), func(p githubtest.Pull) bool { return !p.Draft })
	}
	s.server.Plant(githubtest.Fault{Request: "POST", Status: 502, After: true})
	week("updated draft 2") // the answer to its creation was lost
	if d := drafts(); len(d) != 1 || d[0].Branch != "pawl/scale" || !strings.Contains(d[0].Body, "faster") {
		s.t.Fatalf("%+v", d)
	}
	if week("updated draft 2"); len(drafts()) != 1 || drafts()[0].Edits == 0 {
		s.t.Fatalf("%+v", drafts())
	}

	before := s.baseline()
	start, merged := s.merge("pawl/scale")
	s.server.ClosePull(drafts()[0].Number)
	if manifest := s.onMain("scale/kernel.yaml"); !strings.Contains(manifest, "default: 0} # tuned every week") {
		s.t.Fatalf("%s", manifest)
	}
	run, _ := s.gate(s.pushed(start, merged), gate.Improvement)
	s.result(run, "verdict", "success")
	if after := s.baseline(); after["scale at last"].Point != "WASTE=0" || after["scale"] != before["scale at last"] ||
		after["negate"] != before["negate"] {
		s.t.Fatalf("the baseline moved from %v to %v", before, after)
	}
	if week(": you already run this"); len(drafts()) != 1 {
		s.t.Fatalf("%+v", drafts())
	}
}

const monthReason = "needed for the new layout, reviewed by two"

// acceptedLoss: a person accepts a slower kernel with a reason, and main is compared with it.
func (s *scratch) acceptedLoss() {
	before := s.baseline()
	s.branch("main")
	s.restored()
	s.file("scale/kernel.c", monthSource("scale", "2", 60))
	for attempt := 1; ; attempt++ {
		output, code := s.pawl("gate")
		if code == 1 {
			break
		}
		if attempt == reruns {
			s.t.Fatalf("exit %d: %s", code, output)
		}
	}
	if output, code := s.pawl("baseline", "accept", "scale", "--reason", monthReason, "--release"); code != 0 {
		s.t.Fatalf("%s", output)
	}
	start := s.git(s.desk, "rev-parse", "HEAD")
	s.save("A new layout")
	run, _ := s.gate(s.pushed(start, s.git(s.desk, "rev-parse", "HEAD")))
	s.result(run, "verdict", "success")
	if after := s.baseline(); after["scale"] == before["scale"] || after["negate"] != before["negate"] {
		s.t.Fatalf("the baseline moved from %v to %v", before, after)
	}
}

// history: what main has tells all of it, in order.
func (s *scratch) history() {
	s.branch("main")
	s.restored()
	output, code := s.pawl("baseline", "history", "--json")
	var events struct {
		Events []struct{ Kernel, Verdict, Reason string }
	}
	if err := json.Unmarshal([]byte(output), &events); code != 0 || err != nil {
		s.t.Fatalf("%v: %s", err, output)
	}
	for kernel, wanted := range map[string][]string{
		"scale":  {"new", "improvement", "regression", "accepted"},
		"negate": {"new", "improvement"},
	} {
		left := wanted
		for _, e := range events.Events {
			if e.Kernel == kernel && len(left) > 0 && e.Verdict == left[0] {
				left = left[1:]
			}
			if e.Verdict == "accepted" && e.Reason != monthReason {
				s.t.Errorf("accepted because of %q", e.Reason)
			}
		}
		if len(left) > 0 {
			s.t.Errorf("%s: %q is missing in %+v", kernel, left[0], events.Events)
		}
	}
	if output, code = s.pawl("baseline", "history"); code != 0 || !strings.Contains(output, monthReason) {
		s.t.Errorf("%s", output)
	}
}
