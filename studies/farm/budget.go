package farm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Price is what an hour of the devices with a label costs.
type Price struct {
	// Label is a part of a device's name in small letters, or Compiling.
	Label string  `json:"label"`
	Hour  float64 `json:"hour"`
}

// ParsePrice reads a price such as h200=3.50.
func ParsePrice(text string) (Price, error) {
	label, number, found := strings.Cut(text, "=")
	hour, err := strconv.ParseFloat(number, 64)
	if !found || label == "" || err != nil || !(hour >= 0) || hour > 1e6 {
		return Price{}, fmt.Errorf("--price %q: a label and the price of an hour, such as h200=3.50", text)
	}
	return Price{strings.ToLower(label), hour}, nil
}

// Budget is what a search may spend on a farm: devices' time, money, or both. What is in hand
// when it is spent, and the finalists' rounds, come on top.
type Budget struct {
	// Seconds are of devices: compilers do not count. Zero is no limit.
	Seconds float64 `json:"seconds,omitempty"`
	// Money is by the prices. Zero is no limit.
	Money  float64 `json:"money,omitempty"`
	Prices []Price `json:"prices,omitempty"`
}

// Used adds up seconds by device: of devices, and what all of it costs. Priced says that something has a price.
func (b Budget) Used(spent map[string]float64) (seconds, money float64, priced bool) {
	for device, each := range spent {
		if device != Compiling {
			seconds += each
		}
		if at := slices.IndexFunc(b.Prices,
			func(p Price) bool { return strings.Contains(strings.ToLower(device), p.Label) }); at >= 0 {
			money += each / 3600 * b.Prices[at].Hour
			priced = true
		}
	}
	return seconds, money, priced
}

// Over reports whether the budget is spent.
func (b Budget) Over(spent map[string]float64) bool {
	seconds, money, _ := b.Used(spent)
	return b.Seconds > 0 && seconds >= b.Seconds || b.Money > 0 && money >= b.Money
}

// Describe says what was spent, and what is left.
func (b Budget) Describe(spent map[string]float64) string {
	var parts []string
	for _, device := range slices.Sorted(maps.Keys(spent)) {
		parts = append(parts, fmt.Sprintf("%s %.1f s", device, spent[device]))
	}
	seconds, money, priced := b.Used(spent)
	if b.Seconds > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s left of %.1f s on devices", max(0, b.Seconds-seconds), b.Seconds))
	}
	switch {
	case b.Money > 0:
		parts = append(parts, fmt.Sprintf("cost %.2f, %.2f left of %.2f", money, max(0, b.Money-money), b.Money))
	case priced:
		parts = append(parts, fmt.Sprintf("cost %.2f", money))
	}
	return strings.Join(parts, ", ")
}

// Spent returns what a study has taken so far, in seconds by device.
func (s *Search) Spent(ctx context.Context) (spent map[string]float64, err error) {
	err = s.farm.persist(ctx, "adding up what was spent", func(ctx context.Context) error {
		return s.farm.pool.QueryRow(ctx, "SELECT "+spentSQL+" FROM searches s WHERE study = $1", s.head.Study).Scan(&spent)
	})
	return spent, err
}

// spentSQL adds up what a search s has taken, in seconds by device: of tasks that are here, and of those that were.
const spentSQL = `(SELECT coalesce(jsonb_object_agg(device, total), '{}') FROM (
	SELECT device, sum(seconds) AS total FROM (
		SELECT device, seconds FROM tasks t WHERE t.study = s.study AND device <> ''
		UNION ALL SELECT key, value::double precision FROM jsonb_each_text(s.seconds)) AS parts
	GROUP BY device) AS totals)`

// Over reports whether the budget was spent when that was last looked at, about a second ago.
func (s *Search) Over() bool { return s.over.Load() }

func (s *Search) account(ctx context.Context) error {
	if s.head.Budget.Seconds == 0 && s.head.Budget.Money == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, beatInterval)
	defer cancel()
	spent, err := s.Spent(ctx)
	if err == nil {
		s.over.Store(s.head.Budget.Over(spent))
	}
	return err
}
