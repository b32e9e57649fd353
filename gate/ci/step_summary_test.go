package ci

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	var printed bytes.Buffer
	file := filepath.Join(t.TempDir(), "summary.md")
	suggestions := filepath.Join(t.TempDir(), "suggestions.md")
	if err := os.WriteFile(suggestions, []byte("# Suggestions\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (Summary{Report: suggestions, Job: Job{Summary: file}}).Publish(&printed); err != nil || printed.Len() > 0 {
		t.Errorf("%v: %s", err, &printed)
	}
	content, err := os.ReadFile(file)
	if err != nil || string(content) != "# Suggestions\n\n" {
		t.Errorf("%v: %s", err, content)
	}
	if err := (Summary{Report: "absent.md"}).Publish(&printed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// On the page of a run, what lies beside a page is in an artifact.
func TestLinksLeadSomewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tuning", "suggestions.md")
	text := "[scale, small](scale/small/suggestions.md): pawl apply 1; [more](https://example.org/x)\n"
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := (Summary{Report: path, Job: Job{Run: "77"}}).Publish(&printed); err != nil ||
		!strings.HasPrefix(printed.String(), "scale, small (`scale/small/suggestions.md`): pawl apply 1; "+
			"[more](https://example.org/x)\n") ||
		!strings.Contains(printed.String(), "`gh run download 77 --name tuning --dir tuning`") {
		t.Errorf("%v: %s", err, &printed)
	}
}

// GitHub shows nothing of a step that writes more than a mebibyte.
func TestLongPagesAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a line of the page\n"), 100_000), 0o644); err != nil {
		t.Fatal(err)
	}
	content, err := pageOf(path)
	if err != nil || len(content) > largestSummary ||
		!strings.HasSuffix(string(content), "a line of the page\n\n\nThe rest does not fit here.\n\n") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if content, err := pageOf(path); err != nil || len(content) > largestSummary {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

func TestThePullRequestOfTheEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "event.json")
	for content, want := range map[string]int{
		`{"action": "opened", "number": 12, "pull_request": {"number": 12, "title": "$(id)"}}`: 12,
		`{"ref": "refs/heads/main"}`:             0,
		`{"pull_request": null}`:                 0,
		`{`:                                      -1,
		`{"pull_request": {"number": "12; rm"}}`: -1,
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Job{Event: path}.Pull()
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%s: %d, %v", content, got, err)
		}
	}
	if n, err := (Job{}).Pull(); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
