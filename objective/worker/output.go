package worker

import (
	"os"
	"sync"
)

// drain reads what a worker prints, keeps the end of it, and notices a flood.
type drain struct {
	flooded chan struct{}
	ended   chan struct{} // nobody is left who could print

	file  *os.File
	limit int64
	found *findings
	mu    sync.Mutex
	last  []byte
	total int64
}

// tailSize is how much of a worker's output is kept.
const tailSize = 4 << 10

func newDrain(file *os.File, limit int64, found *findings) *drain {
	d := &drain{flooded: make(chan struct{}), ended: make(chan struct{}), file: file, limit: limit, found: found}
	go d.run()
	return d
}

func (d *drain) run() {
	defer close(d.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := d.file.Read(buffer)
		if d.found != nil {
			_, _ = d.found.Write(buffer[:n]) // it cannot fail
		}
		d.mu.Lock()
		before := d.total
		d.total += int64(n)
		d.last = append(d.last, buffer[:n]...)
		if over := len(d.last) - tailSize; over > 0 {
			d.last = append(d.last[:0], d.last[over:]...)
		}
		if before <= d.limit && d.total > d.limit {
			close(d.flooded)
		}
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// begin counts anew: a worker that stays may print a little in each of many trials.
func (d *drain) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.total <= d.limit {
		d.total = 0
	}
}

func (d *drain) tail() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.last)
}

func (d *drain) close() { d.file.Close() }
