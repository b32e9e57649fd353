package platform

import (
	"context"
	"os/exec"

	"pawl/internal/process"
)

// Finding is one thing that was looked for.
type Finding struct {
	Name string `json:"name"`
	// Found says what is there, empty for nothing.
	Found string `json:"found,omitempty"`
	// Needed says that nothing works without it.
	Needed bool `json:"needed"`
	// Advice says what to do when it is missing.
	Advice string `json:"advice,omitempty"`
	// Details is more about what was found, for programs.
	Details any `json:"details,omitempty"`
}

// NewFinding is what a search came to: a description, or the reason why nothing was
// found, which says what to do.
func NewFinding(name, found string, err error) Finding {
	if err != nil {
		return Finding{Name: name, Advice: err.Error()}
	}
	return Finding{Name: name, Found: found}
}

// FindProgram looks for a program and keeps the last line that it prints about its
// version.
func FindProgram(ctx context.Context, name, advice string) Finding {
	f := Finding{Name: name, Advice: advice}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	f.Found = path
	if version, err := process.LastLine(ctx, path, "--version"); err == nil {
		f.Found = version
	}
	return f
}

// Measures is a device of this machine that points can be measured on.
type Measures struct {
	Backend string `json:"backend"`
	// Device is the model and Driver the driver's version: times of two are never mixed.
	Device string `json:"device"`
	Driver string `json:"driver,omitempty"`
	// Architecture is what machine code for it is compiled for.
	Architecture string `json:"architecture"`
	// Width is how many points are measured at once.
	Width int `json:"width"`
	// Identity tells this device, or the devices of this machine that are used together,
	// from others of the model.
	Identity string `json:"identity"`
}

// Compiles is a compiler of this machine with what it compiles for.
type Compiles struct {
	Backend      string `json:"backend"`
	Architecture string `json:"architecture"`
	// Name is that of --compiler, such as nvcc; empty on the processor.
	Name string `json:"name,omitempty"`
	// Version is for a person, and tells two compilers apart.
	Version string `json:"version"`
}
