package reporting

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate/policy"
)

// What a machine cost is added to a report that was written before, and nothing else changes
// in it.
func TestSetCost(t *testing.T) {
	folder := t.TempDir()
	if _, err := WriteAll(folder, example(), policy.DefaultProfile); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, JSONName)
	cost := &Cost{
		Woke:         time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC),
		Seconds:      1800,
		PricePerHour: 3,
		Currency:     "EUR",
		Asleep:       true,
	}
	if err := SetCost(path, cost); err != nil {
		t.Fatal(err)
	}
	want := example()
	want.Cost = cost
	var text, shown bytes.Buffer
	if err := errors.Join(want.JSON(&text), Markdown(&shown, want)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{JSONName: text.String(), MarkdownName: shown.String()} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	if sentence := "The machine was awake for 30m0s, about 1.50 EUR at 3.00 an hour."; !strings.Contains(shown.String(),
		sentence) {
		t.Errorf("no %q in\n%s", sentence, shown.String())
	}
	if err := SetCost(filepath.Join(folder, "none.json"), cost); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A report may come from a job that ran a stranger's code.
func TestHostileCost(t *testing.T) {
	c := Cost{Seconds: 1e300, PricePerHour: 1, Currency: "<b>\n@all"}
	// as code: a mention would reach somebody
	if text := c.Markdown(); strings.ContainsAny(text, "\n") || strings.HasPrefix(text, "<b>") ||
		!strings.HasPrefix(text, "`") {
		t.Error(text)
	}
}
