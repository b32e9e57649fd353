package report

import (
	"slices"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search/trial"
)

// later makes points of a past wrong while they were timed, in a round of the confirmation.
func later(t *testing.T, past trial.Past, points ...string) *Summary {
	t.Helper()
	failure := &objective.Failure{Stage: objective.Bench, Reason: string(worker.WrongWhenTimed),
		Detail: "y[3] is 2, the reference says 1; 1 of 9 elements wrong"}
	for i := range past.Trials {
		if slices.Contains(points, past.Trials[i].Point.String()) {
			past.Trials[i].Outcome.Failure, past.Trials[i].Outcome.Samples = failure, nil
			past.Rounds = append(past.Rounds, trial.Round{Phase: trial.Confirmation, Number: 10,
				Point: past.Trials[i].Point, Outcome: past.Trials[i].Outcome})
		}
	}
	return summary(t, past)
}

const (
	plainDefault = "BLOCK=16,MODE=plain,UNROLL=1"
	second       = "BLOCK=64,MODE=plain,UNROLL=1"
	third        = "BLOCK=16,MODE=plain,UNROLL=2"
	fourth       = `BLOCK=32,MODE="a|b $x",UNROLL=1`
)

// What is wrong after it has passed the checks is named, and is counted once. The example has 12 trials, of which two
// crashed.
func TestAdviceAboutWrongResults(t *testing.T) {
	for name, test := range map[string]struct {
		wrong   []string
		verdict Verdict
		failed  int
		says    []string
		not     string
	}{
		"one odd finalist": {[]string{second}, Apply, 3, []string{"Worth applying"}, "fuzz"},
		"the default": {[]string{plainDefault}, Nothing, 3, []string{
			"The default's results are wrong, so there is nothing to compare with: wrong while it was timed (y[3] is 2, the " +
				"reference says 1).",
			"pawl fuzz ./scale --at " + plainDefault + " --workload small --budget 5m looks for",
		}, "--resume"},
		"others with nothing in common": {[]string{third, fourth}, Promising, 4, []string{
			"it may share a fault that the checks miss. 2 points passed the checks and failed when timed: " + third + "; " +
				fourth + " (y[3] is 2, the reference says 1).", "UNROLL=2' --workload small --budget 5m tests the winner.",
		}, "Worth"},
		// MODE=plain is wrong in three of five trials that did not crash, and the winner has another.
		"a setting that races": {[]string{second, third, "BLOCK=64,MODE=plain,UNROLL=2"}, Apply, 5, nil, "share"},
		"all finalists": {[]string{winnerText, second, third}, Unconfirmed, 5, []string{
			"No winner is confirmed, and more time does not help. 3 points passed the checks and failed when timed",
			"Suspect code that all points share",
		}, "--resume"},
	} {
		s := later(t, examplePast(t, 10, 1), test.wrong...)
		counted := 0
		for _, group := range s.Failures {
			counted += group.Count
		}
		if s.Advice.Verdict != test.verdict || s.Search.Failed != test.failed || counted != test.failed {
			t.Errorf("%s: %s, %d failed, %d counted: %s", name, s.Advice.Verdict, s.Search.Failed, counted, s.Advice.Sentence)
		}
		for _, want := range test.says {
			if !strings.Contains(s.Advice.Sentence, want) {
				t.Errorf("%s: %s\nwithout %s", name, s.Advice.Sentence, want)
			}
		}
		var text strings.Builder
		Text(&text, s, Files{})
		named := "passed the checks and failed"
		if name == "the default" {
			named = "1 wrong while it was timed)"
		}
		if strings.Contains(s.Advice.Sentence+action(s), test.not) || !strings.Contains(text.String(), named) {
			t.Errorf("%s: %s\n%s", name, action(s), text.String())
		}
	}
}
