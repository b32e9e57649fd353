package studies_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/search"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// instant answers at once: what is left of a trial's time is overhead.
type instant struct{}

func (instant) Width() int  { return 1 }
func (instant) Spare() bool { return false }

func (instant) Prepare(_ context.Context, p space.Point) (objective.Prepared, error) {
	return objective.Prepared{Point: p}, nil
}

func (instant) Measure(_ context.Context, p objective.Prepared, _ float64) (objective.Outcome, error) {
	// A smooth landscape with as many samples as a real trial has.
	sum := 0.0
	for i, a := range p.Point.Assignments() {
		sum += math.Abs(math.Log2(float64(2+len(a.Value.Define()))) - float64(i%3))
		sum += math.Abs(float64(a.Value.Integer()%7) - 3)
	}
	o := objective.Outcome{Batch: 1, Stop: objective.Precise}
	for i := range 20 {
		o.Samples = append(o.Samples, 1+sum+0.001*float64(i))
	}
	return o, nil
}

func (instant) Verify(context.Context, objective.Prepared) (*objective.Failure, error) {
	return nil, nil
}

func (instant) VerifyFor(context.Context, objective.Prepared, time.Duration) (bool, *objective.Failure, error) {
	return true, nil, nil
}

func (instant) Anticipate(context.Context, space.Point) error { return nil }

func (instant) Refresh() {}

func (i instant) Sample(ctx context.Context, p objective.Prepared, _ int) (objective.Outcome, error) {
	return i.Measure(ctx, p, 0)
}

// BenchmarkOverhead runs a study of 3,000 trials whose evaluations cost
// nothing, on the attention kernel's space and a real database, and reports the
// time per trial near the 10th, 100th, 1,000th and 3,000th, and the memory.
//
//	go test ./studies -run xxx -bench Overhead -benchtime 1x
func BenchmarkOverhead(b *testing.B) {
	k, err := kernels.Load("attention", kernels.Host)
	if err != nil {
		b.Fatal(err)
	}
	w, err := k.Workload("")
	if err != nil {
		b.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		b.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, sampler := range sampler.Names() {
		b.Run(sampler, func(b *testing.B) {
			for b.Loop() {
				overhead(b, pool, sampler)
			}
		})
	}
}

func overhead(b *testing.B, pool *space.Pool, sampler string) {
	store, err := studies.Open(b.Context(), filepath.Join(b.TempDir(), "studies.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	id, err := store.Create(b.Context(), studies.Study{Space: studies.NewSpaceFacts(pool), Created: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	var finished []time.Time
	_, err = search.Run(b.Context(), pool, instant{}, store.Recorder(id), trial.Past{}, search.Options{
		Sampler: sampler, Seed: 1, Goals: trial.Goals{Trials: 3000, Rounds: 1},
		Observe: func(p search.Progress) {
			if p.Trial != nil {
				finished = append(finished, time.Now())
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10, 100, 1000, 3000} {
		span := min(n/2, 50)
		per := finished[n-1].Sub(finished[n-1-span]).Seconds() / float64(span)
		b.ReportMetric(1000*per, fmt.Sprintf("ms/trial@%d", n))
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapInuse+memory.StackInuse)/1e6, "MB-in-use")
}
