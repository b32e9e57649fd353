package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/internal/githubtest"
)

// actionsHost is GitHub with its runners, for one repository. The runners play the workflow files themselves, so that a
// test of them tests no copy. They are strict where GitHub is: a job's token has the job's permissions and no more, a
// fork's run has no secrets, a checkout is shallow unless told otherwise, what is not known is an error and never
// skipped, and nothing of this process's environment reaches a step but what the host names.
//
//  1. Play takes a workflow and an event, and runs the jobs in the order of their needs, one at a time, each
//     matrix row in a workspace of its own.
//  2. Conditions and ${{ }} are evaluated as GitHub does (actions_expression_test.go).
//  3. The lines of a run step go to bash in a file, as on a runner (actions_step_test.go).
//  4. The few actions that are used are done here (actions_uses_test.go): checkout, setup-go, cache and artifacts;
//     actions of the repository itself are played step by step.
type actionsHost struct {
	// Server answers the API. Remote is the bare repository; Others are those that a checkout
	// may name, by OWNER/NAME; Private are the tokens that those need which not everybody may read.
	Server  *githubtest.Server
	Remote  string
	Others  map[string]string
	Private map[string]string
	// Folder is for workspaces, caches and artifacts.
	Folder string
	// Tools is searched for programs before all others; Env are the only other variables
	// that a step finds, as NAME=value, PATH among them.
	Tools string
	Env   []string
	// Vars and Secrets are those of the repository's settings.
	Vars, Secrets map[string]any
	// Cancelled are rows of jobs that are cancelled before their first step, as JOB-INDEX.
	Cancelled map[string]bool
	// Log gets what happens, line by line; it may be nil.
	Log func(string)

	runs   int
	caches []string // keys, in the order saved
	// before are those that rows which run at once find: what the others save comes too late.
	before []string
}

// actionsEvent is what causes a run.
type actionsEvent struct {
	// Name is that of the event, such as pull_request; Payload is in the event's file.
	Name    string
	Payload map[string]any
	// Ref is what was pushed or is tested, SHA its commit.
	Ref, RefName, SHA string
	// BaseRef and HeadRef are branches of a pull request. Fork says that it comes from one: its
	// run has no secrets, and tokens that may only read.
	BaseRef, HeadRef string
	Fork             bool
	// Inputs are those of a dispatch.
	Inputs map[string]any
}

// actionsRun is a workflow that was played.
type actionsRun struct {
	ID   int
	Jobs map[string]*jobRun
}

// jobRun is what became of a job, with all rows of its matrix.
type jobRun struct {
	// Result is success, failure, cancelled or skipped; Runner is the label of the machine.
	Result, Runner string
	Outputs        map[string]any
	// Log is what its steps printed, Summary what they left for the run's page.
	Log, Summary string
}

// Play runs a workflow file. An error is this package's or the file's own; a job that
// fails is a result.
func (h *actionsHost) Play(ctx context.Context, content []byte, e actionsEvent) (*actionsRun, error) {
	w, err := parseWorkflow(content)
	if err != nil {
		return nil, err
	}
	names, err := w.order()
	if err != nil {
		return nil, err
	}
	h.runs++
	r := &actionsRun{ID: h.runs, Jobs: map[string]*jobRun{}}
	for _, name := range names {
		p := player{actionsHost: h, run: r, workflow: w, event: e, name: name, job: w.Jobs[name], inputs: e.Inputs}
		if r.Jobs[name], err = p.play(ctx); err != nil {
			return r, fmt.Errorf("job %s: %w", name, err)
		}
		h.log("job %s: %s", name, r.Jobs[name].Result)
	}
	return r, nil
}

func (h *actionsHost) log(format string, arguments ...any) {
	if h.Log != nil {
		h.Log(fmt.Sprintf(format, arguments...))
	}
}

// Artifact returns the folder of an artifact of a run.
func (h *actionsHost) Artifact(run int, name string) string {
	return filepath.Join(h.Folder, "artifacts", fmt.Sprint(run), name)
}

// player plays one job.
type player struct {
	*actionsHost
	run      *actionsRun
	workflow *workflowFile
	event    actionsEvent
	name     string
	job      *workflowJob
	inputs   map[string]any
	// matrix, index and total are of the row that is played.
	matrix       map[string]any
	index, total int

	token, workspace, temporary string

	path      []string
	variables map[string]string
	steps     map[string]any
	failed    bool
	output    strings.Builder
	summary   strings.Builder
	finally   []func() error
}

// play decides whether the job runs, and runs its rows.
func (p player) play(ctx context.Context) (*jobRun, error) {
	should, err := p.scope(p.needsAre()).condition(p.job.If)
	if err != nil || !should {
		return &jobRun{Result: "skipped", Outputs: map[string]any{}}, err
	}
	rows, err := p.rows()
	if err != nil {
		return nil, err
	}
	alone, err := p.scope("success").text(fmt.Sprint(p.job.Strategy.MaxParallel))
	if err != nil {
		return nil, err
	}
	whole := &jobRun{Result: "success", Outputs: map[string]any{}}
	p.before = p.caches
	for i, row := range rows {
		one := p
		one.matrix, one.index, one.total = row, i, len(rows)
		if alone == "1" {
			p.before = p.caches
		}
		if p.Cancelled[fmt.Sprintf("%s-%d", p.name, i)] {
			if whole.Result == "success" {
				whole.Result = "cancelled"
			}
			continue
		}
		if err := one.row(ctx, whole); err != nil {
			return whole, err
		}
	}
	return whole, nil
}

// needsAre is the status of a job's condition: that of what it needs.
func (p player) needsAre() string {
	status := "success"
	for _, needed := range p.job.Needs {
		switch p.run.Jobs[needed].Result {
		case "failure", "cancelled":
			return "failure"
		case "skipped":
			status = "skipped"
		}
	}
	return status
}

// rows are those of the matrix; a job without one has a single row.
func (p player) rows() ([]map[string]any, error) {
	matrix := p.job.Strategy.Matrix
	if text, ok := matrix.(string); ok {
		var err error
		if matrix, err = p.scope("success").value(text); err != nil {
			return nil, err
		}
	}
	if matrix == nil {
		return []map[string]any{{}}, nil
	}
	object, _ := matrix.(map[string]any)
	include, ok := object["include"].([]any)
	if !ok || len(object) != 1 {
		return nil, fmt.Errorf("the matrix %v is no list to include", matrix)
	}
	var rows []map[string]any
	for _, entry := range include {
		row, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the matrix has %v", entry)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row plays the steps in a new workspace, and adds what became of them to the whole.
func (p *player) row(ctx context.Context, whole *jobRun) error {
	p.variables, p.steps = map[string]string{}, map[string]any{}
	base := filepath.Join(p.Folder, "runs", fmt.Sprint(p.run.ID), fmt.Sprintf("%s-%d", p.name, p.index))
	p.workspace, p.temporary = filepath.Join(base, "work"), filepath.Join(base, "temp")
	for _, folder := range []string{p.workspace, p.temporary, filepath.Join(base, "home")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	event, err := json.Marshal(p.payload())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.temporary, "event.json"), event, 0o644); err != nil {
		return err
	}
	if whole.Runner, err = p.scope("success").text(p.job.RunsOn); err != nil {
		return err
	}
	p.token = fmt.Sprintf("token-%d-%s-%d", p.run.ID, p.name, p.index)
	p.Server.Give(p.token, p.permissions())
	defer func() {
		whole.Log, whole.Summary = whole.Log+p.output.String(), whole.Summary+p.summary.String()
	}()
	for _, s := range p.job.Steps {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("step %s: %w\n%s", s.title(), err, p.output.String())
		}
	}
	for _, last := range slices.Backward(p.finally) {
		if err := last(); err != nil {
			return err
		}
	}
	if p.failed {
		whole.Result = "failure"
	}
	for name, text := range p.job.Outputs {
		if whole.Outputs[name], err = p.scope(p.soFar()).value(text); err != nil {
			return err
		}
	}
	return nil
}

// soFar is the status of a step's condition.
func (p *player) soFar() string {
	if p.failed {
		return "failure"
	}
	return "success"
}

// permissions are what the job's token may do. A job that names none has the workflow's.
func (p *player) permissions() githubtest.Token {
	named := p.job.Permissions
	if named == nil {
		named = p.workflow.Permissions
	}
	t := githubtest.JobToken()
	for name, level := range named {
		if p.event.Fork {
			level = "read"
		}
		t.Permissions[strings.ReplaceAll(name, "-", "_")] = level
	}
	return t
}

// payload is the event's file, with the inputs of a dispatch.
func (p *player) payload() map[string]any {
	payload := map[string]any{}
	maps.Copy(payload, p.event.Payload)
	if p.event.Inputs != nil {
		payload["inputs"] = p.event.Inputs
	}
	return payload
}
