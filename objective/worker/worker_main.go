package worker

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"

	"pawl/internal/process"
)

// The environment of a worker: which device it serves, and how much memory it may allocate.
const (
	deviceVariable = "PAWL_WORKER"
	memoryVariable = "PAWL_WORKER_MEMORY"
)

// The pipes of a worker, after standard input, output and error.
const (
	requestPipe  = 3
	responsePipe = 4
)

// ResponseDescriptor is the file descriptor that a device's fault handler
// writes its last frame to.
const ResponseDescriptor = responsePipe

// Main turns the process into a worker if it was started as one, and never
// returns then. Programs and test binaries that start workers call it first.
func Main(devices map[string]func() Device) {
	name := os.Getenv(deviceVariable)
	if name == "" {
		return
	}
	open, ok := devices[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "worker: no device %q\n", name)
		os.Exit(3)
	}
	memory, _ := strconv.ParseUint(os.Getenv(memoryVariable), 10, 64) // not set: any
	process.Limit(memory)
	// A collection in the middle of a sample is noise, and a worker is short.
	debug.SetGCPercent(400)
	runtime.LockOSThread()
	requests := os.NewFile(requestPipe, "requests")
	responses := os.NewFile(responsePipe, "responses")
	err := serve(requests, responses, open())
	if errors.Is(err, errEnded) {
		os.Exit(4)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// mostAhead is how many requests a client may send before it reads an answer.
const mostAhead = 32

// serve answers requests until the pipe ends. Requests are read ahead by a
// goroutine of their own, because the end of the pipe means that the client is
// gone: then the process must end even while a kernel is running. It has room for
// all that may come, so that it always gets to the end.
func serve(in io.Reader, out io.Writer, device Device) error {
	requests := make(chan request, mostAhead)
	ended := make(chan error, 1)
	go func() {
		reader := bufio.NewReader(in)
		for {
			var r request
			if err := readFrame(reader, &r); err != nil {
				if err == io.EOF && isRequestPipe(in) {
					os.Exit(0)
				}
				ended <- err
				return
			}
			requests <- r
		}
	}()
	for {
		select {
		case err := <-ended:
			if err == io.EOF {
				return nil
			}
			return err
		case r := <-requests:
			if err := answer(out, device, r); err != nil {
				return err
			}
		}
	}
}

// isRequestPipe reports whether in is the real pipe of a worker process, whose
// end ends the process, and not a test's reader.
func isRequestPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && f.Fd() == requestPipe
}

func answer(out io.Writer, device Device, r request) error {
	reply, err := serveRequest(device, r)
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		return cmp.Or(writeFrame(out, response{Nonce: r.Nonce, Ended: fault}), errEnded)
	case err != nil:
		_, refused := errors.AsType[syscall.Errno](err)
		return writeFrame(out, response{Nonce: r.Nonce, Error: err.Error(), Refused: refused})
	}
	reply.Nonce = r.Nonce
	for _, output := range reply.Outputs {
		reply.Sizes = append(reply.Sizes, len(output))
	}
	return writeFrame(out, reply, reply.Outputs...)
}

func serveRequest(device Device, r request) (reply response, err error) {
	switch {
	case r.Load != nil:
		reply.Regions, err = device.Load(*r.Load)
	case r.Run != nil:
		reply.Result, err = device.Run(*r.Run)
	case r.Time != nil:
		var timing Timing
		timing, err = device.Time(*r.Time)
		reply.Timing = &timing
	case r.Arrange != nil: // which only devices are asked for that hand their results over
		reply.Regions, err = device.(Arranging).Arrange(*r.Arrange)
	case r.Collect != nil:
		reply.Result, err = device.(Arranging).Collect(*r.Collect)
	default:
		err = fmt.Errorf("an empty request")
	}
	return reply, err
}

// errEnded ends a worker whose device a kernel has broken.
var errEnded = errors.New("the kernel broke the device")
