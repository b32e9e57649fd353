package actionstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// scope is what an expression finds here. Status says how things stand: success, failure
// or, for a job, skipped.
func (p *player) scope(status func() string) scope {
	needs := map[string]any{}
	for _, name := range p.job.needs() {
		needed := p.run.Jobs[name]
		needs[name] = map[string]any{"result": needed.Result, "outputs": needed.Outputs}
	}
	env := map[string]any{}
	for name, value := range p.variables {
		env[name] = value
	}
	vars := map[string]any{}
	for name, value := range p.Vars {
		vars[name] = value
	}
	return scope{
		contexts: map[string]any{
			"github": p.github(), "needs": needs, "env": env, "vars": vars, "secrets": map[string]any{},
			"inputs": p.event.Inputs,
			"matrix": p.matrix, "steps": p.steps,
			"strategy": map[string]any{"job-total": float64(p.total), "job-index": float64(p.index)},
			"runner":   map[string]any{"os": "Linux", "arch": "X64", "temp": p.temporary},
			"job":      map[string]any{"status": status()},
		},
		functions: map[string]func() bool{
			"always":    func() bool { return true },
			"cancelled": func() bool { return false },
			"success":   func() bool { return status() == "success" },
			"failure":   func() bool { return status() == "failure" },
		},
	}
}

func (p *player) github() map[string]any {
	var payload any = p.payload()
	return map[string]any{
		"event": plain(payload), "event_name": p.event.Name, "ref": p.event.Ref, "ref_name": p.event.RefName,
		"sha": p.event.SHA, "base_ref": p.event.BaseRef, "head_ref": p.event.HeadRef,
		"repository": p.Server.Repository, "run_id": fmt.Sprint(p.run.ID), "token": p.token, "workspace": p.workspace,
		"workflow": p.workflow.Name, "api_url": p.Server.URL,
	}
}

// plain turns the numbers of Go into those of JSON.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := map[string]any{}
		for key, inner := range v {
			copied[key] = plain(inner)
		}
		return copied
	case int:
		return float64(v)
	}
	return value
}

// step plays one step. A command that fails is a result of the job.
func (p *player) step(ctx context.Context, s *step) error {
	for _, named := range []map[string]string{p.workflow.Env, p.job.Env} {
		for name, text := range named {
			value, err := p.scope(p.soFar).text(text)
			if err != nil {
				return err
			}
			p.variables[name] = value
		}
	}
	should, err := p.scope(p.soFar).condition(s.If)
	if err != nil {
		return err
	}
	outputs, outcome := map[string]any{}, "skipped"
	if should {
		outcome = "success"
		ok, found, err := p.do(ctx, s)
		if err != nil {
			return err
		}
		outputs = found
		if !ok {
			outcome, p.failed = "failure", true
		}
		p.Host.log("  %s: %s: %s", p.name, s.title(), outcome)
	}
	if s.ID != "" {
		p.steps[s.ID] = map[string]any{"outputs": outputs, "outcome": outcome, "conclusion": outcome}
	}
	return nil
}

func (p *player) do(ctx context.Context, s *step) (ok bool, outputs map[string]any, err error) {
	if s.Uses != "" {
		with := map[string]string{}
		for name, value := range s.With {
			if with[name], err = p.scope(p.soFar).text(fmt.Sprint(value)); err != nil {
				return false, nil, err
			}
		}
		name, _, _ := strings.Cut(s.Uses, "@")
		ok, err := p.use(ctx, name, with)
		return ok, map[string]any{}, err
	}
	return p.execute(ctx, s)
}

// files are those that a step talks to GitHub by.
var files = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"}

// execute gives the lines of a step to bash, in a file, as a runner does.
func (p *player) execute(ctx context.Context, s *step) (ok bool, outputs map[string]any, err error) {
	lines, err := p.scope(p.soFar).text(s.Run)
	if err != nil {
		return false, nil, err
	}
	script := filepath.Join(p.temporary, "step.sh")
	if err := os.WriteFile(script, []byte(lines), 0o644); err != nil {
		return false, nil, err
	}
	arguments := []string{"-e", script}
	switch s.Shell {
	case "":
	case "bash":
		arguments = []string{"--noprofile", "--norc", "-eo", "pipefail", script}
	default:
		return false, nil, fmt.Errorf("there is no shell %s", s.Shell)
	}
	folder, err := p.scope(p.soFar).text(s.Folder)
	if err != nil {
		return false, nil, err
	}
	cmd := exec.CommandContext(ctx, "bash", arguments...)
	cmd.Dir = filepath.Join(p.workspace, folder)
	if cmd.Env, err = p.environment(s); err != nil {
		return false, nil, err
	}
	for _, name := range files {
		path := filepath.Join(p.temporary, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return false, nil, err
		}
		cmd.Env = append(cmd.Env, name+"="+path)
	}
	output, err := cmd.CombinedOutput()
	fmt.Fprintf(&p.log, "## %s\n%s", s.title(), output)
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return false, nil, err
	}
	outputs, collected := p.collect()
	return err == nil, outputs, collected
}

// environment is all that a step finds.
func (p *player) environment(s *step) ([]string, error) {
	path := strings.Join(append(append([]string{}, p.path...), p.Tools), string(os.PathListSeparator))
	env := append([]string{}, p.Env...)
	for i, variable := range env {
		if rest, ok := strings.CutPrefix(variable, "PATH="); ok {
			env[i] = "PATH=" + path + string(os.PathListSeparator) + rest
		}
	}
	env = append(env,
		"HOME="+filepath.Join(filepath.Dir(p.workspace), "home"), "CI=true", "GITHUB_ACTIONS=true",
		"GITHUB_API_URL="+p.Server.URL, "GITHUB_SERVER_URL=https://github.example",
		"GITHUB_REPOSITORY="+p.Server.Repository, "GITHUB_EVENT_NAME="+p.event.Name,
		"GITHUB_EVENT_PATH="+filepath.Join(p.temporary, "event.json"),
		"GITHUB_SHA="+p.event.SHA, "GITHUB_REF="+p.event.Ref, "GITHUB_REF_NAME="+p.event.RefName,
		"GITHUB_BASE_REF="+p.event.BaseRef, "GITHUB_HEAD_REF="+p.event.HeadRef,
		"GITHUB_RUN_ID="+fmt.Sprint(p.run.ID), "GITHUB_WORKSPACE="+p.workspace, "RUNNER_TEMP="+p.temporary,
		"RUNNER_OS=Linux", "RUNNER_ARCH=X64")
	for name, value := range p.variables {
		env = append(env, name+"="+value)
	}
	for name, value := range s.Env {
		text, err := p.scope(p.soFar).text(fmt.Sprint(value))
		if err != nil {
			return nil, err
		}
		env = append(env, name+"="+text)
	}
	return env, nil
}

// collect reads what a step has left in its files.
func (p *player) collect() (map[string]any, error) {
	content := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(p.temporary, name))
		if err != nil {
			return nil, err
		}
		content[name] = string(text)
	}
	outputs := map[string]any{}
	for line := range strings.Lines(content["GITHUB_OUTPUT"]) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			return nil, fmt.Errorf("the output %q has no value", line)
		}
		outputs[name] = value
	}
	if content["GITHUB_ENV"] != "" {
		return nil, errors.New("GITHUB_ENV is not played")
	}
	for line := range strings.Lines(content["GITHUB_PATH"]) {
		p.path = append([]string{strings.TrimSpace(line)}, p.path...)
	}
	p.summary.WriteString(content["GITHUB_STEP_SUMMARY"])
	return outputs, nil
}
