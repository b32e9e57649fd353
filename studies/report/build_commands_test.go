package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/internal/escape"
	"pawl/internal/kerneltest"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/host"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// confirmed makes up a study in which a point is twice as fast as the default.
func confirmed(t testing.TB, study studies.Study, initial, winner space.Point) *Summary {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	past := trial.Past{Trials: []trial.Trial{
		{Number: 0, Point: initial, Finished: true, Outcome: objective.Outcome{Samples: noisy(rng, 4, 5)}},
		{Number: 1, Point: winner, Finished: true, Outcome: objective.Outcome{Samples: noisy(rng, 2, 5)}},
	}}
	for round := range 8 {
		for _, tried := range past.Trials {
			past.Rounds = append(past.Rounds, trial.Round{Phase: trial.Confirmation, Number: round, Point: tried.Point,
				Outcome: objective.Outcome{Samples: noisy(rng, tried.Outcome.Milliseconds(), 5)}})
		}
	}
	s, err := Summarise(study, past)
	if err != nil {
		t.Fatal(err)
	}
	if s.Advice.Verdict != Apply {
		t.Fatalf("verdict %q", s.Advice.Verdict)
	}
	return &s
}

// Every suggestion for every embedded kernel, backend and workload compiles as it
// stands on the page, with the real compilers.
func TestSuggestionsCompileVerbatim(t *testing.T) {
	for _, name := range kernels.Names() {
		t.Run(name+" "+kernels.Host,
			func(t *testing.T) { t.Parallel(); compileSuggestions(t, name, kernels.Host, hostRecipe) })
	}
	onDevices := kerneltest.NamesFor(kernels.CUDA)
	slices.Reverse(onDevices) // an everyday run takes a small one
	for _, name := range thorough.Some(onDevices, 1) {
		t.Run(name+" "+kernels.CUDA,
			func(t *testing.T) { t.Parallel(); compileSuggestions(t, name, kernels.CUDA, cudaRecipe) })
	}
}

// compileSuggestions compiles what is suggested for the workloads of a kernel that the compiler
// can tell apart, in an everyday run for the first of them.
func compileSuggestions(t *testing.T, name, backend string,
	recipe func(*testing.T, *kernels.Kernel, kernels.Workload) *objective.Build) {
	k, err := kernels.Load(name, backend)
	if none := (*kernels.NoSourceError)(nil); errors.As(err, &none) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, w := range thorough.Some(k.Workloads, 1) {
		constants, err := k.Constants(w.Dims)
		if err != nil {
			t.Fatal(err)
		}
		if key := fmt.Sprint(constants); seen[key] {
			continue // the same to the compiler
		} else {
			seen[key] = true
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			compileSuggestion(t, k, w, recipe(t, k, w))
		})
	}
}

func hostRecipe(t *testing.T, k *kernels.Kernel, w kernels.Workload) *objective.Build {
	t.Helper()
	toolchain, err := host.FindToolchain(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := host.New(t.Context(), k, s, host.Options{Cache: compiled, Toolchain: toolchain})
	if err != nil {
		t.Fatal(err)
	}
	return b.Facts().Environment.Build
}

// cudaRecipe is for an H200, which no test has to have.
func cudaRecipe(t *testing.T, k *kernels.Kernel, w kernels.Workload) *objective.Build {
	t.Helper()
	tool, err := nvcc.Find(t.Context(), os.Getenv)
	if err != nil {
		if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			t.Fatal(err)
		}
		t.Skip("not run: ", err)
	}
	build, err := cuda.Recipe(k, w, func(specific bool) string {
		if specific {
			return nvcc.Architecture(9, 0, "a")
		}
		return nvcc.Architecture(9, 0, "")
	})
	if err != nil {
		t.Fatal(err)
	}
	build.Compiler = []string{tool.Path} // the machine's may not be on the path
	return build
}

// compileSuggestion writes the report for a random winner and follows it.
func compileSuggestion(t *testing.T, k *kernels.Kernel, w kernels.Workload, build *objective.Build) {
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	winner := pool.Point(rand.New(rand.NewPCG(3, 4)).IntN(pool.Len()))
	if winner == s.Default() {
		t.Fatal("the default was drawn: choose another seed")
	}
	folder := materialise(t, k)
	study := studies.Study{
		ID: 1,
		Subject: studies.Subject{
			Kernel:   k.Name,
			Workload: w.Name,
			Backend:  k.Backend,
		},
		Space:       studies.NewSpaceFacts(pool),
		Environment: objective.Environment{Build: build},
	}
	if _, err := WriteAll(folder, confirmed(t, study, s.Default(), winner)); err != nil {
		t.Fatal(err)
	}
	commands := commandsIn(t, filepath.Join(folder, MarkdownName))
	if len(commands) != 1 {
		t.Fatalf("%d commands on the page: %q", len(commands), commands)
	}
	for _, command := range commands {
		object := filepath.Join(folder, regexp.MustCompile(`-o (\S+)`).FindStringSubmatch(command)[1])
		runIn(t, folder, command)
		if _, err := os.Stat(object); err != nil {
			t.Errorf("%s: %v", command, err)
		}
		if err := os.Remove(object); err != nil {
			t.Fatal(err)
		}
	}
}

// materialise copies a kernel's folder to where the test may write.
func materialise(t *testing.T, k *kernels.Kernel) string {
	t.Helper()
	dir, err := k.Materialise(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// commandsIn returns the commands that compile the winner.
func commandsIn(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "\nApply it: ")
	if !found {
		t.Fatalf("nothing to apply on the page\n%s", content)
	}
	rest, _, _ = strings.Cut(rest, "<summary>How this was found")
	var commands []string
	for _, match := range regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindAllStringSubmatch(rest, -1) {
		commands = append(commands, match[1])
	}
	return commands
}

func runIn(t *testing.T, folder, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = folder
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, output)
	}
}

// hostileStudy is a study whose every text tries to leave its place. The winner's
// value of MODE is the one given.
func hostileStudy(t *testing.T, value string) (studies.Study, space.Point, space.Point) {
	t.Helper()
	initial, winner := point(t, "MODE=plain"), point(t, "MODE="+space.TextValue(value).String())
	study := exampleStudy(t)
	study.Space.Params = []studies.ParamFacts{{
		Name:    "MODE",
		Values:  []string{"plain", space.TextValue(value).String()},
		Default: "plain",
	}}
	study.Environment.Build = &objective.Build{
		Source:    "show.c",
		Compiler:  []string{"cc"},
		Constants: []kernels.Constant{{Name: "LAST", Value: "7"}},
	}
	return study, initial, winner
}

// Whatever a value is, the header means what -D meant, and what follows stands.
func TestHeadersOfHostileValues(t *testing.T) {
	t.Parallel()
	const source = "#define TEXT(...) #__VA_ARGS__\n#define SHOW(...) TEXT(__VA_ARGS__)\n" +
		"#if LAST != 7\n#error \"the constant is lost\"\n#endif\nchar shown[] = SHOW(MODE);\n"
	for _, value := range []string{`a\`, `a\\`, "a\nb", "a // b\\", `"/*"`, "a\\ ", "```", "a``b", "<b>&amp;",
		"$(touch evil)", "a b;c"} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			study, initial, winner := hostileStudy(t, value)
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "show.c"), []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			s := confirmed(t, study, initial, winner)
			if _, err := WriteAll(folder, s); err != nil {
				t.Fatal(err)
			}
			preprocess := func(command string) string {
				cmd := exec.CommandContext(t.Context(), "sh", "-c",
					strings.Replace(command, " -c ", " -E -P ", 1)+".i && cat show.o.i")
				cmd.Dir = folder
				var complaints bytes.Buffer
				cmd.Stderr = &complaints
				output, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v\n%s", command, err, complaints.String())
				}
				return strings.TrimSpace(string(output))
			}
			want := preprocess(escape.Shell("cc", "-DMODE="+value, "-DLAST=7", "-c", "show.c", "-o", "show.o"))
			if got := preprocess(s.Suggestion.Command); got != want {
				t.Errorf("%s gives\n%s, want\n%s", s.Suggestion.Command, got, want)
			}
			if entries, err := os.ReadDir(folder); err != nil ||
				slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "evil" }) {
				t.Errorf("a value was executed (%v)", err)
			}
		})
	}
}

// What is compiled as the page says holds the instance of a template that was measured, unrolls by a parameter, and
// comes with what its other files and the linker need. The caller is the one in docs/shipping.md.
func TestSuggestionsOfTemplatesAndUnits(t *testing.T) {
	t.Parallel()
	shipping, err := os.ReadFile(filepath.FromSlash("../../docs/shipping.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, caller, found := strings.Cut(string(shipping), "```c\nextern ")
	if caller, _, _ = strings.Cut("extern "+caller, "```"); !found {
		t.Fatal("docs/shipping.md calls no tuned template")
	}
	study := exampleStudy(t)
	initial, winner := point(t, `FACTOR=2,LEVEL="-O1"`), point(t, `FACTOR=3,LEVEL="-O2"`)
	study.Space.Params = []studies.ParamFacts{
		{Name: "FACTOR", Values: []string{"2", "3"}, Default: "2"},
		{Name: "LEVEL", Values: []string{`"-O1"`, `"-O2"`}, Default: `"-O1"`},
	}
	study.Environment.Build = &objective.Build{
		Source: "scale.cpp", Units: []string{"half.cpp"}, Compiler: []string{"c++"}, Flags: []string{"{LEVEL}", "-fopenmp"},
		Libraries: []string{"-lm"}, Instances: []string{"tiled::scale<{FACTOR}>"}, Unrolled: []string{"FACTOR"},
		OnlyFlags: []string{"LEVEL"},
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"scale.cpp": "float half(float);\nnamespace tiled {\ntemplate <int F> float scale(float x) {\n" +
			"#pragma GCC unroll FACTOR\n\tfor (int i = 0; i < 8; i++) x += 0;\n\treturn half(F * x);\n}\n}\n",
		"half.cpp": "#include <omp.h>\nfloat half(float x) { return x / 2 + 0 * omp_get_max_threads() + FACTOR - 3; }\n",
		"main.c":   caller,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := confirmed(t, study, initial, winner)
	if _, err := WriteAll(folder, s); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(s.Suggestion.Macros, func(m kernels.Constant) bool { return m.Name == "LEVEL" }) {
		t.Errorf("a parameter of flags alone is a macro: %v", s.Suggestion.Macros)
	}
	commands := commandsIn(t, filepath.Join(folder, MarkdownName))
	runIn(t, folder, commands[0]+" && cc -c main.c && c++ main.o scale.o half.o "+s.Suggestion.Libraries+
		" -o main && ./main")
}
