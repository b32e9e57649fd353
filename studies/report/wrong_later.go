package report

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/space"
)

func wrong(t trial.Trial) bool {
	return t.Outcome.Failure != nil && t.Outcome.Failure.Reason == objective.WrongResult || wrongWhenTimed(t)
}

func wrongWhenTimed(t trial.Trial) bool {
	return t.Outcome.Failure != nil && t.Outcome.Failure.Reason == string(worker.WrongWhenTimed)
}

// wrongLater are the trials that passed the checks and were wrong when they were timed, on inputs that no other saw:
// each machine code once.
func (s *Summary) wrongLater() (found []trial.Trial) {
	for _, t := range s.trials {
		same := func(o trial.Trial) bool { return o.Outcome.Binary == t.Outcome.Binary && o.Outcome.Binary != "" }
		if wrongWhenTimed(t) && !slices.ContainsFunc(found, same) {
			found = append(found, t)
		}
	}
	return found
}

// MayShareFault reports whether the checks miss a fault that the winner may have too: several kernels have passed them
// and were wrong later. One is an odd point, and so are those with a value that the winner does not have and that is
// wrong in most trials, as where a setting lets threads race.
func (s *Summary) MayShareFault() bool {
	later := s.wrongLater()
	return len(later) > 1 && (s.Winner == nil ||
		!slices.ContainsFunc(later[0].Point.Assignments(), func(a space.Assignment) bool { return s.explains(a, later) }))
}

// explains reports whether a value is what wrong trials have in common, and the winner has not.
func (s *Summary) explains(a space.Assignment, later []trial.Trial) bool {
	has := func(point space.Point) bool { value, _ := point.Get(a.Name); return value == a.Value }
	more := 0 // trials with it that are wrong than right
	for _, t := range s.trials {
		switch {
		case has(t.Point) && wrong(t):
			more++
		case has(t.Point) && t.OK():
			more--
		}
	}
	return more > 0 && !has(s.Winner.Point) &&
		!slices.ContainsFunc(later, func(t trial.Trial) bool { return !has(t.Point) })
}

// wrongText names points that were wrong later, three at most, and what was wrong with the first.
func wrongText(later []trial.Trial) string {
	names := collect.Each(later, func(t trial.Trial) string { return t.Point.String() })
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(later)-3))
	}
	return fmt.Sprintf("%s passed the checks and failed when timed: %s%s.",
		page.Count(len(later), "point"), strings.Join(names, "; "), firstWrong(later[0]))
}

// firstWrong is the first wrong element of a trial, in parentheses; empty where nobody said.
func firstWrong(t trial.Trial) string {
	if what, _, _ := strings.Cut(t.Outcome.Failure.Detail, ";"); what != "" {
		return " (" + what + ")"
	}
	return ""
}

// fuzzing is the command that looks for wrong results of a point; empty where pawl does not run it.
func (s *Summary) fuzzing(point space.Point, lead, does string) string {
	if !ranHere(s.Study) || s.Study.Environment.Programs != nil {
		return ""
	}
	return lead + s.Study.Place.Pawl("fuzz", s.Study.Origin, "--at", point, "--workload", s.Study.Workload,
		"--budget", "5m") + does
}

// wrongTrial is the wrong trial that goes before all other advice, nil for none: nothing is compared with a wrong
// default, and more time does not help where finalists are wrong.
func (s *Summary) wrongTrial() *trial.Trial {
	initial := func(t trial.Trial) bool { return wrong(t) && t.Point == s.initial }
	if t, is := collect.First(s.trials, initial); is {
		return &t
	}
	if later := s.wrongLater(); s.Evidence == nil && (s.MayShareFault() || len(later) > 0 && s.Search.OK < 2) {
		return &later[0]
	}
	return nil
}

// adviseWrong is the advice about wrong results, and whether it goes before all others.
func adviseWrong(s *Summary) (Advice, bool) {
	t := s.wrongTrial()
	if t == nil {
		return Advice{}, false
	}
	fuzz := s.fuzzing(t.Point, " ", " looks for the smallest case.")
	if t.Point == s.initial {
		return Advice{Nothing, "The default's results are wrong, so there is nothing to compare with: " +
			t.Outcome.Failure.Reason + firstWrong(*t) + ". Suspect the default, then the reference and the tolerance." +
			fuzz}, true
	}
	return Advice{Unconfirmed, "No winner is confirmed, and more time does not help. " + wrongText(s.wrongLater()) +
		" Suspect code that all points share, then the reference and the tolerance." + fuzz}, true
}

// doubted is an advice to apply a winner, unless it may share a fault.
func doubted(a Advice, s *Summary) Advice {
	if s.Evidence == nil || !a.Verdict.Usable() || !s.MayShareFault() {
		return a
	}
	return Advice{Promising, "The winner measured " + s.better() + ", but it may share a fault that the checks miss. " +
		wrongText(s.wrongLater()) + s.fuzzing(s.Winner.Point, " ", " tests the winner.")}
}
