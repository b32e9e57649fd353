package sampler

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"pawl/space"
)

// BenchmarkAsk is one ask in the course of a study: the sampler has seen the
// observations before, and one more has come in. Refits are among the asks, so
// the longest counts as much as the mean.
func BenchmarkAsk(b *testing.B) {
	pool := benchmarkPool(b)
	for _, name := range Names() {
		for _, observed := range []int{50, 100, 200, 500, 1000, 3000} {
			b.Run(fmt.Sprintf("%s/%d", name, observed), func(b *testing.B) {
				sampler, err := New(name, pool.Space(), Defaults())
				if err != nil {
					b.Fatal(err)
				}
				view := benchmarkView(pool, observed)
				// The first ask of a sampler is measured below.
				sampler.Next(view, rand.New(rand.NewPCG(1, 0)))
				b.ReportAllocs()
				var watch stopwatch
				for b.Loop() {
					rng := rand.New(rand.NewPCG(1, uint64(len(view.Observations))))
					index := 0
					watch.time(func() { index = sampler.Next(view, rng) })
					view.Ask(index)
					view.Observe(Observation{Index: index, Milliseconds: benchmarkTime(pool, index)})
				}
				watch.report(b)
			})
		}
	}
}

// BenchmarkAskInFlight is one ask of a study with sixteen trials in flight: the oldest
// is answered, and another is asked.
func BenchmarkAskInFlight(b *testing.B) {
	pool := benchmarkPool(b)
	for _, name := range []string{"gp", "auto"} {
		b.Run(name+"/200", func(b *testing.B) {
			sampler, err := New(name, pool.Space(), Defaults())
			if err != nil {
				b.Fatal(err)
			}
			view := benchmarkView(pool, 200)
			var watch stopwatch
			for ask := 0; b.Loop(); ask++ {
				rng := rand.New(rand.NewPCG(1, uint64(ask)))
				index := 0
				next := func() { index = sampler.Next(view, rng) }
				if ask < 16 { // it fills up, and the first ask remembers nothing
					next()
				} else {
					watch.time(next)
					oldest := view.Pending[0]
					view.Observe(Observation{Index: oldest, Milliseconds: benchmarkTime(pool, oldest)})
				}
				view.Ask(index)
			}
			watch.report(b)
		})
	}
}

// BenchmarkAskHuge is one ask on 10⁹ points, 200 observed and sixteen in flight.
func BenchmarkAskHuge(b *testing.B) {
	pool := hugePool(b).Growing()
	sampler, err := New("auto", pool.Space(), Defaults())
	if err != nil {
		b.Fatal(err)
	}
	view := NewView(pool)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		index := RandomFree(view, rng)
		view.Ask(index)
		view.Observe(Observation{Index: index, Milliseconds: hugeTime(pool.Row(index))})
	}
	var watch stopwatch
	for ask := 0; b.Loop(); ask++ {
		index := 0
		next := func() { index = sampler.Next(view, rand.New(rand.NewPCG(1, uint64(ask)))) }
		if ask < 16 {
			next()
		} else {
			watch.time(next)
			oldest := view.Pending[0]
			view.Observe(Observation{Index: oldest, Milliseconds: hugeTime(pool.Row(oldest))})
		}
		index = pool.Keep(index)
		pool.Forget()
		view.Ask(index)
	}
	watch.report(b)
}

// BenchmarkAskKinds is one ask in a study of 200 trials of 5 ms each, on spaces of every kind, and its share of the
// time.
func BenchmarkAskKinds(b *testing.B) {
	powers := func(count, values int) (params []space.Param) {
		for i := range count {
			p := space.Param{Name: fmt.Sprintf("P%d", i), Ordered: true}
			for v := range values {
				p.Values = append(p.Values, space.IntegerValue(1<<v))
			}
			p.Default = p.Values[0]
			params = append(params, p)
		}
		return params
	}
	for _, kind := range []struct {
		name        string
		params      []space.Param
		constraints []string
	}{
		{"tiny", powers(2, 4), nil},
		{"dense", powers(7, 8), nil},
		{"sparse", powers(9, 8), []string{"P0 == P1", "P2 == P3", "P4 == P5", "P6 * P7 <= 4", "P8 <= 4",
			"P0 * P2 * P4 <= 64"}},
		{"sparse, known late", powers(9, 8), []string{
			"(P0 + P1 + P2 + P3 + P4 + P5 + P6 + P7 + P8) % 5 == 4 && P0 * P1 * P2 * P3 * P4 * P5 * P6 * P7 * P8 <= 4096"}},
		{"1e9", powers(10, 8), nil},
		{"conditional", powers(8, 6), []string{"P0 > 1 || P1 == 1 && P2 == 1", "P3 > 1 || P4 == 1", "P5 > 1 || P6 == P7"}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			s := constrained(b, kind.params, kind.constraints)
			sampled, err := s.Pool(space.PoolOptions{})
			if err != nil {
				b.Fatal(err)
			}
			var watch stopwatch
			const trial = 5 * time.Millisecond
			for b.Loop() {
				pool := sampled.Growing()
				view := NewView(pool)
				sampler, err := New("auto", s, Defaults())
				if err != nil {
					b.Fatal(err)
				}
				for ask := range min(200, pool.Len()) {
					index := 0
					watch.time(func() { index = sampler.Next(view, rand.New(rand.NewPCG(1, uint64(ask)))) })
					index = pool.Keep(index)
					pool.Forget()
					view.Ask(index)
					view.Observe(Observation{Index: index, Milliseconds: 1 + float64(index%97), Seconds: trial.Seconds()})
				}
			}
			watch.report(b)
			b.ReportMetric(100*watch.sum.Seconds()/(watch.sum+time.Duration(watch.count)*trial).Seconds(), "%-of-time")
		})
	}
}

// constrained is a space of integers.
func constrained(t testing.TB, params []space.Param, constraints []string) *space.Space {
	t.Helper()
	kinds := map[string]space.Kind{}
	for _, p := range params {
		kinds[p.Name] = space.Integer
	}
	scope, err := space.NewScope(kinds, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*space.Expression
	for _, text := range constraints {
		expression, err := scope.Compile(text, space.Condition)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, expression)
	}
	s, err := space.New(params, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkFirstAsk is one ask of a sampler that remembers nothing, as after an
// interruption.
func BenchmarkFirstAsk(b *testing.B) {
	pool := benchmarkPool(b)
	for _, name := range Names() {
		for _, observed := range []int{200, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, observed), func(b *testing.B) {
				view := benchmarkView(pool, observed)
				var watch stopwatch
				for b.Loop() {
					sampler, err := New(name, pool.Space(), Defaults())
					if err != nil {
						b.Fatal(err)
					}
					watch.time(func() { sampler.Next(view, rand.New(rand.NewPCG(1, 1))) })
				}
				watch.report(b)
			})
		}
	}
}

// stopwatch keeps the processor time of asks: on a machine with other work the
// wall clock says how busy that is.
type stopwatch struct {
	sum, longest time.Duration
	count        int
}

func (s *stopwatch) time(ask func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	ask()
	spent := threadTime() - start
	s.sum += spent
	s.longest = max(s.longest, spent)
	s.count++
}

func (s *stopwatch) report(b *testing.B) {
	b.ReportMetric(s.sum.Seconds()*1e3/float64(max(s.count, 1)), "cpu-ms/ask")
	b.ReportMetric(s.longest.Seconds()*1e3, "cpu-ms-longest")
}

// threadTime is the processor time that this thread has used.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD, which package syscall does not name
	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		panic(fmt.Sprintf("search: reading the thread's time: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// benchmarkPool has 20,480 points over ten parameters.
func benchmarkPool(b *testing.B) *space.Pool {
	return poolOf(b,
		ordered("A", 16, 32, 48, 64), ordered("B", 1, 2, 4, 8, 16), ordered("C", 1, 2, 3, 4), ordered("D", 0, 1),
		ordered("E", 0, 1), ordered("F", 8, 16), ordered("G", 8, 16), ordered("H", 1, 2, 4, 8), ordered("I", 0, 1),
		ordered("J", 0, 1, 2, 4))
}

func benchmarkTime(pool *space.Pool, index int) float64 {
	time := 1.0
	for i, value := range pool.Row(index) {
		time += 0.1 * float64((int(value)-i%3)*(int(value)-i%3))
	}
	return time
}

func benchmarkView(pool *space.Pool, observed int) *View {
	view := NewView(pool)
	rng := rand.New(rand.NewPCG(1, 2))
	for range observed {
		index := RandomFree(view, rng)
		view.Ask(index)
		view.Observe(Observation{Index: index, Milliseconds: benchmarkTime(pool, index), Failed: rng.IntN(20) == 0})
	}
	return view
}
