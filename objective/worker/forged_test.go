package worker

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pawl/kernels/arguments"
)

// prints as many bytes as the entry of its load is long, in thousands, at every run.
type prints struct{ polite }

func (prints) Run(Run) (Result, error) {
	_, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 100_000))
	return Result{}, err
}

// A worker that stays may print a little in each of many trials.
func TestFloodIsOfOneRequest(t *testing.T) {
	c := start(t, Command{Device: "prints", OutputLimit: 400_000})
	for run := range 30 {
		if _, err := c.Run(t.Context(), Run{}); err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
	}
	c = start(t, Command{Device: "prints", OutputLimit: 1000})
	var fault *Fault
	for range 100 { // what is printed is read beside the answers
		if _, err := c.Run(t.Context(), Run{}); errors.As(err, &fault) {
			break
		}
	}
	if fault == nil || fault.Kind != Flooded {
		t.Errorf("got %v", fault)
	}
}

// forges writes what its module is called to the worker's own pipe, as a kernel can
// that shares its memory.
type forges struct{ frame []byte }

func (d *forges) Load(l Load) ([]Region, error) {
	d.frame = []byte(l.Module)
	return nil, nil
}

func (d *forges) Run(Run) (Result, error) {
	_, err := os.NewFile(responsePipe, "responses").Write(d.frame)
	return Result{Outputs: [][]byte{make([]byte, 40)}}, err
}

func (d *forges) Time(Time) (Timing, error) { return Timing{}, errors.New("no") }

func TestForgedAnswersAreTheKernelsFault(t *testing.T) {
	t.Parallel() // it waits
	var honest bytes.Buffer
	if err := writeFrame(&honest, response{}); err != nil {
		t.Fatal(err)
	}
	frame := func(header response) string {
		var wire bytes.Buffer
		if err := writeFrame(&wire, header); err != nil {
			t.Fatal(err)
		}
		return wire.String()
	}
	load := Load{Arguments: []arguments.Binding{{Name: "y", Type: "f32", Count: 10, Out: true}}}
	for name, forged := range map[string]string{
		"an answer without a nonce": frame(response{}),
		"a timing":                  frame(response{Timing: &Timing{Samples: []float64{1e-9}}}),
		"another nonce":             frame(response{Nonce: "guessed"}),
		"60 GB":                     frame(response{Sizes: []int{60 << 30}}),
		"an error":                  frame(response{Error: "the disk is full"}),
		"no frame":                  "\xff\xff\xff\x7f and more",
		"no JSON":                   "\x02\x00\x00\x00}{",
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, Command{Device: "forges", Shared: true})
			load := load
			load.Module = forged
			if strings.ContainsRune(forged, '\xff') {
				load.Module = "\x01" // JSON cannot carry the bytes: too short a frame
			}
			if err := c.Load(t.Context(), load); err != nil {
				t.Fatal(err)
			}
			_, err := c.Run(t.Context(), Run{})
			if err == nil { // it comes before the next answer then
				_, err = c.Run(t.Context(), Run{})
			}
			var fault *Fault
			if !errors.As(err, &fault) || fault.Kind != Garbled {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Sizes are known before anything is allocated, also where the nonce is right.
func TestSizesAreThoseOfTheOutputs(t *testing.T) {
	for _, test := range []struct {
		sizes, known []int
		good         bool
	}{
		{[]int{3, 4}, []int{3, 4}, true},
		{nil, []int{3, 4}, true}, // a device that compares by itself
		{[]int{3}, []int{3, 4}, false},
		{[]int{3, 60 << 30}, []int{3, 4}, false},
		{[]int{-1}, nil, false},
		{[]int{1 << 20, 1}, nil, false},
		{[]int{60 << 30}, nil, false},
		{[]int{5}, nil, true},
	} {
		payloads, err := readPayloads(bytes.NewReader(make([]byte, 100)), test.sizes, test.known)
		if (err == nil) != test.good || test.good && len(payloads) != len(test.sizes) {
			t.Errorf("%v where %v are known: %v", test.sizes, test.known, err)
		}
	}
}

// After a kernel has run in a worker's memory, its errors may be the kernel's.
func TestErrorsAfterARunAreTheKernels(t *testing.T) {
	for _, shared := range []bool{false, true} {
		c := start(t, Command{Device: "forges", Shared: shared})
		_, err := c.Time(t.Context(), Time{Samples: 1})
		var fault *Fault
		if err == nil || errors.As(err, &fault) != shared {
			t.Errorf("shared %t: %v", shared, err)
		}
	}
}
