package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pawl/space"
)

// The operations of Optuna's journal that an exported study consists of, and the states of its trials.
const (
	optunaCreateStudy   = 0
	optunaStudyUserAttr = 2
	optunaCreateTrial   = 4

	optunaComplete = 1
	optunaFail     = 3

	optunaMinimize = 1
)

// WriteOptuna writes a record as a journal file, which Optuna's
// JournalFileBackend and its dashboard open. Every parameter is categorical: the
// values are exactly those that the kernel declares. A failed point is a failed
// trial with its stage and reason as attributes. Begin is the time of the first
// trial; records know how long a trial took, and nothing else about the clock.
func (r *Record) WriteOptuna(w io.Writer, begin time.Time) error {
	if _, err := New(r); err != nil {
		return fmt.Errorf("writing an Optuna journal: %w", err)
	}
	distributions, err := optunaDistributions(r.Params)
	if err != nil {
		return fmt.Errorf("writing an Optuna journal: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	operations := []map[string]any{
		{"op_code": optunaCreateStudy, "study_name": r.optunaName(), "directions": []int{optunaMinimize}},
	}
	for _, fact := range []struct{ name, value string }{
		{"kernel", r.Kernel}, {"workload", r.Workload}, {"device", r.Environment.Device},
		{"compiler", r.Environment.Compiler}, {"flags", r.Environment.Flags}, {"unit", "ms"},
	} {
		if fact.value != "" {
			operations = append(operations, map[string]any{
				"op_code": optunaStudyUserAttr, "study_id": 0, "user_attr": map[string]string{fact.name: fact.value},
			})
		}
	}
	for _, entry := range r.Entries {
		end := begin.Add(max(entry.Spent, entry.Compile))
		operations = append(operations, r.optunaTrial(entry, distributions, begin, end))
		begin = end
	}
	for _, operation := range operations {
		operation["worker_id"] = "pawl" // Optuna asks for one only where several write
		if err := encoder.Encode(operation); err != nil {
			return fmt.Errorf("writing an Optuna journal: %w", err)
		}
	}
	return nil
}

func (r *Record) optunaName() string {
	parts := []string{r.Kernel, r.Workload, r.Environment.Device}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// optunaDistributions returns the JSON text of each parameter's choices.
func optunaDistributions(params []space.Param) (map[string]string, error) {
	texts := map[string]string{}
	for _, p := range params {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]any{
			"name":       "CategoricalDistribution",
			"attributes": map[string]any{"choices": p.Values},
		}); err != nil {
			return nil, err
		}
		texts[p.Name] = strings.TrimSpace(text.String())
	}
	return texts, nil
}

// optunaTrial creates a trial that has ended already. A parameter's value is the position among its choices.
func (r *Record) optunaTrial(entry Entry, distributions map[string]string, start, end time.Time) map[string]any {
	const format = "2006-01-02T15:04:05.000000+00:00"
	params, facts := map[string]int{}, map[string]any{}
	trial := map[string]any{
		"op_code": optunaCreateTrial, "study_id": 0, "state": optunaFail, "value": nil, "values": nil,
		"datetime_start": start.UTC().Format(format), "datetime_complete": end.UTC().Format(format),
		"distributions": distributions, "params": params, "user_attrs": facts,
		"system_attrs": map[string]any{}, "intermediate_values": map[string]any{},
	}
	for _, p := range r.Params {
		value, _ := entry.Point.Get(p.Name)
		params[p.Name] = slices.Index(p.Values, value)
	}
	if entry.Compile > 0 {
		facts["compile_s"] = entry.Compile.Seconds()
	}
	if entry.Resources != nil {
		facts["registers"], facts["spill_stores"] = entry.Resources.Registers, entry.Resources.SpillStores
	}
	if failure := entry.Failure; failure != nil {
		facts["stage"], facts["reason"] = failure.Stage, failure.Reason
		if failure.Detail != "" {
			facts["detail"] = failure.Detail
		}
		return trial
	}
	trial["state"], trial["values"], facts["samples_ms"] = optunaComplete, []float64{entry.Milliseconds}, entry.Samples
	return trial
}
