//go:build linux && (amd64 || arm64)

package host_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pawl/internal/process"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/host"
	"pawl/objective/worker"
)

// confinedFiles are a kernel of testdata/confined, with its modes as a parameter.
func confinedFiles(t *testing.T, source, parameters string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "confined", source))
	if err != nil {
		t.Fatal(err)
	}
	name := "twice" + filepath.Ext(source)
	manifest := regexp.MustCompile(`  MODE: .*`).ReplaceAllLiteralString(untidyFiles["kernel.yaml"], parameters)
	return map[string]string{
		"kernel.yaml": strings.Replace(manifest, "twice.c}", name+"}", 1),
		"reference.c": untidyFiles["reference.c"], name: string(content),
	}
}

func requireConfinement(t *testing.T) {
	t.Helper()
	if err := process.Confines(); err != nil {
		t.Skip(err)
	}
}

// Kernels have memory, threads and clocks. All else is refused, also while they are loaded, and
// nothing of it ends them: libraries try what they do not need.
func TestKernelsAreRefusedWhatTheyDoNotNeed(t *testing.T) {
	t.Parallel()
	requireConfinement(t)
	source, err := os.ReadFile("testdata/confined/refused.c")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "enum {")
	list, _, _ = strings.Cut(list, "};")
	if err := process.Restricts(); err != nil {
		t.Log(err) // files of others can be read there
		list, _, _ = strings.Cut(list, "/* files of others */")
	}
	list = regexp.MustCompile(`/\*.*\*/`).ReplaceAllString(list, "")
	var modes []string
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		modes = append(modes, name)
	}
	one := check.Case{Dims: kernels.Dims{"N": 8}, Seed: 1, Layout: worker.Guarded}
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &before); err != nil {
		t.Fatal(err)
	}
	b := open(t, confinedFiles(t, "refused.c", "  MODE: {values: ["+strings.Join(modes, ", ")+
		"], default: signal_itself}\n  WHEN: {values: [0, 1], default: 0}"), host.Options{})
	for _, mode := range thorough.Some(modes, 3) {
		for _, when := range []string{"0", "1"} {
			p := b.prepare(t, "MODE="+mode+", WHEN="+when)
			found, err := b.Tester.Try(t.Context(), p, slices.Values([]check.Case{one}), nil)
			if found.Failure != nil || err != nil {
				t.Errorf("%s, %s: %v, %v", mode, when, found.Failure, err)
			}
		}
	}
	if err := unix.SchedGetaffinity(os.Getpid(), &after); err != nil || before != after {
		t.Errorf("this process has other cores: %v", err)
	}
}

// attacks win where a kernel may handle signals, filter its own calls, read hidden memory or
// choose its parent's cores.
func TestAttacksOnTheWorkerFail(t *testing.T) {
	t.Parallel()
	requireConfinement(t)
	attacks := map[string]string{
		"lazy_filter": "wrong, crashed, went on", "lazy_fault": "wrong, out of bounds, crashed",
		"hidden_memory":       "left a file open",
		"hidden_memory_later": "wrong", "kept_file": "left a file open", "patched_worker": "aborted",
	}
	for _, mode := range thorough.Some(slices.Sorted(maps.Keys(attacks)), 3) {
		want := attacks[mode]
		if mode == "hidden_memory" && process.Restricts() == nil {
			continue // it opens nothing then, and works
		}
		b := open(t, confinedFiles(t, "attacks.c", "  MODE: {values: [good, lazy_filter, lazy_fault, hidden_memory, "+
			"hidden_memory_later, kept_file, patched_worker], default: good}"), host.Options{})
		outcome := b.measure(t, "MODE="+mode, 0)
		if f := outcome.Failure; f == nil || !matches(want, f.Reason) {
			t.Errorf("%s: %v, want %s", mode, f, want)
		}
	}
}

// A kernel has its inputs when the clock starts: a thread that looks for them all the time, and aborts where it runs
// while they come, never does. Nor does it help to put other code in the place of the worker's clock.
func TestNothingOfAKernelRunsWhileInputsAreWritten(t *testing.T) {
	requireConfinement(t)
	modes := "  MODE: {values: [good, looks_on, mapped_clock], default: good}"
	b := open(t, confinedFiles(t, "attacks.c", modes), host.Options{})
	good := slices.Min(b.measure(t, "MODE=good", 0).Samples) // a busy machine makes some longer
	for _, mode := range []string{"looks_on", "mapped_clock"} {
		outcome := b.measure(t, "MODE="+mode, 0)
		if outcome.Failure != nil || outcome.Milliseconds() < good/2 {
			t.Errorf("%s: %v, %g ms, and the one that does its work %g ms", mode, outcome.Failure, stat(outcome), good)
		}
	}
}

// What honest kernels do works.
func TestHonestKernelsWork(t *testing.T) {
	t.Parallel()
	for source, modes := range map[string][]string{
		"honest.c": {"plain", "openmp", "threads", "heap", "clocks", "prints", "entropy", "pinned", "initialized",
			"leaves", "late"},
		"honest.cpp": {"standard_threads", "exceptions", "initializer", "futures"},
	} {
		files := confinedFiles(t, source, "  MODE: {values: ["+strings.Join(modes, ", ")+"], default: "+modes[0]+"}")
		files["kernel.yaml"] = strings.Replace(files["kernel.yaml"], "-D_GNU_SOURCE", "-D_GNU_SOURCE, -fopenmp", 1)
		options := host.Options{}
		if source == "honest.cpp" {
			var err error
			if options.CPlusPlus, err = host.FindCPlusPlus(t.Context(), os.Getenv); err != nil {
				t.Skip(err)
			}
		}
		b := open(t, files, options)
		for _, mode := range thorough.Some(modes, 2) {
			if outcome := b.measure(t, "MODE="+mode, 0); outcome.Failure != nil {
				t.Errorf("%s: %v", mode, outcome.Failure)
			}
		}
	}
}
