// Package ask lets a study use a farm: its evaluator files tasks instead of compiling and
// measuring here.
//
//  1. Choose finds the machines that a label means: one model of device with one driver,
//     and a compiler for it.
//  2. Open asks them to describe themselves and the points that they rule out.
//  3. Begin names the study. Tasks are named after it, the point and how often it was asked
//     for, so that a study that is resumed finds answers that came meanwhile.
//  4. Points are compiled and measured by whoever is free. Finalists stay on one device:
//     if that goes away, a *GoneError says so, and the rounds begin again on another.
package ask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl/objective/devices"
	"pawl/studies"
	"pawl/studies/farm"
)

// Replay is the label of machines that answer from records.
const Replay = studies.Replay

// Chosen is what answers a study's questions.
type Chosen struct {
	// Measures is the device, nil for a record's. Compiles is the compiler.
	Measures *devices.Measures
	Compiles *devices.Compiles
	// Width is how many points can be measured at once, Lanes how many compiled.
	Width, Lanes int
}

// patience is how long there may be no machine with a label before that is an error: workers may just be starting.
const patience = 10 * time.Second

// Choose finds the machines with a label: a part of the device's name. A compiler's name,
// nvcc or triton, is asked for where the device is a GPU.
func Choose(ctx context.Context, f *farm.Farm, label, compiler string) (Chosen, error) {
	for start := time.Now(); ; {
		machines, err := f.Machines(ctx, farm.Silence)
		if err != nil {
			return Chosen{}, err
		}
		chosen, err := choose(machines, label, compiler)
		if err == nil || time.Since(start) > patience {
			return chosen, err
		}
		select {
		case <-ctx.Done():
			return Chosen{}, context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func choose(machines []farm.Machine, label, compiler string) (chosen Chosen, err error) {
	if label == Replay {
		for _, m := range machines {
			if m.Offers.Replays {
				chosen.Width++
				chosen.Lanes += m.Offers.Lanes
			}
		}
		if chosen.Width == 0 {
			return chosen, fmt.Errorf("no worker of the farm is there: pawl farm worker --db URL is one")
		}
		return chosen, nil
	}
	var known []string
	for _, m := range machines {
		offer := m.Offers.Measures
		if offer == nil {
			continue
		}
		text := strings.TrimSpace(offer.Device + " " + offer.Driver)
		known = append(known, text)
		switch {
		case !strings.Contains(strings.ToLower(text), strings.ToLower(label)):
			continue
		case chosen.Measures == nil:
			chosen.Measures = offer
		case farm.MeasureQueue(*chosen.Measures) != farm.MeasureQueue(*offer):
			return chosen, devices.Argumentf("--on %s means more than one kind of device, and their times must not be mixed: "+
				"%s, %s", label, describe(*chosen.Measures), describe(*offer))
		}
		chosen.Width += offer.Width
	}
	if chosen.Measures == nil {
		if len(known) == 0 {
			return chosen, fmt.Errorf("no machine of the farm measures: pawl farm worker --db URL --measure is one")
		}
		return chosen, fmt.Errorf("no machine of the farm that is there now is called %s; there are %s", label,
			strings.Join(slices.Compact(slices.Sorted(slices.Values(known))), ", "))
	}
	for _, m := range machines {
		for _, offer := range m.Offers.Compiles {
			if offer.Backend != chosen.Measures.Backend || offer.Architecture != chosen.Measures.Architecture ||
				offer.Name != "" && offer.Name != compiler {
				continue
			}
			if chosen.Compiles == nil {
				chosen.Compiles = &offer
			}
			if farm.CompileQueue(*chosen.Compiles) == farm.CompileQueue(offer) {
				chosen.Lanes += m.Offers.Lanes
			}
		}
	}
	if chosen.Compiles == nil {
		return chosen, fmt.Errorf("no machine of the farm compiles for %s: pawl farm worker --db URL --compile is one, with "+
			"--arch %s where it has no such GPU", describe(*chosen.Measures), chosen.Measures.Architecture)
	}
	return chosen, nil
}

func describe(m devices.Measures) string {
	if m.Driver == "" {
		return m.Device
	}
	return m.Device + " with driver " + m.Driver
}
