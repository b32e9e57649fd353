package replay

import (
	"bytes"
	"strings"
	"testing"
)

// fuzz reads whatever comes. It must end in an error or in a record that can be
// built or refused; what can be built must survive being written and read.
func fuzz(f *testing.F, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		record, err := Read(strings.NewReader(text))
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		first, err := New(record)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := record.Write(&out); err != nil {
			t.Fatalf("a good record cannot be written: %v", err)
		}
		again, err := Read(&out)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := New(again)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if first.Space().Fingerprint() != second.Space().Fingerprint() || first.Pool().Len() != second.Pool().Len() {
			t.Error("what was written is another space")
		}
	})
}

func FuzzKernelTuner(f *testing.F) { fuzz(f, cache, cache+"}}", cache+",") }

func FuzzT4(f *testing.F) { fuzz(f, t4) }

func FuzzOwn(f *testing.F) { fuzz(f, own) }
