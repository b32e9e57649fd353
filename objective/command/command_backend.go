// Package command is the backend for programs of any kind: a script, a simulator with its
// flags, a database with its settings. Whatever can be built and run by a list of arguments
// and prints a number, or takes time, can be tuned.
//
//  1. Build: a folder of the point's own, and the build command with the point's values.
//  2. Check: the program is run once, and the check command looks at what it has left
//     behind: what it printed, and its files. Without a check command nothing is checked,
//     and every report says so.
//  3. Time: the program is run as often as samples are wanted, each in a fresh process. The
//     time is that between its start and its end; metrics come from what it prints. What the
//     last run leaves behind is checked again.
//
// No shell sees any of it. A program gets little of the environment, has a process group of
// its own, and leaves nothing running behind: see Line.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"pawl/internal/git"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/host"
	"pawl/objective/worker"
	"pawl/space"
)

// DeviceName is the backend's name.
const DeviceName = kernels.Command

// Options say how programs are run.
type Options struct {
	// Folder is where the folders of points are made. Empty is that of temporary files.
	Folder string
	// BuildTimeout is how long a build may take where the manifest does not say. Zero means
	// a minute.
	BuildTimeout time.Duration
}

// Backend builds and runs the programs of one kernel and workload. Close it to remove what
// was built.
type Backend struct {
	*host.Limits
	kernel   *kernels.Kernel
	workload kernels.Workload
	options  Options
	dir      string            // where programs run: the kernel's folder
	scratch  string            // holds the folders of points
	source   string            // the digest of the kernel's files
	check    map[string]string // the digests of the files that the check command names
	cores    *semaphore.Weighted
	facts    objective.Facts

	mu    sync.Mutex
	built map[string]built // by what is run
	made  int              // folders so far
}

var (
	_ objective.Backend = (*Backend)(nil)
	_ objective.Program = (*Backend)(nil)
)

// New returns a backend for a kernel and one of its workloads.
func New(k *kernels.Kernel, w kernels.Workload, s *space.Space, options Options) (*Backend, error) {
	options.BuildTimeout = cmp.Or(k.Commands.Timeouts.Build, options.BuildTimeout, time.Minute)
	b := &Backend{
		Limits: host.NewLimits(k, s, runtime.NumCPU()), kernel: k, workload: w, options: options, dir: k.Dir,
		cores: semaphore.NewWeighted(int64(runtime.NumCPU())),
		built: map[string]built{},
	}
	for _, line := range [][]string{k.Commands.Build, k.Commands.Run, k.Commands.Check} {
		if err := b.findable(line); err != nil {
			return nil, err
		}
	}
	var err error
	if b.source, err = k.Digest(); err != nil {
		return nil, err
	}
	b.check = b.checkFiles()
	if options.Folder != "" {
		if err := os.MkdirAll(options.Folder, 0o755); err != nil {
			return nil, err
		}
		_ = cache.RemoveOld(filepath.Join(options.Folder, "commands-*"), abandoned) // what stays is somebody else's
	}
	if b.scratch, err = os.MkdirTemp(options.Folder, "commands-"); err != nil {
		return nil, err
	}
	if b.scratch, err = filepath.Abs(b.scratch); err != nil {
		return nil, err
	}
	b.facts = b.describe()
	return b, nil
}

// findable returns an error for a program that is not there whatever the point.
func (b *Backend) findable(line []string) error {
	if len(line) == 0 || strings.Contains(line[0], "{") {
		return nil
	}
	program := line[0]
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		program = filepath.Join(b.dir, program) // where it runs
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("kernel %s runs %s: %w", b.kernel.Name, line[0], err)
	}
	return nil
}

// checkFiles are the files that the check command names, and its program, with their digests.
func (b *Backend) checkFiles() map[string]string {
	files := map[string]string{}
	for i, word := range b.kernel.Commands.Check {
		path := word
		if found, err := exec.LookPath(word); i == 0 && !strings.Contains(word, "/") && err == nil {
			path = found
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(b.dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			content, _ := os.ReadFile(path) // what cannot be read has no other content later
			files[path] = cache.Digest(content)
		}
	}
	return files
}

// unchangedCheck returns an error where the check is not what it was when this run began.
func (b *Backend) unchangedCheck() error {
	now := b.checkFiles()
	for path, digest := range b.check {
		if now[path] != digest {
			return fmt.Errorf("kernel %s: %s, which checks results, has changed since this run began", b.kernel.Name, path)
		}
	}
	return nil
}

// abandoned is how old a folder is whose owner was killed.
const abandoned = 7 * 24 * time.Hour

// Close removes what was built.
func (b *Backend) Close() { _ = os.RemoveAll(b.scratch) }

// job is what is run for a point: everything that a run depends on, as a file.
type job struct {
	Source string `json:"source"`
	kernels.Lines
}

// jobAt fills in a point's values. Content is that of the job's file.
func (b *Backend) jobAt(values map[string]string) (j job, content []byte, err error) {
	j = job{b.source, b.kernel.Commands.At(values)}
	content, err = json.MarshalIndent(j, "", "\t")
	return j, content, err
}

// Compile makes the point's folder and builds there. A point that runs the same as another
// is built once.
func (b *Backend) Compile(ctx context.Context, point space.Point) (objective.Binary, *objective.Failure, error) {
	values, err := kernels.Values(b.workload.Dims, point, b.kernel.Commands.Definitions)
	if err != nil {
		return objective.Binary{}, objective.Unfit("%s", err), nil
	}
	// The folder and the output have no name yet: what is the same but for them is the same.
	values[kernels.OutFolder], values[kernels.StandardOutput] = "{OUT}", "{STDOUT}"
	j, content, err := b.jobAt(values)
	if err != nil {
		return objective.Binary{}, nil, err
	}
	if len(j.Run) == 0 {
		return objective.Binary{}, objective.Unfit("nothing is left of the run command"), nil
	}
	digest := cache.Digest(content)
	if known, found, err := b.known(digest); found || err != nil {
		return known, nil, err
	}
	folder, err := b.newFolder()
	if err != nil {
		return objective.Binary{}, nil, err
	}
	values[kernels.OutFolder], values[kernels.StandardOutput] = filepath.Join(folder, outputFolder),
		filepath.Join(folder, "stdout")
	path := filepath.Join(folder, "job.json")
	if j, content, err = b.jobAt(values); err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		return objective.Binary{}, nil, err
	}
	if failure, err := b.build(ctx, j, folder); failure != nil || err != nil {
		return objective.Binary{}, failure, err
	}
	binary := objective.Binary{
		Module: objective.Module{Path: path, File: cache.Digest(content)},
		Digest: digest,
		Size:   cache.Size(values[kernels.OutFolder]),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.built[digest] = built{binary, content}
	return binary, nil, nil
}

// built is a point that was built, with the content of its job's file.
type built struct {
	objective.Binary
	job []byte
}

// known returns what was built before. Its file is written again where somebody has removed it.
func (b *Backend) known(digest string) (binary objective.Binary, found bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, found := b.built[digest]
	if !found {
		return binary, false, nil
	}
	known.Hit = true
	if content, read := os.ReadFile(known.Path); read != nil || cache.Digest(content) != known.File {
		if err = os.MkdirAll(filepath.Dir(known.Path), 0o755); err == nil {
			err = os.WriteFile(known.Path, known.job, 0o644)
		}
	}
	return known.Binary, true, err
}

// newFolder makes a folder for a point.
func (b *Backend) newFolder() (string, error) {
	b.mu.Lock()
	b.made++
	folder := filepath.Join(b.scratch, fmt.Sprint(b.made))
	b.mu.Unlock()
	return folder, errors.Join(os.MkdirAll(filepath.Join(folder, outputFolder), 0o755),
		os.Mkdir(filepath.Join(folder, temporaryFolder), 0o755))
}

func (b *Backend) build(ctx context.Context, j job, folder string) (*objective.Failure, error) {
	if len(j.Build) == 0 {
		return nil, nil
	}
	if err := b.cores.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	defer b.cores.Release(1)
	e, fault, err := b.line(j, folder, j.Build, b.options.BuildTimeout).Run(ctx)
	switch {
	case err != nil:
		return nil, err
	case fault != nil && fault.Kind == worker.Hung:
		return objective.Failed(objective.Compile, objective.CompileTimeout, "the build did not end within %s",
			b.options.BuildTimeout), nil
	case fault != nil:
		return objective.Failed(objective.Compile, objective.CompileError, "the build %s: %s", fault.Kind,
			fault.Explanation()), nil
	case e.Status != 0:
		return objective.Failed(objective.Compile, objective.CompileError, "the build ended with %s", e.Explain()), nil
	}
	return nil, nil
}

// line is one of the command lines of a job in a folder. It may read all, and write to the point's output and to a
// folder for temporary files.
func (b *Backend) line(j job, folder string, arguments []string, allowed time.Duration) Line {
	temporary := filepath.Join(folder, temporaryFolder)
	return Line{Command: process.Command{
		Line: arguments, Dir: b.dir, Allowed: allowed,
		Environment: slices.Concat(process.Environment(os.Environ()), []string{"TMPDIR=" + temporary,
			"XDG_CACHE_HOME=" + temporary}, j.Environment),
		Access: &process.Access{Read: []string{process.Everything}, Devices: true,
			Write: []string{filepath.Join(folder, outputFolder), temporary}},
	}}
}

// The folders of a point that its programs write to.
const outputFolder, temporaryFolder = "out", "temporary"

// Reference is for backends that compare results.
func (b *Backend) Reference(context.Context, space.Point) (objective.Binary, error) {
	return objective.Binary{}, errors.New("a command has no reference: its check says whether it is right")
}

// Reserve takes the cores that the point says it uses, and all of them where it says
// nothing: nobody knows what a program starts.
func (b *Backend) Reserve(ctx context.Context, point space.Point) (worker.Slot, error) {
	cores := int64(runtime.NumCPU())
	if slices.ContainsFunc(b.kernel.Launch.Steps, func(s kernels.Step) bool { return s.Threads != nil }) {
		threads, err := b.Threads(point)
		if err != nil {
			return worker.Slot{}, err
		}
		cores = min(max(threads, 1), cores)
	}
	if err := b.cores.Acquire(ctx, cores); err != nil {
		return worker.Slot{}, context.Cause(ctx)
	}
	return worker.Slot{Device: DeviceName, Release: func() { b.cores.Release(cores) }}, nil
}

// Facts describes the machine and the command lines.
func (b *Backend) Facts() objective.Facts { return b.facts }

func (b *Backend) describe() objective.Facts {
	c := b.kernel.Commands
	programs := &objective.Programs{Lines: c.Lines, Sizes: b.workload.Dims, Definitions: c.Definitions}
	return objective.Facts{
		Width: 1,
		Environment: objective.Environment{
			Backend: DeviceName, Device: host.Processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
			Compiler: cmp.Or(strings.Join(c.Build, " "), "no build"), Objective: objective.ObjectiveOf(b.kernel),
			Programs: programs, Commit: git.CheckedOut(b.kernel.Dir),
		},
	}
}
