package dispatch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
)

// advise says what to ship, and why.
func (p *Plan) advise(limit float64) {
	c := p.Choices[p.Shipped]
	worst := c.Workloads[c.Worst]
	ship := fmt.Sprintf("Ship %s.", page.Count(len(c.Points), "point"))
	switch {
	case len(p.Workloads) == 1:
		p.Advice = ship + " There is one workload only, so that there is nothing to share out."
	case c.Everything && len(c.Points) == 1:
		p.Advice = ship + " It is the best candidate on every workload: as the manifest's default it needs no table."
	case c.Everything && p.Shipped > 0:
		before := p.Choices[p.Shipped-1]
		p.Advice = fmt.Sprintf("%s With fewer, %s loses %s, and %s is the limit (--worst-loss).", ship,
			before.Workloads[before.Worst].Workload, page.Percent(before.Workloads[before.Worst].Loss), page.Percent(limit))
	case c.Everything:
		p.Advice = ship + " Every workload has the best candidate."
	case worst.Loss <= limit:
		p.Advice = fmt.Sprintf("%s No workload loses more than %s against its best candidate (%s loses %s), and %s is the "+
			"limit (--worst-loss).",
			ship, page.Percent(worst.Loss), worst.Workload, page.Percent(worst.Loss), page.Percent(limit))
	default:
		p.Advice = fmt.Sprintf("%s That was asked for, and %s loses %s against its best candidate: %s would lose nothing.",
			ship, worst.Workload, page.Percent(worst.Loss), page.Count(len(p.Choices[len(p.Choices)-1].Points), "point"))
	}
	if !worst.Interval.Bounded() {
		p.Advice += fmt.Sprintf(" The rounds are too few for intervals: --rounds %d.", stats.FewestForInterval)
	}
}

// interval writes that of a loss; one that is none by definition has none.
func interval(i stats.Interval) string {
	if i == (stats.Interval{}) {
		return ""
	}
	return page.ChangeInterval(i)
}

// Text writes the plan for a terminal.
func Text(w io.Writer, p *Plan) {
	fmt.Fprintf(w, "%s: %s for %s on %s\n\n", escape.Line(p.Kernel), page.Count(len(p.Candidates), "candidate"),
		page.Count(len(p.Workloads), "workload"), escape.Line(p.Device))
	var rows [][]string
	for _, c := range p.Choices {
		worst := c.Workloads[c.Worst]
		name, on := fmt.Sprint(len(c.Points)), worst.Workload
		if c.Everything {
			name = fmt.Sprintf("all (%d)", len(c.Points))
		}
		if worst.Loss == 0 {
			on = ""
		}
		rows = append(rows, []string{name, page.Percent(c.Mean), interval(c.MeanInterval), page.Percent(worst.Loss),
			interval(worst.Interval), on})
	}
	page.Table(w, []string{"points", "mean loss", "95 % interval", "worst loss", "95 % interval", "on"},
		rows)
	fmt.Fprintf(w, "\n%s\n\n", escape.Line(p.Advice))
	shipped := p.Choices[p.Shipped]
	rows = collect.Each(shipped.Workloads, func(a Assignment) []string {
		return []string{a.Workload, fmt.Sprint(a.Point), page.Milliseconds(a.Milliseconds), page.Percent(a.Loss),
			interval(a.Interval)}
	})
	page.Table(w, []string{"workload", "point", "time", "loss", "95 % interval"}, rows)
	fmt.Fprintln(w)
	for i, point := range shipped.Points {
		fmt.Fprintf(w, "point %d: %s\n", i, escape.Line(point.String()))
	}
	p.failures(w)
}

// failures says which workloads were left out, and which candidates do not work, and where. Those that fail at the
// same workloads for one reason share a line; the JSON names each.
func (p *Plan) failures(w io.Writer) {
	lines := slices.Clone(p.LeftOut)
	for _, c := range p.Candidates {
		if c.Wrong != "" {
			lines = append(lines, fmt.Sprintf("%s is wrong and used nowhere; %s", c.Point, c.Wrong))
		}
	}
	type failure struct{ where, why string }
	points := map[failure][]string{}
	var failures []failure
	for _, c := range p.Candidates {
		point, where := c.Point.String(), map[string][]string{}
		for _, m := range p.Workloads {
			if why := m.Failures[point]; why != "" && c.Wrong == "" {
				where[why] = append(where[why], m.Workload)
			}
		}
		for _, why := range slices.Sorted(maps.Keys(where)) {
			f := failure{strings.Join(where[why], ", "), why}
			if points[f] == nil {
				failures = append(failures, f)
			}
			points[f] = append(points[f], point)
		}
	}
	for _, f := range failures {
		who := points[f][0] + " does"
		if n := len(points[f]); n > 1 {
			who = fmt.Sprintf("%d of %d candidates do", n, len(p.Candidates))
		}
		lines = append(lines, fmt.Sprintf("%s not work on %s: %s", who, f.where, f.why))
	}
	if len(lines) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range lines {
		fmt.Fprintln(w, escape.Line(line))
	}
}
