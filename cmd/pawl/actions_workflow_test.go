package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// workflow is a file, as far as it is played.
type workflowFile struct {
	Name        string                  `yaml:"name"`
	On          any                     `yaml:"on"`
	Permissions map[string]string       `yaml:"permissions"`
	Concurrency any                     `yaml:"concurrency"`
	Env         map[string]string       `yaml:"env"`
	Jobs        map[string]*workflowJob `yaml:"jobs"`
}

type workflowJob struct {
	Name        string            `yaml:"name"`
	Needs       oneOrMore         `yaml:"needs"`
	If          string            `yaml:"if"`
	RunsOn      string            `yaml:"runs-on"`
	Timeout     any               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Outputs     map[string]string `yaml:"outputs"`
	Strategy    struct {
		FailFast    any `yaml:"fail-fast"`
		MaxParallel any `yaml:"max-parallel"`
		Matrix      any `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []*jobStep `yaml:"steps"`
}

type jobStep struct {
	ID     string         `yaml:"id"`
	Name   string         `yaml:"name"`
	If     string         `yaml:"if"`
	Uses   string         `yaml:"uses"`
	With   map[string]any `yaml:"with"`
	Run    string         `yaml:"run"`
	Shell  string         `yaml:"shell"`
	Folder string         `yaml:"working-directory"`
	Env    map[string]any `yaml:"env"`
}

// composite is the action.yml of an action of the repository itself.
type composite struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Inputs      map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
		Required    bool   `yaml:"required"`
	} `yaml:"inputs"`
	Runs struct {
		Using string     `yaml:"using"`
		Steps []*jobStep `yaml:"steps"`
	} `yaml:"runs"`
}

// oneOrMore are one or several.
type oneOrMore []string

// UnmarshalYAML reads a text or a list.
func (w *oneOrMore) UnmarshalYAML(content []byte) error {
	if yaml.Unmarshal(content, (*[]string)(w)) == nil {
		return nil
	}
	*w = oneOrMore{""}
	return yaml.Unmarshal(content, &(*w)[0])
}

// title is how GitHub's log names a step.
func (s *jobStep) title() string {
	action, _, _ := strings.Cut(s.Uses, "@")
	for _, name := range []string{s.Name, action} {
		if name != "" {
			return name
		}
	}
	return s.Run
}

// parseWorkflow reads a workflow. A key that this package does not know is an error.
func parseWorkflow(content []byte) (*workflowFile, error) {
	var w workflowFile
	if err := yaml.UnmarshalWithOptions(content, &w, yaml.Strict()); err != nil {
		return nil, err
	}
	if len(w.Jobs) == 0 {
		return nil, errors.New("it has no jobs")
	}
	return &w, nil
}

// order returns the jobs' names, each after those that it needs.
func (w *workflowFile) order() (ordered []string, err error) {
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
			for _, needed := range j.Needs {
				if err := visit(needed); err != nil {
					return err
				}
			}
		}
		ordered = append(ordered, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}
