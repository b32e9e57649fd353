package ratchet

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pawl/gate"
	"pawl/gate/reporting"
	"pawl/kernels"
	"pawl/objective/devices"
)

// HoldOptions says which point is compared with which baseline.
type HoldOptions struct {
	Setting
	Kernel       *kernels.Kernel
	Workload, At string
	// Device is where it must run: another one is a *devices.ArgumentError. Empty means
	// any.
	Device string
	Policy gate.Policy
	// Begin is the command that makes a baseline of what is run today.
	Begin string
}

// Held is a point that was compared with its baseline.
type Held struct {
	reporting.Result
	// Running says that the baseline has this point and this code.
	Running bool `json:"running"`
	// Samples are the candidate's, by process.
	Samples [][]float64 `json:"samples,omitempty"`
	// Base is the commit whose baseline counted, empty where it was the file's own.
	Base string `json:"base,omitempty"`
	// Commit and Source are those of the sources that were built.
	Commit string `json:"commit,omitempty"`
	Source string `json:"source"`
}

// Hold checks a point in full and compares it with the baseline, as [Run] does. It moves
// nothing and writes nothing: a point that is neither the manifest's default nor the
// policy's is not what is run, and must become no baseline.
func Hold(ctx context.Context, b *devices.Builder, o HoldOptions) (Held, error) {
	r := &run{Builder: b, Options: Options{Setting: o.Setting}}
	if err := r.open(ctx); err != nil {
		return Held{}, err
	}
	began := time.Now()
	c, err := r.On.Open(ctx, o.Kernel, o.Workload, o.At)
	if err != nil {
		return Held{}, err
	}
	defer c.Close()
	defer b.Machine.LockClocks(ctx, o.Kernel, cmp.Or(o.LockClocks, o.Policy.LockClocks), nil)()
	if device := c.Backend.Facts().Environment.Device; o.Device != "" && device != o.Device {
		return Held{}, devices.Argumentf("it was measured on %s, and this is %s", o.Device, device)
	}
	held := Held{
		Base:   r.report.Base,
		Commit: c.Backend.Facts().Environment.Commit,
		Result: reporting.Result{Key: keyOf(c), Point: c.Prepared.Point.String(), Policy: o.Policy},
	}
	if held.Source, err = o.Kernel.Digest(); err != nil {
		return held, err
	}
	if err := r.hold(ctx, c, o.Begin, &held); err != nil {
		return held, fmt.Errorf("gating %s: %w", o.Kernel.Origin, err)
	}
	held.Samples, held.Seconds = held.Candidate, time.Since(began).Seconds()
	return held, nil
}

// hold fills in what came of a configuration; begin is the command that makes a baseline.
func (r *run) hold(ctx context.Context, c *devices.Configuration, begin string, held *Held) error {
	failure, err := r.verify(ctx, c)
	if err != nil {
		return err
	}
	if failure != nil {
		held.Decision = gate.Broken(failure)
		return nil
	}
	entry, known := r.file.Latest(held.Key)
	switch others := r.file.OtherDevices(held.Key); {
	case !known && len(others) > 0:
		held.Decision = gate.Decide(gate.New,
			"the baseline has an entry for %s and none for this device, %s; %s begins one", others[0], held.Device, begin)
		return nil
	case !known:
		held.Decision = gate.Decide(gate.New,
			"there is no baseline to compare it with; %s makes one from what you run today", begin)
		return nil
	case entry.Dims != c.Workload.Dims.String():
		held.Decision = gate.Decide(gate.New,
			"the baseline has the sizes %s, the workload %s; %s begins one", entry.Dims, c.Workload.Dims, begin)
		return nil
	}
	held.HeldTo(entry)
	same, err := sameCode(c, entry)
	if err != nil {
		return err
	}
	if held.Running = same || entry.Point == held.Point && entry.Source == held.Source; held.Running {
		reason := "the baseline has this point and this code: there is nothing to measure"
		if entry.Point != held.Point {
			reason = "its machine code is that of the baseline, at another point: there is nothing to measure"
		}
		held.Decision = gate.Decision{Verdict: gate.Maintained, Reason: reason}
		return nil
	}
	return r.holdTo(ctx, c, entry, &held.Result)
}
