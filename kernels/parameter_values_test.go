package kernels

import (
	"strings"
	"testing"

	"pawl/space"
)

func TestRangesOfValues(t *testing.T) {
	for text, want := range map[string]string{
		"1..4":             "1 2 3 4",
		"-1..1":            "-1 0 1",
		"1..10 step 4":     "1 5 9",
		"2^4..2^7":         "16 32 64 128",
		"2^0..2^6 step 3":  "1 8 64",
		"0..1 step 0.25":   "0.0 0.25 0.5 0.75 1.0",
		"0.1..10 log 3":    "0.1 1.0 10.0",
		"1..1000 log 4":    "1 10 100 1000",
		"1e-3..1e-1 log 3": "0.001 0.01 0.1",
		" 1 .. 3 ":         "1 2 3",
	} {
		values, err := expand(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := joined(values); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "1", "..", "4..1", "1..1", "1..1001", "2^1..3^4", "2^1..4", "0..1 log 3",
		"1..2 log 1", "1..2 log 2.5", "1..5 step -1", "1..2 step 0", "1..2 by 3", "1...3", "nan..2", "1..9e999", "1.2.3..4"} {
		if values, err := expand(text); err == nil {
			t.Errorf("%q is a range: %s", text, joined(values))
		}
	}
}

// FuzzRange: whatever is written, a range ends in an error or in values that a space takes.
func FuzzRange(f *testing.F) {
	for _, text := range []string{"1..4", "2^4..2^10", "0.1..10 log 9", "1..64 step 4", "1..9e99", "-5..-1 step 0.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := expand(text)
		if err != nil {
			return
		}
		p := space.Param{Name: "X", Values: values, Default: values[0], Ordered: true}
		if _, err := space.New([]space.Param{p}, nil, nil); err != nil && !strings.Contains(err.Error(), "twice") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func joined(values []space.Value) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.String())
	}
	return strings.Join(texts, " ")
}
