package trial

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"pawl/internal/page"
)

// Goals say how far a study goes. A resumed study goes on towards its old goals unless it is given others.
// A tag "flag" names the flag of pawl tune that sets the field, and that it is recorded by.
type Goals struct {
	// Trials is the largest number of trials; 0 means no limit.
	Trials int `flag:"trials"`
	// Budget is the active time for search and confirmation together; 0 means
	// no limit. The search gets the part that the confirmation does not need.
	Budget time.Duration `flag:"budget"`
	// Target ends the search once a point is this many times as fast as the
	// default, such as 1.1; 0 means no target.
	Target Speedup `flag:"target"`
	// Regret ends the search once the model says that at most this share of the best time is left to
	// gain, such as 0.01, and points drawn at random say nothing else; 0 means never. See sampler.EstimateRegret.
	Regret Share `flag:"regret"`
	// Finalists is the number of points that are confirmed. Zero means 5.
	Finalists int `flag:"finalists"`
	// Rounds is the number of rounds of confirmation. Zero means 10.
	Rounds int `flag:"rounds"`
}

// Speedup is a ratio of times above 1, written 1.1x; 0 is none.
type Speedup float64

func (s Speedup) String() string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(s), 'g', -1, 64) + "x"
}

// Set reads a speedup such as 1.10x; an error says what is wanted.
func (s *Speedup) Set(text string) error {
	value, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(value > 1) || math.IsInf(value, 0) {
		return errors.New("a speedup above 1, such as 1.10x")
	}
	*s = Speedup(value)
	return nil
}

// Share is a part of a whole between 0 and 1, written 1%; 0 is none.
type Share float64

func (s Share) String() string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(s), 'g', 12, 64) + "%"
}

// Set reads a share such as 1% or 0.01; an error says what is wanted.
func (s *Share) Set(text string) error {
	value, err := page.ParseShare(text)
	if err != nil || value == 0 || value == 1 {
		return errors.New("a share between 0 and 1, such as 1%")
	}
	*s = Share(value)
	return nil
}
