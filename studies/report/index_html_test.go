package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A newer study takes the folder of an older one, whose page moves on instead of going.
func TestNoPageIsLost(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	if _, _, err := Publish(t.Context(), store, out, 2); err != nil { // of the same subject as 1
		t.Fatal(err)
	}
	older, err := os.ReadFile(filepath.Join(out, "scale", "small", "study-1", HTMLName))
	if err != nil || !strings.Contains(string(older), "<tr><td>study</td><td>1, ") {
		t.Errorf("%v\n%.500s", err, older)
	}
	index, err := os.ReadFile(filepath.Join(out, IndexHTMLName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<a href="scale/small/report.html">2</a>`,
		`<a href="scale/small/study-1/report.html">Study 1</a>`, "&lt;b&gt;../../w"} {
		if !strings.Contains(string(index), want) {
			t.Errorf("no %s in\n%s", want, index)
		}
	}
}

func TestAllPages(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	files, err := PublishAll(t.Context(), store, out)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, path := range files.Written {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) != HTMLName {
			continue
		}
		pages++
		// A page needs nothing from elsewhere, and nothing in it is run.
		for _, never := range []string{"<script", "<link", "src=", "@import", "url("} {
			if strings.Contains(string(content), never) {
				t.Errorf("%s has %s", path, never)
			}
		}
	}
	if pages != 4 {
		t.Errorf("%d pages of 4 studies in %v", pages, files.Written)
	}
}
