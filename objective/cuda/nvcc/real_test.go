package nvcc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/process"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/cache"
	"pawl/objective/worker"
)

func TestMain(m *testing.M) {
	// The race detector lets every process sleep a second before it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// requireVariable makes a missing compiler an error, where one was installed.
const requireVariable = "PAWL_REQUIRE_NVCC"

// missing skips a test that needs a compiler which this machine does not have.
func missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv(requireVariable) != "" {
		t.Fatalf("%s is set: %v", requireVariable, err)
	}
	t.Skip("not run: ", err)
}

func realNVCC(t *testing.T) Tool {
	t.Helper()
	tool, err := Find(t.Context(), os.Getenv)
	if err != nil {
		missing(t, err)
	}
	return tool
}

// withNVCC runs a test with a real compiler, beside other such tests.
func withNVCC(t *testing.T, test func(t *testing.T, c *Compiler)) {
	t.Parallel()
	test(t, newCompiler(t, realNVCC(t)))
}

func newCompiler(t *testing.T, tool Tool) *Compiler {
	t.Helper()
	c, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := filepath.Glob(filepath.Join(c.Dir(), "making-*")); len(left) > 0 {
			t.Errorf("left behind in the cache: %v", left)
		}
	})
	return &Compiler{Tool: tool, Cache: c}
}

func compileUnit(t *testing.T, c *Compiler, unit Unit) Module {
	t.Helper()
	module, err := c.Compile(t.Context(), unit)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestFiguresOfRealKernels(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		unit := Unit{Dir: "testdata/units", Source: "several.cu", Architecture: "sm_90"}
		module := compileUnit(t, c, unit)
		if len(module.Kernels) != 3 || module.Hit {
			t.Fatalf("%+v", module)
		}
		scale := module.Kernels["_Z5scaleILi2EEvPK6__halfPS0_i"]
		// 128 * 2 floats.
		if scale.StaticShared != 1024 || scale.Barriers != 1 || scale.SpillStores != 0 {
			t.Errorf("scale: %+v", scale)
		}
		if plain := module.Kernels["plain"]; plain.Registers < 4 || plain.Registers > 32 || plain.Stack != 0 {
			t.Errorf("plain: %+v", plain)
		}
		// 1024 threads twice in 65536 registers leave 32 for each.
		if spills := module.Kernels["spills"]; spills.Registers != 32 || spills.SpillStores < 4*(96-32) ||
			spills.SpillLoads == 0 || spills.Stack == 0 {
			t.Errorf("spills: %+v", spills)
		}
		again := compileUnit(t, c, unit)
		if !again.Hit || again.Digest != module.Digest || len(again.Kernels) != 3 ||
			again.Kernels["plain"] != module.Kernels["plain"] {
			t.Errorf("the second time: %+v", again)
		}
	})
}

func TestDigestIsOfTheMachineCodeOnly(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		digest := func(read, unread string) string {
			return compileUnit(t, c, Unit{
				Dir: "testdata/units", Source: "parameter.cu", Architecture: "sm_90",
				Defines: []Define{{"READ", read}, {"UNREAD", unread}},
			}).Digest
		}
		first := digest("4", `"one"`)
		if digest("4", `"another, longer"`) != first {
			t.Error("a parameter that is never read changed the digest")
		}
		if digest("5", `"one"`) == first {
			t.Error("a parameter that is read did not change the digest")
		}
	})
}

func TestArchitectureSpecificCode(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		unit := Unit{
			Dir: "testdata/units", Source: "parameter.cu", Architecture: Architecture(9, 0, "a"),
			Defines: []Define{{"READ", "2"}, {"UNREAD", `""`}},
		}
		special := compileUnit(t, c, unit)
		unit.Architecture = Architecture(9, 0, "")
		if plain := compileUnit(t, c, unit); plain.Digest == special.Digest || plain.Hit {
			t.Error("sm_90 and sm_90a are taken for one")
		}
	})
}

// However far a compilation has come when its time is over, none of its
// processes stays, and nothing in the cache: newCompiler sees to the latter.
func TestNothingOfARealCompilerStays(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		for _, allowed := range []time.Duration{20 * time.Millisecond, 80 * time.Millisecond, 320 * time.Millisecond} {
			c.Timeout = allowed
			_, err := c.Compile(t.Context(), Unit{Dir: "testdata/units", Source: "several.cu", Architecture: "sm_90"})
			if err != nil && !errors.Is(err, process.ErrTime) {
				t.Fatal(err)
			}
			commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, path := range commands {
				if command, _ := os.ReadFile(path); strings.Contains(string(command), c.Cache.Dir()) {
					t.Errorf("still running after %v: %q", allowed, command)
				}
			}
		}
	})
}

// source writes a unit of one file.
func source(t *testing.T, text string) Unit {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kernel.cu"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Unit{Dir: dir, Source: "kernel.cu", Architecture: "sm_90"}
}

func TestRefusals(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		for name, test := range map[string]struct{ text, message string }{
			"syntax":        {"__global__ void k( {", "error: "},
			"shared memory": {`extern "C" __global__ void k(int *p) { __shared__ int a[20000]; a[p[1]] = p[0]; __syncthreads(); p[0] = a[p[2]]; }`, "too much shared data"},
			"no include":    {`#include "nowhere.h"`, "nowhere.h"},
		} {
			_, err := c.Compile(t.Context(), source(t, test.text))
			var refused *worker.Refusal
			if !errors.As(err, &refused) || !strings.Contains(refused.Error(), test.message) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestWhatNoPointCanHealIsAnError(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		unit := source(t, `extern "C" __global__ void k() {}`)
		flagged, ancient := unit, unit
		flagged.Flags = []string{"--no-such-flag"}
		ancient.Architecture = "sm_20"
		for _, broken := range []Unit{flagged, ancient} {
			_, err := c.Compile(t.Context(), broken)
			var refused *worker.Refusal
			if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), "flags") {
				t.Errorf("got %v", err)
			}
		}
	})
}

// A parameter's text reaches the source as it is, and no shell on the way.
func TestDefinesAreOnlyText(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		pwned := filepath.Join(t.TempDir(), "pwned")
		unit := source(t, `
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
extern "C" __global__ void k(int *p) {
	static_assert(PAIR == 2, "a comma splits no define");
	p[0] = sizeof TEXT(SHELL);
}
`)
		unit.Defines = []Define{{"PAIR", "(1, 2)"}, {"SHELL", "$(touch " + pwned + ") `touch " + pwned + "`; touch " + pwned}}
		compileUnit(t, c, unit)
		if _, err := os.Stat(pwned); err == nil {
			t.Error("a shell executed a define")
		}
	})
}

// A structure that is not the manifest's does not compile, and the message has the field.
func TestLayoutsAreChecked(t *testing.T) {
	double, err := element.Named("f64")
	if err != nil {
		t.Fatal(err)
	}
	mass := arguments.Argument{Name: "x.mass", Layout: arguments.Layout{Element: double, Member: "mass", Offset: 8}}
	taken := arguments.List{{Name: "x", Layout: arguments.Layout{
		CType: "struct body", Lanes: 16, Fields: []arguments.Argument{mass},
	}}}
	withNVCC(t, func(t *testing.T, c *Compiler) {
		for structure, want := range map[string]string{
			"char kind; double mass;":               "",
			"char kind; float mass;":                "field x.mass at byte 8, with 8 bytes",
			"double mass; char kind;":               "field x.mass at byte 8, with 8 bytes",
			"char kind; double mass; double other;": "fields of x take 16 bytes",
		} {
			unit := source(t, "struct body { "+structure+" };\n"+
				"extern \"C\" __global__ void k(const struct body *x, double *y) { y[0] = x[0].mass; }")
			unit.Checks = taken.LayoutChecks("static_assert", []int{0})
			_, err := c.Compile(t.Context(), unit)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(fullText(err), want) {
				t.Errorf("%s: %v", structure, err)
			}
		}
	})
}

// fullText is all that a compiler said.
func fullText(err error) string {
	if refused, ok := errors.AsType[*worker.Refusal](err); ok {
		return refused.Output
	}
	return err.Error()
}
