package inputs

import (
	"runtime"
	"sync"

	"pawl/kernels/arguments"
)

// FillLaunches gives a renewed input a content for each of some launches, on all cores. Memory is that of a launch.
func (s *Source) FillLaunches(b arguments.Binding, pool uint64, seeds []uint64, memory func(int) []byte) error {
	renewal, drawn := RenewalOf(b)
	if renewal == Refilled {
		for launch, seed := range seeds {
			if err := s.Fill(memory(launch), b, seed); err != nil {
				return err
			}
		}
		return nil
	}
	from := make([]byte, drawn.Bytes())
	if err := s.Fill(from, drawn.Binding, pool); err != nil {
		return err
	}
	lanes := min(runtime.GOMAXPROCS(0), len(seeds))
	var done sync.WaitGroup
	for lane := range lanes {
		done.Go(func() {
			for launch := lane; launch < len(seeds); launch += lanes {
				drawn.Draw(memory(launch), from, drawn.Stream(seeds[launch]))
			}
		})
	}
	done.Wait()
	return nil
}
