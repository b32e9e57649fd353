package objective

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"pawl/internal/process"
	"pawl/objective/worker"
	"pawl/space"
)

// pauses are what lies between attempts at what the machine has not let happen: a kill at random is over at once, and
// memory that somebody else needs, or a disk that somebody empties, takes a while.
var pauses = []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second}

// machineFaults tries again what the machine has not let happen, and keeps what happened until an outcome carries it
// away. The zero machineFaults is ready.
type machineFaults struct {
	mu    sync.Mutex
	noted map[space.Point][]string
}

// persist does something for a point until the machine lets it, but not for ever. Do may be called several times, from
// its beginning. The error is then the machine's: nothing is known about the point. Where it may have been the kernel
// itself that ended its worker, the error is a *worker.Fault.
func (m *machineFaults) persist(ctx context.Context, point space.Point, do func() error) error {
	for attempt := 0; ; attempt++ {
		err := do()
		fault := process.FaultOfMachine(err)
		if fault == nil || ctx.Err() != nil {
			return err
		}
		m.note(point, fault)
		if attempt == len(pauses) {
			if own, ok := fault.Err.(*worker.Fault); ok {
				return own
			}
			return fmt.Errorf("the machine failed %d times, which says nothing about %s: %w", attempt+1, point, err)
		}
		select {
		case <-time.After(pauses[attempt]):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *machineFaults) note(point space.Point, fault *process.MachineFault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noted == nil {
		m.noted = map[space.Point][]string{}
	}
	m.noted[point] = append(m.noted[point], fault.Error())
}

// take returns what happened to a point since the last call.
func (m *machineFaults) take(point space.Point) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	noted := m.noted[point]
	delete(m.noted, point)
	return noted
}

// killedBefore are the beginnings of what earlier versions recorded of a worker, a program or a compiler that somebody
// else had killed.
var killedBefore = regexp.MustCompile(`^(SIGKILL, killed from outside|signal (1|2|3|15) \(|(killed|terminated|interrupt|` +
	`hangup|quit)( |$)|error: the compiler itself ended with signal: (killed|terminated|interrupt|hangup|quit))`)

// ByMachine reports whether a recorded failure tells of the machine, and not of its point. This version records none;
// earlier ones did.
func (f *Failure) ByMachine() bool {
	switch f.Reason {
	case string(worker.Crashed):
		return killedBefore.MatchString(f.Detail)
	case CompileError:
		return killedBefore.MatchString(f.Detail) || worker.KeptFromWork(f.Detail)
	case Damaged:
		return f.Detail == "it is gone"
	}
	return false
}
