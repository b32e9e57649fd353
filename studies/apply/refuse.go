package apply

import (
	"cmp"
	"fmt"
	"strings"

	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/studies"
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
func judge(s *report.Summary, o Options, limit float64) *Refusal {
	id := s.Study.ID
	switch {
	case s.Gate != nil && s.Gate.Standing == studies.Refused:
		return refuse(id, "the gate has failed its winner: %s", report.Against(*s.Gate)).advise("%s",
			strings.TrimSuffix(s.Gate.Reason, "."))
	case !s.Advice.Verdict.Usable():
		refusal := refuse(id, "its verdict is %q", s.Advice.Verdict).advise("%s", lowerFirst(s.Advice.Sentence))
		refusal.Nothing = true
		return refusal
	case s.Advice.Verdict == report.Promising && !o.Force && s.MayShareFault():
		return refuse(id, "its winner may be wrong").advise("%s; --force applies it", lowerFirst(s.Advice.Sentence))
	case s.Advice.Verdict == report.Promising && !o.Force:
		return refuse(id, "it is only promising, after %d rounds of %d", s.Evidence.Rounds, s.Evidence.Needed).advise(
			"%s confirms it, and --force applies it as it is", s.Confirming())
	case s.Suggestion == nil:
		return refuse(id, "it is not known how to get what was measured").advise("%s", lowerFirst(report.Withheld(s)))
	case s.Winner.Checked == nil && s.Study.Environment.Programs != nil:
		return refuse(id,
			"nothing was checked").advise("state a check command in the manifest and tune again, or edit the defaults by hand")
	case s.Winner.Checked == nil:
		return refuse(id,
			"it is not recorded that the winner was checked in full").advise("tune again: pawl checks every finalist in " +
			"full, and records it")
	}
	return judgeAcross(s, o.Manifest, limit)
}

// judgeAcross refuses what another workload would pay for. What is measured counts, also
// where it may be noise: a loss beyond the limit has to be measured away. A header is for
// one workload, so that the others need not be known; a default is for all.
func judgeAcross(s *report.Summary, manifest bool, limit float64) *Refusal {
	if s.Across == nil {
		return nil
	}
	for _, w := range s.Across.Workloads {
		switch {
		case w.Result == report.AcrossFails && (manifest || limit < 1):
			return refuse(s.Study.ID, "on workload %s the winner fails: %s", w.Workload,
				w.Failure).advise("tune that workload, or restrict the parameters; --worst-loss 100%% applies the header alone")
		case w.Speedup == nil || *w.Speedup >= 1-limit:
		case w.Result == report.AcrossSlower:
			return refuse(s.Study.ID, "workload %s would take %.2f times as long, and %s is the limit", w.Workload,
				1 / *w.Speedup, page.Percent(limit)).
				advise("--worst-loss sets another limit")
		default:
			return refuse(s.Study.ID,
				"workload %s measured %.2f times as long, beyond the limit of %s, though that may be noise", w.Workload,
				1 / *w.Speedup, page.Percent(limit)).
				advise("measure longer with %s, or set another limit with --worst-loss",
					s.Study.Place.Pawl("studies", "across", s.Study.ID, "--rounds", 30))
		}
	}
	if missing := s.Across.Of(report.AcrossUnmeasured); manifest && len(missing) > 0 {
		return refuse(s.Study.ID, "the manifest's default holds for all workloads, and the winner was not measured on %s",
			strings.Join(missing, ", ")).
			advise("%s measures it there; the header alone needs no --manifest",
				s.Study.Place.Pawl("studies", "across", s.Study.ID))
	}
	return nil
}

// DefaultWorstLoss is how much slower another workload may get: about what a
// confirmation cannot tell from noise.
const DefaultWorstLoss = "3%"

// ParseLoss reads a share such as 3% or 0.03. An error is a *devices.ArgumentError.
func ParseLoss(text string) (float64, error) {
	share, err := page.ParseShare(cmp.Or(text, DefaultWorstLoss))
	if err != nil {
		return 0, devices.Argumentf("--worst-loss: %s", err)
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
