package ci

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/gate/policy"
	"pawl/internal/git"
	"pawl/kernels"
)

// Question is what [ShouldRun] answers: whether a change is worth a run of the gate.
type Question struct {
	// Policy is the policy file, Baseline the file that it is compared with.
	Policy, Baseline string
	// Runner is the file with the machine that is woken for the run.
	Runner string
	// Base is what the change began from, as git names it. Where it is empty, Target is the
	// branch of origin that a pull request is for, and Event the file with the event that
	// caused the run; both may be empty too.
	Base, Target, Event string
	// Push says that the change is on the branch already. Its baseline is then what counts, and
	// nothing to be compared with: a run that is started by its own commit would make the next one.
	Push bool
}

// Answer says whether to run, and why.
type Answer struct {
	Run bool
	// Why has a sentence for each reason, or for their absence.
	Why []string
}

// ShouldRun says whether what was committed since the base touches anything that a gated
// kernel depends on: its manifest, its sources and what they include, its reference, the
// policy, the baseline, the workflows, and pawl itself. Deleted and renamed files count. In
// doubt the answer is yes, so that there is no error. Only commits are looked at.
func ShouldRun(ctx context.Context, q Question) Answer {
	reasons, err := q.reasons(ctx)
	switch {
	case err != nil:
		return Answer{true, []string{fmt.Sprintf("it cannot be known what the change touches: %v", err)}}
	case len(reasons) > 0:
		return Answer{true, reasons}
	}
	return Answer{false, []string{"the change touches nothing that a gated kernel depends on"}}
}

func (q Question) reasons(ctx context.Context) ([]string, error) {
	root, _, _, err := git.Locate(ctx, ".")
	if err != nil {
		return nil, err
	}
	base, err := q.base(ctx, root)
	if err != nil {
		return nil, err
	}
	changes, err := changesSince(ctx, root, base)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	if q.Policy == "" {
		return nil, errors.New("there is no policy that says what is gated")
	}
	file, err := policy.Read(q.Policy)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here) // as git sees it
	}
	if err != nil {
		return nil, err
	}
	d := &dependencies{root: root, here: here, why: map[string]string{}, own: IsPawl(root)}
	d.files(q)
	for _, k := range file.Kernels {
		if err := d.kernel(k); err != nil {
			return nil, err
		}
	}
	var reasons []string
	for _, c := range changes {
		if why := d.touched(c); why != "" {
			reasons = append(reasons, c.name+": "+why)
		}
	}
	return reasons, nil
}

// changed is a file that differs between two commits.
type changed struct {
	name    string // from the repository's root, with slashes
	deleted bool
	link    bool // a symbolic link or a submodule, before or after
}

// changesSince lists the files that differ between where the checked-out commit left base
// and that commit. A renamed file is one that was deleted and one that was added.
func changesSince(ctx context.Context, root, base string) ([]changed, error) {
	fork, err := git.Line(ctx, root, "merge-base", "HEAD", base)
	if err != nil {
		return nil, fmt.Errorf("%w (a shallow clone does not know: fetch the whole history)", err)
	}
	raw, err := git.Run(ctx, root, nil, "diff-tree", "-r", "-z", "--no-renames", "--raw", fork, "HEAD")
	if err != nil {
		return nil, err
	}
	// ":OLDMODE NEWMODE OLD NEW STATUS", then the name, each closed by a zero byte.
	fields := strings.Split(string(raw), "\x00")
	var changes []changed
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(fields[i])
		if len(words) != 5 {
			return nil, fmt.Errorf("git diff-tree says %q", fields[i])
		}
		link := func(mode string) bool { return strings.HasSuffix(mode, "120000") || strings.HasSuffix(mode, "160000") }
		changes = append(changes, changed{fields[i+1], words[4] == "D", link(words[0]) || link(words[1])})
	}
	return changes, nil
}

type dependencies struct {
	root, here string
	// why has a sentence by the name of a file, from the root.
	why map[string]string
	// folders are those of the kernels, texts all that they are made of.
	folders []string
	texts   []string
	// open says that an include may be any source; own that the repository is pawl's.
	open, own bool
}

// add notes a file, also as what a link leads to.
func (d *dependencies) add(path, why string) {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	for _, name := range names {
		if relative, err := filepath.Rel(d.root, name); err == nil && filepath.IsLocal(relative) {
			d.why[filepath.ToSlash(relative)] = why
		}
	}
}

// files notes the files that are named on the command line.
func (d *dependencies) files(q Question) {
	for path, why := range map[string]string{
		q.Policy:   "it is the policy",
		q.Baseline: "it is the baseline",
		q.Runner:   "it says where the gate runs",
	} {
		if path != "" && !(q.Push && path == q.Baseline) {
			d.add(absolute(d.here, path), why)
		}
	}
}

// kernel notes what a gated kernel is made of.
func (d *dependencies) kernel(rule policy.Kernel) error {
	name := rule.Name
	if k, err := load(name, rule.Backend); err != nil {
		return err
	} else if k.Dir == "" {
		if !d.own {
			return nil // it is in pawl, whose version stands in the workflows
		}
		name = filepath.Join(d.root, "kernels", name)
	}
	k, err := load(absolute(d.here, name), rule.Backend)
	if err != nil {
		return err
	}
	files, open, err := k.Depends()
	if err != nil {
		return err
	}
	d.open = d.open || open
	if folder, err := filepath.Rel(d.root, k.Dir); err == nil {
		d.folders = append(d.folders, filepath.ToSlash(folder))
	}
	for _, f := range files {
		d.add(absolute(k.Dir, filepath.FromSlash(f.Name)), "kernel "+rule.Name+" is made of it")
		d.texts = append(d.texts, string(f.Content))
	}
	return nil
}

// touched says why a changed file matters; empty where it does not.
func (d *dependencies) touched(c changed) string {
	if why, found := d.why[c.name]; found {
		return why
	}
	for _, name := range slices.Sorted(maps.Keys(d.why)) {
		if strings.HasPrefix(name, c.name+"/") { // a file has become a folder, or a folder a file
			return d.why[name]
		}
	}
	base := c.name[strings.LastIndexByte(c.name, '/')+1:]
	switch {
	case c.link:
		return "it is a link or a submodule, which may lead to what a kernel is made of"
	case base == ".gitattributes":
		return "it changes how files are checked out"
	case strings.HasPrefix(c.name, ".github/workflows/"), strings.HasPrefix(c.name, ".github/actions/"):
		return "it is part of how the gate runs"
	case c.deleted && d.mentions(base):
		return "it is gone, and a kernel names a file like it"
	case c.deleted && kernels.IsSource(base) && d.inKernel(c.name):
		return "it is gone from the folder of a kernel"
	case d.open && kernels.IsSource(base):
		return "a macro names what a kernel includes, so that this may be it"
	case d.own && isOwn(c.name):
		return "it is part of pawl"
	}
	return ""
}

// mentions reports whether anything that a kernel is made of has a file's name in it.
func (d *dependencies) mentions(base string) bool {
	return slices.ContainsFunc(d.texts, func(text string) bool { return strings.Contains(text, base) })
}

func (d *dependencies) inKernel(name string) bool {
	return slices.ContainsFunc(d.folders,
		func(folder string) bool { return folder == "." || strings.HasPrefix(name, folder+"/") })
}

func absolute(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// ownModule is the first line of pawl's own go.mod.
var ownModule = regexp.MustCompile(`(?m)^module pawl\s*$`)

// IsPawl reports whether a repository is pawl's own, where pawl is built from what is
// checked out.
func IsPawl(root string) bool {
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	return err == nil && ownModule.Match(content)
}
