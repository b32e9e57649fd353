package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/search/trial"
	"pawl/studies"
)

// Fact is a line about how a result was found: what it is about, a text, and what
// follows as code.
type Fact struct{ What, Text, Code string }

func background(s *Summary) []Fact {
	f, e := s.Search, s.Study.Environment
	facts := []Fact{
		{What: "study", Text: fmt.Sprintf("%d, %s, sampler %s, seed %d; the search ended because: %s",
			s.Study.ID, s.Study.Created.UTC().Format("2006-01-02 15:04 MST"), s.Study.Sampler, s.Study.Seed,
			cmp.Or(string(s.Study.Ended), "it was interrupted"))},
		{What: "what is left", Text: regretText(s.Study.Regret)},
		{
			What: "trials",
			Text: fmt.Sprintf("%d in %s: %d measured, %d failed, %d abandoned; %d duplicates (identical "+
				"machine code), %s from the cache", f.Asked, page.Seconds(f.Seconds), f.OK, f.Failed, f.Abandoned, f.Same,
				page.Count(f.CacheHits, "binary came", "binaries came")),
		},
		{What: "tried again", Text: machineFaultsText(f.MachineFaults)},
		{What: "parameters without effect", Text: deadText(s.Study.Dead)},
		{What: "space", Text: spaceText(s.Study.Space)},
		{What: "workload", Text: s.Study.Workload, Code: s.Study.Dims},
		{What: "memory", Text: memoryText(s.Study.Work)},
		{What: "caches at a launch", Text: s.Study.Options.Caches},
		{What: "machine", Text: fmt.Sprintf("%s, %d cores, %s, backend %s", e.Device, e.Cores, e.System, s.Study.Backend)},
		{What: "devices of the farm", Text: devicesText(f.Devices, f.ConfirmedOn)},
		{What: "driver", Text: e.Driver},
		{What: "compiler", Text: e.Compiler},
		{What: "compiler's flags", Code: e.Flags},
		{What: "sources", Code: s.Study.Source},
		{What: "commit", Code: e.Commit},
	}
	if n := len(s.Study.First); n > 0 {
		facts = append(facts,
			Fact{
				What: "warm start",
				Text: fmt.Sprintf("it began with %s that earlier studies of this kernel found good", page.Count(n, "point")),
			})
	}
	if s.Winner != nil && s.Winner.Conditions != nil {
		facts = append(facts, Fact{What: "while the winner was measured", Text: s.Winner.Conditions.String()})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text+f.Code == "" })
}

// machineFaultsText says what happened to the machine that had points tried again, the most frequent first.
func machineFaultsText(faults map[string]int) string {
	names := slices.SortedFunc(maps.Keys(faults), func(a, b string) int {
		return cmp.Or(faults[b]-faults[a], strings.Compare(a, b))
	})
	return strings.Join(collect.Each(names, func(name string) string {
		return fmt.Sprintf("%s because %s", page.Count(faults[name], "time"), name)
	}), "; ")
}

// machineFaultCount is how often points were tried again because of the machine.
func machineFaultCount(faults map[string]int) (count int) {
	for _, n := range faults {
		count += n
	}
	return count
}

// devicesText says on which devices of a farm trials were measured, and the finalists.
func devicesText(trials map[string]int, confirmed []string) string {
	if len(trials) == 0 {
		return ""
	}
	parts := collect.Each(slices.Sorted(maps.Keys(trials)), func(device string) string {
		return page.Count(trials[device], "trial") + " on " + device
	})
	if len(confirmed) > 0 {
		parts = append(parts, "the finalists on "+strings.Join(confirmed, ", "))
	}
	return strings.Join(parts, "; ")
}

func memoryText(w studies.Work) string {
	if w.Memory == 0 {
		return ""
	}
	return "the arguments take " + page.Bytes(float64(w.Memory))
}

func deadText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") +
		" never changed the machine code of a tried point; consider removing them from the manifest"
}

func spaceText(f studies.SpaceFacts) string {
	text := fmt.Sprintf("%.0f combinations, %d valid", f.Product, f.Valid)
	if f.Wide > 0 {
		text = fmt.Sprintf("%.0f combinations (%.0f with --wide), %d valid", f.Product, f.Wide, f.Valid)
	}
	if f.Removed() > 0 {
		text += fmt.Sprintf(", %d of them infeasible here", f.Removed())
		for _, limit := range slices.Sorted(maps.Keys(f.Infeasible)) {
			text += fmt.Sprintf(" (%d: %s)", f.Infeasible[limit], limit)
		}
	}
	return text
}

// regretText says what the search has left behind: first what holds on every space, then what a model makes of it.
func regretText(r *trial.Regret) string {
	if r == nil {
		return ""
	}
	guess := fmt.Sprintf("The model guesses that at most %s is left to gain, if this space is like the recorded ones",
		page.Percent(r.Left))
	if r.Draws == 0 {
		return guess + "; no random trials back it."
	}
	return fmt.Sprintf("After %s at most %s of the points are faster, %s sure. %s.", page.Count(r.Draws, "random trial"),
		page.Percent(r.Better()), page.WholePercent(r.Sure), guess)
}

// timeRows says where the time went: what it went into, how much, and the share of the
// search's own time, which what runs beside or after it has not.
func timeRows(s *Summary) (rows []Part) {
	spent := s.Study.Spending
	total := (spent.Asking + spent.Waiting + spent.Looking + spent.Device + spent.Storing).Seconds()
	if total == 0 {
		return nil
	}
	add := func(what string, seconds float64, ofSearch bool) {
		text := page.Seconds(seconds)
		if seconds > 0 && ofSearch {
			text += ", " + page.WholePercent(seconds/total)
		}
		rows = append(rows, Part{what, text, seconds})
	}
	add("asking the sampler", spent.Asking.Seconds(), true)
	add("waiting for a compiler", spent.Waiting.Seconds(), true)
	if spent.Looking > 0 {
		add("checking and measuring the best again", spent.Looking.Seconds(), true)
	}
	add("checking results", s.Search.Checking, true)
	add("measuring", s.Search.Measuring, true)
	if rest := spent.Device.Seconds() - s.Search.Checking - s.Search.Measuring; rest > 0 {
		add("starting workers, waiting for the device", rest, true)
	}
	add("storing", spent.Storing.Seconds(), true)
	add("compiling, beside the rest", s.Search.Compiling, false)
	add("confirming, after the search", spent.Confirming.Seconds(), false)
	return rows
}
