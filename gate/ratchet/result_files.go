package ratchet

import (
	"fmt"
	"slices"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/gate/results"
)

// CompareFiles judges the series of two result files. Series are matched by
// name; two files with one series each are a pair whatever the names.
func CompareFiles(base, candidate []results.Series, p gate.Policy) *reporting.Report {
	r := &reporting.Report{}
	if len(base) == 1 && len(candidate) == 1 {
		r.Results = append(r.Results, compareSeries(base[0], candidate[0], p))
		return r
	}
	// The alarm rate is that of all rows together (Bonferroni: their tests share no rounds).
	p.Alarm /= float64(max(1, len(candidate)))
	for _, c := range candidate {
		var match results.Series
		for _, b := range base {
			if b.Name == c.Name && (b.Device == c.Device || match.Name == "") {
				match = b
			}
		}
		r.Results = append(r.Results, compareSeries(match, c, p))
	}
	for _, b := range base {
		if !slices.ContainsFunc(candidate, func(c results.Series) bool { return c.Name == b.Name }) {
			r.Results = append(r.Results, compareSeries(b, results.Series{}, p))
		}
	}
	return r
}

// compareSeries judges a pair; a side without processes is missing.
func compareSeries(base, candidate results.Series, p gate.Policy) reporting.Result {
	result := reporting.Result{Key: baseline.Key{Kernel: candidate.Name, Device: candidate.Device}, Policy: p}
	result.Method = gate.Files
	switch {
	case len(candidate.Processes) == 0:
		result.Key = baseline.Key{Kernel: base.Name, Device: base.Device}
		result.Decision = gate.Decision{Verdict: gate.Inconclusive, Reason: "the candidate file does not have it"}
		return result
	case len(base.Processes) == 0:
		result.Decision = gate.Decision{Verdict: gate.New, Reason: "the base file does not have it"}
		return result
	}
	result.Comparison = gate.CompareApart(base.Processes, candidate.Processes, p, gate.Files)
	if note := unitNote(base.Unit, candidate.Unit); note != "" {
		result.Notes = append(result.Notes, note)
	}
	result.Baseline, result.Current = result.Evidence.Baseline.Median, result.Evidence.Candidate.Median
	if known := base.Device != "" && candidate.Device != ""; known && base.Device != candidate.Device {
		result.Verdict = gate.Inconclusive
		result.Reason = fmt.Sprintf("foreign device: the base was measured on %q, the candidate on %q", base.Device,
			candidate.Device)
	}
	return result
}

// unitNote says where no unit was named and milliseconds were assumed.
func unitNote(base, candidate string) string {
	switch {
	case base == "" && candidate == "":
		return "neither file names the unit of its times: milliseconds are assumed"
	case base == "":
		return fmt.Sprintf("the base names no unit: milliseconds are assumed, while the candidate's are %s", candidate)
	case candidate == "":
		return fmt.Sprintf("the candidate names no unit: milliseconds are assumed, while the base's are %s", base)
	}
	return ""
}
