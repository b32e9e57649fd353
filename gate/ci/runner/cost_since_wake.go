package runner

import (
	"encoding/json"
	"fmt"

	"pawl/gate/reporting"
)

// Variable is the environment variable that tells a later step or job when the machine woke,
// as one line of JSON.
const Variable = "PAWL_MACHINE"

// FromEnvironment returns what an earlier step has passed on; nil where it is not known when the
// machine woke. It decides nothing but what a report says and when the guard's time is over; what cannot
// be read is a notice.
func FromEnvironment(getenv func(string) string, notice func(string)) *reporting.Cost {
	text := getenv(Variable)
	if text == "" {
		return nil
	}
	var c reporting.Cost
	err := json.Unmarshal([]byte(text), &c)
	if year := c.Woke.Year(); err == nil && (year < 2000 || year > 3000 || c.PricePerHour < 0 || c.PricePerHour >= 1e6 ||
		c.Currency != "" && !currency.MatchString(c.Currency)) {
		err = fmt.Errorf("%q makes no sense", text)
	}
	if err != nil {
		notice(fmt.Sprintf("%s is not used: %v", Variable, err))
		return nil
	}
	return &c
}
