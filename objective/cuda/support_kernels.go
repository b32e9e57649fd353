package cuda

import (
	_ "embed" // the support code
	"encoding/binary"
	"fmt"
	"math"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective/cuda/driver"
)

//go:embed support/support.cu
var supportSource []byte

// elementNumbers are the types of elements as support.cu numbers them.
var elementNumbers = map[string]uint64{
	"f64": 0, "f32": 1, "f16": 2, "bf16": 3, "i64": 4, "i32": 5, "u8": 6, "e4m3": 7, "e5m2": 8,
	"i16": 9, "i8": 10, "u64": 11, "u32": 12, "u16": 13,
}

// support is the worker's own code on the device. Its checks are queued one
// after the other, each with a place for what it finds, and read all at once:
// waiting for the device costs more than checking.
type support struct {
	context  *driver.Context
	stream   driver.Stream
	compare  driver.Function
	sum      driver.Function
	share    driver.Function
	guard    driver.Function
	holdBack driver.Function
	filler   driver.Function
	drawer   driver.Function
	// pool is what inputs are drawn from, one after the other.
	pool driver.Address
	// findings are on the device; seen is where they are copied to.
	findings driver.Address
	seen     []byte
	// quantiles is the table for normal numbers.
	quantiles driver.Address
	// readers take what the queued checks find, in order.
	readers []func(finding)
	err     error // what went wrong first with queueing; collect returns it
	// parameters are used for every launch: the driver copies them.
	parameters *parameters
	all        []int // the positions of all of them
}

// finding is what one check found; checksums use the first word, guard zones the
// first two.
type finding struct {
	bad, invertedFirst, undefined, worst, notFinite uint64
}

// behind is the second word where it counts bytes behind a buffer.
func (f finding) behind() uint64 { return f.invertedFirst }

func (f finding) first() int64   { return int64(^f.invertedFirst) }
func (f finding) error() float64 { return math.Float64frombits(f.worst) }

// mean is that of the shares of so many elements, whose sum the device counts in whole numbers.
func (f finding) mean(count int64) float64 {
	return float64(int64(f.bad)) / (1 << 20) / float64(max(count, 1))
}

const (
	findingSize  = 40
	mostFindings = 512
	// mostArguments is the number of arguments of pawl_fill.
	mostArguments = 16
	// supportBlocks and supportThreads fill any GPU well enough.
	supportBlocks  = 512
	supportThreads = 256
)

func newSupport(c *driver.Context, s driver.Stream, image []byte) (*support, error) {
	module, err := c.LoadModule(image)
	if err != nil {
		return nil, err
	}
	p := &support{context: c, stream: s}
	if p.parameters, err = newParameters(mostArguments); err != nil {
		return nil, err
	}
	for i := range mostArguments {
		p.all = append(p.all, i)
	}
	for name, function := range map[string]*driver.Function{
		"pawl_compare": &p.compare, "pawl_share": &p.share, "pawl_sum": &p.sum, "pawl_guard": &p.guard,
		"pawl_hold": &p.holdBack, "pawl_fill": &p.filler, "pawl_draw": &p.drawer,
	} {
		if *function, err = c.Function(module, name); err != nil {
			return nil, err
		}
	}
	if p.findings, err = c.Allocate(findingSize * mostFindings); err != nil {
		return nil, err
	}
	if p.seen, err = c.HostMemory(findingSize * mostFindings); err != nil {
		return nil, err
	}
	if err := p.uploadQuantiles(); err != nil {
		return nil, err
	}
	if p.pool, err = c.Allocate(inputs.MostPool); err != nil {
		return nil, err
	}
	return p, p.clear(mostFindings)
}

func (p *support) uploadQuantiles() (err error) {
	content, err := binary.Append(nil, binary.LittleEndian, inputs.Quantiles())
	if err != nil {
		return err
	}
	if p.quantiles, err = p.context.Allocate(len(content)); err != nil {
		return err
	}
	return p.context.ToDevice(p.quantiles, content)
}

func (p *support) fill(element element.Type, at driver.Address, count int64, r inputs.Recipe) error {
	return p.launch(p.filler, [3]int64{supportBlocks, 1, 1}, supportThreads, elementNumbers[element.Name], uint64(r.Kind),
		uint64(at), uint64(count), r.Stream, r.Row, math.Float64bits(r.Scale), uint64(p.quantiles), uint64(r.Low), r.Span,
		uint64(r.Pattern), r.Places.Row, r.Places.Between, r.Places.Sequence, r.Places.Slices,
		math.Float64bits(r.Places.Top))
}

// draw puts together the content of a buffer, and of the next ones in its slab, from the pool as it
// is filled.
func (p *support) draw(first *buffer, buffers int, of inputs.Pool, stream uint64) error {
	blocks := min(first.size/4/supportThreads+1, max(supportBlocks/buffers, 1))
	return p.launch(p.drawer, [3]int64{int64(blocks), int64(buffers), 1}, supportThreads, uint64(first.data),
		uint64(first.stride()), uint64(first.size), uint64(p.pool), uint64(of.Units), uint64(of.Unit),
		uint64(of.Piece), uint64(of.Flips), stream)
}

func (p *support) clear(n int) error {
	return p.context.Set(p.stream, p.findings, 0, findingSize*n)
}

// launch runs one of the support kernels with the given words as arguments.
func (p *support) launch(f driver.Function, grid [3]int64, threads int64, arguments ...uint64) error {
	for i, word := range arguments {
		p.parameters.setWord(i, word)
	}
	return p.context.Launch(f, grid, [3]int64{threads, 1, 1}, 0, p.stream, p.parameters.pointer(p.all))
}

// queue launches a check of so many elements, for somebody who reads what it finds.
func (p *support) queue(f driver.Function, elements int, read func(finding), arguments ...uint64) {
	queued := len(p.readers)
	if queued == mostFindings && p.err == nil {
		p.err = fmt.Errorf("more than %d checks at once: the kernel has too many buffers", mostFindings)
	}
	if p.err != nil {
		return
	}
	place := uint64(p.findings) + uint64(queued*findingSize)
	p.readers = append(p.readers, read)
	blocks := min(elements/supportThreads+1, supportBlocks) // most buffers of a check are small
	p.err = p.launch(f, [3]int64{int64(blocks), 1, 1}, supportThreads, append(arguments, place)...)
}

// queueChecksum identifies the bytes of a buffer.
func (p *support) queueChecksum(at driver.Address, size int, read func(finding)) {
	p.queue(p.sum, size/8, read, uint64(at), uint64(size))
}

// queueGuards counts the bytes before and behind a buffer that are not the pattern:
// the first two words of the finding.
func (p *support) queueGuards(before, behind zone, pattern byte, read func(finding)) {
	p.queue(p.guard, max(before.size, behind.size), read, uint64(before.at), uint64(before.size), uint64(behind.at),
		uint64(behind.size), uint64(pattern))
}

// queueCompare holds a part of a result against the right answer: compare counts the wrong
// elements, share finds how much of the tolerance is used.
func (p *support) queueCompare(with driver.Function, of part, b *buffer, t arguments.Tolerance, read func(finding)) {
	p.queue(with, int(of.Count), read, elementNumbers[of.element.Name], uint64(of.at(b.data, 0)),
		uint64(of.at(b.answer, 0)), uint64(of.Count), uint64(of.Lanes), uint64(of.stride),
		math.Float64bits(t.Absolute), math.Float64bits(t.Relative))
}

// collect waits for the queued checks, shows their readers what they found, and begins
// anew.
func (p *support) collect() error {
	readers, failed := p.readers, p.err
	p.readers, p.err = nil, nil
	if failed != nil {
		_ = p.clear(len(readers)) // the first error is the telling one
		return failed
	}
	if len(readers) == 0 {
		return p.context.Wait(p.stream)
	}
	if err := p.context.ToHostLater(p.stream, p.seen[:len(readers)*findingSize], p.findings); err != nil {
		return err
	}
	if err := p.clear(len(readers)); err != nil {
		return err
	}
	if err := p.context.Wait(p.stream); err != nil {
		return err
	}
	for i, read := range readers {
		word := func(w int) uint64 { return binary.LittleEndian.Uint64(p.seen[i*findingSize+8*w:]) }
		read(finding{word(0), word(1), word(2), word(3), word(4)})
	}
	return nil
}

// checksum identifies the bytes of a buffer at once.
func (p *support) checksum(at driver.Address, size int) (sum uint64, err error) {
	p.queueChecksum(at, size, func(f finding) { sum = f.bad })
	err = p.collect()
	return sum, err
}

// hold keeps the stream waiting.
func (p *support) hold(nanoseconds uint64) error {
	return p.launch(p.holdBack, [3]int64{1, 1, 1}, 1, nanoseconds)
}
