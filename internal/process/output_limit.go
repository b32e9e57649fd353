package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Output reads what one program prints, keeps a part of it, and notices a flood. Its fields are
// set before the program is started. A nil Output is that of a program that prints nothing.
type Output struct {
	// Keep is how many bytes are kept: the first ones, or the last with Last.
	Keep int
	Last bool
	// Flood is how many bytes are too many if there are more. Zero means that none are.
	Flood int64
	// To gets all of it as it comes. Nil means nobody.
	To io.Writer

	once    sync.Once
	flooded chan struct{}
	// scrubbed says that texts have no secrets.
	scrubbed bool

	mu    sync.Mutex
	kept  []byte
	total int64
}

// Write takes some of what is printed. It never fails: a program does not fail because nobody
// can see what it prints.
func (o *Output) Write(some []byte) (int, error) {
	if o.To != nil {
		_, _ = o.To.Write(some)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.total
	o.total += int64(len(some))
	if o.Last {
		o.kept = append(o.kept, some...)
		o.kept = append(o.kept[:0], o.kept[max(0, len(o.kept)-o.Keep):]...)
	} else {
		o.kept = append(o.kept, some[:min(len(some), o.Keep-len(o.kept))]...)
	}
	if o.Flood > 0 && before <= o.Flood && o.total > o.Flood {
		close(o.signal())
	}
	return len(some), nil
}

// Recount begins to count anew, unless there was a flood: a program that stays may print a
// little for each of many requests.
func (o *Output) Recount() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total <= o.Flood {
		o.total = 0
	}
}

// Flooded is closed when too much was printed.
func (o *Output) Flooded() <-chan struct{} {
	if o == nil {
		return nil
	}
	return o.signal()
}

func (o *Output) signal() chan struct{} {
	o.once.Do(func() { o.flooded = make(chan struct{}) })
	return o.flooded
}

func (o *Output) isFlooded() bool {
	select {
	case <-o.Flooded():
		return true
	default:
		return false
	}
}

// Bytes returns what is kept.
func (o *Output) Bytes() []byte {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.kept)
}

// String returns what is kept, as a text for people: without this process's secrets, unless the program is one that
// needs them.
func (o *Output) String() string {
	text := string(o.Bytes())
	if o != nil && o.scrubbed {
		text = WithoutSecrets(text)
	}
	return text
}

// scrub has secrets taken out of texts, before the program is started.
func (o *Output) scrub() {
	if o != nil {
		o.scrubbed = true
	}
}

// Cut reports whether more was printed than is kept.
func (o *Output) Cut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total > int64(len(o.kept))
}

// LastLine returns the last line that is not empty: of a Python traceback, the error.
func (o *Output) LastLine() string {
	text := strings.TrimSpace(o.String())
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
