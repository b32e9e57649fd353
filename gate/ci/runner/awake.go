package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"pawl/gate/reporting"
)

// Variable is the environment variable that tells a later step or job when the machine woke,
// as one line of JSON.
const Variable = "PAWL_MACHINE"

// Awake is what a later step needs to know. Its zero value is a machine of which nobody knows
// when it woke.
type Awake struct {
	Woke     time.Time `json:"woke"`
	Price    float64   `json:"price_per_hour,omitempty"`
	Currency string    `json:"currency,omitempty"`
}

// Text is one line of JSON.
func (a Awake) Text() string {
	text, err := json.Marshal(a)
	if err != nil {
		panic("runner: " + err.Error())
	}
	return string(text)
}

// FromEnvironment returns what an earlier step has passed on. It decides nothing but what a
// report says and when the guard's time is over; what cannot be read is a notice.
func FromEnvironment(getenv func(string) string, notice func(string)) (a Awake) {
	text := getenv(Variable)
	if text == "" {
		return a
	}
	err := json.Unmarshal([]byte(text), &a)
	if year := a.Woke.Year(); err == nil && (year < 2000 || year > 3000 || a.Price < 0 || a.Price >= 1e6 ||
		a.Currency != "" && !currency.MatchString(a.Currency)) {
		err = fmt.Errorf("%q makes no sense", text)
	}
	if err != nil {
		notice(fmt.Sprintf("%s is not used: %v", Variable, err))
		return Awake{}
	}
	return a
}

// Cost is what the machine has taken until now; nil where it is not known when it woke.
func (a Awake) Cost(now time.Time) *reporting.Cost {
	if a.Woke.IsZero() {
		return nil
	}
	return &reporting.Cost{
		Woke:         a.Woke.UTC(),
		Seconds:      max(0, now.Sub(a.Woke).Seconds()),
		PricePerHour: a.Price,
		Currency:     a.Currency,
	}
}
