package farm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pawl/internal/collect"
)

// Compiling is what the time of compilers is counted as, beside the names of devices.
const Compiling = "compiling"

// Status is a farm at a glance.
type Status struct {
	Machines []Machine      `json:"machines"`
	Searches []SearchStatus `json:"searches"`
	Queues   []QueueStatus  `json:"queues"`
	// LastMinute is how many tasks of searches that are not over were answered in it.
	LastMinute int `json:"last_minute"`
	// Stored is how many bytes the files in the farm have.
	Stored int64 `json:"stored"`
}

// SearchStatus is a search at a glance, its fields in the order in which Status selects them.
type SearchStatus struct {
	Study    string `json:"study"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	// State is asking, ended, or silent where who asked is gone.
	State    string        `json:"state"`
	Age      time.Duration `json:"age"`
	Answered int           `json:"answered"`
	Open     int           `json:"open"`
	// Seconds are what was spent, by the device's name or Compiling.
	Seconds map[string]float64 `json:"seconds"`
}

// QueueStatus is a queue at a glance.
type QueueStatus struct {
	Name    string `json:"name"`
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
}

// Status looks at the farm. Machines and searches of the last day are shown.
func (f *Farm) Status(ctx context.Context) (s Status, err error) {
	if s.Machines, err = f.Machines(ctx, 24*time.Hour); err != nil {
		return s, err
	}
	s.Searches, err = gather(ctx, f.pool, pgx.RowToStructByPos[SearchStatus], `SELECT s.study, s.title, s.priority,
			CASE WHEN s.ended IS NOT NULL THEN 'ended' WHEN s.heartbeat < now() - $1::interval THEN 'silent' ELSE 'asking' END,
			now() - s.started,
			s.finished + (SELECT count(*) FROM tasks t WHERE t.study = s.study AND t.answer IS NOT NULL),
			CASE WHEN s.ended IS NULL THEN (SELECT count(*) FROM tasks t WHERE t.study = s.study AND t.answer IS NULL)
			ELSE 0 END, `+spentSQL+`
		FROM searches s WHERE s.title NOT LIKE 'opening %' AND s.heartbeat > now() - interval '1 day' ORDER BY s.started`,
		Silence)
	if err != nil {
		return s, f.explain("looking at the searches", err)
	}
	return s, f.explain("looking at the queues", f.queues(ctx, &s))
}

func (f *Farm) queues(ctx context.Context, s *Status) (err error) {
	s.Queues, err = gather(ctx, f.pool, pgx.RowToStructByPos[QueueStatus],
		`SELECT queue, count(*) FILTER (WHERE state <> 'running'), count(*) FILTER (WHERE state = 'running')
		FROM river_job WHERE state IN ('available', 'retryable', 'scheduled', 'running') GROUP BY queue ORDER BY queue`)
	if err != nil {
		return err
	}
	return f.pool.QueryRow(ctx,
		`SELECT (SELECT count(*) FROM tasks WHERE finished > now() - interval '1 minute'),
		(SELECT coalesce(sum(size), 0)::bigint FROM blobs)`).Scan(
		&s.LastMinute, &s.Stored)
}

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
