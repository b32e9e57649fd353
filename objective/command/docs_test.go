package command

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
)

var example = regexp.MustCompile("(?ms)^```yaml\n(name: .*?)^```$")

// The examples of the page about manifests are whole, and their default points run.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, match := range example.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(match[1], "\ncommand:") {
			continue
		}
		run++
		k, b := open(t, map[string]string{kernels.ManifestName: match[1], "notes.txt": "a file of the kernel"})
		e := objective.NewEvaluator(k, k.Workloads[0], b, objective.Options{})
		defer e.Close()
		p, err := e.Prepare(context.Background(), k.Default())
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Measure(context.Background(), p, 0)
		if err != nil || o.Failure != nil {
			t.Errorf("%s: %v %v", k.Name, o.Failure, err)
		}
	}
	if run < 2 {
		t.Errorf("%d examples were run", run)
	}
}
