package explain

import (
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/counters"
	"pawl/objective/cuda/disassembly"
	"pawl/objective/cuda/occupancy"
)

// recorded are the counters of a real launch on an H200, by Nsight Compute 2025.3: kernels that
// were written to have one fault each, and kernels of the library.
func recorded(t testing.TB, name string) Facts {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	all, err := counters.ReadNsight(text)
	if err != nil {
		t.Fatal(err)
	}
	return Facts{Metrics: all[0].Metrics}
}

// The fault that a kernel was written with is the first advice.
func TestPlantedFaults(t *testing.T) {
	for name, want := range map[string]struct {
		first, limiter string
		atLeast        float64 // of the bound
	}{
		"copy":             {"memory-bound", Memory, 1.1},
		"banks":            {"bank conflicts", L1, 20},
		"strided":          {"uncoalesced accesses", Memory, 3},
		"spills":           {"spills", L2, 5},
		"tail":             {"tail", Uneven, 1.9},
		"attention":        {"too few warps", Latency, 2},
		"attention-better": {"too few warps", Latency, 1.5},
		"reduce":           {"memory-bound", Memory, 1.05},
		"reduce-better":    {"memory-bound", Memory, 1.05},
	} {
		f := recorded(t, name)
		advice := Advise(f)
		if len(advice) == 0 || advice[0].Name != want.first || advice[0].Bound() < want.atLeast {
			t.Errorf("%s: %+v, want %s first", name, advice, want.first)
		}
		if got := f.Limiter(); got.Name != want.limiter {
			t.Errorf("%s: limited by %+v, want %s", name, got, want.limiter)
		}
	}
}

// Each rule has a launch that it applies to, recorded or made from a recorded one, and says
// nothing where its counters are missing.
func TestEveryRuleApplies(t *testing.T) {
	with := func(name string, values map[string]float64) Facts {
		f := recorded(t, name)
		for counter, value := range values {
			f.Metrics[counter] = counters.Metric{Value: value}
		}
		return f
	}
	reread := recorded(t, "reduce")
	reread.Bytes = 250e6 // half of what it moves
	launches := map[string]Facts{
		"spills": recorded(t, "spills"), "bank conflicts": recorded(t, "banks"), "uncoalesced accesses": recorded(t, "strided"), "tail": recorded(t, "tail"),
		"too little work":    with("tail", map[string]float64{gridSize: 33, waves: 0.25}),
		"uneven load":        recorded(t, "spills"),
		"too few warps":      recorded(t, "attention"),
		"latency":            with("attention", map[string]float64{warpsActive: 60, occupancyMost: 100}),
		"memory-bound":       recorded(t, "copy"),
		"repeated reads":     reread,
		"L2-bound":           recorded(t, "spills"),
		"L1-bound":           with("copy", map[string]float64{l1Busy: 93}),
		"compute-bound":      with("tail", map[string]float64{smBusy: 90}),
		"no tensor cores":    with("tail", map[string]float64{smBusy: 90}),
		"divergent branches": with("tail", map[string]float64{threadsPerInst: 8}),
		"low clock":          recorded(t, "attention"),
		"launch-bound":       {Milliseconds: 0.003, Resources: &objective.Resources{}},
	}
	for _, rule := range Rules {
		f, there := launches[rule.Name]
		if !there {
			t.Errorf("no launch for %s", rule.Name)
			continue
		}
		i := slices.IndexFunc(Advise(f), func(a Advice) bool { return a.Name == rule.Name })
		if i < 0 {
			t.Errorf("%s does not apply", rule.Name)
		} else if a := Advise(f)[i]; a.Seen == "" || a.Lost == nil || *a.Lost < applies || *a.Lost > 1 || a.Bound() < 1 {
			t.Errorf("%s: %+v", rule.Name, a)
		}
		if rule.Meaning == "" || rule.Try == "" || rule.Reason == "" || rule.Source == "" || rule.Looks == "" || rule.When == "" {
			t.Errorf("%s is not complete: %+v", rule.Name, rule)
		}
	}
	if advice := Advise(Facts{Milliseconds: 0.003}); advice != nil {
		t.Errorf("a call on a processor is no launch: %+v", advice)
	}
	if advice := Advise(Facts{}); advice != nil {
		t.Errorf("advice from nothing: %+v", advice)
	}
	if got := (Facts{}).Limiter(); got.Name != "" || !strings.Contains(got.Text, "not known") {
		t.Errorf("a limiter from nothing: %+v", got)
	}
}

// A counter that a version of ncu lacks takes away the rules that need it, and no more.
func TestMissingCounters(t *testing.T) {
	f, whole := recorded(t, "spills"), recorded(t, "spills")
	for name, value := range whole.Metrics {
		delete(f.Metrics, name)
		for _, a := range Advise(f) {
			if a.Lost != nil && !(*a.Lost >= 0 && *a.Lost <= 1) {
				t.Fatalf("without %s: %+v", name, a)
			}
		}
		if c := Compare(f, whole); c.Why == "" {
			t.Fatalf("without %s: %+v", name, c)
		}
		f.Metrics[name] = value
	}
}

// Stalls are shares of a whole, largest first.
func TestStalls(t *testing.T) {
	stalls := recorded(t, "copy").Stalls()
	sum := 0.0
	for _, s := range stalls {
		sum += s.Share
	}
	// 130.44 of the sum of all, 138.6, by hand from the report.
	if math.Abs(sum-1) > 1e-9 || stalls[0].Reason != "long_scoreboard" || math.Abs(stalls[0].Share-130.44/138.61) > 0.001 {
		t.Errorf("sum %v, first %+v", sum, stalls[0])
	}
}

func TestWithoutAProfiler(t *testing.T) {
	f := Facts{
		Resources:    &objective.Resources{Registers: 64, SpillStores: 100, SpillLoads: 28, Occupancy: &occupancy.Occupancy{Blocks: 1, Warps: 8, Of: 64, Limiter: occupancy.Registers, Waves: 1.25, Tail: 0.75}},
		Milliseconds: 2, Bytes: 1e9, Flops: 1e9, Roofline: objective.Roofline{Bytes: 1e12, Flops: 1e14},
	}
	advice := Advise(f)
	// 1.25 waves take as long as 2: 37.5 % of the time is empty.
	if len(advice) != 2 || advice[0].Name != "tail" || *advice[0].Lost != 0.375 || advice[1].Name != "spills" || advice[1].Lost != nil {
		t.Errorf("%+v", advice)
	}
	// 1 ms at 1 TB/s, and it takes 2.
	if share, bound := f.RooflineShare(); share != 0.5 || bound != Memory {
		t.Errorf("%v, %v", share, bound)
	}
	if got := f.Occupancy(); !strings.Contains(got, "8 of 64 warps") {
		t.Error(got)
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct{ before, after, why, before2, after2 string }{
		{"attention", "attention-better", "It is 1.7 times as fast: less time is lost to too few warps; before: 8.7 warps", Latency, Latency},
		{"attention-better", "attention", "It takes 1.7 times as long: more time is lost to too few warps", Latency, Latency},
		{"reduce", "reduce-better", "Both take the same time.", Memory, Memory},
		{"copy", "strided", "It takes 9.39 times as long: more time is lost to uncoalesced accesses; before: 0 % of the sectors", Memory, Memory},
		{"strided", "copy", "It is 9.39 times as fast: less time is lost to uncoalesced accesses", Memory, Memory},
		{"banks", "copy", "less time is lost to bank conflicts", L1, Memory},
		{"spills", "copy", "less time is lost to spills", L2, Memory},
	} {
		c := Compare(recorded(t, test.before), recorded(t, test.after))
		if !strings.Contains(c.Why, test.why) || c.Before.Name != test.before2 || c.After.Name != test.after2 || !c.Profiled {
			t.Errorf("%s and %s: %s (%s, %s)", test.before, test.after, c.Why, c.Before.Name, c.After.Name)
		}
		if len(c.Changes) == 0 || len(c.Changes) > 10 {
			t.Errorf("%s and %s: %d changes", test.before, test.after, len(c.Changes))
		}
	}
}

// Without a profiler the compiler's figures say why, if they change in the right direction.
func TestCompareFigures(t *testing.T) {
	launch := func(milliseconds float64, spills, warps, instructions int) Facts {
		return Facts{
			Milliseconds: milliseconds,
			Resources:    &objective.Resources{Registers: 64, SpillStores: spills, Occupancy: &occupancy.Occupancy{Warps: warps, Of: 64}},
			Mix:          &disassembly.Mix{Loop: disassembly.Counts{Instructions: instructions}},
		}
	}
	for name, test := range map[string]struct {
		before, after Facts
		want          string
	}{
		"spills":       {launch(1, 0, 32, 100), launch(2, 400, 32, 100), "It takes 2 times as long: by what the compiler says, bytes spilled a thread: 0 → 400"},
		"warps":        {launch(2, 0, 16, 100), launch(1, 0, 32, 100), "It is 2 times as fast: by what the compiler says, warps that fit: 16 → 32"},
		"instructions": {launch(1, 0, 32, 100), launch(1.4, 0, 32, 150), "instructions in the hot loop: 100 → 150"},
		"other way":    {launch(1, 0, 32, 150), launch(1.4, 0, 32, 100), "no single counter explains that"},
		"nothing":      {launch(1, 0, 32, 100), launch(1.4, 0, 32, 100), "nothing that the compiler knows has changed"},
		"no time":      {launch(0, 0, 32, 100), launch(0, 400, 32, 100), "The largest change is bytes spilled a thread: 0 → 400."},
		"same":         {launch(1, 0, 32, 100), launch(1.001, 0, 32, 100), "Both take the same time."},
	} {
		if c := Compare(test.before, test.after); !strings.Contains(c.Why, test.want) || c.Profiled {
			t.Errorf("%s: %s", name, c.Why)
		}
	}
}

// Four steps of a stencil take twice as long as one: that is faster.
func TestCompareOtherWork(t *testing.T) {
	one, four := Facts{Milliseconds: 2, Flops: 1e9}, Facts{Milliseconds: 4, Flops: 4e9}
	for _, test := range []struct {
		before, after Facts
		want          string
	}{
		{one, four, "A launch does 4 times the work in 2 times the time: 2 times as fast for the same work."},
		{four, one, "A launch does 0.25 times the work in 0.5 times the time: 2 times as long for the same work."},
	} {
		if got := Compare(test.before, test.after).Why; !strings.HasPrefix(got, test.want) {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
