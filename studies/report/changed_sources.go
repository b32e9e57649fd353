package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/stats"
	"pawl/studies"
)

// OtherSources is a study of the same subject from before or after the kernel was changed.
type OtherSources struct {
	Study int64 `json:"study"`
	// Newer says that the kernel was changed after the study that names this one: its winner is of a kernel that is gone.
	Newer    bool   `json:"newer,omitempty"`
	Sentence string `json:"sentence"`
}

// otherSources returns the study in front where that is of newer sources; of a study that confirms nothing, the one
// that was confirmed before the kernel was changed; and nil for none.
func otherSources(ctx context.Context, store *studies.Store, all []studies.Study, s *Summary) *OtherSources {
	subject, source := SubjectOf(s.Study), s.Study.Source
	if front, found := FrontStudies(all)[subject]; found && front.Source != source {
		return &OtherSources{front.ID, true, fmt.Sprintf("The kernel has changed since: study %d was tuned from the newer "+
			"sources. pawl apply refuses this study until its own sources are restored.", front.ID)}
	}
	if s.Evidence != nil && s.Evidence.Interval.Bounded() || s.Advice.Verdict == Keep {
		return nil
	}
	before, found := FrontStudies(slices.DeleteFunc(slices.Clone(all), func(o studies.Study) bool {
		return o.Source == source
	}))[subject]
	if !found || countedRounds(before) < stats.FewestForInterval {
		return nil
	}
	confirmed, err := ReadBrief(ctx, store, before.ID)
	if err != nil { // another's trouble is not this one's
		return nil
	}
	return &OtherSources{Study: before.ID, Sentence: strings.TrimSuffix(fmt.Sprintf("The kernel has changed since study "+
		"%d, whose verdict was: %s, %s", before.ID, confirmed.Advice.Verdict, confirmed.Figures()), ", ") + "."}
}

func (s *Summary) outdated() bool { return s.Sources != nil && s.Sources.Newer }

// applicable is the suggestion, nil where the kernel was changed after it.
func (s *Summary) applicable() *Suggestion {
	if s.outdated() {
		return nil
	}
	return s.Suggestion
}

// Standing is the verdict, whether it is still about the kernel, and whether somebody has followed it.
func (s *Summary) Standing() string {
	switch {
	case s.outdated():
		return string(s.Advice.Verdict) + ", before the kernel was changed"
	case s.Study.Applied != "" && s.Advice.Verdict.Usable():
		return applied
	}
	return string(s.Advice.Verdict)
}
