package search

import (
	"errors"
	"slices"
	"testing"

	"pawl/search/trial"
)

// inFlight returns a pipeline with trials that are prepared or not, and a device that likes the
// last of those that it is offered.
func inFlight(asPrepared bool, prepared ...bool) *pipeline {
	p := &pipeline{
		options: Options{AsPrepared: asPrepared, Width: 2}, spending: &trial.Spending{},
		nextToMeasure: func(trials []trial.Trial) int { return len(trials) - 1 },
	}
	for i, is := range prepared {
		f := &flight{trial: trial.Trial{Number: i}, prepared: make(chan struct{})}
		if is {
			close(f.prepared)
		}
		p.flights = append(p.flights, f)
	}
	return p
}

// order takes flights one after the other until none can be taken.
func order(p *pipeline) []int {
	var numbers []int
	for f := p.choose(); f != nil; f = p.choose() {
		f.measured = make(chan struct{})
		numbers = append(numbers, f.trial.Number)
	}
	return numbers
}

func TestWhatIsMeasuredNext(t *testing.T) {
	broken := inFlight(true, false, true, true, true)
	broken.flights[2].err = errors.New("the compiler is gone")
	for _, test := range []struct {
		name string
		in   *pipeline
		want []int
	}{
		{"in the order asked by two devices", inFlight(false, true, true, true), []int{0, 1}},
		{"in the order asked, the first not prepared", inFlight(false, false, true, true), []int{1}},
		{"the largest acquisition", inFlight(true, false, true, false, true, true), []int{4, 3, 1}},
		{"the default comes first", inFlight(true, true, true, true), []int{0, 2, 1}},
		{"nothing is prepared", inFlight(true, false, false), nil},
		{"what ends the search comes first", broken, []int{2, 3, 1}},
	} {
		if got := order(test.in); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
