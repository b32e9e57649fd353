package trial_test

import (
	"flag"
	"testing"

	"pawl/search/trial"
)

// Goals are read as people write them, and written so that they are read the same.
func TestGoalsAsText(t *testing.T) {
	for _, test := range []struct {
		goal       flag.Value
		text, want string
	}{
		{new(trial.Speedup), "1.10x", "1.1x"}, {new(trial.Speedup), "2", "2x"},
		{new(trial.Speedup), "1x", ""}, {new(trial.Speedup), "Inf", ""}, {new(trial.Speedup), "", ""},
		{new(trial.Share), "1%", "1%"}, {new(trial.Share), "0.05", "5%"}, {new(trial.Share), "2 %", "2%"},
		{new(trial.Share), "7%", "7%"}, {new(trial.Share), "100%", ""}, {new(trial.Share), "no", ""},
	} {
		if err := test.goal.Set(test.text); (err != nil) != (test.want == "") || test.goal.String() != test.want {
			t.Errorf("%q is %q, %v; want %q", test.text, test.goal, err, test.want)
		}
	}
}
