// Package triton compiles kernels that are written in Triton, by Triton, in Python processes
// that stay. The machine code is what any CUDA kernel's is: no Python runs while a kernel is
// checked or timed.
//
//  1. Find asks a process for its versions.
//  2. Build hands a unit to an idle process, of which there are as many as compilations at a
//     time. One that hangs, crashes or grows is killed, and the next has a fresh one.
//  3. packages.py runs what a function needs of its package, and nothing else. compile.py compiles the function.
//     What differs between versions of Triton stands in versions.py.
//  4. What a process has translated to IR is handed to the others, which is for them to verify.
//
// Files in CUDA C++ (a reference, the worker's own code) go to nvcc.
package triton

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"pawl/internal/python"
	"pawl/kernels/scaffold"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
)

//go:embed versions.py
var versions string

//go:embed stand_ins.py
var standIns string

//go:embed packages.py
var packages string

//go:embed describe.py
var describe string

//go:embed compile.py
var compile string

//go:embed record.py
var record string

// Tool is Triton in the Python of this machine.
type Tool struct {
	server *python.Server
	about  about
	// cuda compiles CUDA C++; nil where nothing does, and without says why.
	cuda    nvcc.Tool
	without error

	translated translations
}

var _ nvcc.Tool = (*Tool)(nil)

// about is what a process says of itself.
type about struct {
	Triton      string   `json:"triton"`
	Python      string   `json:"python"`
	Environment []string `json:"environment"`
}

// noDevices keeps the compiling processes off the GPUs: none of them launches anything.
const noDevices = "CUDA_VISIBLE_DEVICES="

// Find looks for a Python with Triton, and for a compiler of CUDA C++.
func Find(ctx context.Context, getenv func(string) string) (*Tool, error) {
	path, err := python.Find(getenv)
	if err != nil {
		return nil, fmt.Errorf("no Triton: %w", err)
	}
	script := strings.Join([]string{versions, standIns, packages, describe, compile}, "\n\n")
	t := &Tool{server: &python.Server{Path: path, Script: script, Environment: []string{noDevices}}}
	if err := t.server.About(ctx, &t.about); err != nil {
		return nil, fmt.Errorf("no Triton: %w", err)
	}
	if found, err := nvcc.Find(ctx, getenv); err == nil {
		t.cuda = found
	} else {
		t.without = err
	}
	return t, nil
}

// Name returns triton.
func (t *Tool) Name() string { return "triton" }

// Version returns the version, such as "triton 3.6.0".
func (t *Tool) Version() string { return "triton " + t.about.Triton }

// Identity has Triton's versions and its settings, and those of the compiler for CUDA C++.
func (t *Tool) Identity() string {
	parts := append([]string{t.Version(), t.about.Python}, t.about.Environment...)
	if t.cuda != nil {
		parts = append(parts, t.cuda.Identity())
	}
	return strings.Join(parts, "\n")
}

// request is what compile.py is asked for, and answer what it says.
type request struct {
	nvcc.Tile
	Folder       string `json:"folder"`
	Source       string `json:"source"`
	Architecture string `json:"architecture"`
	Scratch      string `json:"scratch"`
	Output       string `json:"output"`
	MostShared   int    `json:"most_shared"`
	// Translated is nil where no process has translated the function yet.
	Translated *translation `json:"translated"`
}

type answer struct {
	nvcc.TileLaunch
	Symbol string `json:"symbol"`
	Log    string `json:"log"`
	// Translated is nil where nothing is new, or differs between points.
	Translated *translation `json:"translated"`
}

// Build compiles a kernel's function, or hands the unit on.
func (t *Tool) Build(ctx context.Context, allowed time.Duration, unit nvcc.Unit,
	scratch, output string) (nvcc.Built, error) {
	if unit.Tile == nil {
		if t.cuda == nil {
			return nvcc.Built{}, fmt.Errorf("%s is CUDA C++: %w", unit.Source, t.without)
		}
		return t.cuda.Build(ctx, allowed, unit, scratch, output)
	}
	folder, err := filepath.Abs(unit.Dir)
	if err != nil {
		return nvcc.Built{}, err
	}
	question := request{
		Tile: *unit.Tile, Folder: folder, Source: unit.Source, Architecture: unit.Architecture,
		Scratch: scratch, Output: output, MostShared: unit.MostShared,
	}
	function := question.function()
	question.Translated = t.translated.of(function)
	var found answer
	printed, err := t.server.Ask(ctx, allowed, question, &found)
	if err != nil {
		return nvcc.Built{}, explain(err, printed)
	}
	t.translated.keep(function, found.Translated)
	return nvcc.Built{
		Log: found.Log, Names: map[string]string{unit.Tile.Entry: found.Symbol}, Launch: &found.TileLaunch,
	}, nil
}

// descriptionTime is how long a file may take to be read.
const descriptionTime = time.Minute

// Describe says which kernels a file holds: the entry, or all if it is empty.
func (t *Tool) Describe(ctx context.Context, file, entry string) (found scaffold.TileSource, err error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return found, err
	}
	question := map[string]any{
		"describe": true, "entry": entry, "folder": filepath.Dir(path), "source": filepath.Base(path),
	}
	_, err = t.server.Ask(ctx, descriptionTime, question, &found)
	return found, err
}

// recordingTime is how long a program may take to reach a kernel.
const recordingTime = 5 * time.Minute

// Record runs a program up to its call of a kernel, and says what that was called with. The program gets the GPUs of
// this machine if there are any.
func (t *Tool) Record(ctx context.Context, program, file, entry string, roots ...string) (*scaffold.Call, error) {
	recorder := &python.Server{Path: t.server.Path, Script: standIns + "\n\n" + record}
	question := map[string]any{"example": program, "source": file, "entry": entry, "roots": append([]string{}, roots...)}
	var call scaffold.Call
	if _, err := recorder.Ask(ctx, recordingTime, question, &call); err != nil {
		return nil, err
	}
	return &call, nil
}

// explain tells what is wrong with a point from what is wrong with all of them.
func explain(err error, printed string) error {
	if refused, ok := errors.AsType[*python.Refusal](err); ok {
		if refused.Kind == "unfit" {
			return &worker.Refusal{Output: refused.Message, Unfit: true}
		}
		if refused.Kind != "refused" {
			return errors.New(refused.Message)
		}
		// Passes of the compiler say on standard error what is wrong.
		return &worker.Refusal{Output: refused.Message + "\n" + printed}
	}
	if death, ok := errors.AsType[python.Death](err); ok {
		return &worker.Refusal{Output: "error: the compiler itself ended: " + death.Error()}
	}
	return err
}
