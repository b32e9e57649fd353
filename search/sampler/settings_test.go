package sampler

import (
	"reflect"
	"testing"
)

func TestSettingsChangeWhatTheyName(t *testing.T) {
	got, err := ParseSettings([]byte(`{"GP": {"Inflation": 2}, "Process": {"FitSteps": 7}}`))
	want := Defaults()
	want.GP.Inflation, want.Process.FitSteps = 2, 7
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{``, `{"GP": {"Inflaton": 2}}`, `{"GP": {"Startup": 2.5}}`, `{} {}`, `[]`} {
		if _, err := ParseSettings([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
