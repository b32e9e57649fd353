package tune

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
)

// missedSuffix is that of a file of sizes that a program wanted and no table has. The module that pawl dispatch
// --python writes makes it: see selection.py of studies/dispatch.
const missedSuffix = ".jsonl"

func isMissed(text string) bool { return strings.HasSuffix(text, missedSuffix) }

// missedLine is a line of the file: sizes, and how often they were wanted since the line before.
type missedLine struct {
	Kernel string       `json:"kernel"`
	Sizes  kernels.Dims `json:"sizes"`
	Count  int          `json:"count"`
}

// missed returns the workloads of a kernel in a file, the most frequent first. Sizes that the kernel cannot take are
// left out, and said.
func missed(k *kernels.Kernel, path string, notice func(string)) ([]kernels.Workload, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, devices.Argumentf("--workload %s: %w", path, err)
	}
	counts := map[string]int{}
	var names []string
	others := 0
	for i, text := range bytes.Split(content, []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var line missedLine
		err := json.Unmarshal(text, &line)
		if err == nil && (len(line.Sizes) == 0 || line.Count < 1) {
			err = errors.New("no sizes, or no count of them")
		}
		switch {
		case err != nil && i == bytes.Count(content, []byte("\n")):
			notice(fmt.Sprintf("%s: the last line is incomplete and left out", path)) // its writer was killed
			continue
		case err != nil:
			return nil, devices.Argumentf("%s:%d: not a line that PAWL_MISSED writes: %w", path, i+1, err)
		case line.Kernel != k.Name:
			others++
			continue
		}
		name := strings.ReplaceAll(line.Sizes.String(), ",", "+")
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name] += line.Count
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var all []kernels.Workload
	for _, name := range names {
		w, err := k.Workload(name)
		if err != nil {
			notice(fmt.Sprintf("%s: left out: %v", path, err))
			continue
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, devices.Argumentf("%s has no sizes for kernel %s (%s of other kernels)", path, k.Name,
			page.Count(others, "line"))
	}
	return all, nil
}
