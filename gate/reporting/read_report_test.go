package reporting

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzRead holds the reader of reports, which may be a stranger's, to what it promises: a
// report that it takes can be written as pages.
func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	if err := example().JSON(&whole); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte(`{"results": [{"verdict": "<b>"}]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := parse(bytes.NewReader(content))
		if err != nil {
			return
		}
		if err := Markdown(io.Discard, r); err != nil {
			t.Error(err)
		}
		if err := StepSummary(io.Discard, r); err != nil {
			t.Error(err)
		}
	})
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	folder := t.TempDir()
	if _, err := WriteAll(folder, example()); err != nil {
		t.Fatal(err)
	}
	r, err := Read(folder + "/" + JSONName)
	if err != nil || Headline(r) != Headline(example()) || len(r.Results) != len(example().Results) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"", "null", "[]", `{"results": [{"verdict": "<b>"}]}`,
		`{"results": [{"verdict": "new", "method": "<b>"}]}`} {
		if _, err := parse(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a report", text)
		}
	}
}
