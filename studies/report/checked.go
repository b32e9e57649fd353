package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/search/trial"
)

// Checked is the evidence that a point computes what it should: what its results
// were held against the reference on, and how close they came to what is allowed.
type Checked struct {
	// Shapes, Families, Layouts and Seeds are what the cases differ in.
	Shapes   []string        `json:"shapes"`
	Families []string        `json:"families"`
	Layouts  []worker.Layout `json:"layouts"`
	Seeds    []uint64        `json:"seeds"`
	*check.Evidence
}

// check adds the evidence of the full tier to the default and the winner. It is
// recorded with the first samples that follow the check.
func (s *Summary) check(rounds []trial.Round) {
	for _, t := range s.sides() {
		var all *check.Evidence
		for _, r := range rounds {
			if r.Point == t.Point && r.Outcome.Failure == nil {
				all = all.Join(r.Outcome.Evidence)
			}
		}
		t.Checked = NewChecked(all)
	}
}

// NewChecked describes what a point has passed, nil for nothing.
func NewChecked(e *check.Evidence) *Checked {
	if e == nil || len(e.Cases) == 0 {
		return nil
	}
	return &Checked{Shapes: e.Shapes(), Families: e.Families(), Layouts: e.Layouts(), Seeds: e.Seeds(), Evidence: e}
}

// Text says it in one line.
func (c *Checked) Text() string {
	if c.Program {
		return "its check command, before it was measured and after every measurement"
	}
	return fmt.Sprintf("%d cases (%s, %s, %s, %s), each run twice; worst error %s of the tolerance (%s)",
		len(c.Cases), page.Count(len(c.Shapes), "shape"),
		page.Count(len(c.Families), "family of inputs", "families of inputs"),
		page.Count(len(c.Layouts), "layout"), page.Count(len(c.Seeds), "seed"), c.worstText(), c.toleranceText())
}

func (c *Checked) sentence() string {
	if c.Program {
		return "The winner passed its check command before it was measured and after every measurement."
	}
	return "The winner's results are right on " + c.Text() + "."
}

// worstText writes the worst error as a share of the tolerance. It rounds up: what
// is printed is never less than what was seen.
func (c *Checked) worstText() string {
	if c.Worst == 0 {
		return "0 %"
	}
	percent := 100 * c.Worst
	scale := math.Pow(10, 1-math.Floor(math.Log10(percent)))
	return fmt.Sprintf("%.3g %%", math.Ceil(percent*scale-1e-9)/scale)
}

func (c *Checked) toleranceText() string {
	t := c.Tolerance
	if t.Absolute == 0 && t.Relative == 0 {
		return "exact"
	}
	return fmt.Sprintf("atol %g, rtol %g", t.Absolute, t.Relative)
}

// shownShapes is how many shapes a page lists; the JSON has all.
const shownShapes = 12

func (c *Checked) shapesText() string {
	text := strings.Join(c.Shapes[:min(len(c.Shapes), shownShapes)], "; ")
	if more := len(c.Shapes) - shownShapes; more > 0 {
		text += fmt.Sprintf("; and %d more, which %s lists", more, JSONName)
	}
	return text
}

func (c *Checked) seedsText() string {
	if len(c.Seeds) > 3 {
		return fmt.Sprintf("%d, from %d to %d", len(c.Seeds), slices.Min(c.Seeds), slices.Max(c.Seeds))
	}
	return strings.Trim(fmt.Sprint(c.Seeds), "[]")
}

func (c *Checked) familiesText() string {
	text := strings.Join(c.Families, ", ")
	if c.Unscaled != "" {
		text += "; " + c.Unscaled
	}
	return text
}

func (c *Checked) layoutsText() string {
	return strings.Join(collect.Each(c.Layouts, func(layout worker.Layout) string { return string(layout) }), ", ")
}

// checkedRows compares what was checked of the default and of the winner, one fact a
// row: what, and that of both; none where nothing is recorded.
func checkedRows(s *Summary) (rows [][]string) {
	if s.Default == nil || s.Winner == nil || s.Default.Checked == nil && s.Winner.Checked == nil {
		return nil
	}
	type fact struct {
		what string
		of   func(*Checked) string
	}
	facts := []fact{
		{"cases, each run twice", func(c *Checked) string { return fmt.Sprint(len(c.Cases)) }},
		{"shapes", func(c *Checked) string { return fmt.Sprintf("%d: %s", len(c.Shapes), c.shapesText()) }},
		{"families of inputs", (*Checked).familiesText},
		{"layouts of buffers", (*Checked).layoutsText},
		{"seeds", (*Checked).seedsText},
		{"tolerance", (*Checked).toleranceText},
		{"worst error, as a share of it", (*Checked).worstText},
		{"found with", func(c *Checked) string {
			if c.Worst == 0 {
				return page.Unknown
			}
			return c.At.String()
		}},
	}
	if s.Study.Environment.Programs != nil {
		facts = []fact{{"check command",
			func(*Checked) string { return "passed, before it was measured and after every measurement" }}}
	}
	for _, fact := range facts {
		row := []string{fact.what}
		for _, t := range s.compared() {
			text := "?"
			if t.Checked != nil {
				text = fact.of(t.Checked)
			}
			row = append(row, text)
		}
		if slices.ContainsFunc(row[1:], func(text string) bool { return text != page.Unknown }) {
			rows = append(rows, row)
		}
	}
	return rows
}

// unchecked says why there is no such table although there is a winner.
func unchecked(s *Summary) string {
	switch {
	case s.Winner == nil || checkedRows(s) != nil:
		return ""
	case !ranHere(s.Study):
		return "Nothing was run here, so nothing was checked here."
	case s.Study.Environment.Programs != nil:
		return "Nothing: the manifest has no check command."
	}
	return "What was checked is not recorded."
}
