package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pawl/kernels"
)

// gallery are the folders of docs/gallery, each a kernel to begin from.
func gallery(t *testing.T) []string {
	t.Helper()
	manifests, err := filepath.Glob("../../docs/gallery/*/" + kernels.ManifestName)
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no gallery: %v", err)
	}
	for i, manifest := range manifests {
		manifests[i] = filepath.Dir(manifest)
	}
	return manifests
}

// notTimed is a point that failed before anybody timed it.
var notTimed = regexp.MustCompile(`failed, (preflight|compile|fuzz)`)

// Every kernel of the gallery that has a form for this machine is tuned here, and one of its
// points is right on more than it was tuned on.
func TestGalleryTunes(t *testing.T) {
	if testing.Short() {
		t.Skip("each takes seconds, and runs through the same goroutines as others")
	}
	for _, folder := range gallery(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel() // nobody looks at the times
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "kernel"), os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			k, err := kernels.Load(filepath.Join(dir, "kernel"), kernels.Host)
			if none := (*kernels.NoSourceError)(nil); errors.As(err, &none) {
				k, err = kernels.Load(filepath.Join(dir, "kernel"), kernels.Command)
			}
			if none := (*kernels.NoSourceError)(nil); errors.As(err, &none) {
				t.Skip(none)
			}
			if err != nil {
				t.Fatal(err)
			}
			output, err := asPawl(t, dir, "tune", "./kernel", "--backend", k.Backend, "--trials", "2", "--rounds", "3", "--finalists", "1").CombinedOutput()
			if err != nil && !strings.Contains(string(output), "failed, bench:") { // what a busy machine does to times
				t.Fatalf("%v: %s", err, output)
			}
			if !strings.Contains(string(output), k.Name) || notTimed.Match(output) {
				t.Errorf("%s", output)
			}
		})
	}
}

// Every kernel of the gallery that has a form for CUDA compiles, all its launches are in it,
// and so does its reference.
func TestGalleryCompilesForCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("each takes seconds, and runs through the same goroutines as others")
	}
	nvcc := findNVCC(t)
	for _, folder := range gallery(t) {
		k, err := kernels.Load(folder, kernels.CUDA)
		if none := (*kernels.NoSourceError)(nil); errors.As(err, &none) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			constants, err := k.Constants(k.Workloads[0].Dims)
			if err != nil {
				t.Fatal(err)
			}
			var defines []string
			for _, c := range constants {
				defines = append(defines, "-D"+c.Name+"="+c.Value)
			}
			compileCUDA(t, nvcc, filepath.Join(folder, k.Reference), defines, k.Launch.Reference.Entry)
			for _, a := range k.Default().Assignments() {
				defines = append(defines, "-D"+a.Name+"="+a.Value.Define())
			}
			compileCUDA(t, nvcc, filepath.Join(folder, k.Source), defines, k.Launch.Entries()...)
		})
	}
}

// findNVCC returns the compiler, or skips.
func findNVCC(t *testing.T) string {
	t.Helper()
	for _, candidate := range []string{os.Getenv("NVCC"), filepath.Join(os.Getenv("CUDA_HOME"), "bin", "nvcc"), "nvcc"} {
		if path, err := exec.LookPath(candidate); candidate != "" && err == nil {
			return path
		}
	}
	if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
		t.Fatal("PAWL_REQUIRE_NVCC is set, and there is no nvcc")
	}
	t.Skip("no nvcc")
	return ""
}

// compileCUDA compiles a source to PTX and looks for kernels in it.
func compileCUDA(t *testing.T, nvcc, source string, defines []string, entries ...string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "kernel.ptx")
	output, err := exec.Command(nvcc, append(defines, "-ptx", "-arch=sm_90", "-o", to, source)...).CombinedOutput()
	if err != nil || strings.Contains(string(output), "warning") {
		t.Fatalf("%s: %v\n%s", source, err, output)
	}
	ptx, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.Contains(string(ptx), ".entry "+entry+"(") {
			t.Errorf("%s has no kernel %s", source, entry)
		}
	}
}
