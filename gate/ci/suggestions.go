package ci

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
)

// indexName is the index of studies, as JSON.
const indexName = "suggestions.json"

// Suggestion is a line of that index, as far as it is used here.
type Suggestion struct {
	Study    int64  `json:"study"`
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Device   string `json:"device"`
	// Folder has the study's page, relative to the index.
	Folder   string          `json:"folder"`
	Verdict  string          `json:"verdict"`
	Speedup  *float64        `json:"speedup"`
	Interval *stats.Interval `json:"interval"`
	// Gate is what the gate said about the winner against what is run today; nil where
	// nobody asked.
	Gate *struct {
		Standing string   `json:"standing"`
		Verdict  string   `json:"verdict"`
		Speedup  *float64 `json:"speedup"`
	} `json:"gate"`
	// Suggests says that there is something to apply.
	Suggests bool   `json:"suggests"`
	Action   string `json:"action"`
}

// notWorthIt says why a winner is no draft, whatever its gain over the default; empty
// where it may be one.
func (s Suggestion) notWorthIt() string {
	if s.Gate == nil {
		return ""
	}
	return map[string]string{
		"running": "you already run this", "equal": "no better than what you run today", "refused": "the gate refuses it",
	}[s.Gate.Standing]
}

// against is the gate's word.
func (s Suggestion) against() string {
	switch {
	case s.Gate == nil:
		return page.Unknown
	case s.Gate.Speedup == nil:
		return escape.Markdown(s.Gate.Verdict)
	}
	return fmt.Sprintf("%.2f×, %s", *s.Gate.Speedup, escape.Markdown(s.Gate.Verdict))
}

// gain is the speedup that is certain, 0 for none.
func (s Suggestion) gain() float64 {
	if s.Interval == nil || !s.Interval.Bounded() {
		return 0
	}
	return s.Interval.Low
}

func readIndex(path string) ([]Suggestion, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading what the studies suggest: %w", err)
	}
	var index struct {
		Studies []Suggestion `json:"studies"`
	}
	if err := page.ReadJSON(content, "pawl suggestions", 1, &index); err != nil {
		return nil, fmt.Errorf("%s is no index of studies: %w", path, err)
	}
	for _, s := range index.Studies {
		if s.Folder != "" && !filepath.IsLocal(filepath.FromSlash(s.Folder)) {
			return nil, fmt.Errorf("%s is no index of studies: study %d has its pages elsewhere", path, s.Study)
		}
	}
	return index.Studies, nil
}

// byKernel groups the studies by kernel, in the order of names. A study that nobody can
// read has no kernel.
func byKernel(all []Suggestion) [][]Suggestion {
	by := map[string][]Suggestion{}
	for _, s := range all {
		if s.Kernel != "" {
			by[s.Kernel] = append(by[s.Kernel], s)
		}
	}
	var groups [][]Suggestion
	for _, name := range slices.Sorted(maps.Keys(by)) {
		groups = append(groups, by[name])
	}
	return groups
}

// title is one line for people.
func title(s Suggestion) string {
	if s.Speedup == nil {
		return fmt.Sprintf("Tune %s for %s", escape.Line(s.Kernel), escape.Line(s.Workload))
	}
	return fmt.Sprintf("Tune %s for %s: %.2f× faster", escape.Line(s.Kernel), escape.Line(s.Workload), *s.Speedup)
}

// body is the text of a draft after its first table: what it is, the other studies of the kernel, and
// the page of the study that it applies.
func (d Drafts) body(m *page.Markdown, chosen Suggestion, studies []Suggestion,
	refused map[int64]string) (string, error) {
	suggestions, err := os.ReadFile(filepath.Join(d.Out, filepath.FromSlash(chosen.Folder), "suggestions.md"))
	if err != nil {
		return "", err
	}
	m.Paragraph("Study %d suggests this change of %s. Read why, try it, and merge it or close it: pawl updates this "+
		"draft while its commit is the branch's last.",
		chosen.Study, escape.Markdown(chosen.Kernel))
	if address := d.Job.page(); address != "" {
		m.Paragraph("[The run](%s) has all pages.", address)
	}
	var rows [][]string
	for _, s := range studies {
		speedup, action := page.Unknown, s.Action
		if s.Speedup != nil && s.Interval != nil {
			speedup = fmt.Sprintf("%.2f× (%s)", *s.Speedup, page.RatioInterval(*s.Interval))
		}
		if reason, ok := refused[s.Study]; ok {
			action = "not applied: " + reason
		}
		if s.Study == chosen.Study {
			action = "this draft"
		}
		rows = append(rows,
			[]string{fmt.Sprint(s.Study), escape.Markdown(s.Workload), escape.Markdown(s.Device), escape.Markdown(s.Verdict),
				speedup, s.against(), escape.Markdown(action)})
	}
	m.Table([]string{"study", "workload", "device", "verdict", "speedup over the default", "against what you run today",
		"what to do"}, rows)
	m.Paragraph("---")
	m.Line("%s", suggestions) // pawl's own page, escaped when it was written
	return closed(m, ""), nil
}
