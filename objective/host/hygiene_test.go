package host_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/internal/process"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/host"
	"pawl/objective/worker"
	"pawl/space"
)

// untidy doubles a vector, and does what only one kind of check can see.
const untidy = `
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { good, underread, scratch, aligned, wobbly, rewrites, removes, heap, overflow, subtle };

static int calls;

void twice(const float *x, float *y, int32_t N) {
	calls++;
	float *copy = malloc(sizeof *copy * (size_t)(N + 1));
	for (int i = 0; i < N; i++) copy[i] = x[i];
	for (int i = 0; i < N; i++) y[i] = 2 * copy[i];
	switch (MODE) {
	case underread: { volatile float before = x[-1]; (void)before; break; }
	case scratch: y[0] += copy[N]; break; /* zero in fresh memory */
	case aligned: if ((uintptr_t)y % 8) y[0] = 0; break;
	case wobbly: y[0] *= 1 + (calls & 1) * 1.2e-7f; break;
	case rewrites: {
		Dl_info own;
		FILE *file = dladdr((void *)twice, &own) ? fopen(own.dli_fname, "a") : NULL;
		if (!file) abort();
		fputc(0, file);
		fclose(file);
		break;
	}
	case removes: { Dl_info own; if (dladdr((void *)twice, &own)) remove(own.dli_fname); break; }
	case heap: ((volatile float *)copy)[N + 1] = 1; break;
	case overflow: { volatile int32_t most = INT32_MAX; most = most + N; break; }
	case subtle: y[N - 1] *= 1 + 1e-5f; break;
	}
	free(copy);
}
`

var untidyFiles = map[string]string{
	"kernel.yaml": `
name: twice
entry: twice
source: {host: twice.c}
reference: {host: reference.c}
params:
  MODE: {values: [good, underread, scratch, aligned, wobbly, rewrites, removes, heap, overflow, subtle], default: good}
workloads:
  small: {N: 1000}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [2, 7, 64, 1000]}
tolerance: {atol: 1e-4, rtol: 1e-4}
flags: [-O1, -D_GNU_SOURCE]
`,
	"twice.c": untidy,
	"reference.c": "#include <stdint.h>\nvoid twice(const float *x, float *y, int32_t N) { for (int i = 0; i < N; i++) " +
		"y[i] = (float)(2.0 * x[i]); }",
}

func (b *bench) prepare(t *testing.T, text string) objective.Prepared {
	t.Helper()
	prepared, err := b.Prepare(t.Context(), b.at(t, text))
	if err != nil || prepared.Failure != nil {
		t.Fatal(err, prepared.Failure)
	}
	return prepared
}

// What one layout or one run cannot see, another can.
func TestFullTierSeesWhatHides(t *testing.T) {
	b := open(t, untidyFiles, host.Options{})
	for mode, want := range map[string]string{
		"underread": "out of bounds: an access 4 bytes before the start of x",
		"aligned":   "wrong result: y[0]",
		"scratch":   "wrong result: y[0]",
	} {
		failure, err := b.Verify(t.Context(), b.prepare(t, "MODE="+mode))
		if err != nil || failure == nil || !strings.Contains(failure.String(), want) {
			t.Errorf("%s: %v, %v, want %s", mode, failure, err, want)
		}
	}
	// A page's worth of elements starts at a page both when its end and when its
	// start is guarded: only the misaligned layout tells.
	p := b.prepare(t, "MODE=aligned")
	for layout, fails := range map[worker.Layout]bool{
		worker.Guarded:    false,
		worker.Aligned:    false,
		worker.Misaligned: true,
	} {
		c := check.Case{Dims: kernels.Dims{"N": int64(os.Getpagesize() / 4)}, Seed: 1, Layout: layout}
		found, err := b.Tester.Try(t.Context(), p, slices.Values([]check.Case{c}), nil)
		if err != nil || (found.Failure != nil) != fails {
			t.Errorf("%s: %v, %v", layout, found.Failure, err)
		}
	}
}

// The full tier can be gone through in parts, each case once.
func TestFullTierInParts(t *testing.T) {
	b := open(t, untidyFiles, host.Options{})
	good := b.prepare(t, "MODE=good")
	parts := 1
	for {
		through, failure, err := b.VerifyFor(t.Context(), good, time.Nanosecond)
		if failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		if through {
			break
		}
		parts++
	}
	if want := len(b.Tester.FullCases(good.Point)); parts != want {
		t.Errorf("%d parts for %d cases", parts, want)
	}
	// Nothing is left to do, so nothing needs the binary any more.
	good.Binary.Path = filepath.Join(t.TempDir(), "gone")
	if failure, err := b.Verify(t.Context(), good); failure != nil || err != nil {
		t.Errorf("checked again: %v, %v", failure, err)
	}
	bad := b.prepare(t, "MODE=underread")
	for range 2 { // and a failure stays one
		if failure, err := b.Verify(t.Context(), bad); failure == nil || err != nil {
			t.Errorf("got %v, %v", failure, err)
		}
	}
}

func TestResultsThatDifferWithinToleranceAreNoted(t *testing.T) {
	b := open(t, untidyFiles, host.Options{})
	for mode, noted := range map[string]bool{"good": false, "wobbly": true} {
		p := b.prepare(t, "MODE="+mode)
		if failure, err := b.Verify(t.Context(), p); failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		if note := b.Tester.Note(p.Point); (note != "") != noted ||
			noted && !strings.Contains(note, "two runs on the same inputs differ") {
			t.Errorf("%s: noted %q", mode, note)
		}
	}
}

// What was compiled is what is checked and timed, or nothing counts. A file that somebody has
// changed or removed is made again; a kernel that does that to its own has failed.
func TestDamagedBinary(t *testing.T) {
	damaged := open(t, untidyFiles, host.Options{Cache: openCache(t, t.TempDir())})
	for _, by := range []string{"swapped", "gone"} {
		t.Run(by, func(t *testing.T) {
			b := damaged.again(t, 6*time.Second)
			p, other := b.prepare(t, "MODE=good"), b.prepare(t, "MODE=subtle")
			right, err := os.ReadFile(p.Binary.Path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(p.Binary.Path); err != nil {
				t.Fatal(err)
			}
			if by == "swapped" {
				if err := os.Link(other.Binary.Path, p.Binary.Path); err != nil {
					t.Fatal(err)
				}
			}
			if outcome, err := b.Measure(t.Context(), p, 0); err != nil || outcome.Failure != nil || len(outcome.Samples) == 0 {
				t.Errorf("%+v, %v", outcome.Failure, err)
			}
			if now, err := os.ReadFile(p.Binary.Path); err != nil || !bytes.Equal(now, right) {
				t.Errorf("it was not made again: %v", err)
			}
		})
	}
	for _, damaging := range thorough.Some([]string{"support gone", "support garbage", "support forged", "reference gone",
		"reference garbage", "reference forged"}, 3) {
		file, by, _ := strings.Cut(damaging, " ")
		t.Run(damaging, func(t *testing.T) {
			b := damaged.again(t, 6*time.Second)
			p := b.prepare(t, "MODE=good")
			reference, err := b.backend.Reference(t.Context(), space.Point{})
			if err != nil {
				t.Fatal(err)
			}
			damage(t, map[string]string{"support": p.Binary.Support, "reference": reference.Path}[file], by)
			if outcome, err := b.Measure(t.Context(), p, 0); err != nil || outcome.Failure != nil || len(outcome.Samples) == 0 {
				t.Errorf("%+v, %v", outcome.Failure, err)
			}
		})
	}
	if process.Confines() == nil { // no kernel reaches its file
		b := damaged.again(t, 6*time.Second)
		for mode, failed := range map[string]bool{"rewrites": true, "removes": false} {
			p := b.prepare(t, "MODE="+mode)
			outcome, err := b.Measure(t.Context(), p, 0)
			if f := outcome.Failure; err != nil || (f != nil) != failed || failed && f.Reason != "aborted" {
				t.Errorf("%s: %v, %v", mode, f, err)
			}
			if content, err := os.ReadFile(p.Binary.Path); err != nil || cache.Digest(content) != p.Binary.File {
				t.Errorf("%s: the file was changed: %v", mode, err)
			}
		}
		return
	}
	for _, mode := range []string{"rewrites", "removes"} {
		t.Run(mode, func(t *testing.T) {
			b := damaged.again(t, 6*time.Second)
			p := b.prepare(t, "MODE="+mode)
			outcome, err := b.Measure(t.Context(), p, 0)
			if f := outcome.Failure; err != nil || f == nil || f.Reason != objective.Damaged || len(outcome.Samples) > 0 {
				t.Errorf("measured: %v, %v", outcome.Failure, err)
			}
			outcome, err = b.Sample(t.Context(), p, 1)
			if f := outcome.Failure; err != nil || f == nil || f.Reason != objective.Damaged || len(outcome.Samples) > 0 {
				t.Errorf("sampled: %v, %v", outcome.Failure, err)
			}
			failure, err := b.Verify(t.Context(), p)
			if err != nil || failure == nil || failure.Reason != objective.Damaged {
				t.Errorf("checked: %v, %v", failure, err)
			}
			// The next point is none the worse for it.
			if outcome := b.measure(t, "MODE=good", 0); outcome.Failure != nil {
				t.Error(outcome.Failure)
			}
		})
	}
}

// damage removes a compiled file, or writes something else there; one that is forged comes with a
// digest in the compile cache that fits.
func damage(t *testing.T, path, by string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if by == "gone" {
		return
	}
	content := []byte("no machine code")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if by == "forged" {
		digest := filepath.Join(filepath.Dir(path), "digest")
		if err := os.WriteFile(digest, []byte(cache.Digest(content)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShrinkFindsTheSmallestShape(t *testing.T) {
	files := map[string]string{"kernel.yaml": untidyFiles["kernel.yaml"], "reference.c": untidyFiles["reference.c"],
		"twice.c": strings.Replace(untidy, "calls++;",
			"calls++; if (N > 40) { for (int i = 0; i < N; i++) y[i] = x[0]; return; }", 1)}
	b := open(t, files, host.Options{})
	p := b.prepare(t, "")
	found, err := b.Tester.Try(t.Context(), p, slices.Values(b.Tester.FullCases(p.Point)), nil)
	if err != nil || found.Failure == nil {
		t.Fatal(found, err)
	}
	smallest, again, err := b.Tester.Shrink(t.Context(), p, found)
	if err != nil || !again || smallest.Case.Dims["N"] != 41 {
		t.Errorf("%s, again %t, %v, want N=41", smallest.Case, again, err)
	}
}

func TestSanitizers(t *testing.T) {
	plain := open(t, untidyFiles, host.Options{})
	tools, err := plain.backend.Sanitized(t.Context())
	if errors.Is(err, objective.ErrNoSanitizer) {
		t.Skip(err)
	}
	if err != nil || len(tools) != 1 || !strings.Contains(tools[0].Name, "AddressSanitizer") {
		t.Fatal(tools, err)
	}
	e := objective.NewEvaluator(plain.kernel, plain.workload, tools[0].Backend, objective.Options{})
	t.Cleanup(e.Close)
	sanitized := &bench{e, plain.kernel, plain.workload, plain.space, plain.backend}
	for mode, want := range map[string]string{
		"good":      "",
		"heap":      "heap-buffer-overflow",
		"overflow":  "signed integer overflow",
		"underread": "AddressSanitizer", // in the slack before a buffer, where no page faults
	} {
		p := sanitized.prepare(t, "MODE="+mode)
		c := check.Case{Dims: kernels.Dims{"N": 8}, Seed: 1, Layout: worker.Guarded} // whole units of its shadow
		found, err := sanitized.Tester.Try(t.Context(), p, slices.Values([]check.Case{c}), nil)
		switch {
		case err != nil:
			t.Errorf("%s: %v", mode, err)
		case want == "" && found.Failure != nil:
			t.Errorf("%s: %s", mode, found.Failure)
		case want != "" && (found.Failure == nil || !strings.Contains(found.Failure.Detail, want)):
			t.Errorf("%s: %v, want %s", mode, found.Failure, want)
		}
		if mode == "heap" || mode == "overflow" {
			if found, err := plain.Tester.Try(t.Context(), plain.prepare(t, "MODE="+mode), slices.Values([]check.Case{c}),
				nil); found.Failure != nil || err != nil {
				t.Errorf("%s fails without a sanitizer too: %v, %v", mode, found.Failure, err)
			}
		}
	}
}

func TestNoSanitizerIsSaid(t *testing.T) {
	script := t.TempDir() + "/bare"
	content := "#!/bin/sh\ncase \"$*\" in *print-file-name*) echo libasan.so; exit;; esac\nexec cc \"$@\"\n"
	if err := kerneltest.WriteProgram(script, content); err != nil {
		t.Fatal(err)
	}
	toolchain, err := host.FindToolchain(t.Context(), func(string) string { return script })
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, untidyFiles, host.Options{Toolchain: toolchain})
	if _, err := b.backend.Sanitized(t.Context()); !errors.Is(err, objective.ErrNoSanitizer) ||
		!strings.Contains(err.Error(), "install") && !strings.Contains(err.Error(), "-race") {
		t.Errorf("got %v", err)
	}
}
