// Package actionstest plays GitHub workflows on this machine, for tests: it reads the
// workflow files themselves, so that a test of them tests no copy.
//
// It is as strict as GitHub where a mistake would hide: what it does not know is an error
// and never skipped, a job's token has the job's permissions and no more, a job without
// contents: write cannot push, a checkout is shallow unless told otherwise, and nothing of
// this process's environment reaches a step but what [Host] names.
//
//  1. [Host.Play] takes a workflow and an event, and runs the jobs in the order of their
//     needs, one at a time, each matrix row in a workspace of its own.
//  2. Conditions and ${{ }} are evaluated as GitHub does (expression.go).
//  3. The lines of a run step go to bash in a file, as on a runner (step.go).
//  4. The few actions that are used are done here (uses.go): checkout, setup-go, cache and
//     artifacts.
package actionstest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// workflow is a file, as far as it is played.
type workflow struct {
	Name        string            `yaml:"name"`
	On          any               `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency any               `yaml:"concurrency"`
	Env         map[string]string `yaml:"env"`
	Jobs        map[string]*job   `yaml:"jobs"`
}

type job struct {
	Name        string            `yaml:"name"`
	Needs       any               `yaml:"needs"`
	If          string            `yaml:"if"`
	RunsOn      any               `yaml:"runs-on"`
	Timeout     any               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Outputs     map[string]string `yaml:"outputs"`
	Strategy    struct {
		FailFast    any `yaml:"fail-fast"`
		MaxParallel any `yaml:"max-parallel"`
		Matrix      any `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []*step `yaml:"steps"`
}

type step struct {
	ID      string         `yaml:"id"`
	Name    string         `yaml:"name"`
	If      string         `yaml:"if"`
	Uses    string         `yaml:"uses"`
	With    map[string]any `yaml:"with"`
	Run     string         `yaml:"run"`
	Shell   string         `yaml:"shell"`
	Folder  string         `yaml:"working-directory"`
	Env     map[string]any `yaml:"env"`
	Timeout any            `yaml:"timeout-minutes"`
}

// title is how GitHub's log names a step.
func (s *step) title() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Uses != "":
		name, _, _ := strings.Cut(s.Uses, "@")
		return name
	}
	return s.Run
}

// parse reads a workflow. A key that this package does not know is an error.
func parse(content []byte) (*workflow, error) {
	var w workflow
	if err := yaml.UnmarshalWithOptions(content, &w, yaml.Strict()); err != nil {
		return nil, err
	}
	if len(w.Jobs) == 0 {
		return nil, errors.New("it has no jobs")
	}
	return &w, nil
}

// order returns the jobs' names, each after those that it needs.
func (w *workflow) order() ([]string, error) {
	var ordered []string
	visiting := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		switch j := w.Jobs[name]; {
		case slices.Contains(ordered, name):
			return nil
		case j == nil:
			return fmt.Errorf("there is no job %s", name)
		case visiting[name]:
			return fmt.Errorf("job %s needs itself", name)
		default:
			visiting[name] = true
			for _, needed := range j.needs() {
				if err := visit(needed); err != nil {
					return err
				}
			}
		}
		ordered = append(ordered, name)
		return nil
	}
	var names []string
	for name := range w.Jobs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

func (j *job) needs() []string {
	switch needs := j.Needs.(type) {
	case string:
		return []string{needs}
	case []any:
		var names []string
		for _, n := range needs {
			names = append(names, fmt.Sprint(n))
		}
		return names
	}
	return nil
}
