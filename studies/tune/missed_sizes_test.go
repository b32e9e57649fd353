package tune

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/objective/devices"
)

// Sizes that were missed are tuned most frequent first; what the kernel cannot take is said, and a file that is
// nothing of the kind is refused with its line.
func TestMissedSizesAreWorkloads(t *testing.T) {
	folder := t.TempDir()
	kernel := kerneltest.Scale{
		Params:    []string{"BLOCK: {values: [1, 2], default: 1}"},
		Workloads: []string{"small: {N: 400}", "tiny: {N: 100}"},
		Repeats:   "1", Block: "BLOCK",
	}
	if err := kernel.Write(filepath.Join(folder, "scale")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ asked, content, want, says string }{
		{"FILE", `{"kernel": "scale", "device": "d", "sizes": {"N": 7}, "count": 1}
{"kernel": "scale", "device": "d", "sizes": {"N": 9}, "count": 1}
{"kernel": "other", "device": "d", "sizes": {"N": 5}, "count": 9}
{"kernel": "scale", "device": "e", "sizes": {"N": 9}, "count": 2}
{"kernel": "scale", "device": "d", "sizes": {"M": 9}, "count": 4}
{"kernel": "sca`, "N=9 N=7", "M is not a size of kernel scale|the last line is incomplete"},
		{"tiny,FILE,all", `{"kernel": "scale", "sizes": {"N": 7}, "count": 1}` + "\n", "tiny N=7 small", ""},
		{"FILE", "{\"kernel\": \"scale\"}\n", "", "missed.jsonl:1: not a line that PAWL_MISSED writes: no sizes"},
		{"FILE", "nonsense\n", "", "missed.jsonl:1: not a line"},
		{"FILE", `{"kernel": "other", "sizes": {"N": 7}, "count": 1}` + "\n", "", "no sizes for kernel scale (1 line"},
		{"nowhere.jsonl", "", "", "nowhere.jsonl: no such file"},
	} {
		file := filepath.Join(folder, "missed.jsonl")
		if err := os.WriteFile(file, []byte(test.content), 0o644); err != nil {
			t.Fatal(err)
		}
		asked := strings.ReplaceAll(test.asked, "FILE", file)
		if !SeveralWorkloads(asked) {
			t.Errorf("%s is one workload", asked)
		}
		var said strings.Builder
		names, err := Workloads(t.Context(), devices.Tools{
			Getenv: os.Getenv, Notice: func(text string) { said.WriteString(text + "\n") },
		}, filepath.Join(folder, "scale"), "host", asked)
		if err != nil {
			said.WriteString(err.Error())
		}
		if !slices.Equal(names, strings.Fields(test.want)) {
			t.Errorf("%s: %v, %s", test.asked, names, &said)
		}
		for says := range strings.SplitSeq(test.says, "|") {
			if !strings.Contains(said.String(), says) {
				t.Errorf("%s said %q, want %q", test.asked, &said, says)
			}
		}
	}
}
