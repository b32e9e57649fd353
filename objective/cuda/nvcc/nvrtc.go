package nvcc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"pawl/objective/worker"
)

// Library is NVRTC, nvcc's device half as a shared library. It compiles several
// times as fast as nvcc, because no host compiler and no second pass is
// involved. It runs in a process of its own, this binary executed again: a
// crash or a hang in it costs one compilation. The program must call Main.
type Library struct {
	// Path is libnvrtc.so.
	Path string
	// Includes are the toolkit's headers, such as cuda_fp16.h; none were found
	// if it is empty.
	Includes []string

	release string
	about   string
}

var _ Tool = (*Library)(nil)

// ErrNoNVRTC says that no libnvrtc was found.
var ErrNoNVRTC = errors.New("no NVRTC: install the CUDA toolkit, or set NVRTC to libnvrtc.so or CUDA_HOME to the " +
	"toolkit's folder")

// FindNVRTC returns the library that the variable NVRTC names, or else the
// first in CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, beside an nvcc on the path,
// and in the usual places.
func FindNVRTC(ctx context.Context, getenv func(string) string) (*Library, error) {
	if named := getenv("NVRTC"); named != "" {
		if _, err := os.Stat(named); err != nil {
			return nil, fmt.Errorf("%w (NVRTC is %q: %w)", ErrNoNVRTC, named, errors.Unwrap(err))
		}
		return openLibrary(ctx, named, getenv)
	}
	for _, folder := range libraryFolders(getenv) {
		if path := newestLibrary(folder); path != "" {
			return openLibrary(ctx, path, getenv)
		}
	}
	return nil, ErrNoNVRTC
}

// libraryFolders are the folders that may hold libnvrtc, best first.
func libraryFolders(getenv func(string) string) []string {
	folders := libraries(namedRoots(getenv))
	folders = append(folders, filepath.SplitList(getenv("LD_LIBRARY_PATH"))...)
	var besidePrograms []string
	for _, folder := range filepath.SplitList(getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(folder, "nvcc")); err == nil {
			besidePrograms = append(besidePrograms, filepath.Dir(filepath.Clean(folder)))
		}
	}
	folders = append(folders, libraries(besidePrograms)...)
	folders = append(folders, libraries(usualRoots())...)
	system, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(append(folders, system...), "/usr/lib64")
}

// libraries returns the library folders of toolkits.
func libraries(roots []string) []string {
	var folders []string
	for _, root := range roots {
		folders = append(folders, filepath.Join(root, "lib64"), filepath.Join(root, "lib"),
			filepath.Join(root, "targets", target(), "lib"))
	}
	return folders
}

// target is a toolkit's name for this kind of machine.
func target() string {
	if runtime.GOARCH == "arm64" {
		return "sbsa-linux"
	}
	return "x86_64-linux"
}

var libraryName = regexp.MustCompile(`^libnvrtc\.so(\.\d+)*$`)

// newestLibrary returns the libnvrtc of a folder with the highest version, or
// nothing.
func newestLibrary(folder string) string {
	found, _ := filepath.Glob(filepath.Join(folder, "libnvrtc.so*"))
	found = slices.DeleteFunc(found, func(path string) bool { return !libraryName.MatchString(filepath.Base(path)) })
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int { return compareVersions(filepath.Base(a), filepath.Base(b)) })
}

func openLibrary(ctx context.Context, path string, getenv func(string) string) (*Library, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding NVRTC: %w", err)
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, fmt.Errorf("finding NVRTC: %w", err)
	}
	l := &Library{Path: absolute, Includes: toolkitIncludes(absolute, getenv)}
	output, err := l.call(ctx, versionTime, "", libraryRequest{})
	if err != nil {
		return nil, fmt.Errorf("%s does not answer with its version: %w", absolute, err)
	}
	l.release = strings.TrimSpace(output)
	// The library's version has one digit after the dot only; its size and age
	// distinguish two patches of one version.
	l.about = fmt.Sprintf("nvrtc %s, %d bytes of %s\n%s", l.release, info.Size(), info.ModTime().UTC(),
		strings.Join(l.Includes, "\n"))
	return l, nil
}

// toolkitIncludes returns the header folders that belong to a library: the
// first that has the half-precision header, and the C++ library's beside it.
func toolkitIncludes(library string, getenv func(string) string) []string {
	roots := []string{filepath.Dir(filepath.Dir(library))}
	if real, err := filepath.EvalSymlinks(library); err == nil {
		roots = append(roots, filepath.Dir(filepath.Dir(real)))
	}
	roots = append(append(roots, namedRoots(getenv)...), usualRoots()...)
	for _, root := range roots {
		for _, folder := range []string{filepath.Join(root, "include"), filepath.Join(root, "targets", target(), "include")} {
			if _, err := os.Stat(filepath.Join(folder, "cuda_fp16.h")); err != nil {
				continue
			}
			includes := []string{folder}
			if standard := filepath.Join(folder, "cccl"); isFolder(standard) {
				includes = append(includes, standard)
			}
			return includes
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Name returns nvrtc.
func (l *Library) Name() string { return "nvrtc" }

// Version returns the release, such as "nvrtc 13.0".
func (l *Library) Version() string { return "nvrtc " + l.release }

func (l *Library) Identity() string { return l.about }

// Build compiles in another process. No shell is involved, so the defines are
// options.
func (l *Library) Build(ctx context.Context, allowed time.Duration, unit Unit,
	scratch, output string) (Built, error) {
	dir, err := filepath.Abs(unit.Dir)
	if err != nil {
		return Built{}, err
	}
	if len(unit.Units) > 0 {
		return Built{},
			fmt.Errorf("NVRTC compiles one unit and links none, and this kernel has %d: use --compiler nvcc", 1+len(unit.Units))
	}
	source := filepath.Join(dir, unit.Source)
	options := []string{
		"--gpu-architecture=" + unit.Architecture, "-lineinfo", "--ptxas-options=-v",
		"-I" + filepath.Dir(source), "-I" + dir,
	}
	for _, d := range unit.Defines {
		options = append(options, "-D"+d.Name+"="+d.Value)
	}
	options = append(options, libraryFlags(unit.Flags)...)
	for _, folder := range l.Includes {
		options = append(options, "-I"+folder)
	}
	prelude, err := constants(unit)
	if err != nil {
		return Built{}, err
	}
	request := libraryRequest{
		Prelude:   prelude,
		Source:    source,
		Options:   options,
		Output:    output,
		Instances: unit.Instances,
		Names:     filepath.Join(scratch, "names"),
	}
	if unit.Checks != "" { // of a front end that has another word for it
		request.Checks = "#define __builtin_offsetof(type, member) __INTADDR__(&((type *)0)->member)\n" + unit.Checks
	}
	log, err := l.call(ctx, allowed, dir, request)
	built := Built{Log: log}
	if err != nil || len(unit.Instances) == 0 {
		return built, err
	}
	content, err := os.ReadFile(request.Names)
	if err != nil {
		return Built{}, fmt.Errorf("NVRTC said nothing about %s: %w", strings.Join(unit.Instances, ", "), err)
	}
	return built, json.Unmarshal(content, &built.Names)
}

// libraryFlags leaves out what only nvcc's host half understands: NVRTC
// optimizes always. Any other flag that it does not know is an error.
func libraryFlags(flags []string) []string {
	var kept []string
	for i := 0; i < len(flags); i++ {
		switch flag := flags[i]; {
		case flag == "-Xcompiler" || flag == "--compiler-options":
			i++ // with its value
		case strings.HasPrefix(flag, "-Xcompiler=") || strings.HasPrefix(flag, "--compiler-options="):
		case (flag == "-Xptxas" || flag == "--ptxas-options") && i+1 < len(flags):
			i++ // its value may look like one of nvcc's own flags
			kept = append(kept, flag, flags[i])
		case len(flag) == 3 && strings.HasPrefix(flag, "-O"):
		default:
			kept = append(kept, flag)
		}
	}
	return kept
}

// call executes this binary as a compiler and returns what it printed.
func (l *Library) call(ctx context.Context, allowed time.Duration, dir string, request libraryRequest) (string, error) {
	executable, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("starting NVRTC: %w", err)
	}
	request.Library = l.Path
	// The process ends itself if nobody is left to kill it.
	request.Allowed = allowed + 10*time.Second
	input, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("starting NVRTC: %w", err)
	}
	// libnvrtc looks for its other half, libnvrtc-builtins, by name only.
	search := filepath.Dir(l.Path)
	if inherited := os.Getenv("LD_LIBRARY_PATH"); inherited != "" {
		search += string(filepath.ListSeparator) + inherited
	}
	command := worker.Compiler{
		Program: []string{executable}, Dir: dir,
		Environment: []string{libraryVariable + "=1", "LD_LIBRARY_PATH=" + search},
	}
	output, err := command.Run(ctx, allowed, input)
	err = worker.FullDisk(err)
	var refused *worker.Refusal
	switch {
	case !errors.As(err, &refused):
	case refused.Status == statusBroken:
		return "", errors.New(strings.TrimSpace(refused.Output))
	case refused.Status == statusCrashed:
		refused.Output = "error: NVRTC itself crashed: " + refused.Output
	}
	return output.Stdout, err
}
