package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/gate"
	"pawl/internal/page"
	"pawl/kernels/document"
)

// limits are the keys that the file and a kernel share. What is not written keeps
// the value below it.
type limits struct {
	Preset      scalar   `yaml:"preset"`
	Regression  scalar   `yaml:"regression"`
	Improvement scalar   `yaml:"improvement"`
	Effect      scalar   `yaml:"effect"`
	Erosion     scalar   `yaml:"erosion"`
	Alarm       scalar   `yaml:"alarm"`
	Variation   scalar   `yaml:"variation"`
	Rounds      []scalar `yaml:"rounds"`
	Samples     scalar   `yaml:"samples"`
	Budget      scalar   `yaml:"budget"`
	Tail        tail     `yaml:"tail"`
	Undecided   scalar   `yaml:"undecided"`
	LockClocks  scalar   `yaml:"lock_clocks"`
}

type tail struct {
	P95  scalar `yaml:"p95"`
	P99  scalar `yaml:"p99"`
	Fail scalar `yaml:"fail"`
}

// key is a key that may be written, and how its text changes a policy.
type key struct {
	scalar
	read func(text string) error
}

// keys are all but the preset.
func (l limits) keys(p *gate.Policy) []key {
	keys := []key{
		{l.Regression, share(&p.Regression)}, {l.Improvement, share(&p.Improvement)}, {l.Effect, share(&p.Effect)},
		{l.Erosion, share(&p.Erosion)}, {l.Alarm, share(&p.Alarm)}, {l.Variation, share(&p.Variation)},
		{l.Tail.P95, share(&p.Tail.P95)}, {l.Tail.P99, share(&p.Tail.P99)}, {l.Tail.Fail, yes(&p.Tail.Fail)},
		{l.Samples, whole(&p.Samples)}, {l.Budget, duration(&p.Budget)},
		{l.Undecided, undecided(&p.Strict)}, {l.LockClocks, whole(&p.LockClocks)},
	}
	if l.Rounds != nil {
		p.Rounds = make([]int, len(l.Rounds))
		for i, analysis := range l.Rounds {
			keys = append(keys, key{analysis, whole(&p.Rounds[i])})
		}
	}
	return slices.DeleteFunc(keys, func(k key) bool { return !k.Given() })
}

// over returns a policy with these keys replaced. A mistake between keys is placed at
// the first of them: it has no better place.
func (l limits) over(p gate.Policy) (gate.Policy, error) {
	first := document.Place{Line: 1, Column: 1}
	if l.Preset.Given() {
		preset, ok := gate.Presets[l.Preset.Text]
		if !ok {
			return p, l.Preset.At.Errorf("no preset %q; there are %s", l.Preset.Text, strings.Join(gate.PresetNames(), ", "))
		}
		p, first = preset, l.Preset.At
	}
	for i, k := range l.keys(&p) {
		if err := k.read(k.Text); err != nil {
			return p, k.At.Errorf("%s", err)
		}
		if i == 0 && !l.Preset.Given() || k.At.Before(first) {
			first = k.At
		}
	}
	if err := p.Validate(); err != nil {
		return p, first.Errorf("%s", err)
	}
	return p, nil
}

// scalar is one plain value with its place.
type scalar = document.Scalar

// share reads a value such as 3% or 0.03.
func share(value *float64) func(string) error {
	return func(text string) (err error) {
		*value, err = page.ParseShare(text)
		return err
	}
}

func yes(value *bool) func(string) error {
	return func(text string) (err error) {
		if *value, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		return nil
	}
}

// undecided reads what becomes of a comparison that decides nothing.
func undecided(strict *bool) func(string) error {
	return func(text string) error {
		if *strict = text == "fail"; !*strict && text != "neutral" {
			return fmt.Errorf("undecided is %q: neutral or fail", text)
		}
		return nil
	}
}

// whole reads a number of at least 1.
func whole(value *int) func(string) error {
	return func(text string) (err error) {
		if *value, err = strconv.Atoi(text); err != nil || *value < 1 {
			return fmt.Errorf("%q is not a whole number of at least 1", text)
		}
		return nil
	}
}

func duration(value *time.Duration) func(string) error {
	return func(text string) (err error) {
		if *value, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("budget %q: a time such as 90s or 2m", text)
		}
		return nil
	}
}
