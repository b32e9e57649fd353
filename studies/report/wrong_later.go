package report

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// counted has each trial with its last word: one whose point failed in a round has failed, also in a record where only
// the round says so.
func counted(past trial.Past) []trial.Trial {
	trials := slices.Clone(past.Trials)
	for _, r := range past.Standing() {
		f := r.Outcome.Failure
		if f == nil || f.Reason == objective.Throttled || confirm.LeftRound(f) {
			continue
		}
		for i := range trials {
			if trials[i].Point == r.Point && trials[i].OK() {
				trials[i].Outcome.Failure, trials[i].Outcome.Samples = f, nil
			}
		}
	}
	return trials
}

func wrong(t trial.Trial, reasons ...string) bool {
	return t.Finished && t.Outcome.Failure != nil && slices.Contains(reasons, t.Outcome.Failure.Reason)
}

// wrongLater are the trials that passed the checks and were wrong when they were timed, on inputs that no other saw:
// each machine code once.
func (s *Summary) wrongLater() (found []trial.Trial) {
	codes := map[string]bool{}
	for _, t := range s.trials {
		if code := t.Outcome.Binary; wrong(t, string(worker.WrongWhenTimed)) && (code == "" || !codes[code]) {
			codes[code] = true
			found = append(found, t)
		}
	}
	return found
}

// wrongDefault is the trial of the default where its results are wrong.
func (s *Summary) wrongDefault() (trial.Trial, bool) {
	return collect.First(s.trials, func(t trial.Trial) bool {
		return wrong(t, objective.WrongResult, string(worker.WrongWhenTimed)) && s.isDefault(t.Point)
	})
}

func (s *Summary) isDefault(point space.Point) bool {
	return !slices.ContainsFunc(s.Study.Space.Params, func(p studies.ParamFacts) bool {
		value, _ := point.Get(p.Name)
		return value.String() != p.Default
	})
}

// MayShareFault reports whether the checks miss a fault that the winner may have too: several kernels have passed them
// and were wrong later. One is an odd point, and so are those with a value that the winner does not have and that is
// wrong in most trials, as where a setting lets threads race.
func (s *Summary) MayShareFault() bool {
	later := s.wrongLater()
	if len(later) < 2 {
		return false
	}
	for _, a := range later[0].Point.Assignments() {
		has := func(point space.Point) bool { value, _ := point.Get(a.Name); return value == a.Value }
		if s.Winner == nil || has(s.Winner.Point) ||
			slices.ContainsFunc(later, func(t trial.Trial) bool { return !has(t.Point) }) {
			continue
		}
		right, others := 0, 0
		for _, t := range s.trials {
			switch {
			case !has(t.Point):
			case t.OK():
				right++
			case wrong(t, objective.WrongResult, string(worker.WrongWhenTimed)):
				others++
			}
		}
		if others > right {
			return false
		}
	}
	return true
}

// shownWrong is how many wrong points a sentence names.
const shownWrong = 3

// wrongText names points that were wrong later, and what was wrong with the first.
func wrongText(later []trial.Trial) string {
	names := collect.Each(later[:min(len(later), shownWrong)], func(t trial.Trial) string { return t.Point.String() })
	if more := len(later) - shownWrong; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	verb := "was"
	if len(later) > 1 {
		verb = "were"
	}
	return fmt.Sprintf("%s passed the checks and %s wrong when timed: %s%s.", page.Count(len(later), "point"), verb,
		strings.Join(names, "; "), firstWrong(later[0]))
}

// firstWrong is the first wrong element of a trial, in parentheses; empty where nobody said.
func firstWrong(t trial.Trial) string {
	if what, _, _ := strings.Cut(t.Outcome.Failure.Detail, ";"); what != "" {
		return " (" + what + ")"
	}
	return ""
}

// fuzzing is the command that looks for wrong results of a point; empty where pawl does not run it.
func (s *Summary) fuzzing(point space.Point) string {
	if !ranHere(s.Study) || s.Study.Environment.Programs != nil {
		return ""
	}
	return s.Study.Place.Pawl("fuzz", s.Study.Origin, "--at", point, "--workload", s.Study.Workload, "--budget", "5m")
}

// hunts says what the command does that looks for wrong results.
func (s *Summary) hunts(point space.Point, does string) string {
	if command := s.fuzzing(point); command != "" {
		return " " + command + " " + does + "."
	}
	return ""
}

// adviseWrong is the advice about wrong results, and whether it goes before all others: nothing is compared with a
// wrong default, and more time does not help where finalists are wrong.
func adviseWrong(s *Summary) (Advice, bool) {
	later := s.wrongLater()
	if t, is := s.wrongDefault(); is {
		text := "The default's results are wrong, so there is nothing to compare with: " + t.Outcome.Failure.Reason +
			firstWrong(t) + ". Suspect the default, then the reference and the tolerance."
		if later = slices.DeleteFunc(later, func(o trial.Trial) bool { return o.Number == t.Number }); len(later) > 0 {
			text += " " + wrongText(later)
		}
		return Advice{Nothing, text + s.hunts(t.Point, "looks for the smallest case")}, true
	}
	if s.Evidence == nil && (s.MayShareFault() || len(later) > 0 && s.Search.OK < 2) {
		return Advice{Unconfirmed, "No winner is confirmed, and more time does not help. " + wrongText(later) +
			" Suspect code that all points share, then the reference and the tolerance." +
			s.hunts(later[0].Point, "looks for the smallest case")}, true
	}
	return Advice{}, false
}

// doubted is an advice to apply a winner, unless it may share a fault.
func doubted(a Advice, s *Summary) Advice {
	if s.Evidence == nil || !a.Verdict.Usable() || !s.MayShareFault() {
		return a
	}
	return Advice{Promising, "The winner measured " + s.better() + ", but it may share a fault that the checks miss. " +
		wrongText(s.wrongLater()) + s.hunts(s.Winner.Point, "tests the winner")}
}
