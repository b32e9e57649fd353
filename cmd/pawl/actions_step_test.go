package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// scope is what an expression finds here. Status says how things stand: success, failure
// or, for a job, skipped.
func (p *player) scope(status string) scope {
	needs, env, secrets := map[string]any{}, map[string]any{}, p.Secrets
	for _, name := range p.job.Needs {
		needs[name] = map[string]any{"result": p.run.Jobs[name].Result, "outputs": p.run.Jobs[name].Outputs}
	}
	for name, value := range p.variables {
		env[name] = value
	}
	if p.event.Fork {
		secrets = nil
	}
	return scope{
		contexts: map[string]any{
			"github": p.github(), "needs": needs, "env": env, "vars": p.Vars, "secrets": secrets, "inputs": p.inputs,
			"matrix": p.matrix, "steps": p.steps,
			"strategy": map[string]any{"job-total": float64(p.total), "job-index": float64(p.index)},
			"runner":   map[string]any{"os": "Linux", "arch": "X64", "temp": p.temporary},
		},
		functions: map[string]bool{
			"always": true, "cancelled": false, "success": status == "success", "failure": status == "failure",
		},
	}
}

func (p *player) github() map[string]any {
	return map[string]any{
		"event": plain(p.payload()), "event_name": p.event.Name, "ref": p.event.Ref, "ref_name": p.event.RefName,
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
func (p *player) step(ctx context.Context, s *jobStep) error {
	for _, named := range []map[string]string{p.workflow.Env, p.job.Env} {
		for name, text := range named {
			value, err := p.scope(p.soFar()).text(text)
			if err != nil {
				return err
			}
			p.variables[name] = value
		}
	}
	should, err := p.scope(p.soFar()).condition(s.If)
	if err != nil {
		return err
	}
	outputs, outcome := map[string]any{}, "skipped"
	if should {
		outcome = "success"
		ok, err := p.do(ctx, s, outputs)
		if err != nil {
			return err
		}
		if !ok {
			outcome, p.failed = "failure", true
		}
		p.log("  %s: %s: %s", p.name, s.title(), outcome)
	}
	if s.ID != "" {
		p.steps[s.ID] = map[string]any{"outputs": outputs, "outcome": outcome, "conclusion": outcome}
	}
	return nil
}

func (p *player) do(ctx context.Context, s *jobStep, outputs map[string]any) (ok bool, err error) {
	if s.Uses == "" {
		return p.execute(ctx, s, outputs)
	}
	with := map[string]string{}
	for name, value := range s.With {
		if with[name], err = p.scope(p.soFar()).text(fmt.Sprint(value)); err != nil {
			return false, err
		}
	}
	if folder, local := strings.CutPrefix(s.Uses, "./"); local {
		return p.compose(ctx, folder, with)
	}
	name, _, _ := strings.Cut(s.Uses, "@")
	return p.use(ctx, name, with)
}

// compose plays the steps of an action that was checked out.
func (p *player) compose(ctx context.Context, folder string, with map[string]string) (bool, error) {
	content, err := os.ReadFile(filepath.Join(p.workspace, folder, "action.yml"))
	if err != nil {
		fmt.Fprintf(&p.output, "## ./%s: %v\n", folder, err)
		return false, nil
	}
	var action composite
	if err := yaml.UnmarshalWithOptions(content, &action, yaml.Strict()); err != nil {
		return false, err
	}
	if action.Runs.Using != "composite" {
		return false, fmt.Errorf("an action of the kind %s is not played", action.Runs.Using)
	}
	inputs := map[string]any{}
	for name, input := range action.Inputs {
		inputs[name] = input.Default
	}
	for name, value := range with {
		if _, known := inputs[name]; !known {
			return false, fmt.Errorf("./%s has no input %s", folder, name)
		}
		inputs[name] = value
	}
	outer, failed := p.inputs, p.failed
	p.inputs, p.failed = inputs, false
	defer func() { p.inputs, p.failed = outer, p.failed || failed }()
	for _, s := range action.Runs.Steps {
		if s.Run != "" && s.Shell == "" {
			return false, errors.New("a step of an action names its shell")
		}
		if err := p.step(ctx, s); err != nil {
			return false, err
		}
	}
	return !p.failed, nil
}

// stepFiles are those that a step talks to GitHub by.
var stepFiles = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"}

// execute gives the lines of a step to bash, in a file, as a runner does.
func (p *player) execute(ctx context.Context, s *jobStep, outputs map[string]any) (bool, error) {
	lines, err := p.scope(p.soFar()).text(s.Run)
	if err != nil {
		return false, err
	}
	folder, err := p.scope(p.soFar()).text(s.Folder)
	if err != nil {
		return false, err
	}
	script := filepath.Join(p.temporary, "step.sh")
	if err := os.WriteFile(script, []byte(lines), 0o644); err != nil {
		return false, err
	}
	arguments := []string{"-e", script}
	if s.Shell == "bash" {
		arguments = []string{"--noprofile", "--norc", "-eo", "pipefail", script}
	} else if s.Shell != "" {
		return false, fmt.Errorf("there is no shell %s", s.Shell)
	}
	cmd := exec.CommandContext(ctx, "bash", arguments...)
	cmd.Dir = filepath.Join(p.workspace, folder)
	if cmd.Env, err = p.environment(s); err != nil {
		return false, err
	}
	for _, name := range stepFiles {
		path := filepath.Join(p.temporary, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return false, err
		}
		cmd.Env = append(cmd.Env, name+"="+path)
	}
	output, err := cmd.CombinedOutput()
	fmt.Fprintf(&p.output, "## %s\n%s", s.title(), output)
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return false, err
	}
	return err == nil, p.collect(outputs)
}

// environment is all that a step finds.
func (p *player) environment(s *jobStep) ([]string, error) {
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
		text, err := p.scope(p.soFar()).text(fmt.Sprint(value))
		if err != nil {
			return nil, err
		}
		env = append(env, name+"="+text)
	}
	return env, nil
}

// collect reads what a step has left in its files.
func (p *player) collect(outputs map[string]any) error {
	for _, file := range stepFiles {
		text, err := os.ReadFile(filepath.Join(p.temporary, file))
		if err != nil {
			return err
		}
		if file == "GITHUB_STEP_SUMMARY" {
			p.summary.Write(text)
			continue
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			name, value, ok := strings.Cut(line, "=")
			switch {
			case file == "GITHUB_PATH":
				p.path = append([]string{line}, p.path...)
			case !ok:
				return fmt.Errorf("the line %q in %s has no value", line, file)
			case file == "GITHUB_ENV":
				p.variables[name] = value
			default:
				outputs[name] = value
			}
		}
	}
	return nil
}
