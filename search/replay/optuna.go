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

// optunaWorker names the writer of a journal; Optuna asks for one only where several write.
const optunaWorker = "pawl"

// optunaOperation is what every line of a journal begins with.
type optunaOperation struct {
	Code   int    `json:"op_code"`
	Worker string `json:"worker_id"`
}

type optunaStudy struct {
	optunaOperation
	Name       string `json:"study_name"`
	Directions []int  `json:"directions"`
}

type optunaStudyFact struct {
	optunaOperation
	Study int               `json:"study_id"`
	Fact  map[string]string `json:"user_attr"`
}

// optunaTrial creates a trial that has ended already.
type optunaTrial struct {
	optunaOperation
	Study  int       `json:"study_id"`
	Start  string    `json:"datetime_start"`
	End    string    `json:"datetime_complete"`
	State  int       `json:"state"`
	Value  *struct{} `json:"value"` // always null: values has it
	Values []float64 `json:"values"`
	// Distributions are JSON texts; a parameter's value is the position among its choices.
	Distributions map[string]string  `json:"distributions"`
	Params        map[string]int     `json:"params"`
	UserFacts     map[string]any     `json:"user_attrs"`
	SystemFacts   map[string]any     `json:"system_attrs"`
	Intermediate  map[string]float64 `json:"intermediate_values"`
}

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
	operations := []any{optunaStudy{optunaOperation{optunaCreateStudy, optunaWorker}, r.optunaName(),
		[]int{optunaMinimize}}}
	for _, fact := range []struct{ name, value string }{
		{"kernel", r.Kernel}, {"workload", r.Workload}, {"device", r.Environment.Device},
		{"compiler", r.Environment.Compiler}, {"flags", r.Environment.Flags}, {"unit", "ms"},
	} {
		if fact.value != "" {
			operations = append(operations,
				optunaStudyFact{optunaOperation{optunaStudyUserAttr, optunaWorker}, 0, map[string]string{fact.name: fact.value}})
		}
	}
	for _, entry := range r.Entries {
		end := begin.Add(max(entry.Spent, entry.Compile))
		operations = append(operations, r.optunaTrial(entry, distributions, begin, end))
		begin = end
	}
	for _, operation := range operations {
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

func (r *Record) optunaTrial(entry Entry, distributions map[string]string, start, end time.Time) optunaTrial {
	const format = "2006-01-02T15:04:05.000000+00:00"
	trial := optunaTrial{
		optunaOperation: optunaOperation{optunaCreateTrial, optunaWorker},
		Start:           start.UTC().Format(format), End: end.UTC().Format(format),
		State: optunaFail, Distributions: distributions, Params: map[string]int{},
		UserFacts: map[string]any{}, SystemFacts: map[string]any{}, Intermediate: map[string]float64{},
	}
	for _, p := range r.Params {
		value, _ := entry.Point.Get(p.Name)
		trial.Params[p.Name] = slices.Index(p.Values, value)
	}
	if entry.Compile > 0 {
		trial.UserFacts["compile_s"] = entry.Compile.Seconds()
	}
	if entry.Resources != nil {
		trial.UserFacts["registers"] = entry.Resources.Registers
		trial.UserFacts["spill_stores"] = entry.Resources.SpillStores
	}
	if failure := entry.Failure; failure != nil {
		trial.UserFacts["stage"], trial.UserFacts["reason"] = string(failure.Stage), failure.Reason
		if failure.Detail != "" {
			trial.UserFacts["detail"] = failure.Detail
		}
		return trial
	}
	trial.State, trial.Values = optunaComplete, []float64{entry.Milliseconds}
	trial.UserFacts["samples_ms"] = entry.Samples
	return trial
}
