// Package remote lets the gate measure on a device of a farm, before everything that searches
// ask there.
//
//  1. Open chooses one kind of device by its label, as a study does.
//  2. Each side of a comparison is compiled by whoever in the farm has the compiler.
//  3. One task holds one device for a check, or for all rounds of a comparison: [Work] does it
//     there, with the same code as a gate on that machine.
//
// The baseline, the policy, the report and the verdict's consequences stay with who asks.
package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"pawl/gate/ratchet"
	"pawl/internal/collect"
	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
)

// Options say which device, and how kernels are run there.
type Options struct {
	Farm farm.Options
	// On is a part of the device's name, and the definition says how kernels are compiled and run there.
	On string
	studies.Definition
	// Notice hears what is no error.
	Notice func(string)
}

// Device is one kind of device of a farm. Its calls must not run at the same time.
type Device struct {
	options Options
	farm    *farm.Farm
	chosen  ask.Chosen
	sides   map[*devices.Bench]ask.Side
}

var _ ratchet.Device = (*Device)(nil)

// Open joins the farm and chooses the device.
func Open(ctx context.Context, o Options) (*Device, error) {
	if o.On == ask.Replay {
		return nil, devices.Argumentf("--on %s answers from records: nothing is compiled, so that there is nothing to gate",
			o.On)
	}
	o.Farm.Notice = o.Notice
	f, err := farm.Open(ctx, o.Farm)
	if err != nil {
		return nil, err
	}
	chosen, err := ask.Choose(ctx, f, o.On, cmp.Or(o.Compiler, devices.Compilers[0]))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Device{options: o, farm: f, chosen: chosen, sides: map[*devices.Bench]ask.Side{}}, nil
}

// Close leaves the farm.
func (d *Device) Close() { d.farm.Close() }

// Load reads a kernel for the device.
func (d *Device) Load(_ context.Context, name, backend string) (*kernels.Kernel, error) {
	there := d.chosen.Measures.Backend
	if backend != devices.Auto && backend != there {
		return nil, devices.Argumentf("--on %s is for backend %s, and kernel %s is to run on %s", d.options.On, there, name,
			backend)
	}
	return devices.LoadFor(name, there)
}

// Open has a point compiled.
func (d *Device) Open(ctx context.Context, k *kernels.Kernel, workload, at string) (*devices.Configuration, error) {
	t, err := devices.NewTarget(k, workload)
	if err != nil {
		return nil, err
	}
	point, err := t.Point(at)
	if err != nil {
		return nil, err
	}
	o := d.options
	e, err := ask.NewKernel(d.farm, d.chosen, t, o.Definition)
	if err != nil {
		return nil, err
	}
	e.Before()
	described, err := e.Describe(ctx)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("gate: %s %s", k.Name, t.Workload.Name)
	if err := e.Begin(ctx, farm.Head{Study: "gate-" + rand.Text(), Title: title, Label: "gate"}, o.Notice); err != nil {
		return nil, err
	}
	backend := &absent{description: described, evaluator: e, notice: o.Notice}
	backend.description.Environment.Commit = git.CheckedOut(k.Dir) // the farm has files, and no repository
	prepared, err := e.Prepare(ctx, point)
	if err != nil {
		backend.Close()
		return nil, err
	}
	b := &devices.Bench{
		Target:    t,
		Backend:   backend,
		Evaluator: objective.NewEvaluator(t.Kernel, t.Workload, backend, o.Measuring()),
	}
	d.sides[b] = ask.Side{Evaluator: e, Point: point}
	return &devices.Configuration{Bench: b, Prepared: prepared}, nil
}

// Do has a task done on one device.
func (d *Device) Do(ctx context.Context, sides []*devices.Configuration,
	t ratchet.Task) (done ratchet.Done, err error) {
	task, err := json.Marshal(t)
	if err != nil {
		return done, err
	}
	asking := collect.Each(sides, func(side *devices.Configuration) ask.Side { return d.sides[side.Bench] })
	answer, err := ask.Hold(ctx, asking, task)
	if err != nil {
		return done, err
	}
	return done, json.Unmarshal(answer, &done)
}

// Work does a task of the gate on this machine, whose device it has to itself.
func Work(ctx context.Context, sides []*devices.Configuration, task json.RawMessage) (json.RawMessage, error) {
	var t ratchet.Task
	if err := json.Unmarshal(task, &t); err != nil {
		return nil, fmt.Errorf("reading what the gate asks: %w", err)
	}
	done, err := t.Do(ctx, sides)
	if err != nil {
		return nil, err
	}
	return json.Marshal(done)
}
