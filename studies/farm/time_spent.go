package farm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Spending says what was spent, in seconds by device.
func Spending(spent map[string]float64) string {
	return strings.Join(collect.Each(slices.Sorted(maps.Keys(spent)), func(device string) string {
		return fmt.Sprintf("%s %.1f s", device, spent[device])
	}), ", ")
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
