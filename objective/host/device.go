package host

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"pawl/kernels"
	"pawl/objective/worker"
)

// Device runs host kernels inside a worker process. Each kernel is a shared
// object with one function, pawl_call, which unpacks an array of pointers into
// the entry function's arguments.
type Device struct {
	loaded    worker.Load
	buffers   []*buffer // nil for scalars
	arguments []byte    // the array of pointers, outside the Go heap
	scalars   []byte    // what the pointers of scalars point to
	call      uintptr
	time      uintptr
	watching  bool
	seed      maphash.Seed
	inputs    []uint64 // hashes of the inputs as filled
	poison    byte
}

var _ worker.Device = (*Device)(nil)

// NewDevice returns a device with nothing loaded.
func NewDevice() worker.Device { return &Device{seed: maphash.MakeSeed(), poison: 0xaa} }

// Load opens the module and fills the arguments.
func (d *Device) Load(load worker.Load) ([]worker.Region, error) {
	d.release()
	d.loaded = load
	if err := d.open(load.Module, load.Support); err != nil {
		return nil, err
	}
	if err := d.allocate(); err != nil {
		return nil, err
	}
	var regions []worker.Region
	for i, b := range d.buffers {
		if b == nil {
			continue
		}
		regions = append(regions, b.region())
		if argument := load.Arguments[i]; !argument.Out {
			if err := worker.Fill(b.data, argument, load.Seed); err != nil {
				return nil, err
			}
			d.inputs[i] = maphash.Bytes(d.seed, b.data)
		}
	}
	return regions, nil
}

func (d *Device) open(module, support string) error {
	library, err := purego.Dlopen(support, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("opening the timing support: %w", err)
	}
	if d.time, err = purego.Dlsym(library, "pawl_time"); err != nil {
		return fmt.Errorf("opening the timing support: %w", err)
	}
	if !d.watching {
		watch, err := purego.Dlsym(library, "pawl_watch")
		if err != nil {
			return fmt.Errorf("opening the timing support: %w", err)
		}
		purego.SyscallN(watch, worker.ResponseDescriptor)
		d.watching = true
	}
	if library, err = purego.Dlopen(module, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		return unloadable(module, err)
	}
	if d.call, err = purego.Dlsym(library, "pawl_call"); err != nil {
		return unloadable(module, err)
	}
	return nil
}

// unloadable blames the kernel for a module that the loader refuses: it needs a
// symbol or a library that is not there, or more thread-local storage than there is.
func unloadable(module string, err error) error {
	return &worker.Fault{Kind: worker.Unloadable, Detail: strings.ReplaceAll(err.Error(), module+": ", "")}
}

// allocate makes the buffers and the array of pointers. Everything that the
// kernel sees lies outside the Go heap.
func (d *Device) allocate() error {
	n := len(d.loaded.Arguments)
	d.buffers = make([]*buffer, n)
	d.inputs = make([]uint64, n)
	var err error
	if d.arguments, err = anonymous(8 * max(n, 1)); err != nil {
		return err
	}
	if d.scalars, err = anonymous(8 * max(n, 1)); err != nil {
		return err
	}
	for i, argument := range d.loaded.Arguments {
		element, err := kernels.ElementNamed(argument.Type)
		if err != nil {
			return err
		}
		pointer := (*uintptr)(unsafe.Pointer(&d.arguments[8*i]))
		if !argument.IsBuffer() {
			if err := argument.Put(d.scalars[8*i:]); err != nil {
				return err
			}
			*pointer = address(d.scalars[8*i:])
			continue
		}
		b, err := newBuffer(argument.Name, int(argument.Count)*element.Size, max(argument.Align, element.Size), d.loaded.Layout)
		if err != nil {
			return err
		}
		d.buffers[i] = b
		*pointer = b.address()
	}
	return nil
}

func anonymous(size int) ([]byte, error) {
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("memory for arguments: %w", err)
	}
	return memory, nil
}

func (d *Device) release() {
	for _, b := range d.buffers {
		if b != nil {
			b.free()
		}
	}
	for _, memory := range [][]byte{d.arguments, d.scalars} {
		if memory != nil {
			_ = unix.Munmap(memory)
		}
	}
	d.buffers, d.arguments, d.scalars = nil, nil, nil
}

// Run runs the kernel once on poisoned outputs. The poison alternates between
// runs, so that no right answer can hide an element that was never written.
func (d *Device) Run(worker.Run) (worker.Result, error) {
	if d.call == 0 {
		return worker.Result{}, fmt.Errorf("run before load")
	}
	d.poison ^= 0x55 // 0xff is a NaN in every float type, 0xaa a tiny number
	for i, b := range d.buffers {
		if b != nil && d.loaded.Arguments[i].Out {
			fillBytes(b.data, d.poison)
		}
	}
	poisonScratch(d.poison &^ 0x80) // huge numbers, or tiny ones
	d.launch(1)
	poisonScratch(0)
	var result worker.Result
	for i, b := range d.buffers {
		if b != nil && d.loaded.Arguments[i].Out {
			result.Outputs = append(result.Outputs, b.data)
		}
	}
	result.Damage = d.damage()
	return result, nil
}

// damage looks for what a kernel may not do beside its result.
func (d *Device) damage() *worker.Fault {
	if leftChild() {
		return &worker.Fault{Kind: worker.LeftChild}
	}
	for i, b := range d.buffers {
		if b == nil {
			continue
		}
		if f := b.damage(); f != nil {
			return f
		}
		if !d.loaded.Arguments[i].Out && maphash.Bytes(d.seed, b.data) != d.inputs[i] {
			return &worker.Fault{Kind: worker.InputModified, Detail: b.name}
		}
	}
	return nil
}

// leftChild reports whether the process has children: only a kernel can have
// started one.
func leftChild() bool {
	_, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
	return err != unix.ECHILD
}

// launch calls the kernel and returns the nanoseconds that it took.
func (d *Device) launch(batch int) int64 {
	nanoseconds, _, _ := purego.SyscallN(d.time, d.call, address(d.arguments), uintptr(batch))
	runtime.KeepAlive(d)
	return int64(nanoseconds)
}

const (
	// shortestSample is how long a sample must be for the clock's resolution
	// and overhead, some tens of nanoseconds, to vanish in it.
	shortestSample = 200_000
	// warmUp is how long the kernel runs before the first sample.
	warmUp = 5_000_000
)

// Time takes samples. With no batch given it warms up first and chooses one.
func (d *Device) Time(t worker.Time) (worker.Timing, error) {
	if d.call == 0 {
		return worker.Timing{}, fmt.Errorf("time before load")
	}
	batch := t.Batch
	if batch == 0 {
		batch = d.calibrate()
	}
	timing := worker.Timing{Batch: batch}
	for range t.Samples {
		timing.Samples = append(timing.Samples, float64(d.launch(batch))/float64(batch)/1e6)
	}
	return timing, nil
}

// calibrate warms up and returns how many launches make a sample long enough.
func (d *Device) calibrate() int {
	var spent int64
	batch := 1
	for {
		took := d.launch(batch)
		spent += took
		if took < shortestSample {
			// Aim above the mark, because the first launches are slow ones.
			batch = min(max(2*batch, int(1.2*shortestSample*float64(batch)/float64(max(took, 1)))), 1<<24)
			if batch == 1<<24 {
				return batch // the kernel does nothing at all
			}
			continue
		}
		if spent >= warmUp {
			return batch
		}
	}
}
