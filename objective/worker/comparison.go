package worker

import "strconv"

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

// Real is a number that may be infinite or not a number at all, which JSON has no
// number for: it travels as text.
type Real float64

// MarshalText writes all digits.
func (r Real) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (r *Real) UnmarshalText(text []byte) error {
	value, err := strconv.ParseFloat(string(text), 64)
	*r = Real(value)
	return err
}
