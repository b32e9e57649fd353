package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/gate"
	"pawl/internal/thorough"
)

// The loop in a repository of somebody else's, by the workflows that pawl ci init writes there: pawl
// comes from another repository, kernels run on a runner of one's own that sleeps meanwhile, and a
// fork has neither secrets nor a token that may write.
func TestAnAdopter(t *testing.T) {
	thorough.Only(t, "a loop takes its time")
	s := newScratch(t)
	cloud := s.adopt()
	s.firstPush() // expects a baseline on main and a verdict
	if text := cloud(); text != "wake with the key\nsleep with the key\nsleep with the key\n" {
		t.Errorf("the cloud was asked to %q", text) // by the guard, whose time was over, and by sleep
	}
	s.slower() // expects red, and one comment
	s.fromAFork()
	if strings.Contains(cloud(), "with \n") {
		t.Error("a fork's run has reached the cloud")
	}
	s.draftOnRequest()
}

// adopt makes pawl's repository and sets up the person's by pawl ci init. It returns what the cloud
// was asked for.
func (s *scratch) adopt() func() string {
	s.t.Helper()
	home := filepath.Join(filepath.Dir(s.desk), "pawl")
	s.git(filepath.Dir(home), "init", "--quiet", "-b", "main", home)
	s.git(home, "config", "uploadpack.allowAnySHA1InWant", "true")
	s.write(filepath.Join(home, "go.mod"), "module pawl\n")
	s.git(home, "add", "-A")
	s.git(home, "commit", "--quiet", "-m", "pawl")
	s.host.Others = map[string]string{"maker/pawl": home}
	s.host.Secrets = map[string]any{"PAWL_CLOUD": "the key"}

	log := filepath.Join(s.tools, "cloud.log")
	s.program("cloud", `echo "$1 with $PAWL_CLOUD" >> `+log)
	s.program("gh", ":") // no other run needs the machine
	s.file("runner.yaml", "wake: [cloud, wake]\ncheck: ['true']\nsleep: [cloud, sleep]\nlongest: 8s\npatience: 8s\n"+
		"price_per_hour: 4\ncurrency: EUR\n")
	output, code := s.pawl("ci", "init", "--pawl", "maker/pawl@"+s.git(home, "rev-parse", "HEAD"), "--runner", "gpu")
	if s.workflows = filepath.Join(s.desk, ".github/workflows"); code != 0 {
		s.t.Fatalf("%s", output)
	}
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
}

// fromAFork: its code waits for a maintainer's label, and its run may only read.
func (s *scratch) fromAFork() {
	pull := s.server.AddPull("mallory", "work", "main", "From a fork")
	e := s.proposed(pull, "work")
	e.Fork = true
	e.Payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] =
		map[string]any{"full_name": "mallory/kernels"}
	run := s.play("gate.yml", e)
	s.result(run, "gate", "skipped")
	s.result(run, "verdict", "failure")
	if !strings.Contains(run.Jobs["verdict"].Log, "needs the label run-on-gpu") {
		s.t.Error(run.Jobs["verdict"].Log)
	}

	e.Payload["action"], e.Payload["label"] = "labeled", map[string]any{"name": "run-on-gpu"}
	run, _ = s.gate(e, gate.Regression)
	s.result(run, "wake", "skipped")
	s.result(run, "verdict", "failure")
	s.result(run, "comment", "success")
	if comments := s.server.Comments(pull); run.Jobs["gate"].Runner != "gpu" || len(comments) > 0 ||
		!strings.Contains(run.Jobs["comment"].Log, "no comment: ") {
		s.t.Errorf("on %s: %+v\n%s", run.Jobs["gate"].Runner, comments, run.Jobs["comment"].Log)
	}
}

// draftOnRequest: a search of one kernel that somebody starts by hand, and its draft. What the form
// takes reaches no shell.
func (s *scratch) draftOnRequest() {
	s.branch("main")
	s.file("gate.yaml", "lock_clocks: 1500\n"+monthPolicy)
	s.save("Locked clocks")
	e := actionsEvent{
		Name: "workflow_dispatch", Ref: "refs/heads/main", RefName: "main", SHA: s.git(s.desk, "rev-parse", "HEAD"),
		Inputs: map[string]any{"runner": "", "kernel": "./scale", "workload": "small", "minutes": "0.3"},
	}
	run := s.play("tune.yml", e)
	s.result(run, "tune", "success")
	s.result(run, "draft", "success")
	pulls := s.server.Pulls()
	last := pulls[len(pulls)-1]
	if !last.Draft || last.Branch != "pawl/scale" || run.Jobs["tune"].Runner != "gpu" ||
		!strings.Contains(run.Jobs["plan"].Log, `"backend":"host","budget":"18s","lock_clocks":1500`) ||
		!strings.HasPrefix(last.Body, "|  | this time |\n") || !strings.Contains(last.Body, " EUR |") {
		s.t.Errorf("%+v on %s\n%s%s", last, run.Jobs["tune"].Runner, run.Jobs["plan"].Log, run.Jobs["draft"].Log)
	}
	log := run.Jobs["tune"].Log
	profiles, err := filepath.Glob(filepath.Join(s.host.Artifact(run.ID, "tuning"), "scale/small/profiles/*.json"))
	if err != nil || (len(profiles) == 0) != strings.Contains(log, "the winner was not profiled: ") ||
		!strings.Contains(log, "--lock-clocks has no effect: the kernel runs on the processor") {
		s.t.Errorf("%v, %v: %s", profiles, err, log)
	}
	for input, hostile := range map[string]string{
		"minutes": "1; touch owned #", "kernel": "$(touch owned)", "workload": "--help", "runner": "a b",
	} {
		e.Inputs = map[string]any{"runner": "", "kernel": "./scale", "workload": "small", "minutes": "0.3", input: hostile}
		run := s.play("tune.yml", e)
		s.result(run, "plan", "failure")
		s.result(run, "tune", "skipped")
	}
}
