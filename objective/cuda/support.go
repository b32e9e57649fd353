package cuda

import (
	_ "embed" // the support code
	"encoding/binary"
	"math"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
)

//go:embed support/support.cu
var supportSource []byte

// elementNumbers are the types of elements as support.cu numbers them.
var elementNumbers = map[string]uint64{
	"f64": 0, "f32": 1, "f16": 2, "bf16": 3, "i64": 4, "i32": 5, "u8": 6, "e4m3": 7, "e5m2": 8,
}

// support is the worker's own code on the device, with a little memory for
// what it finds.
type support struct {
	context                    *driver.Context
	stream                     driver.Stream
	module                     driver.Module
	compare, sum, guard, hold_ driver.Function
	// report holds a Report of support.cu, or a single word.
	report driver.Address
}

// reportSize is the size of a Report in bytes.
const reportSize = 32

func newSupport(c *driver.Context, s driver.Stream, image []byte) (*support, error) {
	module, err := c.LoadModule(image)
	if err != nil {
		return nil, err
	}
	p := &support{context: c, stream: s, module: module}
	for name, function := range map[string]*driver.Function{
		"pawl_compare": &p.compare, "pawl_sum": &p.sum, "pawl_guard": &p.guard, "pawl_hold": &p.hold_,
	} {
		if *function, err = c.Function(module, name); err != nil {
			return nil, err
		}
	}
	p.report, err = c.Allocate(reportSize)
	return p, err
}

// supportBlocks and supportThreads fill any GPU well enough.
const (
	supportBlocks  = 512
	supportThreads = 256
)

// launch runs one of the support kernels with the given words as arguments.
func (p *support) launch(f driver.Function, blocks, threads int64, arguments ...uint64) error {
	parameters, err := newParameters(len(arguments))
	if err != nil {
		return err
	}
	defer parameters.free()
	for i, word := range arguments {
		parameters.setWord(i, word)
	}
	return p.context.Launch(f, [3]int64{blocks, 1, 1}, [3]int64{threads, 1, 1}, 0, p.stream, parameters.pointer())
}

// word runs a kernel that adds to one word and returns that word.
func (p *support) word(f driver.Function, arguments ...uint64) (uint64, error) {
	if err := p.context.Set(p.stream, p.report, 0, 8); err != nil {
		return 0, err
	}
	if err := p.launch(f, supportBlocks, supportThreads, append(arguments, uint64(p.report))...); err != nil {
		return 0, err
	}
	var result [8]byte
	err := p.read(result[:])
	return binary.LittleEndian.Uint64(result[:]), err
}

func (p *support) read(report []byte) error {
	if err := p.context.Wait(p.stream); err != nil {
		return err
	}
	return p.context.ToHost(report, p.report)
}

// checksum identifies the bytes of a buffer.
func (p *support) checksum(at driver.Address, size int) (uint64, error) {
	return p.word(p.sum, uint64(at), uint64(size))
}

// changed counts the bytes of a guard zone that are not the pattern.
func (p *support) changed(at driver.Address, size int, pattern byte) (uint64, error) {
	return p.word(p.guard, uint64(at), uint64(size), uint64(pattern))
}

// report is what a comparison found.
type report struct {
	bad, first, undefined uint64
	worst                 float64
}

// compareBuffers compares a result with the right answer on the device.
func (p *support) compareBuffers(element kernels.Element, got, want driver.Address, count int64, t kernels.Tolerance) (r report, err error) {
	if err := p.context.Set(p.stream, p.report, 0, reportSize); err != nil {
		return r, err
	}
	if err := p.context.Set(p.stream, p.report+8, 0xff, 8); err != nil { // first
		return r, err
	}
	if err := p.launch(p.compare, supportBlocks, supportThreads, elementNumbers[element.Name], uint64(got), uint64(want), uint64(count),
		math.Float64bits(t.Absolute), math.Float64bits(t.Relative), uint64(p.report)); err != nil {
		return r, err
	}
	var raw [reportSize]byte
	if err := p.read(raw[:]); err != nil {
		return r, err
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
	return report{bad: word(0), first: word(1), undefined: word(2), worst: math.Float64frombits(word(3))}, nil
}

// hold keeps the stream waiting.
func (p *support) hold(nanoseconds uint64) error {
	return p.launch(p.hold_, 1, 1, nanoseconds)
}
