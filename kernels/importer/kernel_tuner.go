package importer

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pawl/internal/process"
)

// standIn are the modules that are put before the script's own.
//
//go:embed all:stand_in
var standIn embed.FS

// KernelTuner says which script is imported, and how.
type KernelTuner struct {
	// Script is a Python file, Arguments what it gets on its command line.
	Script    string
	Arguments []string
	// Folder is where the kernel goes; empty means one with the kernel's name.
	Folder string
	// Call chooses one of several calls of tune_kernel, from 1; 0 means the only one.
	Call int
	// Python is the interpreter; empty means the one that PYTHON names, python3 or python.
	Python string
	Getenv func(string) string
	// Output gets what the script prints.
	Output io.Writer
}

// Run runs the script and writes the folder of what it tunes. A *MistakeError says what is
// wrong with the script, or with how it was called.
func (k KernelTuner) Run(ctx context.Context) (*Folder, error) {
	if _, err := os.Stat(k.Script); errors.Is(err, fs.ErrNotExist) {
		return nil, mistake("there is no script %s", k.Script)
	}
	recorded, err := os.MkdirTemp("", "pawl-import-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(recorded)
	if err := k.record(ctx, recorded); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(recorded, "calls.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	calls, err := parseCalls(content)
	if err != nil {
		return nil, err
	}
	chosen, err := k.choose(calls)
	if err != nil {
		return nil, err
	}
	d, err := chosen.describe(calls, recorded)
	if err != nil {
		return nil, err
	}
	d.origin = "the script " + filepath.Base(k.Script)
	return d.write(k.Folder)
}

func (k KernelTuner) python() (string, error) {
	names := []string{k.Python}
	if k.Python == "" {
		names = slices.DeleteFunc([]string{k.Getenv("PYTHON"), "python3", "python"}, func(n string) bool { return n == "" })
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", mistake("no Python was found (%s): name the one that runs the script with --interpreter",
		strings.Join(names, ", "))
}

// record runs the script in its folder, with the stand-in before all other modules.
func (k KernelTuner) record(ctx context.Context, folder string) error {
	python, err := k.python()
	if err != nil {
		return err
	}
	modules := filepath.Join(folder, "modules")
	inner, err := fs.Sub(standIn, "stand_in")
	if err != nil {
		panic("importer: " + err.Error())
	}
	if err := os.CopyFS(modules, inner); err != nil {
		return err
	}
	script, err := filepath.Abs(k.Script)
	if err != nil {
		return err
	}
	// A module of the script's folder would come before those of PYTHONPATH: the stand-in is
	// imported first, and then everything is as if the script had been started itself.
	const run = `import sys
modules, sys.argv = sys.argv[1], sys.argv[2:]
sys.path.insert(0, modules)
import kernel_tuner, os, runpy
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")`
	path := modules
	if before := k.Getenv("PYTHONPATH"); before != "" {
		path += string(os.PathListSeparator) + before
	}
	complaint := &process.Output{Keep: 1 << 16, Last: true, To: k.Output}
	_, err = process.Run(ctx, process.Command{
		Line: append([]string{python, "-c", run, modules, script}, k.Arguments...), Dir: filepath.Dir(script),
		Environment: append(os.Environ(), "PYTHONPATH="+path, "PAWL_IMPORT="+folder, "PYTHONDONTWRITEBYTECODE=1"),
		Stdout:      &process.Output{To: k.Output}, Stderr: complaint,
	})
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		return mistake("the script ended with an error (%v): %s; it must run to its end with %s", exit,
			complaint.LastLine(), python)
	}
	return err
}

// parseCalls reads what the stand-in has recorded, one call a line.
func parseCalls(content []byte) ([]call, error) {
	var calls []call
	for line := range bytes.Lines(content) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var c call
		if err := decode(line, &c); err != nil {
			return nil, fmt.Errorf("what the script asked for cannot be read: %w", err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// decode reads JSON with its numbers as they are written.
func decode(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func (k KernelTuner) choose(calls []call) (call, error) {
	var tuned []call
	var names []string
	for _, c := range calls {
		if c.Call == "tune_kernel" {
			tuned = append(tuned, c)
			names = append(names, fmt.Sprintf("%d: %s", len(tuned), c.Kernel))
		}
	}
	switch {
	case len(tuned) == 0:
		return call{}, mistake("the script ran to its end and never called tune_kernel: does it need arguments (pawl " +
			"import kernel-tuner SCRIPT -- ARGUMENTS)?")
	case k.Call > len(tuned):
		return call{}, mistake("--call %d: the script calls tune_kernel %d times", k.Call, len(tuned))
	case k.Call > 0:
		return tuned[k.Call-1], nil
	case len(tuned) > 1:
		return call{}, mistake("the script calls tune_kernel %d times (%s): choose one with --call", len(tuned),
			strings.Join(names, ", "))
	}
	return tuned[0], nil
}
