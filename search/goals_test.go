package search_test

import (
	"flag"
	"testing"

	"pawl/search"
)

// Goals are read as people write them, and written so that they are read the same.
func TestGoalsAsText(t *testing.T) {
	for _, test := range []struct {
		goal       flag.Value
		text, want string
	}{
		{new(search.Speedup), "1.10x", "1.1x"}, {new(search.Speedup), "2", "2x"},
		{new(search.Speedup), "1x", ""}, {new(search.Speedup), "Inf", ""}, {new(search.Speedup), "", ""},
		{new(search.Share), "1%", "1%"}, {new(search.Share), "0.05", "5%"}, {new(search.Share), "2 %", "2%"},
		{new(search.Share), "7%", "7%"}, {new(search.Share), "100%", ""}, {new(search.Share), "no", ""},
	} {
		if err := test.goal.Set(test.text); (err != nil) != (test.want == "") || test.goal.String() != test.want {
			t.Errorf("%q is %q, %v; want %q", test.text, test.goal, err, test.want)
		}
	}
}
