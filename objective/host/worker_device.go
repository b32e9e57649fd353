package host

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"pawl/internal/process"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// Device runs host kernels inside a worker process. Each kernel is a shared
// object with one function, pawl_call, which unpacks an array of pointers into
// the entry function's arguments.
//
// Every launch of a batch has inputs and outputs of its own: nobody can tell which of them will be looked at.
type Device struct {
	loaded   worker.Load
	source   inputs.Source
	buffers  []*copies       // those of arguments; nil for scalars
	arranged *worker.Arrange // whose inputs they are; nil for those of the load
	key      maphash.Seed    // of checksums
	calls    []byte          // arguments of launches
	symbols  [][]byte        // the variables of the source; nil for arguments that are none
	scalars  []byte          // what the pointers of scalars point to
	round    []byte          // pointers to the arguments of launches
	rounds   int             // how many launches are arranged
	call     uintptr
	time     uintptr
	flush    uintptr
	watching bool
	confined bool
	effects  effects
	random   *rand.Rand // no kernel may foresee it
	// plausible says that the last run had poison that looks like results.
	plausible bool
}

var _ worker.Arranging = (*Device)(nil)

// NewDevice returns a device with nothing loaded, in a process that does nothing else: kernels
// run in it.
func NewDevice() worker.Device {
	return &Device{
		key:    maphash.MakeSeed(),
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		source: inputs.Source{KeepFiles: true}, // they are opened once, before kernels run
	}
}

// Load opens the module and fills the arguments.
func (d *Device) Load(load worker.Load) ([]worker.Region, error) {
	d.release()
	d.loaded, d.source.Folder = load, load.Folder
	d.plausible = true // so that the first run, which is a reference's only one, shows what it does not write
	if err := d.open(load.Module, load.Support); err != nil {
		return nil, err
	}
	if err := d.allocate(); err != nil {
		return nil, err
	}
	if err := d.arrange(1); err != nil {
		return nil, err
	}
	return d.regions(), d.setSymbols()
}

func (d *Device) open(module, support string) error {
	var watch uintptr
	beside, err := purego.Dlopen(support, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err == nil {
		err = find(beside, map[string]*uintptr{
			"pawl_time": &d.time, "pawl_flush": &d.flush, "pawl_watch": &watch,
			"pawl_mode": &d.effects.mode, "pawl_heap": &d.effects.heap,
		})
	}
	if err != nil {
		return fmt.Errorf("opening the timing support: %w", err)
	}
	if !d.watching {
		purego.SyscallN(watch, worker.ResponseDescriptor)
		d.watching, d.effects.usual = true, d.effects.now()
	}
	if !d.confined {
		// The C library looks for it when a thread ends by pthread_exit, and cannot go on without it.
		_, _ = purego.Dlopen("libgcc_s.so.1", purego.RTLD_NOW|purego.RTLD_LOCAL)
		// From here on, so that what runs while a kernel is loaded has no more than it has later. Where
		// the system cannot do it, the doctor says so.
		d.confined = process.Confine() == nil
	}
	library, err := purego.Dlopen(module, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return unloadable(module, err)
	}
	if d.call, err = purego.Dlsym(library, "pawl_call"); err != nil && !d.bind(beside, library) {
		return unloadable(module, err)
	}
	d.findSymbols(library)
	return nil
}

// find looks for functions of a library.
func find(library uintptr, functions map[string]*uintptr) (err error) {
	for name, function := range functions {
		if *function, err = purego.Dlsym(library, name); err != nil {
			return err
		}
	}
	return nil
}

// bind lets the support call a shared library that somebody else has linked, and reports whether it can.
func (d *Device) bind(support, library uintptr) bool {
	bind, err := purego.Dlsym(support, "pawl_bind")
	if err != nil {
		return false
	}
	search, err := purego.Dlsym(purego.RTLD_DEFAULT, "dlsym")
	if err == nil {
		d.call, _, _ = purego.SyscallN(bind, library, search)
	}
	return d.call != 0
}

// unloadable blames the kernel for a module that the loader refuses: it needs a
// symbol or a library that is not there, or more thread-local storage than there is.
func unloadable(module string, err error) error {
	return &worker.Fault{Kind: worker.Unloadable, Detail: strings.ReplaceAll(err.Error(), module+": ", "")}
}

// allocate makes the memory of arguments. Everything that the kernel sees lies outside the Go heap.
func (d *Device) allocate() (err error) {
	n := len(d.loaded.Arguments)
	d.buffers = make([]*copies, n)
	if d.scalars, err = anonymous(arguments.LargestValue * max(n, 1)); err != nil {
		return err
	}
	for i, argument := range d.loaded.Arguments {
		if !argument.IsBuffer() {
			argument.Put(d.scalars[arguments.LargestValue*i:])
			continue
		}
		align := max(argument.Align, argument.Element().Size)
		b, err := newBuffer(argument.Name, argument.Bytes(), align, d.loaded.Layout)
		if err != nil {
			return err
		}
		renewal, _ := inputs.RenewalOf(argument)
		written := argument.Out || argument.Scratch
		d.buffers[i] = &copies{
			first: b, written: written, poisoned: written && !argument.Restored,
			shared: argument.Scratch || !written && renewal == inputs.Kept,
		}
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
	for _, c := range present(d.buffers) {
		c.free()
	}
	for _, memory := range [][]byte{d.scalars, d.round, d.calls} {
		if memory != nil {
			_ = unix.Munmap(memory)
		}
	}
	d.buffers, d.arranged, d.scalars, d.round, d.calls, d.rounds = nil, nil, nil, nil, nil, 0
}

// Run runs the kernel once on poisoned outputs. The poison alternates between
// runs, so that no right answer can hide an element that was never written: bytes
// that are no number in any float type, then random numbers like any others.
func (d *Device) Run(worker.Run) (worker.Result, error) {
	if d.call == 0 {
		return worker.Result{}, fmt.Errorf("run before load")
	}
	d.plausible = !d.plausible
	scratch := byte(0x7f) // huge numbers
	if d.plausible {
		scratch = 0x2a // tiny ones
	}
	for i, c := range present(d.buffers) {
		switch {
		case c.poisoned && d.plausible:
			d.poison(i, c.of(0))
		case c.poisoned:
			fillBytes(c.of(0), 0xff)
		}
	}
	if err := d.restore(); err != nil {
		return worker.Result{}, err
	}
	poisonScratch(scratch)
	d.launch(1)
	poisonScratch(0)
	result := worker.Result{Outputs: d.outputs(0), Damage: d.damage()}
	d.effects.of(&result)
	return result, nil
}

// Collect looks at what the last launches have left behind.
func (d *Device) Collect(c worker.Collect) (worker.Result, error) {
	if c.Results {
		return worker.Result{Outputs: d.outputs(c.Launch)}, nil
	}
	return worker.Result{Damage: d.damage()}, nil
}

// outputs are what a launch has written.
func (d *Device) outputs(launch int) (outputs [][]byte) {
	for i, argument := range d.loaded.Arguments {
		if argument.Out {
			outputs = append(outputs, argument.Parts(d.buffers[i].of(launch))...)
		}
	}
	return outputs
}

// damage looks for what a kernel may not do beside its result.
func (d *Device) damage() *worker.Fault {
	if leftChild() {
		return &worker.Fault{Kind: worker.LeftChild}
	}
	for _, c := range present(d.buffers) {
		if f := c.damage(d.key); f != nil {
			return f
		}
	}
	return d.changedSymbol()
}

// leftChild reports whether the process has children: only a kernel can have
// started one.
func leftChild() bool {
	_, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
	return err != unix.ECHILD
}

// launch calls the kernel, each time with arguments of its own, and returns the nanoseconds that it took.
func (d *Device) launch(batch int) int64 {
	nanoseconds, _, _ := purego.SyscallN(d.time, d.call, address(d.round), uintptr(batch), uintptr(d.random.Uint64()))
	runtime.KeepAlive(d)
	return int64(nanoseconds)
}

// Time takes a sample on the arranged inputs, and does nothing else: the client's
// clock runs as well. See objective.stopwatch.
func (d *Device) Time(t worker.Time) (worker.Timing, error) {
	if d.call == 0 {
		return worker.Timing{}, fmt.Errorf("time before load")
	}
	if t.Samples != 1 || t.Batch != d.rounds {
		return worker.Timing{}, fmt.Errorf("%d samples of %d launches, and there are inputs for one of %d", t.Samples,
			t.Batch, d.rounds)
	}
	milliseconds := float64(d.launch(t.Batch)) / float64(t.Batch) / 1e6
	return worker.Timing{Batch: t.Batch, Samples: []float64{milliseconds}}, nil
}
