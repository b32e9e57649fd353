package replay

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl/objective"
	"pawl/space"
)

// The lines are those that Optuna 5.0.0 writes for the same trials by add_trial,
// less its random worker ids; .ci/run has the real package read a journal.
func TestWriteOptuna(t *testing.T) {
	point := func(text string) space.Point {
		p, err := space.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	record := &Record{
		Kernel: "scale", Workload: "small", Environment: objective.Environment{Device: "a <fast> one"}, DefaultKnown: true,
		Params: []space.Param{
			{
				Name:    "BLOCK",
				Values:  []space.Value{space.IntegerValue(32), space.IntegerValue(64)},
				Default: space.IntegerValue(32),
			},
			{
				Name:    "PACK",
				Values:  []space.Value{space.TextValue("none"), space.TextValue("a\"b")},
				Default: space.TextValue("none"),
			},
		},
		Entries: []Entry{
			{
				Point:        point("BLOCK=64,PACK=none"),
				Samples:      []float64{1.5, 2.5, 2},
				Milliseconds: 2,
				Compile:      1500 * time.Millisecond,
			},
			{
				Point:   point(`BLOCK=32,PACK="a\"b"`),
				Failure: &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError, Detail: "line 3"},
			},
		},
	}
	var journal bytes.Buffer
	if err := record.WriteOptuna(&journal, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	const distributions = `{"BLOCK":"{\"attributes\":{\"choices\":[32,64]},\"name\":\"CategoricalDistribution\"}","PACK":"{\"attributes\":{\"choices\":[\"none\",\"a\\\"b\"]},\"name\":\"CategoricalDistribution\"}"}`
	const want = `{"op_code":0,"worker_id":"pawl","study_name":"scale, small, a <fast> one","directions":[1]}
{"op_code":2,"worker_id":"pawl","study_id":0,"user_attr":{"kernel":"scale"}}
{"op_code":2,"worker_id":"pawl","study_id":0,"user_attr":{"workload":"small"}}
{"op_code":2,"worker_id":"pawl","study_id":0,"user_attr":{"device":"a <fast> one"}}
{"op_code":2,"worker_id":"pawl","study_id":0,"user_attr":{"unit":"ms"}}
{"op_code":4,"worker_id":"pawl","study_id":0,"datetime_start":"2026-01-02T03:04:05.000000+00:00","datetime_complete":"2026-01-02T03:04:06.500000+00:00","state":1,"value":null,"values":[2],"distributions":` + distributions + `,"params":{"BLOCK":1,"PACK":0},"user_attrs":{"compile_s":1.5,"samples_ms":[1.5,2.5,2]},"system_attrs":{},"intermediate_values":{}}
{"op_code":4,"worker_id":"pawl","study_id":0,"datetime_start":"2026-01-02T03:04:06.500000+00:00","datetime_complete":"2026-01-02T03:04:06.500000+00:00","state":3,"value":null,"values":null,"distributions":` + distributions + `,"params":{"BLOCK":0,"PACK":1},"user_attrs":{"detail":"line 3","reason":"compile error","stage":"compile"},"system_attrs":{},"intermediate_values":{}}
`
	wanted := strings.Split(want, "\n")
	if got := strings.Count(journal.String(), "\n"); got != len(wanted)-1 {
		t.Errorf("%d lines, want %d", got, len(wanted)-1)
	}
	for i, got := range strings.Split(journal.String(), "\n") {
		if i >= len(wanted) || !reflect.DeepEqual(decoded(t, got), decoded(t, wanted[i])) {
			t.Errorf("line %d: %s", i, got)
		}
	}
}

// decoded is a line of the journal; the order of its keys does not matter.
func decoded(t *testing.T, line string) (value map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &value); err != nil && line != "" {
		t.Fatal(err)
	}
	return value
}
