package cuda

import (
	"context"
	"fmt"
	"path/filepath"

	"pawl/objective"
	"pawl/objective/cuda/nvcc"
)

// sanitizerProgram is the tool of the CUDA toolkit that watches kernels.
const sanitizerProgram = "compute-sanitizer"

// sanitizerSlowdown is how many times as long a run may take under it: it
// instruments every access of every thread.
const sanitizerSlowdown = 60

// sanitizerTools are the tools of compute-sanitizer with their options. Errors
// that the driver returns are not reported: the worker asks for some things
// only to learn whether they are there, and acts on the rest itself.
var sanitizerTools = []struct {
	name    string
	options []string
}{
	{"memcheck", []string{"--report-api-errors", "no"}},
	{"racecheck", nil},
	{"initcheck", nil},
	{"synccheck", nil},
}

// Sanitized returns the backend under each tool of compute-sanitizer. The
// binaries are those that are timed: the tool instruments machine code.
func (b *Backend) Sanitized(context.Context) ([]objective.Sanitizer, error) {
	program, err := findSanitizer(b.options.Getenv)
	if err != nil {
		return nil, err
	}
	var all []objective.Sanitizer
	for _, tool := range sanitizerTools {
		copied := *b
		copied.under = append([]string{program, "--tool", tool.name, "--print-limit", "10"}, tool.options...)
		all = append(all,
			objective.Sanitizer{Name: sanitizerProgram + " " + tool.name, Backend: &copied, Slowdown: sanitizerSlowdown})
	}
	return all, nil
}

var _ objective.Sanitizing = (*Backend)(nil)

// findSanitizer looks where the toolkit's programs are. Some toolkits keep this one in a folder of its own.
func findSanitizer(getenv func(string) string) (string, error) {
	for _, name := range []string{sanitizerProgram, filepath.Join("..", sanitizerProgram, sanitizerProgram)} {
		if path, found := nvcc.FindProgram(name, getenv); found {
			return path, nil
		}
	}
	return "",
		fmt.Errorf("%w: %s is not on the path nor in CUDA_HOME; it comes with the CUDA toolkit: install it, or set "+
			"CUDA_HOME to the toolkit's folder", objective.ErrNoSanitizer, sanitizerProgram)
}

var _ objective.Profiling = (*Backend)(nil)

// Under returns the backend with workers that a tool starts.
func (b *Backend) Under(tool []string) objective.Backend {
	copied := *b
	copied.under = tool
	return &copied
}
