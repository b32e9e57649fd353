package worker

import (
	"encoding/json"
	"math"
	"strconv"
)

// Comparison is how one output differs from the reference's, found by the
// device itself.
type Comparison struct {
	// Argument is the output's name.
	Argument string `json:"argument"`
	// Bad of Total elements are outside the tolerance; First is the first.
	Bad   int64 `json:"bad"`
	Total int64 `json:"total"`
	First int64 `json:"first,omitempty"`
	// Got and Want are what the kernel and the reference say there.
	Got  string `json:"got,omitempty"`
	Want string `json:"want,omitempty"`
	// Worst is the largest error, infinite where a result is not a number.
	Worst Real `json:"worst,omitempty"`
	// Share is the largest error as a share of what is allowed there, where a run
	// is asked for it by Bitwise.
	Share Real `json:"share,omitempty"`
	// Undefined is the number of elements where the reference itself is not
	// finite: the oracle is broken.
	Undefined int64 `json:"undefined,omitempty"`
}

// Real is a number that may be infinite or not a number at all, which JSON
// cannot say.
type Real float64

// MarshalJSON writes what is not finite as text.
func (r Real) MarshalJSON() ([]byte, error) {
	text := strconv.FormatFloat(float64(r), 'g', -1, 64)
	if math.IsNaN(float64(r)) || math.IsInf(float64(r), 0) {
		text = strconv.Quote(text)
	}
	return []byte(text), nil
}

// UnmarshalJSON reads either form.
func (r *Real) UnmarshalJSON(encoded []byte) error {
	text := string(encoded)
	if len(text) > 0 && text[0] == '"' {
		if err := json.Unmarshal(encoded, &text); err != nil {
			return err
		}
	}
	value, err := strconv.ParseFloat(text, 64)
	*r = Real(value)
	return err
}
