package worker

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Devices do not wait for each other's workers to start: both are warmed up at the same time, in a search
// and in rounds.
func TestDevicesStartTheirWorkersAtTheSameTime(t *testing.T) {
	for _, rounds := range []bool{false, true} {
		var residents Residents
		if rounds {
			residents.Refresh()
		}
		var both sync.WaitGroup
		both.Add(2)
		var met sync.Map
		source := residents.Warm(func(_ context.Context, slot Slot, _ *Client) error {
			if _, again := met.LoadOrStore(slot.Device, true); !again {
				both.Done()
				both.Wait()
			}
			return nil
		})
		done := make(chan error, 2)
		for _, device := range []string{"one", "other"} {
			go func() {
				s, err := source.Take(t.Context(), Slot{Device: device, Worker: Command{Device: "polite"}}, time.Minute)
				if err == nil {
					s.Client.Close()
				}
				done <- err
			}()
		}
		for range 2 {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("one device waits for the other")
			}
		}
		residents.End()
	}
}
