package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/cmd/pawl/console"
	"pawl/internal/thorough"
)

// The README's kernel is the real thing: its three files are taken from the
// page, and the page's command tunes them.
func TestReadmeExampleTunes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it is about a document")
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scale"), 0o755); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:yaml|c)\n(?:# |/\\* )(scale/[a-z.]+)(?: "+
		"\\*/)?\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d files of the example on the page, want 3", len(blocks))
	}
	for _, block := range blocks {
		if err := os.WriteFile(filepath.Join(dir, block[1]), []byte(block[2]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := regexp.MustCompile(`go run ./cmd/pawl (tune ./scale .*)`).FindStringSubmatch(string(page))
	if command == nil {
		t.Fatal("no command for the example on the page")
	}
	arguments := append(strings.Fields(command[1]), "--rounds", "3", "--finalists", "1")
	if last := slices.Index(arguments, "--trials"); last > 0 && !thorough.All() {
		arguments[last+1] = "6"
	}
	output, err := asPawl(t, dir, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if !strings.Contains(string(output), "wrote tuning/scale/small/suggestions.md") {
		t.Errorf("%s", output)
	}
}

// The README lists the everyday commands, the reference page all of them. Links of the README lead somewhere.
func TestPagesListTheCommands(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	reference := readPage(t, "reference.md")
	for _, c := range newApp(console.Environment{}).Commands {
		if c.Category == console.Everyday && !strings.Contains(string(page), "| `pawl "+c.Name) {
			t.Errorf("pawl %s is not in the README's table", c.Name)
		}
		if !strings.Contains(reference, "| `pawl "+c.Name) {
			t.Errorf("pawl %s is not on the reference page", c.Name)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([a-z][^)]*)\)`).FindAllStringSubmatch(string(page), -1) {
		file, part, _ := strings.Cut(link[1], "#")
		content, err := os.ReadFile(filepath.Join("../..", file))
		if _, exists := os.Stat(filepath.Join("../..", file)); exists != nil {
			t.Errorf("the README links to %s: %v", link[1], err)
		}
		heading := "\n## " + strings.ReplaceAll(part, "-", " ") + "\n"
		if part != "" && !strings.Contains(strings.ToLower(string(content)), heading) {
			t.Errorf("the README links to %s, which has no such heading", link[1])
		}
	}
}
