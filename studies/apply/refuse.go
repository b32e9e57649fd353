package apply

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pawl/objective/devices"
	"pawl/studies/report"
)

// Refusal says why a study is not applied, and what to do.
type Refusal struct {
	Study int64
	// Nothing says that there is no winner which is better for sure: there is nothing to
	// apply. Otherwise there is one, and it must not be.
	Nothing bool
	Reason  error
	// Advice is what to do.
	Advice string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("study %d is not applied: %v", r.Study, r.Reason)
	if r.Advice != "" {
		text += "; " + r.Advice
	}
	return text
}

func (r *Refusal) Unwrap() error { return r.Reason }

func refuse(study int64, format string, arguments ...any) *Refusal {
	return &Refusal{Study: study, Reason: fmt.Errorf(format, arguments...)}
}

func (c *Change) refuse(format string, arguments ...any) *Refusal {
	return refuse(c.Summary.Study.ID, format, arguments...)
}

func (r *Refusal) advise(format string, arguments ...any) *Refusal {
	r.Advice = fmt.Sprintf(format, arguments...)
	return r
}

// judge holds what a study has found against the rules, and returns the first that it
// breaks, or nil.
func judge(s *report.Summary, manifest bool, limit float64) *Refusal {
	id := s.Study.ID
	switch {
	case s.Advice.Verdict != report.Apply && s.Advice.Verdict != report.Consider:
		refusal := refuse(id, "its verdict is %q", s.Advice.Verdict).advise("%s", lowerFirst(s.Advice.Sentence))
		refusal.Nothing = true
		return refusal
	case s.Suggestion == nil:
		return refuse(id, "it is not known how to get what was measured").advise("%s", lowerFirst(report.Withheld(s)))
	case s.Winner.Checked == nil:
		return refuse(id, "it is not recorded that the winner was checked in full").advise("tune again: pawl checks every finalist in full, and records it")
	}
	return nil
}

// DefaultWorstLoss is how much slower another workload may get: about what a
// confirmation cannot tell from noise.
const DefaultWorstLoss = "3%"

// parseLoss reads a share such as 3% or 0.03. An error is a *devices.ArgumentError.
func parseLoss(text string) (float64, error) {
	if text == "" {
		text = DefaultWorstLoss
	}
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || math.IsNaN(share) || share < 0 || share > 1 {
		return 0, &devices.ArgumentError{Err: fmt.Errorf("--worst-loss %q: a share between 0%% and 100%%, such as 3%%", text)}
	}
	return share, nil
}

// lowerFirst makes a sentence the end of another one.
func lowerFirst(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}
