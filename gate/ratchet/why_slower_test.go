package ratchet

import (
	"os"
	"strings"
	"testing"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/internal/kerneltest"
	"pawl/objective"
	"pawl/objective/devices"
)

// elsewhere is a device of a farm, of which the compiler's figures are known.
type elsewhere struct{ Device }

// What was measured on a farm is explained by what the compiler said, and the report says that no profiler looked.
func TestWhyOnAFarm(t *testing.T) {
	b := &devices.Builder{
		Machine: devices.Here(devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}}),
		Cache:   t.TempDir(),
	}
	defer b.Close()
	folder := kerneltest.Scale{Params: []string{"A: {values: [1, 2], default: 1}"}}.Folder(t)
	k, err := b.Machine.Load(t.Context(), folder, devices.Auto)
	if err != nil {
		t.Fatal(err)
	}
	var sides []*devices.Configuration
	for _, registers := range []int{32, 168} {
		c, err := b.Open(t.Context(), k, "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Prepared.Binary.Resources = &objective.Resources{Registers: registers}
		sides = append(sides, c)
	}
	rules := &policy.File{Profile: []gate.Verdict{gate.Regression}}
	r := &run{Builder: b, Options: Options{Setting: Setting{On: elsewhere{}}, Policy: rules}}
	compared := gate.Comparison{Decision: gate.Decision{Verdict: gate.Regression}, Evidence: &gate.Evidence{}}
	why := r.explain(t.Context(), sides[0], sides[1], &compared)
	if why == nil || why.Profiled || !strings.Contains(why.Why, "registers") {
		t.Errorf("%+v", why)
	}
	if len(compared.Notes) != 1 || !strings.Contains(compared.Notes[0], "no profiler") {
		t.Errorf("%q", compared.Notes)
	}
}
