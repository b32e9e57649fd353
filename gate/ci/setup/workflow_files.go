package setup

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"pawl/gate/ci"
	"pawl/gate/policy"
)

//go:embed templates
var templates embed.FS

// file is one of those that are written.
type file struct {
	path    string // from the top, with slashes
	content []byte
	owned   bool
	// added says that the content is what was there with lines added: it loses nothing.
	added bool
}

// Where the files go.
const (
	actionPath   = ".github/actions/pawl/action.yml"
	gatePath     = ".github/workflows/gate.yml"
	tunePath     = ".github/workflows/tune.yml"
	templatePath = ".github/pull_request_template.md"
	runnerPath   = "docs/pawl-runner.md"
)

// Label is the one by which a maintainer lets a fork's code run on a self-hosted runner.
const Label = "run-on-gpu"

// values fill in the templates. All of them passed a check for what they may hold: nothing
// in them can end a line or a string.
type values struct {
	Own    bool
	Pawl   Source
	Branch string
	Runner string
	Hosted string
	Label  string
}

func render(o Options, r repository) ([]file, error) {
	v := values{
		Own:    o.Pawl == (Source{}),
		Pawl:   o.Pawl,
		Branch: r.branch,
		Runner: o.Runner,
		Hosted: ci.HostedRunner,
		Label:  Label,
	}
	all, err := template.New("").Delims("[[", "]]").Option("missingkey=error").ParseFS(templates, "templates/*")
	if err != nil {
		panic("setup: " + err.Error())
	}
	files := []file{
		{path: actionPath}, {path: gatePath}, {path: tunePath}, {path: runnerPath},
		{path: templatePath, owned: true},
	}
	for i := range files {
		var b bytes.Buffer
		name := files[i].path[strings.LastIndex(files[i].path, "/")+1:]
		if err := all.ExecuteTemplate(&b, name, v); err != nil {
			return nil, fmt.Errorf("filling in %s: %w", files[i].path, err)
		}
		files[i].content = b.Bytes()
	}
	files = append(files, file{path: policy.FileName, content: policyFor(r.kernels), owned: true})
	for _, f := range []struct{ path, lines string }{
		{".gitattributes", "results/history.jsonl merge=union\n"},
		{".gitignore", "/results/*\n!/results/baseline.json\n!/results/history.jsonl\n/tuning/\n/.cache/\n/.pawl/\n"},
	} {
		files = append(files, file{path: f.path, content: withLines(r.top, f.path, f.lines), added: true})
	}
	return files, nil
}

// withLines is a file of the repository with the lines that it lacks.
func withLines(top, path, lines string) []byte {
	content, _ := os.ReadFile(filepath.Join(top, path)) // what is in the way is found when it is written
	if len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")) {
		content = append(content, '\n')
	}
	for line := range strings.Lines(lines) {
		if !bytes.Contains(append([]byte("\n"), content...), []byte("\n"+line)) {
			content = append(content, line...)
		}
	}
	return content
}

// Sources is the folder that pawl is built in.
func (v values) Sources() string {
	if v.Own {
		return "${{ inputs.ref && '.pawl' || '.' }}"
	}
	return ".pawl"
}

// RunnerValue is the label of the runner with the device, or nothing.
func (v values) RunnerValue() string {
	if v.Runner == "" {
		return "${{ inputs.runner || vars.PAWL_RUNNER }}"
	}
	return "${{ inputs.runner || " + v.RunnerOrHosted() + " }}"
}

// RunnerOrHosted is the label of some runner, inside an expression.
func (v values) RunnerOrHosted() string {
	return "vars.PAWL_RUNNER || '" + cmp.Or(v.Runner, v.Hosted) + "'"
}

// Allowed is the condition under which code may run on the runner with the device: it is not
// a pull request's, or there is no such runner, or the branch is in this repository, where
// only people with the right to write make one, or a maintainer has just set the label.
func (v values) Allowed() string {
	conditions := []string{"github.event_name != 'pull_request'", "!vars.PAWL_RUNNER",
		"github.event.pull_request.head.repo.full_name == github.repository",
		"(github.event.action == 'labeled' && github.event.label.name == '" + v.Label + "')"}
	if v.Runner != "" {
		conditions = append(conditions[:1], conditions[2:]...)
	}
	return strings.Join(conditions, " || ")
}

// example is the kernel that a repository without one gates at first.
const example = "attention"

// policyFor is a policy that gates every kernel of a repository.
func policyFor(kernels []string) []byte {
	var b bytes.Buffer
	b.WriteString("# What pawl gate holds to the baseline: kernels, workloads (none means the manifest's\n# first), " +
		"limits. pawl gate --help begins where docs/gate.md of pawl goes on.\npreset: standard\nkernels:\n")
	if len(kernels) == 0 {
		fmt.Fprintf(&b,
			"  # No folder with a kernel.yaml was found. This is an example of pawl's own: put yours here.\n  - {kernel: %s, "+
				"backend: host}\n", example)
	}
	for _, folder := range kernels {
		// JSON's strings are YAML's, whatever a folder is called.
		quoted, err := json.Marshal("./" + folder)
		if err != nil {
			panic("setup: " + err.Error()) // a string can be marshalled
		}
		fmt.Fprintf(&b, "  - {kernel: %s}\n", quoted)
	}
	return b.Bytes()
}
