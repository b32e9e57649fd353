package simulate

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pawl/internal/page"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixed is a report of invented numbers, so that the golden files change only
// when the formats do.
func fixed() *Report {
	sampler := func(name string, fraction float64) SamplerReport {
		return SamplerReport{
			Sampler: name,
			Fraction: []Estimate{
				{fraction, fraction - 0.01, fraction + 0.01},
				{fraction + 0.05, fraction + 0.04, fraction + 0.06},
			},
			Within5: []float64{0.25, 0.5}, Within1: []float64{0, 0.125},
			BySeed: [][]float64{{fraction}, {fraction + 0.05}}, AskMean: 1.5,
			Curve: []float64{fraction - 0.2, fraction - 0.1, fraction, fraction + 0.05},
		}
	}
	samplers := []SamplerReport{sampler("random", 0.7), sampler("auto", 0.9)}
	return &Report{
		Seeds: 8, Trials: 4, Devices: 1, Budgets: []int{2, 4}, Overall: samplers,
		Spaces: []SpaceReport{
			{
				Name:     "first <space>",
				Kernel:   "k",
				Workload: "64",
				Device:   "d",
				Points:   10,
				Working:  9,
				Ahead:    16,
				Optimum:  1.5,
				Samplers: samplers,
			},
			{
				Name:     "second",
				Points:   20,
				Working:  20,
				Ahead:    8,
				Optimum:  2,
				Samplers: samplers,
			},
		},
	}
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"table.golden.txt":   fixed().WriteTable,
		"report.golden.json": func(w io.Writer) error { return page.JSON(w, "pawl simulate", 1, fixed()) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs:\n%s\nwant\n%s", name, got.Bytes(), want)
		}
	}
}
