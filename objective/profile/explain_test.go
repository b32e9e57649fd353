package profile

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/cuda/occupancy"
)

// recorded are the counters of a real launch on an H200, by Nsight Compute 2025.3. Those of copy,
// banks, strided, spills and tail are of the kernels with one planted fault each in
// objective/profile/testdata/planted, at their defaults, recorded on 2026-11-16 by
// bash docs/gpu.sh FOLDER planted; the others are kernels of the library.
func recorded(t testing.TB, name string) Facts {
	t.Helper()
	all, err := ReadNsight(printed(t, "explained", name))
	if err != nil {
		t.Fatal(err)
	}
	return Facts{Metrics: all[0].Metrics}
}

// planted is a recorded launch with what the manifest says, and what was measured without a
// profiler on the same day.
func planted(t testing.TB, name string) Facts {
	f := recorded(t, name)
	f.Bytes = map[string]float64{
		"copy":    512 << 20,
		"strided": 512 << 20,
		"banks":   132 << 20,
		"spills":  8.25 * (1 << 20),
		"tail":    1.039 * (1 << 20),
	}[name]
	f.Milliseconds = map[string]float64{
		"copy":    0.1266,
		"strided": 1.042,
		"banks":   2.134,
		"spills":  4.311,
		"tail":    0.6372,
	}[name]
	return f
}

// The fault that a kernel was written with is the first advice.
func TestPlantedFaults(t *testing.T) {
	for name, want := range map[string]struct {
		first, limiter string
		atLeast        float64 // of the bound
	}{
		"copy":  {"memory-bound", Memory, 1.1},
		"banks": {"bank conflicts", L1, 25.9}, // what PAD=1 brought that day
		// The same bytes take copy 0.1266 ms.
		"strided":          {"uncoalesced accesses", Memory, 1.042 / 0.1266},
		"spills":           {"spills", L2, 5},
		"tail":             {"tail", Uneven, 1.9},
		"attention":        {"too few warps", Latency, 2},
		"attention-better": {"too few warps", Latency, 1.5},
		"reduce":           {"memory-bound", Memory, 1.05},
		"reduce-better":    {"memory-bound", Memory, 1.05},
	} {
		f := planted(t, name)
		advice := Advise(f)
		if len(advice) == 0 || advice[0].Name != want.first || advice[0].Bound() < want.atLeast {
			t.Errorf("%s: %+v, want %s first", name, advice, want.first)
		}
		if got := f.Limiter(); got.Name != want.limiter {
			t.Errorf("%s: limited by %+v, want %s", name, got, want.limiter)
		}
		// No kernel among them reads anything twice: what is moved beyond the manifest's bytes has
		// another cause, which has a rule of its own.
		if a := find(advice, "repeated reads"); a != nil {
			t.Errorf("%s: %s", name, a.Seen)
		}
	}
}

func find(advice []Advice, name string) *Advice {
	if i := slices.IndexFunc(advice, func(a Advice) bool { return a.Name == name }); i >= 0 {
		return &advice[i]
	}
	return nil
}

// A baseline with padded rows against a candidate without: the regression that was planted in a
// gated kernel on the same day. The figures with padding are those that the reports of the day print.
func TestPlantedRegression(t *testing.T) {
	before, after := planted(t, "banks"), planted(t, "banks")
	before.Milliseconds = 0.08226
	for counter, value := range map[string]float64{
		sharedPasses: 17.8e6,
		smBusy:       88,
		l1Busy:       89,
		memoryBusy:   35,
		l2Busy:       41,
		fmaBusy:      23,
		issueBusy:    50,
	} {
		before.Metrics[counter] = value
	}
	want := "It takes 25.9 times as long: more time is lost to bank conflicts; before: 0 % of the passes over shared " +
		"memory are repeats (17.8 million where 17.8 million would do); now: 97 % of the passes over shared memory are " +
		"repeats (538 million where 17.8 million would do)."
	if got := Compare(before, after).Why; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Who makes the traffic: launches made from the recorded one with loads that touch eight times
// the sectors that their data fills, and the shares of the traffic to memory that are worked out
// by hand.
func TestTraffic(t *testing.T) {
	const million, data = 1e6, 16 * 1e6 * sectorBytes // 8 million sectors loaded and as many stored
	for name, test := range map[string]struct {
		sectors, ideal, local, asked, read float64 // millions of sectors
		fetched, written                   float64
		vain, spilled, again               float64 // shares of the traffic
		first                              string
	}{
		"coalesced":                                   {16, 16, 0, 16, 8, 8, 8, 0, 0, 0, "memory-bound"},
		"loads uncoalesced":                           {72, 16, 0, 72, 64, 64, 8, 56. / 72, 0, 0, "uncoalesced accesses"},
		"loads uncoalesced, in pairs":                 {72, 16, 0, 72, 64, 128, 8, 120. / 136, 0, 0, "uncoalesced accesses"},
		"stores uncoalesced":                          {72, 16, 0, 72, 8, 8, 64, 56. / 72, 0, 0, "uncoalesced accesses"},
		"stores that are read to merge":               {72, 16, 0, 72, 8, 72, 64, 120. / 136, 0, 0, "uncoalesced accesses"},
		"partly uncoalesced":                          {24, 16, 0, 24, 16, 16, 8, 8. / 24, 0, 0, "uncoalesced accesses"},
		"uncoalesced, but found in L1":                {72, 16, 0, 16, 8, 8, 8, 0, 0, 0, "memory-bound"},
		"read four times":                             {40, 40, 0, 40, 32, 32, 8, 0, 0, 24. / 40, "repeated reads"},
		"read four times, and a quarter more in vain": {50, 40, 0, 50, 42, 42, 8, 10. / 50, 0, 24. / 50, "repeated reads"},
		"read twice, each time four times too much": {72, 24, 0, 72, 64, 64, 8, 48. / 72, 0, 8. / 72,
			"uncoalesced accesses"},
		"read four times, uncoalesced but found in L1": {256, 40, 0, 40, 32, 32, 8, 0, 0, 24. / 40, "repeated reads"},
		"spilled":                          {16, 16, 64, 80, 40, 40, 40, 0, 64. / 80, 0, "spills"},
		"spilled, but found in L1":         {16, 16, 64, 16, 8, 8, 8, 0, 0, 0, "memory-bound"},
		"spilled, and read four times":     {40, 40, 10, 50, 37, 37, 13, 0, 10. / 50, 24. / 50, "repeated reads"},
		"read in two halves, four too far": {16, 16, 0, 16, 8, 16, 8, 8. / 24, 0, 0, "uncoalesced accesses"},
	} {
		f := recorded(t, "strided")
		f.Bytes, f.Milliseconds = data, 1
		for counter, value := range map[string]float64{
			sectorsGlobal: test.sectors, sectorsIdeal: test.ideal, sectorsLocal: test.local, sectorsAsked: test.asked,
			sectorsRead:    test.read,
			sectorsFetched: test.fetched, bytesRead: sectorBytes * test.fetched, bytesWritten: sectorBytes * test.written,
		} {
			f.Metrics[counter] = million * value
		}
		memory := f.levels()[2]
		if math.Abs(memory.vain-test.vain) > 1e-9 || math.Abs(memory.local-test.spilled) > 1e-9 {
			t.Errorf("%s: %v in vain, %v local; want %v, %v", name, memory.vain, memory.local, test.vain, test.spilled)
		}
		advice := Advise(f)
		again := 0.0
		if a := find(advice, "repeated reads"); a != nil {
			again = *a.Lost
		}
		if math.Abs(again-test.again) > 1e-9 || advice[0].Name != test.first {
			t.Errorf("%s: %v read again, first %s; want %v, %s", name, again, advice[0].Name, test.again, test.first)
		}
	}
}

// Each rule has a launch that it applies to, recorded or made from a recorded one, and says
// nothing where its counters are missing.
func TestEveryRuleApplies(t *testing.T) {
	with := func(name string, values map[string]float64) Facts {
		f := recorded(t, name)
		for counter, value := range values {
			f.Metrics[counter] = value
		}
		return f
	}
	reread := recorded(t, "reduce")
	reread.Bytes = 250e6 // half of what it moves
	planted := faults(t)
	launches := map[string]Facts{
		"spills": recorded(t, "spills"), "bank conflicts": recorded(t, "banks"),
		"uncoalesced accesses": recorded(t, "strided"), "tail": recorded(t, "tail"),
		"too little work": planted["few_blocks"],
		"uneven load":     planted["long_blocks"],
		"too few warps":   recorded(t, "attention"),
		"memory-bound":    recorded(t, "copy"),
		"repeated reads":  reread,
		"L2-bound":        recorded(t, "spills"),
		"L1-bound":        with("copy", map[string]float64{l1Busy: 93}),
		"compute-bound":   planted["last_wave"],
		"low clock":       recorded(t, "attention"),
		"launch-bound":    {Milliseconds: 0.003, Resources: &objective.Resources{}},
		"short blocks":    planted["tiny_blocks"], "contended atomics": planted["lock"],
		"atomics in shared memory": planted["shared_bins"], "block size": planted["odd_block"],
		"idle lanes": planted["branches"], "no tensor cores": planted["product"], "f64 arithmetic": planted["doubles"],
		"integer division": planted["divisions"], "conversions": planted["conversions"],
		"special functions": planted["exponentials"], "scattered constants": planted["constants"],
		"local arrays": planted["local_array"],
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
		if rule.Meaning == "" || rule.Try == "" || rule.Reason == "" || rule.Source == "" || rule.Counter == "" {
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
	// 170.38 of the sum of all, 181.33, by hand from the report.
	if math.Abs(sum-1) > 1e-9 || stalls[0].Reason != "long_scoreboard" || math.Abs(stalls[0].Share-170.38/181.33) > 0.001 {
		t.Errorf("sum %v, first %+v", sum, stalls[0])
	}
}

func TestWithoutAProfiler(t *testing.T) {
	f := Facts{
		Resources: &objective.Resources{
			Registers:   64,
			SpillStores: 100,
			SpillLoads:  28,
			Occupancy: &occupancy.Occupancy{
				Blocks:  1,
				Warps:   8,
				Of:      64,
				Limiter: occupancy.Registers,
				Waves:   1.25,
				Tail:    0.75,
			},
		},
		Milliseconds: 2, Bytes: 1e9, Flops: 1e9, Roofline: objective.Roofline{Bytes: 1e12, Flops: 1e14},
	}
	advice := Advise(f)
	// 1.25 waves take as long as 2: 37.5 % of the time is empty.
	if len(advice) != 2 || advice[0].Name != "tail" || *advice[0].Lost != 0.375 || advice[1].Name != "spills" ||
		advice[1].Lost != nil {
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
		{"attention", "attention-better", "It is 1.7 times as fast: less time is lost to too few warps; before: 8.7 warps",
			Latency, Latency},
		{"attention-better", "attention", "It takes 1.7 times as long: more time is lost to too few warps", Latency, Latency},
		{"reduce", "reduce-better", "Both take the same time.", Memory, Memory},
		{"copy", "strided",
			"It takes 8.35 times as long: more time is lost to uncoalesced accesses; before: 0 % of the traffic to memory is " +
				"in vain", Memory, Memory},
		{"strided", "copy", "It is 8.35 times as fast: less time is lost to uncoalesced accesses", Memory, Memory},
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
	launch := func(milliseconds float64, spills, warps int) Facts {
		return Facts{
			Milliseconds: milliseconds,
			Resources: &objective.Resources{
				Registers:   64,
				SpillStores: spills,
				Occupancy:   &occupancy.Occupancy{Warps: warps, Of: 64},
			},
		}
	}
	for name, test := range map[string]struct {
		before, after Facts
		want          string
	}{
		"spills": {launch(1, 0, 32), launch(2, 400, 32),
			"It takes 2 times as long: by what the compiler says, bytes spilled a thread: 0 → 400"},
		"warps": {launch(2, 0, 16), launch(1, 0, 32),
			"It is 2 times as fast: by what the compiler says, warps that fit: 16 → 32"},
		"other way": {launch(1, 400, 32), launch(1.4, 0, 32), "no single counter explains that"},
		"nothing":   {launch(1, 0, 32), launch(1.4, 0, 32), "nothing that the compiler knows has changed"},
		"no time": {launch(0, 0, 32), launch(0, 400, 32),
			"The largest change is bytes spilled a thread: 0 → 400."},
		"same": {launch(1, 0, 32), launch(1.001, 0, 32), "Both take the same time."},
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
