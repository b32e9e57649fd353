// Package house holds the project to its own plan: which package may import
// which, and which library lives in one room only. See docs/design.md.
package house

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the packages from the ground up. A package imports only from
// floors below its own, or from its own room (the same first element).
var floors = [][]string{
	{"internal/process"},
	{"internal/collect"},
	{"space", "internal/stats", "internal/escape", "internal/git", "internal/postgrestest",
		"internal/python", "internal/thorough"},
	{"internal/page", "internal/githubtest"},
	{"internal/plot"},
	{"kernels"},
	{"internal/kerneltest"},
	{"objective"},
	{"search"},
	{"studies", "gate"},
	// the two jobs meet: a study's winner at the gate, beside others, and on its way into the sources
	{"gate/winner", "studies/rivals", "gate/remote", "gate/ci"},
	{"cmd"},
}

// inside are the packages of large rooms from the ground up. One imports only from
// the lines above its own.
var inside = map[string][][]string{
	"kernels": {
		{"kernels/arrays", "kernels/csource", "kernels/document", "kernels/element", "kernels/includes"},
		{"kernels/arguments"},
		{"kernels"},
		{"kernels/inputs", "kernels/scaffold"},
		{"kernels/importer"},
	},
	"objective": {
		{"objective/cache", "objective/cuda/occupancy"},
		{"objective/worker"},
		{"objective/cuda/driver", "objective/cuda/monitor", "objective/cuda/nvcc", "objective/check"},
		{"objective/cuda/triton"},
		{"objective"},
		{"objective/experiment", "objective/platform"},
		{"objective/host", "objective/cuda", "objective/profile"},
		{"objective/command"},
		{"objective/devices"},
		{"objective/fuzz", "objective/preflight"},
	},
	"search": {
		{"search/trial"},
		{"search/sampler/gaussian"},
		{"search/sampler"},
		{"search/confirm"},
		{"search"},
		{"search/replay"},
		{"search/simulate"},
	},
	"cmd": {
		{"cmd/pawl/console", "cmd/pawl/pages"},
		{"cmd/pawl/cicmd", "cmd/pawl/farmcmd", "cmd/pawl/gatecmd", "cmd/pawl/kernelcmd", "cmd/pawl/studycmd"},
		{"cmd/pawl"},
	},
}

// rooms says which packages alone import a library.
var rooms = map[string][]string{
	"github.com/c-bata/goptuna":   {"search", "search/sampler"},
	"modernc.org/sqlite":          {"studies"},
	"github.com/riverqueue/river": {"studies/farm"},
	"github.com/expr-lang/expr":   {"space"},
	"github.com/goccy/go-yaml":    {"kernels", "kernels/arguments", "kernels/document"},
	"github.com/ebitengine/purego": {"objective/host", "objective/cuda/driver", "objective/cuda/monitor",
		"objective/cuda/nvcc"},
	"github.com/NVIDIA/go-nvml":          {"objective/cuda/monitor"},
	"github.com/ianlancetaylor/demangle": {"objective/cuda/nvcc"},
	"github.com/urfave/cli/v2": {"cmd/pawl", "cmd/pawl/cicmd", "cmd/pawl/console", "cmd/pawl/farmcmd",
		"cmd/pawl/gatecmd", "cmd/pawl/kernelcmd", "cmd/pawl/studycmd"},
	"github.com/vbauerster/mpb/v8":      {"cmd/pawl/console"},
	"github.com/olekukonko/tablewriter": {"internal/page"},
	"github.com/tidwall/gjson":          {"gate/results", "objective/command"},
	"github.com/aclements/go-moremath":  {"internal/stats"},
	"github.com/jackc/pgx/v5":           {"studies", "studies/farm", "internal/postgrestest"},
}

// root is the module's folder, seen from this package.
const root = "../.."

// floor returns the floor and the room of a package, or -1. The longest name that fits
// counts: a room inside a room may have a floor of its own.
func floor(pkg string) (found int, longest string) {
	found = -1
	for level, packages := range floors {
		for _, room := range packages {
			if (pkg == room || strings.HasPrefix(pkg, room+"/")) && len(room) > len(longest) {
				found, longest = level, room
			}
		}
	}
	return found, longest
}

// eachFile visits every Go file of the project.
func eachFile(t *testing.T, visit func(path string) error) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != root &&
			(strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		return visit(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// imports returns the imports of every Go file outside tests, by package.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	eachFile(t, func(path string) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(relative)
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], name)
		}
		return nil
	})
	return found
}

func TestImportsRunOneWay(t *testing.T) {
	all := imports(t)
	if len(all) < 8 {
		t.Fatalf("only %d packages found", len(all))
	}
	for pkg, names := range all {
		level, room := floor(pkg)
		if level < 0 {
			t.Errorf("%s is on no floor of the plan", pkg)
			continue
		}
		for _, name := range names {
			inner, ours := strings.CutPrefix(name, "pawl/")
			if !ours {
				continue
			}
			if below, other := floor(inner); below > level || (below == level && other != room) {
				t.Errorf("%s imports %s, against the arrows", pkg, inner)
			}
		}
	}
}

func TestImportsInsideRoomsRunOneWay(t *testing.T) {
	for pkg, names := range imports(t) {
		_, room := floor(pkg)
		lines, planned := inside[room]
		if !planned {
			continue
		}
		line := func(pkg string) int {
			return slices.IndexFunc(lines, func(packages []string) bool { return slices.Contains(packages, pkg) })
		}
		if line(pkg) < 0 {
			t.Errorf("%s has no place in the plan of %s", pkg, room)
		}
		for _, name := range names {
			inner, ours := strings.CutPrefix(name, "pawl/")
			if _, other := floor(inner); ours && other == room && line(inner) >= line(pkg) {
				t.Errorf("%s imports %s, against the arrows inside %s", pkg, inner, room)
			}
		}
	}
}

func TestPackagesForTestsStayInTests(t *testing.T) {
	for pkg, names := range imports(t) {
		for _, name := range names {
			if strings.HasPrefix(name, "pawl/internal/") && strings.HasSuffix(name, "test") &&
				!strings.HasSuffix(pkg, "test") {
				t.Errorf("%s imports %s, which is for tests", pkg, name)
			}
		}
	}
}

func TestEachLibraryHasOneRoom(t *testing.T) {
	used := map[string]bool{}
	for pkg, names := range imports(t) {
		for _, name := range names {
			for library, packages := range rooms {
				if name != library && !strings.HasPrefix(name, library+"/") {
					continue
				}
				used[library] = true
				if !slices.Contains(packages, pkg) {
					t.Errorf("%s imports %s, which lives in %s", pkg, library, strings.Join(packages, " and "))
				}
			}
		}
	}
	for library := range rooms {
		if !used[library] {
			t.Errorf("nobody imports %s: strike it from the plan", library)
		}
	}
}

func TestTopLevelFolders(t *testing.T) {
	allowed := []string{"cmd", "search", "space", "kernels", "objective", "gate", "studies", "internal", "docs",
		".github", ".ci", ".git", "bin", "tuning", "results"}
	entries, err := filepath.Glob(root + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		name := filepath.Base(path)
		if !strings.Contains(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("unexpected folder %s", name)
		}
	}
}

func TestEveryFileIsFormatted(t *testing.T) {
	eachFile(t, func(path string) error {
		written, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		formatted, err := format.Source(written)
		if err == nil && !bytes.Equal(formatted, written) {
			t.Errorf("gofmt would change %s", path)
		}
		return err
	})
}
