// Package dialog is a study over standard input and output: one JSON object a line in, one line out for each. It is
// for kernels that no backend runs: whoever asks compiles, checks and measures in a loop of their own.
//
//	{"do": "ask"}                                      {"trial": 7, "point": {"BLOCK": 64}, "phase": "search"}
//	{"do": "tell", "trial": 7, "ms": [1.9, 2.0, 1.9]}  {"told": 7}
//	{"do": "tell", "trial": 8, "failure": "spills"}    {"told": 8}
//	{"do": "best"}                                     {"best": {"trial": 7, "point": {"BLOCK": 64}, "ms": 1.9, …}}
//	{"do": "report"}                                   {"report": "tuning/…/suggestions.md", "verdict": "apply", …}
//
// An ask is answered at once, with {"wait": [7]} where trial 7 must be told first, and with {"done": "…"} at the end.
// What is told is recorded before it is answered. A line that cannot be understood is answered with {"error": "…"} and
// changes nothing. The end of the input ends the dialog.
package dialog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"pawl/objective"
	"pawl/search"
	"pawl/space"
	"pawl/studies/report"
)

// Study is what a dialog is about.
type Study struct {
	Session *search.Session
	// Summary says what is known by now.
	Summary func(context.Context) (*report.Summary, error)
	// Report writes the pages, and returns the path of the first.
	Report func(context.Context) (*report.Summary, string, error)
}

// request is a line of the asker's.
type request struct {
	Do      string   `json:"do"`
	Trial   *int     `json:"trial"`
	Times   *samples `json:"ms"`
	Failure *string  `json:"failure"`
}

// samples are times in milliseconds: one, or a list.
type samples []float64

func (s *samples) UnmarshalJSON(encoded []byte) error {
	var one float64
	if err := json.Unmarshal(encoded, &one); err == nil {
		*s = samples{one}
		return nil
	}
	var several []float64
	if err := json.Unmarshal(encoded, &several); err != nil {
		return errors.New("ms is a time in milliseconds, or a list of them")
	}
	*s = several
	return nil
}

// reply is a line to the asker.
type reply map[string]any

// best is what the asker is told of the fastest point.
type best struct {
	Trial     int     `json:"trial"`
	Point     values  `json:"point"`
	Time      float64 `json:"ms"`
	Confirmed bool    `json:"confirmed"`
	// Speedup is over the default, Probability that of being the best of the finalists.
	Speedup     *float64 `json:"speedup,omitempty"`
	Probability *float64 `json:"p_best,omitempty"`
}

// values are a point as a JSON object.
type values map[string]space.Value

func valuesOf(p space.Point) values {
	v := values{}
	for _, a := range p.Assignments() {
		v[a.Name] = a.Value
	}
	return v
}

// Run answers lines until the input ends, the reader of the answers is gone, or stop is closed. An error is one of the
// machinery; nothing that the asker writes is one.
func Run(ctx context.Context, in io.Reader, out io.Writer, stop <-chan struct{}, s Study) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := readLines(ctx, in)
	for {
		var line line
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case next, more := <-lines:
			if !more {
				return nil
			}
			line = next
		}
		answer, err := s.answer(ctx, line)
		if err != nil {
			return err
		}
		encoded, err := json.Marshal(answer)
		if err != nil {
			panic("dialog: " + err.Error())
		}
		if _, err := out.Write(append(encoded, '\n')); err != nil {
			return nil // the asker is gone; everything that was told is recorded
		}
	}
}

// answer does what a line asks for. A reply says what is wrong with it; an error is broken machinery.
func (s Study) answer(ctx context.Context, l line) (reply, error) {
	r, err := l.request()
	if err != nil {
		return reply{"error": err.Error()}, nil
	}
	switch r.Do {
	case "ask":
		return s.ask(ctx)
	case "tell":
		return s.tell(r)
	case "best":
		return s.best(ctx)
	}
	summary, path, err := s.Report(ctx)
	if err != nil {
		return nil, err
	}
	return reply{"report": path, "verdict": summary.Advice.Verdict, "sentence": summary.Advice.Sentence}, nil
}

func (s Study) ask(ctx context.Context) (reply, error) {
	q, err := s.Session.Ask(ctx)
	var waiting *search.WaitError
	var ended *search.EndedError
	switch {
	case errors.As(err, &waiting):
		return reply{"wait": waiting.Pending}, nil
	case errors.As(err, &ended):
		return reply{"done": ended.Why}, nil
	case err != nil:
		return nil, err
	}
	return reply{"trial": q.Trial, "point": valuesOf(q.Point), "phase": q.Phase}, nil
}

func (s Study) tell(r request) (reply, error) {
	outcome, err := r.outcome()
	if err != nil {
		return reply{"error": err.Error()}, nil
	}
	err = s.Session.Tell(*r.Trial, outcome)
	if errors.As(err, new(*search.PendingError)) {
		return reply{"error": err.Error()}, nil
	}
	return reply{"told": *r.Trial}, err
}

// best answers with the confirmed winner, and before there is one with the fastest trial.
func (s Study) best(ctx context.Context) (reply, error) {
	summary, err := s.Summary(ctx)
	if err != nil {
		return nil, err
	}
	chosen := summary.Winner
	if chosen == nil && len(summary.Top) > 0 {
		chosen = &summary.Top[0]
	}
	if chosen == nil {
		chosen = summary.Default
	}
	if chosen == nil {
		return reply{"best": nil}, nil
	}
	b := &best{
		Trial: s.Session.Number(chosen.Point), Point: valuesOf(chosen.Point), Time: chosen.Milliseconds,
		Confirmed: summary.Winner != nil, Speedup: chosen.Speedup, Probability: chosen.Best,
	}
	return reply{"best": b}, nil
}

// longestReason is how much of a failure's text failures are counted by, in bytes.
const longestReason = 80

// outcome is what a tell says of its trial.
func (r request) outcome() (o objective.Outcome, err error) {
	switch {
	case r.Trial == nil:
		return o, errors.New(`tell needs "trial", the number that ask gave`)
	case (r.Times == nil) == (r.Failure == nil):
		return o, errors.New(`tell needs either "ms", a time or a list of times, or "failure", a reason`)
	case r.Failure != nil && strings.TrimSpace(*r.Failure) == "":
		return o, errors.New("a failure needs a reason")
	case r.Failure != nil:
		text := strings.TrimSpace(*r.Failure)
		reason, detail, _ := strings.Cut(text, "\n")
		if len(reason) > longestReason {
			reason, detail = strings.ToValidUTF8(reason[:longestReason], ""), text
		}
		o.Failure = &objective.Failure{Stage: objective.Bench, Reason: strings.TrimSpace(reason), Detail: detail}
		return o, nil
	case len(*r.Times) == 0:
		return o, errors.New("ms has no times")
	}
	for _, ms := range *r.Times {
		if !(ms > 0) || math.IsInf(ms, 0) {
			return o, fmt.Errorf("ms has %v: a time is above 0", ms)
		}
	}
	o.Samples, o.Batch = *r.Times, 1
	return o, nil
}

func (l line) request() (r request, err error) {
	if l.long {
		return r, fmt.Errorf("a line has more than %d bytes", longestLine)
	}
	decoder := json.NewDecoder(bytes.NewReader(l.text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("not a request: %w", err)
	}
	if decoder.More() {
		return r, errors.New("not a request: more than one object in a line")
	}
	switch r.Do {
	case "ask", "tell", "best", "report":
		if r.Do != "tell" && (r.Trial != nil || r.Times != nil || r.Failure != nil) {
			return r, fmt.Errorf("%s takes nothing else", r.Do)
		}
		return r, nil
	case "":
		return r, errors.New(`"do" is missing: ask, tell, best or report`)
	}
	return r, fmt.Errorf("no request %q; there are ask, tell, best, report", r.Do)
}
