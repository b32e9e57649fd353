package farm

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// A study that asks for little has its turn beside one that asks for much, one of a higher
// priority goes before both, and one that comes later has no claim to what it missed.
func TestStudiesShareFairly(t *testing.T) {
	asking, working := newFarm(t)
	var mu sync.Mutex
	var order []string
	names := map[string]string{} // by what identifies a study on the farm
	served := func(study string, among int) (n int) {
		for _, s := range order[:among] {
			if s == study {
				n++
			}
		}
		return n
	}
	var asked sync.WaitGroup
	ask := func(study string, priority, tasks int) {
		s, err := asking.Begin(t.Context(), Head{Study: study, Title: study, Priority: priority})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		names[s.head.Study] = study
		mu.Unlock()
		t.Cleanup(func() {
			if err := s.End(context.Background(), true); err != nil {
				t.Error(err)
			}
		})
		before := count(t, asking, "SELECT count(*) FROM river_job")
		for i := range tasks {
			asked.Go(func() {
				if _, err := s.Ask(context.Background(), "q", task(fmt.Sprint(i)), nil); err != nil {
					t.Error(err)
				}
			})
		}
		await(t, func() bool { return count(t, asking, "SELECT count(*) FROM river_job") == before+tasks })
	}
	ask("much", SearchPriority, 40)
	ask("little", SearchPriority, 5)
	ask("gate", GatePriority, 5)
	employ(t, working, "a", func(_ context.Context, job Job) (Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, names[job.Study])
		return missing("x"), nil
	})
	asked.Wait()
	if served("gate", 5) != 5 || served("little", 15) < 4 || served("much", 15) < 4 {
		t.Errorf("the order was %v", order)
	}
	// The queue is at the fortieth turn: who comes now shares from there.
	order = nil
	ask("late", SearchPriority, 2)
	asked.Wait()
	late := ""
	for id, name := range names {
		if name == "late" {
			late = id
		}
	}
	if tag := count(t, asking,
		"SELECT extract(epoch FROM max(scheduled_at) - '2000-01-01T00:00:00Z')::float8 * 1000 FROM river_job WHERE "+
			"args->>'study' = '"+late+"'"); tag < 39 {
		t.Errorf("a late study begins at turn %d", tag)
	}
}
