package search

import (
	"math"
	"time"
)

// Depth says how many trials are worth having in flight, asked and not yet finished.
//
// A device that takes of the compiled points the one with the largest acquisition by the answers so far
// has the more to choose from the more there are, and compilers have nothing better to do: where time is
// what is limited, all that are allowed. Where trials are, few at first: a device without anything better
// to do measures what was asked without an answer, and each of those is a trial.
//
// A device that takes them in the order asked measures each by what was known when it was asked.
// Every trial in flight is one that was asked without the answers of the others: a
// search with 16 in flight finds after 50 trials what one without any finds after 34
// (docs/search.md). So none is asked that would only wait. A device that takes a point
// every so often is kept busy by so many compilers and no more. And while nothing is
// known, the first few points teach the model as much as many would.
type Depth struct {
	// Most is the largest number in flight.
	Most int
	// Width is the number of points that are measured at once.
	Width int
	// Chosen says that a device takes the compiled point with the largest acquisition. Several devices
	// together take more than one, so that less is left to choose from, and count as if they did not.
	Chosen bool
	// Timed says that time alone limits the search.
	Timed bool
}

// What has won by measurement.
const (
	// firstAhead is the number in flight before anything has finished. For each trial that has there is one more.
	firstAhead = 5
	// chosenAhead is that number where a device chooses and trials are limited. For every third that has there is one
	// more.
	chosenAhead = 4
	// compilerSlack is how many times as many points are being compiled as a device needs on
	// average: points differ, and a device that waits is dearer than a stale question.
	compilerSlack = 2.0
	// trustedCosts is the number of finished trials from which on their times count.
	trustedCosts = 5
)

// The numbers of trials in flight: of a processor, which measures a point in about the
// time that it takes to compile one, of an accelerator, which measures one in a
// fiftieth of that, and at most on a farm.
const (
	DefaultAhead     = 8
	AcceleratorAhead = 16
	FarmAhead        = 64
)

// At returns the number in flight after some trials have finished that took so long to
// compile, and to check and measure, all together. It looks at recorded times, not at
// the clock, so that a resumed study asks as the undisturbed one.
func (d Depth) At(finished int, compiling, measuring time.Duration) int {
	if d.Chosen && d.Width == 1 {
		if d.Timed {
			return d.Most
		}
		return min(d.Most, chosenAhead+finished/3)
	}
	depth := min(d.Most, max(firstAhead, d.Width+1)+finished)
	if finished >= trustedCosts && measuring > 0 {
		compilers := math.Ceil(min(compilerSlack*float64(d.Width)*float64(compiling)/float64(measuring), float64(d.Most)))
		depth = min(depth, d.Width+max(1, int(compilers)))
	}
	return max(1, depth)
}

// Lanes returns how many of at most so many trials some compilers can use: one each,
// and one that is measured meanwhile.
func Lanes(most, lanes int) int { return min(most, lanes+1) }
