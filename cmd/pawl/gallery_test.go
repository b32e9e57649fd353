package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pawl/internal/thorough"
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
	for _, folder := range thorough.Some(gallery(t), 1) {
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
			if len(k.Compile) > 0 {
				if _, err := exec.LookPath(k.Compile[0]); err != nil {
					t.Skip(err)
				}
			}
			output, err := asPawl(t, dir, "tune", "./kernel", "--backend", k.Backend, "--trials", "2", "--rounds", "3",
				"--finalists", "1").CombinedOutput()
			if err != nil && !strings.Contains(string(output), "failed, bench:") { // what a busy machine does to times
				t.Fatalf("%v: %s", err, output)
			}
			if !strings.Contains(string(output), k.Name) || notTimed.Match(output) {
				t.Errorf("%s", output)
			}
		})
	}
}
