package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostWords bounds the README and the pages beside it: more is not read. Notebooks are in docs/notes.
const mostWords = 35_000

func TestThePagesAreShort(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, path := range append(pages, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
	}
	if words > mostWords || words == 0 {
		t.Errorf("README.md and docs/*.md have %d words, at most %d are allowed: move what few need to docs/notes", words,
			mostWords)
	}
}
