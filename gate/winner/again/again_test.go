package again

import (
	"strings"
	"testing"

	"pawl/gate"
	"pawl/gate/ratchet"
	"pawl/objective"
	"pawl/studies"
)

// What a change is put down to, by what differs beside it.
func TestCause(t *testing.T) {
	for name, c := range map[string]struct {
		verdict gate.Verdict
		fails   bool
		differs []string
		want    Cause
	}{
		"nothing moved":                          {gate.NoDifference, false, []string{factCode, factDriver}, Nothing},
		"undecided":                              {gate.Inconclusive, false, []string{factDriver}, Nothing},
		"other code":                             {gate.Regression, false, []string{factCode, factMachine}, Code},
		"other compiler":                         {gate.Regression, false, []string{factCompiler, factMachine}, Compiler},
		"other flags":                            {gate.Improvement, false, []string{factFlags, factMachine}, Compiler},
		"both":                                   {gate.Regression, false, []string{factCode, factCompiler, factMachine}, Both},
		"driver":                                 {gate.Regression, false, []string{factDriver}, Driver},
		"same machine code clears the compiler":  {gate.Regression, false, []string{factCompiler, factDriver}, Driver},
		"same machine code clears a new comment": {gate.Regression, false, []string{factCode}, Machine},
		"nothing differs":                        {gate.Regression, false, nil, Machine},
		"fails with other code":                  {"", true, []string{factCode}, Code},
		"fails with another driver":              {"", true, []string{factDriver}, Driver},
	} {
		o := Outcome{Comparison: gate.Comparison{Decision: gate.Decision{Verdict: c.verdict}}}
		if c.fails {
			o.Failure = &objective.Failure{Reason: "it hangs"}
		}
		for _, what := range c.differs {
			o.Facts = append(o.Facts, Fact{What: what, Then: "a", Now: "b"})
		}
		if got := o.cause(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if advice[c.want] == "" {
			t.Errorf("no advice for %s", c.want)
		}
	}
}

// What was not recorded then is no difference.
func TestDifferences(t *testing.T) {
	then := &earlier{binary: "m1", study: studies.Study{Source: "s1", Environment: objective.Environment{Compiler: "cc 1", Cores: 2, System: "linux/amd64"}}}
	now := &ratchet.Measurement{Binary: "m1", Environment: objective.Environment{Compiler: "cc 2", Cores: 2, System: "linux/amd64", Driver: "590"}}
	facts := differences(then, now, "s1")
	if len(facts) != 1 || facts[0] != (Fact{factCompiler, "cc 1", "cc 2"}) {
		t.Errorf("%v", facts)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	o := Outcome{Kernel: "<script>", Workload: "a|b", Facts: []Fact{{factCompiler, "cc | `1`", "x\ny"}}}
	text := o.Markdown()
	if strings.Contains(text, "<script>") || strings.Count(text, "\n|") != 3 {
		t.Errorf("%s", text)
	}
}
