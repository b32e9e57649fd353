package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/page"
	"pawl/search/sampler"
	"pawl/studies"
)

// Fact is a line about how a result was found: what it is about, a text, and what
// follows as code.
type Fact struct{ What, Text, Code string }

// Background says how the result was found.
func Background(s *Summary) []Fact {
	f, e := s.Search, s.Study.Environment
	facts := []Fact{
		{What: "study", Text: fmt.Sprintf("%d, %s, sampler %s, seed %d; the search ended because: %s",
			s.Study.ID, s.Study.Created.UTC().Format("2006-01-02 15:04 MST"), s.Study.Sampler, s.Study.Seed, cmp.Or(string(s.Study.Ended), "it was interrupted"))},
		{What: "what is left", Text: RegretText(s.Study.Regret)},
		{What: "trials", Text: fmt.Sprintf("%d in %s: %d measured%s, %d failed, %d abandoned; %d had the machine code of another, %d binaries came from the cache",
			f.Asked, page.Seconds(f.Seconds), f.OK, RememberedText(f), f.Failed, f.Abandoned, f.Same, f.CacheHits)},
		{What: "parameters without effect", Text: deadText(s.Study.Dead)},
		{What: "space", Text: spaceText(s.Study.Space)},
		{What: "workload", Text: s.Study.Workload, Code: s.Study.Dims},
		{What: "machine", Text: fmt.Sprintf("%s, %d cores, %s, backend %s", e.Device, e.Cores, e.System, s.Study.Backend)},
		{What: "driver", Text: e.Driver},
		{What: "compiler", Text: e.Compiler},
		{What: "compiler's flags", Code: e.Flags},
		{What: "sources", Code: s.Study.Source},
		{What: "commit", Code: e.Commit},
	}
	if n := len(s.Study.First); n > 0 {
		facts = append(facts, Fact{What: "warm start", Text: fmt.Sprintf("it began with %s that earlier studies of this kernel found good", page.Count(n, "point"))})
	}
	if s.Winner != nil && s.Winner.Conditions != nil {
		facts = append(facts, Fact{What: "while the winner was measured", Text: ConditionsText(s.Winner.Conditions)})
	}
	if TimeRows(s) == nil {
		facts = append(facts, Fact{What: "time", Text: fmt.Sprintf("compiling %s (beside the rest), checking %s, measuring %s",
			page.Seconds(f.Compiling), page.Seconds(f.Checking), page.Seconds(f.Measuring))})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text+f.Code == "" })
}

// RememberedText says how many measurements are older than the study, or nothing.
func RememberedText(f SearchFacts) string {
	if f.Remembered == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them earlier on the same day)", f.Remembered)
}

// deadText names the parameters that do nothing.
func deadText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " never changed the machine code of a tried point; consider removing them from the manifest"
}

// spaceText counts the points and what the machine's limits rule out.
func spaceText(f studies.SpaceFacts) string {
	text := fmt.Sprintf("%.0f combinations, %d valid", f.Product, f.Valid)
	if f.Removed() > 0 {
		text += fmt.Sprintf(", %d of them infeasible here", f.Removed())
		for _, limit := range slices.Sorted(maps.Keys(f.Infeasible)) {
			text += fmt.Sprintf(" (%d: %s)", f.Infeasible[limit], limit)
		}
	}
	return text
}

// RegretText says what the search has probably left behind.
func RegretText(r *sampler.Regret) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("At most %s is left to gain, %s sure; %d more trials would buy about %s.", page.Percent(r.Left), page.WholePercent(r.Sure), r.More, page.Percent(r.Gain))
}

// TimeRow is one line of the table that says where a study's time went.
type TimeRow struct {
	What    string
	Seconds float64
	// Share is the part of the search's own time; compiling has none, because it
	// runs beside the rest.
	Share float64
}

// ShareText writes the share, or that there is none.
func (r TimeRow) ShareText() string {
	if r.Share == 0 {
		return ""
	}
	return page.WholePercent(r.Share)
}

// TimeRows says where the time went: asking, compiling, waiting for a compile,
// checking, measuring, storing, and the confirmation after the search. A study
// that was recorded before time was kept has none.
func TimeRows(s *Summary) []TimeRow {
	spent := s.Study.Spending
	total := (spent.Asking + spent.Waiting + spent.Looking + spent.Device + spent.Storing).Seconds()
	if total == 0 {
		return nil
	}
	rows := []TimeRow{
		{"asking the sampler", spent.Asking.Seconds(), spent.Asking.Seconds() / total},
		{"waiting for a compiler", spent.Waiting.Seconds(), spent.Waiting.Seconds() / total},
		{"checking results", s.Search.Checking, s.Search.Checking / total},
		{"measuring", s.Search.Measuring, s.Search.Measuring / total},
		{"storing", spent.Storing.Seconds(), spent.Storing.Seconds() / total},
		{"compiling, beside the rest", s.Search.Compiling, 0},
		{"confirming, after the search", spent.Confirming.Seconds(), 0},
	}
	// Starting workers and waiting for the device belong to neither.
	if rest := spent.Device.Seconds() - s.Search.Checking - s.Search.Measuring; rest > 0 {
		rows = slices.Insert(rows, 4, TimeRow{"starting workers, waiting for the device", rest, rest / total})
	}
	if again := spent.Looking.Seconds(); again > 0 {
		rows = slices.Insert(rows, 2, TimeRow{"preparing checks and measuring the best points again, instead of waiting", again, again / total})
	}
	return rows
}
