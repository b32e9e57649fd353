package monitor

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestInventory(t *testing.T) {
	quiet := healthy()
	delete(quiet.numbers, power)
	sick := healthy()
	sick.failures[memoryUsed] = code(16)

	got, err := inventory(&fake{gpus: []*fakeDevice{healthy(), quiet, sick, nil}}, Permission{Reason: "no"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Driver != "580.65.06" || got.CUDA != "12.8" || len(got.GPUs) != 4 {
		t.Fatalf("got %+v", got)
	}
	text, err := json.Marshal(got.GPUs[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"Test GPU","uuid":"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f","memory_used":1073741824,` +
		`"state":{"sm_clock":1980,"temperature":41,"power":123.456,"reasons":""},` +
		`"limits":{"sm_clock":1995,"power":700},` +
		`"processes":[{"pid":1073741824,"memory":1048576}],"clock_lock":{"allowed":false,"reason":"no"}}`
	if string(text) != want {
		t.Errorf("got %s", text)
	}
	if gpu := got.GPUs[1]; strings.Join(gpu.Unknown, ", ") != "power" || gpu.Trouble != "" {
		t.Errorf("the quiet one: %+v", gpu)
	}
	if gpu := got.GPUs[2]; gpu.Trouble !=
		"reading the GPU's memory used: the GPU needs a reset; see nvidia-smi --gpu-reset" || gpu.Name != "Test GPU" {
		t.Errorf("the sick one: %+v", gpu)
	}
	if gpu := got.GPUs[3]; gpu.Trouble != "opening GPU 3: the GPU has fallen off the bus; reboot" {
		t.Errorf("the lost one: %+v", gpu)
	}
}

// TestThisMachine holds with and without a driver: there is a list or a sentence.
func TestThisMachine(t *testing.T) {
	found, err := Devices()
	if err != nil {
		if !errors.Is(err, ErrUnavailable) || len(err.Error()) <= len(ErrUnavailable.Error())+2 {
			t.Errorf("got %v", err)
		}
		if _, err := Open(testUUID); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Open: %v", err)
		}
		return
	}
	if found.Driver == "" {
		t.Errorf("a driver without a version: %+v", found)
	}
	if _, err := Open(testUUID); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("Open of a GPU that is not there: %v", err)
	}
}
