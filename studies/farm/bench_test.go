package farm

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// What one server does for a task: all of it, with River's part, and the writing of answers
// alone. The difference is the queue's. Four workers that answer at once, 16 tasks in flight;
// ns/op is of a task.
func BenchmarkServer(b *testing.B) {
	const inFlight = 16
	each := func(b *testing.B, do func(name string) error) {
		var running sync.WaitGroup
		b.ResetTimer()
		for first := range inFlight {
			running.Go(func() {
				for i := first; i < b.N; i += inFlight {
					if err := do(strconv.Itoa(i)); err != nil {
						b.Error(err)
					}
				}
			})
		}
		running.Wait()
		b.StopTimer()
	}
	b.Run("Tasks", func(b *testing.B) {
		asking, working := newFarm(b)
		s := begin(b, asking, "one")
		for _, id := range []string{"a", "b", "c", "d"} {
			employ(b, open(b, working.options), id,
				func(_ context.Context, job Job) (Answer, error) { return missing(job.Point), nil })
		}
		ask := func(name string) error {
			_, err := s.Ask(b.Context(), "q", task(name), nil)
			return err
		}
		if err := ask("first"); err != nil {
			b.Fatal(err)
		}
		each(b, ask)
	})
	b.Run("Answers", func(b *testing.B) {
		asking, _ := newFarm(b)
		study := begin(b, asking, "one").head.Study
		if _, err := asking.pool.Exec(b.Context(),
			"INSERT INTO tasks (study, name, job) SELECT $2, n::text, n FROM generate_series(0, $1) AS n", b.N,
			study); err != nil {
			b.Fatal(err)
		}
		each(b, func(name string) error {
			return asking.transact(b.Context(), beginDurable, func(pgx.Tx) (*pgx.Batch, error) {
				last := &pgx.Batch{}
				return last,
					asking.answer(last, study, name, missing(name),
						writer{machine: "a", identity: "a", device: "q", attempt: 1, seconds: 1})
			})
		})
	})
}
