package report

import (
	"cmp"

	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/studies"
)

// FrontStudies returns, for each subject, the newest of the studies that are confirmed best, among those of the sources
// that were tuned last. A study that was interrupted takes nothing away: the confirmed one before it stays, unless the
// kernel was changed in between.
func FrontStudies(all []studies.Study) map[Subject]studies.Study {
	newest, front := map[Subject]studies.Study{}, map[Subject]studies.Study{}
	for _, s := range all {
		if s.Damaged == "" && s.ID > newest[SubjectOf(s)].ID {
			newest[SubjectOf(s)] = s
		}
	}
	for _, s := range all {
		known, found := front[SubjectOf(s)]
		if s.Damaged == "" && s.Source == newest[SubjectOf(s)].Source &&
			(!found || cmp.Or(cmp.Compare(countedRounds(s), countedRounds(known)), cmp.Compare(s.ID, known.ID)) > 0) {
			front[SubjectOf(s)] = s
		}
	}
	return front
}

// countedRounds says how well a study is confirmed: fewer rounds than a winner takes count nothing, and more than an
// interval takes, or all that were asked for, count no more.
func countedRounds(s studies.Study) int {
	switch goal := s.Options.Rounds; {
	case s.Rounds < confirm.FewestRounds:
		return 0
	case goal > 0 && s.Rounds >= goal:
		return stats.FewestForInterval
	}
	return min(s.Rounds, stats.FewestForInterval)
}
