package bisect

import (
	"testing"

	"pawl/gate"
)

// What a verdict says depends on what is searched for. The first comparison, of bad itself,
// decides that; a verdict about nothing is never good.
func TestAnswers(t *testing.T) {
	for wanted, answers := range map[gate.Verdict]map[gate.Verdict]Answer{
		"":              {gate.Regression: Bad, gate.Wrong: Bad},
		gate.Regression: {gate.Regression: Bad, gate.Wrong: Skip},
		gate.Wrong:      {gate.Regression: Good, gate.Wrong: Bad},
	} {
		for _, verdict := range gate.Verdicts {
			want, special := answers[verdict]
			switch {
			case special:
			case verdict.Undecided() || verdict == gate.Vanished:
				want = Skip
			default:
				want = Good
			}
			s := &search{wanted: wanted}
			if f := s.finding(gate.Comparison{Decision: gate.Decision{Verdict: verdict, Reason: "because"}}); f.Answer !=
				want || f.Verdict != verdict || f.Reason == "" {
				t.Errorf("searching for %q, %s is %+v, want %s", wanted, verdict, f, want)
			}
		}
	}
}
