package worker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/arguments"
)

// Layout says how buffers are placed in memory.
type Layout string

const (
	// Guarded puts the end of each buffer against an unmapped page, so that an
	// access one element past the end faults.
	Guarded Layout = "guarded"
	// Aligned starts each buffer at a page, as an application's allocator would
	// for large buffers. Timing uses it.
	Aligned Layout = "aligned"
	// Misaligned puts each buffer at an address that has the alignment which its
	// argument asks for and no more, so that a kernel which relies on more fails.
	// Its end lies as near to an unmapped page as that allows.
	Misaligned Layout = "misaligned"
)

// Load asks the worker to load a module and to fill its arguments.
type Load struct {
	// Module is the path of the compiled kernel; Support, where a device needs
	// one, of the timing and fault-reporting code beside it.
	Module  string `json:"module"`
	Support string `json:"support,omitempty"`
	// Calls are for modules that hold kernels by name: what one launch runs, in order.
	Calls []kernels.Call `json:"calls,omitempty"`
	// Arguments are in the order of the manifest.
	Arguments []arguments.Binding `json:"arguments"`
	// Maps are for the buffers that the kernel takes as tensor maps; the reference
	// takes all as pointers.
	Maps []arguments.TensorLayout `json:"maps,omitempty"`
	// Folder has the files that arguments are read from; empty where there are none.
	Folder string `json:"folder,omitempty"`
	// Seed fixes the content of the inputs.
	Seed   uint64 `json:"seed"`
	Layout Layout `json:"layout"`
	// Watched says that a tool such as compute-sanitizer watches every access. A
	// device leaves out its guard zones and the poison then: an access there would
	// look legal to the tool, and a read of what was never written like one of what was.
	Watched bool `json:"watched,omitempty"`
	// Reference asks the device to know the right answer itself and to compare
	// with it. Nil leaves that to the client.
	Reference *Reference `json:"reference,omitempty"`
}

// Reference is the kernel whose results are right by definition. Without a module it
// stands for the answers of the arguments, which are in files.
type Reference struct {
	Module string       `json:"module"`
	Call   kernels.Call `json:"call"`
	// Tolerance is that of outputs which have none of their own.
	Tolerance arguments.Tolerance `json:"tolerance"`
	// Answers are all that is known of a reference that no device runs: the first to the load's
	// own seed, the others to further contents.
	Answers []KnownAnswer `json:"answers,omitempty"`
}

// KnownAnswer is a file with the right outputs for a seed, one behind the other.
type KnownAnswer struct {
	Seed   uint64 `json:"seed"`
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Run asks for a run of the loaded kernel.
type Run struct {
	// Twice asks a device that compares by itself to run the kernel twice, on
	// different poison, before it answers. Other devices run it once.
	Twice bool `json:"twice,omitempty"`
	// Bitwise asks it to say as well whether both runs gave the same bits, and how
	// much of the tolerance they used.
	Bitwise bool `json:"bitwise,omitempty"`
	// Profiled asks for one launch, and for a profiler that runs the worker to see
	// that one alone. A device that no profiler can be told about runs as usual.
	Profiled bool `json:"profiled,omitempty"`
}

// Time asks for samples of the loaded kernel.
type Time struct {
	// Samples is the number of samples to take.
	Samples int `json:"samples"`
	// Batch is the number of launches per sample; 0 lets the worker choose so
	// that a sample is long against the clock's resolution, after a warm-up.
	Batch int `json:"batch"`
	// Caches says what the kernel finds in the device's caches.
	Caches Caches `json:"caches,omitempty"`
	// IdleFirst lets a device rest before each sample that heats up when it works
	// without a pause, and slows down then.
	IdleFirst bool `json:"rested,omitempty"`
	// Energy asks for the energy of a launch too, which takes a second more.
	Energy bool `json:"energy,omitempty"`
	// Brief says that the samples decide no more than what is measured again: a device
	// that was timed a moment ago need not warm up for as long as one that has rested.
	Brief bool `json:"brief,omitempty"`
	// Limit is a time per launch, in milliseconds, beyond which the kernel is of no interest.
	// Where each of the launches that a batch is chosen by takes longer, a device may answer with these
	// as the samples and take no others. 0 means that any time is of interest.
	Limit float64 `json:"limit,omitempty"`
}

// Arrange asks a device that hands its results over to give inputs to each of the launches
// that are timed next. Each has outputs of its own as well, so that a kernel cannot know whose are collected.
type Arrange struct {
	// Pool is the seed of the pool that all inputs are drawn from, and Seeds are those of the launches.
	Pool  uint64   `json:"pool,omitempty"`
	Seeds []uint64 `json:"seeds,omitempty"`
	// Cold asks that launches find none of their buffers in the caches.
	Cold bool `json:"cold,omitempty"`
	// Launches is how many there are where the client writes the inputs: see Client.Pause. There are no seeds then.
	Launches int `json:"launches,omitempty"`
}

// Canary fills the bytes beside buffers and between copies.
const Canary = 0xa5

// copyGap is the least distance of copies, and what their starts are a multiple of: a cache line, of which nothing may
// be written.
const copyGap = 64

// Stride is the distance of the copies of a buffer with a size and an alignment.
func Stride(size, align int) int {
	align = max(align, copyGap)
	return (size + copyGap + align - 1) / align * align
}

// Collect asks for what the launches that were timed last have left behind: damage, or the results of one of them.
type Collect struct {
	Results bool `json:"results,omitempty"`
	Launch  int  `json:"launch,omitempty"`
}

// Caches is the state of a device's caches at the start of each launch.
type Caches string

const (
	// Cold launches find none of their data cached: on a GPU they go round as many
	// copies of the buffers as it takes to push the last one out, a processor is told to take them out.
	Cold Caches = "cold"
	// Warm launches find what was just written for them, as far as the caches hold it.
	Warm Caches = "warm"
	// Flushed launches are each preceded by a write over the whole cache; on a processor it is Cold.
	Flushed Caches = "flush"
)

// Result is the outcome of one run of the kernel.
type Result struct {
	// Outputs holds the bytes of each output buffer, in order of the arguments.
	// A device that compares by itself leaves them out.
	Outputs [][]byte `json:"-"`
	// Comparisons has an entry per output and run, from a device that compares.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Damage says what the kernel did that it must not do, short of dying: an
	// input changed, a byte beside a buffer overwritten. Nil is good.
	Damage *Fault `json:"damage,omitempty"`
	// Differs says that two runs gave different bits, if that was asked.
	Differs bool `json:"differs,omitempty"`
	// Heap is how many bytes are allocated after the run, and Mode how the processor computes
	// otherwise than before the kernel was loaded, for people; 0 and empty where nobody knows.
	Heap int64  `json:"heap,omitempty"`
	Mode string `json:"mode,omitempty"`
}

// Timing is the answer to Time.
type Timing struct {
	// Samples are milliseconds per launch.
	Samples []float64 `json:"samples"`
	// Batch is the number of launches that each sample is the mean of.
	Batch int `json:"batch"`
	// Measured are further quantities by name: one number per sample, or one in all.
	Measured map[string][]float64 `json:"measured,omitempty"`
	// Damage says what the timed launches did that they must not do, on a device
	// that looks. Nil is good.
	Damage *Fault `json:"damage,omitempty"`
	// Conditions is the state of the device meanwhile; nil where unknown.
	Conditions *Conditions `json:"conditions,omitempty"`
	// Elapsed is how long the answer took by the client's own clock, which no
	// kernel reaches.
	Elapsed time.Duration `json:"-"`
	// Worked is how long processors worked for the answer, of all threads together, where the system counts that and a
	// kernel has no other means to compute. It is never more than Elapsed, and Elapsed where it is not known.
	Worked time.Duration `json:"-"`
}

// Region is where a buffer lies in the worker's memory. An access that faults
// between Low and High but outside Start and End ran over the buffer.
type Region struct {
	Name  string `json:"name"`
	Low   uint64 `json:"low"`
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	High  uint64 `json:"high"`
}

// Device executes kernels inside the worker. A *Fault as an error is the
// kernel's doing, and ends the worker; any other error is broken machinery, for
// instance a device that is gone. A kernel that cannot be loaded is a fault. It need
// not be safe for concurrent use.
type Device interface {
	// Load replaces what was loaded before and says where the buffers are.
	Load(Load) ([]Region, error)
	// Run poisons the outputs, runs the kernel and checks for damage.
	Run(Run) (Result, error)
	// Time runs the kernel repeatedly.
	Time(Time) (Timing, error)
}

// Arranging is a Device that hands its results over, also those of timed launches.
type Arranging interface {
	Device
	// Arrange gives inputs to each launch, and says where those of the first are; the others follow.
	Arrange(Arrange) ([]Region, error)
	// Collect returns outputs, or looks for damage.
	Collect(Collect) (Result, error)
}

// request and response are the two messages; exactly one field of a request is
// set beside its nonce, which the answer repeats: a frame that was written before
// the request, or without knowing it, is not the answer.
type request struct {
	Nonce   string   `json:"nonce"`
	Load    *Load    `json:"load,omitempty"`
	Run     *Run     `json:"run,omitempty"`
	Time    *Time    `json:"time,omitempty"`
	Arrange *Arrange `json:"arrange,omitempty"`
	Collect *Collect `json:"collect,omitempty"`
}

type response struct {
	Nonce string `json:"nonce,omitempty"`
	Error string `json:"error,omitempty"`
	// Refused says that the error is the system's, which refused a call: for want of memory, say.
	Refused bool `json:"refused,omitempty"`
	// Ended is what the kernel did that this process cannot go on from.
	Ended *Fault `json:"ended,omitempty"`
	Result
	Sizes   []int    `json:"outputs,omitempty"` // of what follows the header
	Timing  *Timing  `json:"timing,omitempty"`
	Regions []Region `json:"regions,omitempty"`
	// Fault is written by the signal handler of a dying worker.
	Fault *signalReport `json:"fault,omitempty"`

	at time.Time // when it was read
}

// signalReport is what a dying worker says about its signal.
type signalReport struct {
	Signal  int    `json:"signal"`
	Address uint64 `json:"address"`
	// Code is the signal's si_code: positive when the hardware raised it.
	Code int `json:"code"`
}

// frameLimit bounds a frame's header: a longer one is a corrupted stream.
const frameLimit = 1 << 20

// writeFrame sends a header as JSON behind its length, then the payloads.
func writeFrame(w io.Writer, header any, payloads ...[]byte) error {
	encoded, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("worker protocol: %w", err)
	}
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(encoded)))
	for _, part := range slices.Concat([][]byte{append(frame, encoded...)}, payloads) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func readFrame(r io.Reader, header any) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > frameLimit {
		return fmt.Errorf("worker protocol: a header of %d bytes", n)
	}
	encoded := make([]byte, n)
	_, err := io.ReadFull(r, encoded)
	if err == nil {
		err = json.Unmarshal(encoded, header)
	}
	if err != nil {
		return fmt.Errorf("worker protocol: %w", err)
	}
	return nil
}

// unknownLimit bounds the outputs of a kernel whose arguments nobody has named.
const unknownLimit = 1 << 20

// outputSizes returns how many bytes each output of a load has; nil for a load that
// names no arguments.
func outputSizes(load Load) []int {
	if len(load.Arguments) == 0 {
		return nil
	}
	sizes := []int{}
	for _, a := range load.Arguments {
		switch {
		case !a.Out:
		case a.Fields == nil:
			sizes = append(sizes, a.Bytes())
		default: // they come one by one
			sizes = append(sizes, collect.Each(a.Fields, func(f arguments.Field) int { return f.Bytes() })...)
		}
	}
	return sizes
}

// readPayloads reads outputs. Their sizes must be those that are known; a kernel
// can write what it likes to the pipe, and nothing is allocated on its word.
func readPayloads(r io.Reader, sizes, known []int) ([][]byte, error) {
	if known != nil && len(sizes) > 0 && !slices.Equal(sizes, known) {
		return nil, fmt.Errorf("worker protocol: outputs of %d bytes, not of %d", sizes, known)
	}
	total := 0
	for _, size := range sizes {
		if size < 0 || known == nil && size > unknownLimit-total {
			return nil, fmt.Errorf("worker protocol: an output of %d bytes", size)
		}
		total += size
	}
	payloads := make([][]byte, len(sizes))
	for i, size := range sizes {
		payloads[i] = make([]byte, size)
		if _, err := io.ReadFull(r, payloads[i]); err != nil {
			return nil, fmt.Errorf("worker protocol: %w", err)
		}
	}
	return payloads, nil
}

// Comparison is how one output differs from the reference's, found by the
// device itself or in this process.
type Comparison struct {
	// Argument is the output's name.
	Argument string `json:"argument"`
	// Bad of Total elements are outside the tolerance; First is the first. NotFinite of them are NaN or infinite, or
	// should be.
	Bad       int64 `json:"bad"`
	Total     int64 `json:"total"`
	First     int64 `json:"first,omitempty"`
	NotFinite int64 `json:"not_finite,omitempty"`
	// Got and Want are what the kernel and the reference say there.
	Got  string `json:"got,omitempty"`
	Want string `json:"want,omitempty"`
	// Worst is the largest error, infinite where a result is not a number.
	Worst Real `json:"worst,omitempty"`
	// Share is the largest error as a share of what is allowed there, where a run
	// is asked for it by Bitwise.
	Share Real `json:"share,omitempty"`
	// Bias is the mean of all errors as such shares, with their signs.
	Bias Real `json:"bias,omitempty"`
	// Undefined is the number of elements where the reference itself is not
	// finite: the oracle is broken, unless inputs are such numbers.
	Undefined int64 `json:"undefined,omitempty"`
}

func (c *Comparison) String() string {
	text := fmt.Sprintf("%s[%d] is %s, the reference says %s; %d of %d elements wrong (%.3g %%), worst error %.3g",
		c.Argument, c.First, c.Got, c.Want, c.Bad, c.Total, 100*float64(c.Bad)/float64(c.Total), float64(c.Worst))
	if c.NotFinite > 0 {
		text += fmt.Sprintf(", %d NaN or infinite", c.NotFinite)
	}
	return text
}

// Real is a number that may be infinite or not a number at all, which JSON has no
// number for: it travels as text.
type Real float64

// MarshalText writes all digits.
func (r Real) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (r *Real) UnmarshalText(text []byte) error {
	value, err := strconv.ParseFloat(string(text), 64)
	*r = Real(value)
	return err
}
