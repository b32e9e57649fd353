package search

import "time"

// Spending is where a study's time went. Compiling is not among it: it runs
// beside the rest, in lanes of its own, and is felt as Waiting.
type Spending struct {
	// Asking is the sampler's time.
	Asking time.Duration `json:"asking"`
	// Waiting is the time in which the device had nothing to do because the
	// next point was not compiled yet.
	Waiting time.Duration `json:"waiting"`
	// Looking is the time in which the device would have waited too, and got checks
	// ready or looked at the leaders again.
	Looking time.Duration `json:"looking,omitempty"`
	// Device is the time in which points were checked and measured.
	Device time.Duration `json:"device"`
	// Storing is the time for making results durable.
	Storing time.Duration `json:"storing"`
	// Confirming is everything after the search.
	Confirming time.Duration `json:"confirming"`
}

// timed adds the time of an action to one of the fields.
func timed(field *time.Duration, do func() error) error {
	start := time.Now()
	err := do()
	*field += time.Since(start)
	return err
}
