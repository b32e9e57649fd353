package driver

import "unsafe"

// Stream, Event, Graph and Executable are handles of the driver.
type (
	Stream uintptr
	Event  uintptr
	// Graph is a recorded sequence of launches; Executable is ready to run.
	Graph      uintptr
	Executable uintptr
)

// nonBlocking makes a stream that does not wait for the default one.
const nonBlocking = 1

// NewStream returns a stream.
func (c *Context) NewStream() (s Stream, err error) {
	err = c.do("cuStreamCreate", uintptr(unsafe.Pointer(&s)), nonBlocking)
	return s, err
}

// Wait waits until everything in the stream is done.
func (c *Context) Wait(s Stream) error {
	return c.do("cuStreamSynchronize", uintptr(s))
}

// captureThread limits a capture to this thread's calls.
const captureThread = 1

// Capture records what do launches into the stream and makes it executable.
func (c *Context) Capture(s Stream, do func() error) (x Executable, err error) {
	if err := c.do("cuStreamBeginCapture_v2", uintptr(s), captureThread); err != nil {
		return 0, err
	}
	failed := do()
	var g Graph
	if err := c.do("cuStreamEndCapture", uintptr(s), uintptr(unsafe.Pointer(&g))); err != nil && failed == nil {
		failed = err
	}
	if failed != nil {
		if g != 0 {
			_ = c.do("cuGraphDestroy", uintptr(g)) // the first failure is reported
		}
		return 0, failed
	}
	err = c.do("cuGraphInstantiateWithFlags", uintptr(unsafe.Pointer(&x)), uintptr(g), 0)
	if destroyErr := c.do("cuGraphDestroy", uintptr(g)); err == nil {
		err = destroyErr
	}
	return x, err
}

// LaunchGraph starts a graph.
func (c *Context) LaunchGraph(x Executable, s Stream) error {
	return c.do("cuGraphLaunch", uintptr(x), uintptr(s))
}

// DestroyGraph frees a graph.
func (c *Context) DestroyGraph(x Executable) error {
	return c.do("cuGraphExecDestroy", uintptr(x))
}

// NewEvent returns an event that keeps the time.
func (c *Context) NewEvent() (e Event, err error) {
	err = c.do("cuEventCreate", uintptr(unsafe.Pointer(&e)), 0)
	return e, err
}

// Record puts an event into the stream.
func (c *Context) Record(e Event, s Stream) error {
	return c.do("cuEventRecord", uintptr(e), uintptr(s))
}

// Between waits for the later event and returns the milliseconds since the
// earlier one.
func (c *Context) Between(earlier, later Event) (float64, error) {
	if err := c.do("cuEventSynchronize", uintptr(later)); err != nil {
		return 0, err
	}
	var milliseconds float32
	err := c.do("cuEventElapsedTime", uintptr(unsafe.Pointer(&milliseconds)), uintptr(earlier), uintptr(later))
	return float64(milliseconds), err
}
