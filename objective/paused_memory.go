package objective

import (
	"bytes"
	"context"
	"errors"
	"os"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// pausedMemory is how this process writes the inputs of a sample into the worker's memory, and reads its results. All
// threads of the worker stand still meanwhile, a kernel's too: they see the inputs when the clock starts, and what is
// not done when it stops is never done. Whatever code runs in the worker makes no difference.
type pausedMemory struct {
	file    *os.File
	buffers []pausedBuffer
}

// pausedBuffer is an argument in all launches of a sample.
type pausedBuffer struct {
	arguments.Binding
	size, stride int
	start        int64  // where the worker has it
	content      []byte // of a renewed input, with the bytes between launches
}

func (m *pausedMemory) add(b arguments.Binding) {
	if size := b.Bytes(); b.IsBuffer() {
		m.buffers = append(m.buffers, pausedBuffer{Binding: b, size: size, stride: worker.Stride(size, b.Align)})
	}
}

// arrange gets new inputs ready for launches. Where nobody can pause the worker, it draws them itself.
func (w *stopwatch) arrange(ctx context.Context, pool uint64, seeds []uint64) (fault *worker.Fault, err error) {
	if w.paused == nil {
		_, fault, err = w.session.Arrange(ctx, worker.Arrange{Pool: pool, Seeds: seeds, Cold: w.cold})
		return fault, err
	}
	regions, fault, err := w.session.Arrange(ctx, worker.Arrange{Launches: len(seeds)})
	if fault != nil || err != nil {
		return fault, err
	}
	if len(regions) != len(w.paused.buffers) {
		return w.unasked(), nil
	}
	if w.paused.file, err = w.session.Client.Pause(); err != nil {
		if fault, ok := errors.AsType[*worker.Fault](err); ok {
			return fault, nil
		}
		w.paused = nil
		return w.arrange(ctx, pool, seeds)
	}
	for i := range w.paused.buffers {
		b := &w.paused.buffers[i]
		b.start = int64(regions[i].Start)
		if !inputs.Renewed(b.Binding) {
			continue
		}
		if all := b.stride * len(seeds); all > cap(b.content) {
			b.content = bytes.Repeat([]byte{worker.Canary}, all)
		}
		b.content = b.content[:b.stride*len(seeds)]
		if err := new(inputs.Source).FillLaunches(b.Binding, pool, seeds, b.of); err != nil {
			return nil, err
		}
		// Where a kernel has taken the memory away, its launches will find out.
		_, _ = w.paused.file.WriteAt(b.content[:len(b.content)-b.stride+b.size], b.start)
	}
	return nil, nil
}

// of is what was written for a launch.
func (b *pausedBuffer) of(launch int) []byte { return b.content[launch*b.stride:][:b.size] }

// results reads what a launch has left, while nothing has run since. What cannot be read is zeros.
func (m *pausedMemory) results(launch int) (outputs [][]byte, fault *worker.Fault) {
	for _, b := range m.buffers {
		now := make([]byte, b.size)
		_, _ = m.file.ReadAt(now, b.start+int64(launch*b.stride))
		switch {
		case b.Out:
			outputs = append(outputs, b.Parts(now)...)
		case b.content != nil && !bytes.Equal(now, b.of(launch)):
			return nil, &worker.Fault{Kind: worker.InputModified, Detail: b.Name}
		}
	}
	return outputs, nil
}

func (w *stopwatch) results(ctx context.Context, launch int) ([][]byte, *worker.Fault, error) {
	if w.paused != nil {
		outputs, fault := w.paused.results(launch)
		return outputs, fault, nil
	}
	result, fault, err := w.session.Collect(ctx, worker.Collect{Results: true, Launch: launch})
	return result.Outputs, fault, err
}

// unasked is the fault of an answer that has not what was asked for.
func (w *stopwatch) unasked() *worker.Fault {
	w.session.Distrust()
	return &worker.Fault{Kind: worker.Garbled, Detail: "an answer that has not what was asked for"}
}
