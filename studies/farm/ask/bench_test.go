package ask

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pawl/studies/farm/serve"
)

// What a trial costs beside its compilation and its measurement, which a record answers at
// once: two tasks, each filed, taken, answered and read. Four workers, one trial at a time and
// many.
func BenchmarkTrial(b *testing.B) {
	four := []serve.Options{{Lanes: 2}, {Lanes: 2}, {Lanes: 2}, {Lanes: 2}}
	for _, atOnce := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(atOnce, "AtOnce"), func(b *testing.B) {
			f := newFarm(b, four...)
			played, e := recorded(b, f, "bench")
			trial := func(i int) {
				prepared, err := e.Prepare(b.Context(), played.Pool().Point(i%played.Pool().Len()))
				if err == nil {
					_, err = e.Measure(b.Context(), prepared, 0)
				}
				if err != nil {
					b.Error(err)
				}
			}
			trial(0) // the record travels
			took := make([]float64, b.N)
			var running sync.WaitGroup
			b.ResetTimer()
			for first := range atOnce {
				running.Go(func() {
					for i := first; i < b.N; i += atOnce {
						start := time.Now()
						trial(i + 1)
						took[i] = 1e3 * time.Since(start).Seconds()
					}
				})
			}
			running.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
			b.ReportMetric(took[len(took)/10], "ms-tenth")
			b.ReportMetric(took[len(took)/2], "ms-median")
		})
	}
}
