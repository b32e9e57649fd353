package reporting

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pawl/internal/escape"
)

// Cost is what a machine that was woken for a run has taken.
type Cost struct {
	Woke time.Time `json:"woke"`
	// Seconds is how long it has been awake.
	Seconds float64 `json:"seconds"`
	// PricePerHour is in Currency; 0 where it is not known.
	PricePerHour float64 `json:"price_per_hour,omitempty"`
	Currency     string  `json:"currency,omitempty"`
	// Asleep says that it was put to sleep, so that nothing will be added.
	Asleep bool `json:"asleep"`
}

// Until is what it has taken by then; nil stays nil, a machine of which nobody knows when it woke.
func (c *Cost) Until(now time.Time) *Cost {
	if c == nil {
		return nil
	}
	taken := *c
	taken.Seconds = max(0, now.Sub(c.Woke).Seconds())
	return &taken
}

// Line is one line of JSON, for a later step.
func (c Cost) Line() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("reporting: " + err.Error())
	}
	return string(text)
}

// String is a sentence without its full stop, for any page.
func (c Cost) String() string {
	verb := "has been awake for"
	if c.Asleep {
		verb = "was awake for"
	}
	text := fmt.Sprintf("the machine %s %s", verb,
		time.Duration(min(c.Seconds, 1e9)*float64(time.Second)).Round(time.Second))
	if c.PricePerHour > 0 {
		total := c.PricePerHour * c.Seconds / 3600
		text += fmt.Sprintf(", about %.2f %s at %.2f an hour", total, escape.Line(c.Currency), c.PricePerHour)
	}
	return text
}

// Markdown is the sentence for a page.
func (c Cost) Markdown() string {
	text := c.String()
	return escape.Markdown(strings.ToUpper(text[:1])+text[1:]) + "."
}
