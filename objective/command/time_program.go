package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
)

// The ways in which a program fails that are not its end.
const (
	// NoMetric: it printed no number where one was expected, or two.
	NoMetric worker.FaultKind = "no metric"
	// CheckFailed: the check itself did not come to an end.
	CheckFailed worker.FaultKind = "the check failed"
)

type runnable struct {
	job
	folder string
}

func load(b objective.Binary) (runnable, error) {
	p := runnable{folder: filepath.Dir(b.Path)}
	content, err := os.ReadFile(b.Path)
	if err == nil {
		err = json.Unmarshal(content, &p.job)
	}
	if err != nil { // it was there before: the program itself, most likely
		err = &check.Damage{Path: b.Path, What: "cannot be read any more: " + err.Error(), Used: true}
	}
	return p, err
}

// Checked reports whether the manifest has a check command.
func (b *Backend) Checked() bool { return len(b.kernel.Commands.Check) > 0 }

// Check runs a point once and checks what it leaves behind.
func (b *Backend) Check(ctx context.Context, binary objective.Binary, allowed time.Duration) (*worker.Fault, error) {
	p, err := load(binary)
	if err != nil {
		return nil, err
	}
	e, _, fault, err := b.once(ctx, p, allowed)
	if fault != nil || err != nil {
		return fault, err
	}
	return b.verify(ctx, p, e, allowed)
}

// slowRun is how long a run takes that is a measurement of its own: what is not precise
// after one of them is measured again when it matters, in another round.
const slowRun = time.Second

// Time runs a point so many times, or once where that takes long, and checks what the last
// run leaves behind.
func (b *Backend) Time(ctx context.Context, binary objective.Binary, samples int,
	allowed time.Duration) (worker.Timing, *worker.Fault, error) {
	timing := worker.Timing{Batch: 1, Measured: map[string][]float64{}}
	p, err := load(binary)
	if err != nil {
		return timing, nil, err
	}
	var last Execution
	for range samples {
		e, metrics, fault, err := b.once(ctx, p, allowed)
		if fault != nil || err != nil {
			return timing, fault, err
		}
		last = e
		timing.Samples = append(timing.Samples, milliseconds(e.Wall))
		metrics[kernels.UserTime], metrics[kernels.SystemTime] = milliseconds(e.User), milliseconds(e.System)
		for name, value := range metrics {
			timing.Measured[name] = append(timing.Measured[name], value)
		}
		if e.Wall > slowRun {
			break
		}
	}
	fault, err := b.verify(ctx, p, last, allowed)
	if fault != nil && fault.Kind == check.WrongResult {
		fault.Kind = worker.WrongWhenTimed
	}
	return timing, fault, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// once runs the program once and reads its metrics.
func (b *Backend) once(ctx context.Context, p runnable,
	allowed time.Duration) (Execution, map[string]float64, *worker.Fault, error) {
	e, fault, err := b.line(p.job, p.folder, p.Run, cmp.Or(b.kernel.Commands.Timeouts.Run, allowed)).Run(ctx)
	if err == nil && fault == nil && e.Status != 0 {
		fault = &worker.Fault{Kind: worker.Exited, Detail: e.Explain()}
	}
	if fault != nil || err != nil {
		return e, nil, fault, err
	}
	metrics := map[string]float64{}
	for _, m := range b.kernel.Commands.Metrics {
		value, err := Extract(m, e.Stdout, e.Stderr)
		if err != nil {
			detail := err.Error()
			if e.Cut {
				detail += "; it printed more than 1 MiB, of which the beginning was searched"
			}
			return e, nil, &worker.Fault{Kind: NoMetric, Detail: detail}, nil
		}
		metrics[m.Name] = value
	}
	return e, metrics, nil, nil
}

// verify has the check command look at what a run has left behind. It reads what was
// printed as its input, and finds it in a file.
func (b *Backend) verify(ctx context.Context, p runnable, e Execution, allowed time.Duration) (*worker.Fault, error) {
	if len(p.job.Check) == 0 {
		return nil, nil
	}
	if err := b.unchangedCheck(); err != nil {
		return nil, err
	}
	if e.Cut {
		return &worker.Fault{
			Kind:   worker.Flooded,
			Detail: "more than 1 MiB, which is what a check is given: write to a file in {OUT} instead",
		}, nil
	}
	if err := os.WriteFile(filepath.Join(p.folder, "stdout"), e.Stdout, 0o644); err != nil {
		return nil, err
	}
	line := b.line(p.job, p.folder, p.job.Check, cmp.Or(b.kernel.Commands.Timeouts.Check, allowed))
	line.Input = bytes.NewReader(e.Stdout)
	found, fault, err := line.Run(ctx)
	switch {
	case err != nil:
		return nil, err
	case fault != nil:
		return &worker.Fault{Kind: CheckFailed, Detail: fmt.Sprintf("it %s: %s", fault.Kind, fault.Explanation())}, nil
	case found.Status != 0:
		return &worker.Fault{Kind: check.WrongResult, Detail: "the check ended with " + found.Explain()}, nil
	}
	return nil, nil
}
