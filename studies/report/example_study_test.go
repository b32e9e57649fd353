package report

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

func point(t testing.TB, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exampleStudy is a study of a small space whose times are made up: 4 ms for
// the default, half of that for the winner, a little noise from a fixed seed.
func exampleStudy(t testing.TB) studies.Study {
	t.Helper()
	return studies.Study{
		ID:      7,
		Subject: studies.Subject{Kernel: "scale", Origin: "./scale", Workload: "small", Dims: "N=1000", Backend: "host"},
		Sampler: "tpe",
		Seed:    1,
		Source:  "0123456789abcdef",
		Space: studies.SpaceFacts{
			Params: []studies.ParamFacts{
				{Name: "BLOCK", Values: []string{"16", "32", "64"}, Default: "16", Ordered: true},
				{Name: "MODE", Values: []string{"plain", `"a|b $x"`}, Default: "plain"},
				{Name: "UNROLL", Values: []string{"1", "2"}, Default: "1", Ordered: true},
			},
			Product: 12, Valid: 12, Infeasible: map[string]int{"8 threads, this machine has 2 cores": 3},
		},
		Work: studies.Work{Flops: 2e6, Bytes: 8e6},
		Environment: objective.Environment{
			Backend:  "host",
			Device:   "Example CPU",
			Cores:    2,
			System:   "linux/amd64",
			Compiler: "cc 1.0",
			Flags:    "-O3",
			Commit:   "abc123",
			Build: &objective.Build{
				Source:    "scale.c",
				Compiler:  []string{"cc"},
				Flags:     []string{"-O3"},
				Libraries: []string{"-lm"},
				Constants: []kernels.Constant{{Name: "WIDTH", Value: "8"}},
			},
		},
		Command: "pawl tune ./scale --workload small --sampler tpe --seed 1 --trials 12",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Conclusion: trial.Conclusion{
			Ended:  trial.TrialsDone,
			Regret: &trial.Regret{Left: 0.015, Sure: 0.9, Draws: 45},
			Spending: trial.Spending{
				Asking:     time.Second,
				Waiting:    3 * time.Second,
				Device:     2 * time.Second,
				Storing:    100 * time.Millisecond,
				Confirming: 14 * time.Second,
			},
			Dead: []string{"UNROLL"},
		},
		Roofline: objective.Roofline{Flops: 2e9, Bytes: 1e10},
	}
}

const winnerText = `BLOCK=64,MODE="a|b $x",UNROLL=2`

// exampleTime is the true time of a point.
func exampleTime(p space.Point) float64 {
	ms := 4.0
	if v, _ := p.Get("BLOCK"); v.Integer() == 64 {
		ms /= 1.6
	}
	if v, _ := p.Get("MODE"); v == space.TextValue("a|b $x") {
		ms /= 1.25
	}
	return ms
}

func noisy(rng *rand.Rand, ms float64, n int) []float64 {
	var samples []float64
	for range n {
		samples = append(samples, math.Round(ms*(1+0.01*rng.NormFloat64())*1e6)/1e6)
	}
	return samples
}

// examplePast makes up the trials and rounds of the study. Gain scales the
// winner's advantage: 1 is the full one, 0 none.
func examplePast(t testing.TB, rounds int, gain float64) trial.Past {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var past trial.Past
	for _, block := range []int{16, 32, 64} {
		for _, mode := range []string{"plain", `"a|b $x"`} {
			for _, unroll := range []int{1, 2} {
				p := point(t, fmt.Sprintf("BLOCK=%d,MODE=%s,UNROLL=%d", block, mode, unroll))
				trial := trial.Trial{
					Number:   len(past.Trials),
					Point:    p,
					Finished: true,
					Elapsed:  time.Duration(len(past.Trials)+1) * time.Second,
				}
				trial.Outcome.Spent = objective.Spent{
					Compile: 300 * time.Millisecond,
					Check:   10 * time.Millisecond,
					Measure: 100 * time.Millisecond,
				}
				trial.Outcome.Resources = &objective.Resources{
					Registers:  2 * block,
					SpillLoads: 4 * (unroll - 1),
					Shared:     1024 * block,
					Launch: &kernels.LaunchDimensions{
						Grid:   [3]int64{100, 8, 1},
						Block:  [3]int64{int64(4 * block), 1, 1},
						Shared: int64(1024 * block),
					},
				}
				if block == 32 && unroll == 2 {
					trial.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: "crashed", Detail: "SIGSEGV | at N=7"}
				} else {
					trial.Outcome.Samples = noisy(rng, 4+gain*(exampleTime(p)-4), 10)
				}
				past.Trials = append(past.Trials, trial)
			}
		}
	}
	past.Elapsed = 20 * time.Second
	measure := func(phase trial.Phase, texts ...string) {
		for number := range rounds {
			for _, text := range texts {
				p := point(t, text)
				past.Rounds = append(past.Rounds, trial.Round{Phase: phase, Number: number, Point: p,
					Outcome: objective.Outcome{
						Samples:    noisy(rng, 4+gain*(exampleTime(p)-4), 10),
						Conditions: exampleConditions(number),
						Evidence:   exampleEvidence(phase, number, p),
					}})
			}
		}
	}
	measure(trial.Confirmation, "BLOCK=16,MODE=plain,UNROLL=1", winnerText, `BLOCK=64,MODE=plain,UNROLL=1`)
	if gain > 0 {
		measure(trial.Ablation, "BLOCK=16,MODE=plain,UNROLL=1", "BLOCK=64,MODE=plain,UNROLL=1",
			`BLOCK=64,MODE="a|b $x",UNROLL=1`, winnerText)
	}
	return past
}

// exampleEvidence is what the first round of a confirmation carries: the winner's
// is a little less exact.
func exampleEvidence(phase trial.Phase, round int, p space.Point) *check.Evidence {
	if phase != trial.Confirmation || round > 0 {
		return nil
	}
	e := &check.Evidence{Tolerance: arguments.Tolerance{Absolute: 1e-6, Relative: 1e-4}}
	for i, family := range []string{"", "signs", "one-hot"} {
		e.Cases = append(e.Cases,
			check.Case{Dims: kernels.Dims{"N": int64(7 + i)}, Seed: uint64(40 + i), Family: family, Layout: worker.Misaligned},
			check.Case{Dims: kernels.Dims{"N": 1000}, Seed: uint64(50 + i), Family: family})
	}
	if p.String() == winnerText {
		e.Worst, e.At = 0.1234, &e.Cases[2]
	}
	return e
}

// exampleConditions are those of a device that gets warm and is throttled once.
func exampleConditions(round int) *worker.Conditions {
	c := &worker.Conditions{
		Device:      "GPU-1",
		ClockLow:    1900 - round,
		ClockMedian: 1950,
		ClockHigh:   1980,
		Temperature: 75 + round,
		Power:       600,
	}
	if round == 9 {
		c.Discarded, c.Reasons = 2, "software thermal slowdown"
	}
	return c
}

func summary(t testing.TB, past trial.Past) *Summary {
	t.Helper()
	s, err := Summarise(exampleStudy(t), past)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// asJSON is Summary.JSON in the form of the other writers.
func asJSON(w io.Writer, s *Summary) error { return s.JSON(w) }
