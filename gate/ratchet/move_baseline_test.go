package ratchet

import (
	"testing"

	"pawl/gate"
	"pawl/gate/reporting"
)

func TestMayMove(t *testing.T) {
	for _, test := range []struct {
		verdict gate.Verdict
		method  gate.Method
		options Options
		want    bool
	}{
		{gate.Improvement, gate.Interleaved, Options{}, true},
		{gate.Improvement, gate.Interleaved, Options{Strict: true}, true},
		{gate.Improvement, gate.Interleaved, Options{Setting: Setting{Base: "main"}}, false},
		{gate.Improvement, gate.Interleaved, Options{DryRun: true}, false},
		{gate.Improvement, gate.Stored, Options{}, false},
		{gate.New, "", Options{}, true},
		{gate.New, "", Options{Strict: true}, true},
		{gate.New, "", Options{Setting: Setting{Base: "main"}}, false},
		{gate.Maintained, gate.Interleaved, Options{}, false},
		{gate.Regression, gate.Interleaved, Options{}, false},
		{gate.Vanished, "", Options{}, false},
	} {
		result := reporting.Result{Comparison: gate.Comparison{
			Method:   test.method,
			Decision: gate.Decision{Verdict: test.verdict},
		}}
		if got := (&run{Options: test.options}).mayMove(result); got != test.want {
			t.Errorf("%s by %q with %+v: got %v, want %v", test.verdict, test.method, test.options, got, test.want)
		}
	}
}
