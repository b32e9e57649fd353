package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/gate"
	"pawl/gate/reporting"
	"pawl/internal/thorough"
)

// A policy whose kernels are shared by jobs, in somebody else's repository: one verdict, one comment, one check, and a
// baseline that moves only where every job has passed.
func TestShards(t *testing.T) {
	thorough.Only(t, "it plays many workflows, and TestAnAdopter plays the same ones unshared")
	s := newScratch(t)
	s.adopt()
	if err := os.Remove(filepath.Join(s.desk, "runner.yaml")); err != nil { // nothing sleeps here
		t.Fatal(err)
	}
	s.kernel("scale", "2", "0, 7", "7", 6)
	s.kernel("negate", "-1", "0", "0", 48)
	s.kernel("triple", "3", "0", "0", 6)
	s.file("gate.yaml", "shards: 2\n"+monthPolicy+"  - {kernel: ./triple, backend: host, workloads: [small]}\n")
	s.save("Three kernels, two jobs")
	push := s.pushed(strings.Repeat("0", 40), s.git(s.desk, "rev-parse", "HEAD"))

	s.host.Cancelled = map[string]bool{"gate-1": true}
	run, r := s.gate(push)
	s.unfinished(run, r, 2, 3)
	s.result(run, "baseline", "failure")
	if held := s.baseline(); len(held) > 0 {
		t.Errorf("the baseline has moved without a shard: %v", held)
	}
	s.host.Cancelled = nil

	run, r = s.gate(push, gate.New)
	s.result(run, "verdict", "success")
	if held := s.baseline(); r.Count(gate.New) != 3 || len(held) != 3 ||
		!strings.Contains(run.Jobs["verdict"].Log, "there is no baseline yet; this becomes it; 2 more are undecided") {
		t.Errorf("%v: %s", held, run.Jobs["verdict"].Log)
	}
	s.shardedPull()
	s.shardedMain()
	s.shardedWeek()
}

// unfinished expects a run that is red because a shard has left nothing.
func (s *scratch) unfinished(run *actionsRun, r *reporting.Report, results, planned int) {
	s.t.Helper()
	s.result(run, "join", "failure")
	s.result(run, "verdict", "failure")
	if len(r.Results) != results || r.Planned != planned || r.Exit != 3 ||
		!strings.Contains(run.Jobs["join"].Log, "shard 2 of 2 has left no result") {
		s.t.Errorf("%+v\n%s", r, run.Jobs["join"].Log)
	}
}

// shardedPull: a slow kernel in one shard is red for all, in one comment; so is a shard that is cancelled, or whose
// kernel the branch no longer gates.
func (s *scratch) shardedPull() {
	pull := s.change("slow", 36)
	run, r := s.gate(s.proposed(pull, "slow"), gate.Regression)
	s.result(run, "gate", "failure")
	s.result(run, "verdict", "failure")
	if _, first := s.comment(pull); r.Count(gate.Regression) != 1 || r.Count(gate.Maintained) != 2 ||
		!strings.Contains(first, "scale small f32: slower by") || s.checkOf("slow") != "failure" {
		s.t.Errorf("%s, the check is %s: %+v", first, s.checkOf("slow"), r.Results)
	}

	pull = s.change("words", 7)
	s.host.Cancelled = map[string]bool{"gate-1": true}
	run, r = s.gate(s.proposed(pull, "words"))
	s.host.Cancelled = nil
	s.unfinished(run, r, 2, 3)
	if comment, _ := s.comment(pull); !strings.Contains(comment.Body, "2 of 3") || s.checkOf("words") != "failure" {
		s.t.Errorf("%s, the check is %s", comment.Body, s.checkOf("words"))
	}

	s.branch("gone")
	s.file("gate.yaml", strings.Replace(s.onMain("gate.yaml"),
		"  - {kernel: ./negate, backend: host, workloads: [small]}\n", "", 1))
	s.git(s.desk, "rm", "-rq", "negate") // as long as it is there, the base gates it
	s.save("Without negate")
	pull = s.server.AddPull("someone", "gone", "main", "Without negate")
	run, r = s.gate(s.proposed(pull, "gone"), gate.Vanished)
	s.result(run, "gate", "failure")
	s.result(run, "verdict", "failure")
	if r.Count(gate.Vanished) != 1 || len(r.Results) != 3 {
		s.t.Errorf("%+v", r.Results)
	}
}

// shardedMain: a gain in one shard is noted only where nothing in the others fails.
func (s *scratch) shardedMain() {
	s.branch("main")
	before := s.git(s.desk, "rev-parse", "HEAD")
	s.file("scale/kernel.c", monthSource("scale", "2", 1))
	s.file("negate/kernel.c", monthSource("negate", "-2", 48))
	s.save("Faster, and wrong")
	run, r := s.gate(s.pushed(before, s.git(s.desk, "rev-parse", "HEAD")), gate.Improvement, gate.Wrong)
	s.result(run, "verdict", "failure")
	s.result(run, "baseline", "success") // the history
	if _, noted := s.baseline()["scale at last"]; noted || r.Updated {
		s.t.Errorf("a gain beside a wrong kernel: %v", s.baseline())
	}
	s.file("negate/kernel.c", monthSource("negate", "-1", 48))
	s.save("Right again")
	run, _ = s.gate(s.pushed(before, s.git(s.desk, "rev-parse", "HEAD")), gate.Improvement)
	s.result(run, "verdict", "success")
	if _, noted := s.baseline()["scale at last"]; !noted {
		s.t.Errorf("the gain is lost: %v", s.baseline())
	}
	if shards, err := filepath.Glob(s.host.Artifact(run.ID, "results-*")); err != nil || len(shards) != 2 {
		s.t.Errorf("%v, %v", shards, err)
	}
}

// shardedWeek: searches that run at once, each from what the last week has left, are one set of studies in the end.
func (s *scratch) shardedWeek() {
	for week := 1; week <= 2; week++ {
		run := s.play("tune.yml", actionsEvent{
			Name: "workflow_dispatch", Ref: "refs/heads/main", RefName: "main", SHA: s.git(s.desk, "rev-parse", "HEAD"),
			Inputs: map[string]any{"runner": "", "kernel": "", "workload": "", "minutes": "0.3"},
		})
		s.result(run, "draft", "success")
		output, code := s.pawl("studies", "list", "--json", "--out", s.host.Artifact(run.ID, "tuning"))
		if got := strings.Count(output, `"created":`); code != 0 || got != 3*week {
			s.t.Errorf("week %d: %d studies: %s\n%s", week, got, output, run.Jobs["draft"].Log)
		}
		for _, kernel := range []string{"negate", "scale", "triple"} { // each is decided about once
			if log := run.Jobs["draft"].Log; strings.Count(log, "\n"+kernel+": ") != 1 {
				s.t.Errorf("week %d, %s: %s", week, kernel, log)
			}
		}
	}
}
