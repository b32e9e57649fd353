package tune

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
)

// AllWorkloads asks for every workload of a kernel.
const AllWorkloads = "all"

// Workloads returns the workloads that a text asks for: one by its name, several separated by commas, or all; sizes
// (S=384), ranges of them (S=256..4096) and files of sizes that were missed (missed.jsonl) are workloads too. A
// workload whose name is the whole text is meant where there is one. An unknown name is a *devices.ArgumentError.
func Workloads(ctx context.Context, tools devices.Tools, kernel, backend, asked string) ([]string, error) {
	tools.Absent = true // opening it says what is missing
	k, err := devices.Here(tools).Load(ctx, cmp.Or(kernel, DefaultKernel), backend)
	if err != nil {
		return nil, err
	}
	if w, err := k.Workload(asked); err == nil && asked != "" {
		return []string{w.Name}, nil
	}
	var names []string
	for text := range strings.SplitSeq(asked, ",") {
		some, err := workloadsOf(k, strings.TrimSpace(text), tools.Notice)
		switch {
		case err != nil:
			return nil, err
		case strings.TrimSpace(text) == "":
			return nil, devices.Argumentf("--workload %q: an empty name; a list is written a,b,c", asked)
		}
		names = append(names, collect.Each(some, func(w kernels.Workload) string { return w.Name })...)
	}
	return collect.Distinct(names), nil
}

// SeveralWorkloads reports whether a text may ask for more than one workload.
func SeveralWorkloads(asked string) bool {
	return asked == AllWorkloads || strings.Contains(asked, ",") || kernels.IsRange(asked) || isMissed(asked)
}

// workloadsOf returns the workloads of one element of a list.
func workloadsOf(k *kernels.Kernel, text string, notice func(string)) ([]kernels.Workload, error) {
	switch {
	case text == AllWorkloads:
		return k.Workloads, nil
	case isMissed(text):
		return missed(k, text, notice)
	case kernels.IsRange(text):
		drawn, err := k.Range(text)
		if err != nil {
			return nil, &devices.ArgumentError{Err: err}
		}
		return drawn, nil
	}
	target, err := devices.NewTarget(k, text)
	return []kernels.Workload{target.Workload}, err
}

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
