package across

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pawl/objective/devices"
	"pawl/studies"
)

// Machine returns this machine with the tools of a study, wherever these are.
func Machine(study studies.Study, tools devices.Tools) *devices.Machine {
	tools.Compiler, tools.CompileTimeout = study.Options.Compiler, study.Options.CompileTimeout
	return devices.Here(tools)
}

// open opens a workload of the study's kernel as the study has opened its own, on the same
// device with the same tools: anything else is an error.
func open(ctx context.Context, machine *devices.Machine, study studies.Study,
	target devices.Target) (*devices.Bench, error) {
	o := study.Options.Measuring()
	o.Seed, o.RunTimeout = study.Seed, cmp.Or(o.RunTimeout, 10*time.Second)
	b, err := machine.Open(ctx, target, o)
	if err != nil {
		return nil, err
	}
	now := b.Backend.Facts().Environment
	difference := study.Elsewhere(now)
	switch {
	case study.Environment.Device != now.Device:
		err = fmt.Errorf("study %d was measured on another device: %q then, %q now", study.ID, study.Environment.Device,
			now.Device)
	case difference != "":
		err = fmt.Errorf("%s; tune again", difference)
	default:
		return b, nil
	}
	b.Close()
	return nil, err
}
