package reporting

import (
	"fmt"
	"io"
	"os"
	"slices"

	"pawl/gate"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// largestReport is more than a run of a thousand configurations writes.
const largestReport = 64 << 20

// Read returns a report that a run has written. The file may come from a job that runs a
// stranger's kernels: what is not one of the words that the pages print as they are is
// refused, and the pages escape the rest. An absent file is fs.ErrNotExist.
func Read(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the gate's report: %w", err)
	}
	defer f.Close() // opened for reading only
	r, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s is no report of a gate: %w", path, err)
	}
	return r, nil
}

func parse(from io.Reader) (*Report, error) {
	content, err := io.ReadAll(io.LimitReader(from, largestReport+1))
	if err != nil {
		return nil, err
	}
	if len(content) > largestReport {
		return nil, fmt.Errorf("it has more than %d MiB", largestReport>>20)
	}
	var r *Report
	if err := page.ReadJSON(content, "pawl gate", 1, &r); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("it is empty")
	}
	methods := []gate.Method{"", gate.Interleaved, gate.Stored, gate.Files}
	for _, result := range r.Results {
		if !slices.Contains(gate.Verdicts, result.Verdict) {
			return nil, fmt.Errorf("there is no verdict %s", escape.Line(fmt.Sprintf("%q", result.Verdict)))
		}
		if !slices.Contains(methods, result.Method) {
			return nil, fmt.Errorf("there is no method %s", escape.Line(fmt.Sprintf("%q", result.Method)))
		}
	}
	return r, nil
}
