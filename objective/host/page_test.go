package host_test

import (
	"os"
	"regexp"
	"testing"

	"pawl/kernels"
	"pawl/objective/host"
)

// The whole manifest on the page about manifests runs with sources of a few lines.
func TestWholeManifestOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile("(?ms)^```yaml\n(name: rows\n.*?)^```$").FindSubmatch(page)
	if match == nil {
		t.Fatal("no manifest on the page")
	}
	sum := func(number, extra string) string {
		return "#include <stdint.h>\n" + extra +
			"void rows(const float *x, float *y, int32_t N) { for (int r = 0; r < ROWS; r++) { " + number +
			" s = 0; for (int i = 0; i < N; i++) s += x[r * N + i]; y[r] = (float)s; } }\n"
	}
	b := open(t, map[string]string{
		"kernel.yaml": string(match[1]), "rows.c": sum("float", "enum { lanes = LANES };\n"),
		"reference.c": sum("double", ""),
	}, host.Options{Constants: []kernels.Constant{{Name: "ROWS", Value: "64"}}})
	outcome := b.measure(t, "LANES=1", 0)
	if outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
}
