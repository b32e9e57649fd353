package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scripted does what the module that it is loaded with is called.
type scripted struct {
	polite
	what string
}

func (d *scripted) Load(l Load) ([]Region, error) {
	d.what = l.Module
	if d.what == "unloadable" {
		return nil, errors.New("it is unloadable")
	}
	return nil, nil
}

func (d *scripted) Run(r Run) (Result, error) {
	switch d.what {
	case "hang":
		select {}
	case "die":
		return Result{}, &Fault{Kind: LaunchFailed}
	}
	return Result{Outputs: [][]byte{[]byte(d.what)}}, nil
}

// checkAll checks modules until one is called "enough", and returns those that
// were judged.
func checkAll(t *testing.T, c *Client, modules ...string) (judged []string, at int, err error) {
	t.Helper()
	var steps []Step
	for _, m := range modules {
		step := Step{Load: Load{Module: m}, Run: &Run{}}
		if strings.HasPrefix(m, "ready") {
			step.Run = nil
		}
		steps = append(steps, step)
	}
	at, err = c.Check(t.Context(), 2*time.Second, steps, func(i int, r Result) bool {
		if steps[i].Run == nil {
			if len(r.Outputs) > 0 {
				t.Errorf("step %d has outputs without a run", i)
			}
		} else if string(r.Outputs[0]) != modules[i] {
			t.Errorf("the result of %s was taken for step %d, %s", r.Outputs[0], i, modules[i])
		}
		judged = append(judged, modules[i])
		return modules[i] != "enough"
	})
	return judged, at, err
}

func TestCheckJudgesInOrder(t *testing.T) {
	c := start(t, Command{Device: "scripted"})
	var many []string
	for i := range 2*mostAhead + 1 { // more than may be sent at once
		if i%5 == 0 {
			many = append(many, fmt.Sprint("ready", i))
		}
		many = append(many, fmt.Sprint("m", i))
	}
	judged, _, err := checkAll(t, c, many...)
	if err != nil || strings.Join(judged, " ") != strings.Join(many, " ") {
		t.Errorf("%v, %v", judged, err)
	}
	// What follows a verdict is answered and not judged, and the worker stays.
	judged, _, err = checkAll(t, c, append([]string{"a", "enough"}, many...)...)
	if err != nil || strings.Join(judged, " ") != "a enough" || c.Finished() {
		t.Errorf("%v, %v", judged, err)
	}
	if judged, _, err = checkAll(t, c, "b"); err != nil || len(judged) != 1 {
		t.Errorf("afterwards: %v, %v", judged, err)
	}
}

func TestCheckBlamesTheRightStep(t *testing.T) {
	t.Parallel() // it waits
	for _, test := range []struct {
		modules []string
		at      int
		kind    FaultKind // empty for an error that is no fault
	}{
		{[]string{"a", "b", "die", "c"}, 2, LaunchFailed},
		{[]string{"a", "hang", "b"}, 1, Hung},
		{[]string{"a", "unloadable", "b"}, 1, ""},
		{append(make([]string, mostAhead), "die"), mostAhead, LaunchFailed},
	} {
		c := start(t, Command{Device: "scripted"})
		judged, at, err := checkAll(t, c, test.modules...)
		var fault *Fault
		switch errors.As(err, &fault); {
		case err == nil || at != test.at || len(judged) != test.at:
			t.Errorf("%v: judged %q, then %v at %d", test.modules, judged, err, at)
		case test.kind == "" && fault != nil, test.kind != "" && (fault == nil || fault.Kind != test.kind):
			t.Errorf("%v: %v", test.modules, err)
		case !c.Finished() || alive(c.Pid()):
			t.Errorf("%v: the worker goes on", test.modules)
		}
	}
}

// A verdict stands whatever a later step does.
func TestCheckVerdictStands(t *testing.T) {
	for _, later := range []string{"die", "unloadable"} {
		c := start(t, Command{Device: "scripted"})
		judged, _, err := checkAll(t, c, "enough", later, "a")
		if err != nil || len(judged) != 1 || !c.Finished() {
			t.Errorf("%s: %v, %v", later, judged, err)
		}
	}
}
