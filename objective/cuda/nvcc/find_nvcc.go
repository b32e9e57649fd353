package nvcc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/objective/worker"
)

// Toolchain is nvcc with the host compiler that it preprocesses with.
type Toolchain struct {
	// Path is the nvcc program.
	Path string

	release string // such as 13.0.88
	about   string // everything that nvcc and the host compiler say about themselves
}

var _ Tool = (*Toolchain)(nil)

// ErrNoCompiler says that no nvcc was found.
var ErrNoCompiler = errors.New("no CUDA compiler: install the CUDA toolkit, or set NVCC to the nvcc program or " +
	"CUDA_HOME to the toolkit's folder")

// ErrNoHostCompiler says that nvcc is there but has nothing to preprocess with.
var ErrNoHostCompiler = errors.New("nvcc needs a host compiler: install gcc, or set NVCC_CCBIN to one")

// versionTime is how long a compiler may take to print its version.
const versionTime = 30 * time.Second

// Find returns the nvcc that the variable NVCC names (getenv is os.Getenv in
// the program), or else the first of CUDA_HOME, CUDA_PATH, the path and the
// usual places.
func Find(ctx context.Context, getenv func(string) string) (*Toolchain, error) {
	if named := getenv("NVCC"); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return nil, fmt.Errorf("%w (NVCC is %q: %w)", ErrNoCompiler, named, errors.Unwrap(err))
		}
		return open(ctx, path, getenv)
	}
	if path, found := FindProgram("nvcc", getenv); found {
		return open(ctx, path, getenv)
	}
	return nil, ErrNoCompiler
}

// FindProgram returns the path of a program of the toolkit.
func FindProgram(name string, getenv func(string) string) (path string, found bool) {
	for _, folder := range programFolders(getenv) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// programFolders are the folders that may hold nvcc, best first.
func programFolders(getenv func(string) string) []string {
	bin := func(root string) string { return filepath.Join(root, "bin") }
	roots := []string{getenv("CUDA_HOME"), getenv("CUDA_PATH")}
	named := collect.Where(roots, func(root string) bool { return root != "" })
	return slices.Concat(collect.Each(named, bin), filepath.SplitList(getenv("PATH")), collect.Each(usualRoots(), bin))
}

// usualRoots are the places that installers put toolkits, the newest first (cuda-9.2 is older than cuda-13.0)
// behind the one that the administrator chose.
func usualRoots() []string {
	versions, _ := filepath.Glob("/usr/local/cuda-*")
	slices.SortFunc(versions, func(a, b string) int { return slices.Compare(versionNumbers(b), versionNumbers(a)) })
	return append([]string{"/usr/local/cuda"}, versions...)
}

var digits = regexp.MustCompile(`\d+`)

func versionNumbers(text string) []int {
	var numbers []int
	for _, n := range digits.FindAllString(text, -1) {
		value := 0
		fmt.Sscan(n, &value)
		numbers = append(numbers, value)
	}
	return numbers
}

var releaseNumber = regexp.MustCompile(`release [\d.]+, V([\d.]+)`)

func open(ctx context.Context, path string, getenv func(string) string) (*Toolchain, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding nvcc: %w", err)
	}
	output, err := worker.Compiler{Program: []string{absolute}}.Run(ctx, versionTime, nil, "--version")
	if err != nil {
		return nil, fmt.Errorf("%s does not answer --version: %w", absolute, err)
	}
	match := releaseNumber.FindStringSubmatch(output.Stdout)
	if match == nil {
		return nil, fmt.Errorf("%s is not nvcc: its --version names no release", absolute)
	}
	host, err := hostCompiler(ctx, getenv)
	if err != nil {
		return nil, err
	}
	about := []string{output.Stdout, host}
	// What nvcc itself takes from the environment.
	for _, variable := range []string{"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH"} {
		about = append(about, variable+"="+getenv(variable))
	}
	return &Toolchain{Path: absolute, release: match[1], about: strings.Join(about, "\n")}, nil
}

// hostCompiler returns what the compiler that nvcc preprocesses with says about
// itself.
func hostCompiler(ctx context.Context, getenv func(string) string) (string, error) {
	program := getenv("NVCC_CCBIN")
	if program == "" {
		program = "gcc"
	} else if info, err := os.Stat(program); err == nil && info.IsDir() {
		program = filepath.Join(program, "gcc")
	}
	output, err := worker.Compiler{Program: []string{program}}.Run(ctx, versionTime, nil, "--version")
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (there is no %s)", ErrNoHostCompiler, program)
	}
	if err != nil {
		return "", fmt.Errorf("host compiler %s does not answer --version: %w", program, err)
	}
	return output.Stdout, nil
}

// Name returns nvcc.
func (t *Toolchain) Name() string { return "nvcc" }

// Version returns the release, such as "nvcc 13.0.88".
func (t *Toolchain) Version() string { return "nvcc " + t.release }

func (t *Toolchain) Identity() string { return "nvcc\n" + t.about }
