package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

type t4Result struct {
	Configuration json.RawMessage `json:"configuration"`
	Times         t4Times         `json:"times"`
	Invalidity    string          `json:"invalidity"`
	Correctness   int             `json:"correctness"`
	Measurements  []t4Measurement `json:"measurements"`
	Objectives    []string        `json:"objectives"`
}

type t4Times struct {
	Compilation float64   `json:"compilation"`
	Framework   float64   `json:"framework"`
	Search      float64   `json:"search_algorithm"`
	Validation  float64   `json:"validation"`
	Runtimes    []float64 `json:"runtimes"`
}

type t4Measurement struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // a number for times
	Unit  string          `json:"unit"`
}

// WriteT4 writes a record in the community's T4 format. What that format has no
// place for (the default, details of failures, what the compiler said) is lost.
func (r *Record) WriteT4(w io.Writer) error {
	if _, err := New(r); err != nil {
		return fmt.Errorf("writing T4: %w", err)
	}
	file := struct {
		Metadata map[string]string `json:"metadata"`
		Kernel   string            `json:"kernel_name"`
		Device   string            `json:"device_name"`
		Problem  string            `json:"problem_size"`
		Results  []t4Result        `json:"results"`
	}{
		Metadata: map[string]string{"timeunit": "milliseconds"},
		Kernel:   r.Kernel, Device: r.Environment.Device, Problem: r.Workload, Results: []t4Result{},
	}
	for _, e := range r.Entries {
		result, err := r.t4(e)
		if err != nil {
			return fmt.Errorf("writing T4: point %s: %w", e.Point, err)
		}
		file.Results = append(file.Results, result)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(file); err != nil {
		return fmt.Errorf("writing T4: %w", err)
	}
	return nil
}

func (r *Record) t4(e Entry) (t4Result, error) {
	configuration, err := r.configuration(e)
	if err != nil {
		return t4Result{}, err
	}
	result := t4Result{
		Configuration: configuration, Invalidity: "correct", Correctness: 1, Objectives: []string{"time"},
		Measurements: []t4Measurement{}, Times: t4Times{
			Compilation: float64(e.Compile) / float64(time.Millisecond), Runtimes: append([]float64{}, e.Samples...),
		},
	}
	if e.Failure != nil {
		result.Invalidity, result.Correctness = "runtime", 0
		for _, f := range failures {
			if f.stage == e.Failure.Stage {
				result.Invalidity = f.t4
			}
		}
		return result, nil
	}
	time, err := json.Marshal(e.Milliseconds)
	result.Measurements = append(result.Measurements, t4Measurement{"time", time, "milliseconds"})
	return result, err
}

// configuration writes a point as an object, in the order of the parameters.
func (r *Record) configuration(e Entry) (json.RawMessage, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, p := range r.Params {
		value, _ := e.Point.Get(p.Name)
		name, err := json.Marshal(p.Name)
		if err != nil {
			return nil, err
		}
		encoded, err := value.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(encoded)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
