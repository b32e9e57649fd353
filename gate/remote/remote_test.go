package remote

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/internal/kerneltest"
	"pawl/internal/postgrestest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/devices"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
	"pawl/studies/farm/serve"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	devices.Serve()
	os.Exit(m.Run())
}

// scale is a kernel that a point makes slow, or wrong.
var scale = kerneltest.Scale{
	Params:  []string{"REPEATS: {values: [1, 20], default: 1}", "FACTOR: {values: [2, 3], default: 2}"},
	Repeats: "REPEATS", Factor: "FACTOR",
}

// yard is a farm with one worker, and a kernel.
type yard struct {
	*testing.T
	farm   farm.Options
	folder string
	tools  devices.Tools
	// held is what a comparison on the farm's device is wrapped in.
	held func(func())
}

func newYard(t *testing.T) *yard {
	t.Helper()
	if testing.Short() {
		t.Skip("it measures in dozens of processes")
	}
	y := &yard{
		T:      t,
		folder: scale.Folder(t),
		farm:   farm.Options{URL: postgrestest.Database(t), Version: "test", Log: slog.New(slog.DiscardHandler)},
		held:   func(do func()) { do() },
	}
	if err := farm.Init(t.Context(), y.farm); err != nil {
		t.Fatal(err)
	}
	y.tools = devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}}
	y.work()
	return y
}

// work runs a worker until the test ends.
func (y *yard) work() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- serve.Run(ctx,
			serve.Options{
				Farm:  y.farm,
				Tools: devices.Tools{Cache: y.TempDir(), Getenv: os.Getenv, Notice: func(string) {}},
				Lanes: 1,
				Hold: func(ctx context.Context, sides []*devices.Configuration,
					task json.RawMessage) (answer json.RawMessage, err error) {
					y.held(func() { answer, err = Work(ctx, sides, task) })
					return answer, err
				},
			})
	}()
	y.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			y.Error(err)
		}
	})
}

// gate gates a point, on the farm's device or here.
func (y *yard) gate(remotely bool, at string) reporting.Result {
	y.Helper()
	b := &devices.Builder{
		Machine: devices.Here(y.tools),
		Cache:   y.tools.Cache,
		Version: "test",
		Options: objective.Options{Seed: 1, RunTimeout: time.Minute},
	}
	defer b.Close()
	on := ratchet.Here(b)
	if remotely {
		d, err := Open(y.Context(),
			Options{
				Farm:       y.farm,
				Definition: studies.Definition{Seed: 1, RunTimeout: time.Minute},
				Notice:     func(text string) { y.Log(text) },
			})
		if err != nil {
			y.Fatal(err)
		}
		defer d.Close()
		on = d
	}
	limits := gate.Presets[gate.DefaultPreset]
	limits.Rounds, limits.Samples, limits.Budget = []int{10}, 5, time.Minute
	r, _, err := ratchet.Run(y.Context(), b, ratchet.Options{
		Again:   studies.Place{}.Pawl,
		Setting: ratchet.Setting{On: on, Baseline: filepath.Join(filepath.Dir(y.folder), "baseline.json"), Seed: 1},
		Policy: &policy.File{Kernels: []policy.Kernel{{Name: y.folder, At: at, Policy: limits}},
			Profile: []gate.Verdict{gate.Regression}},
		Backend: devices.Auto,
		Exit:    func(*reporting.Report) int { return 0 },
	})
	if err != nil {
		y.Fatal(err)
	}
	return r.Results[0]
}

// A gate on a farm's device finds what a gate there would find: the baseline that either of
// them makes is the other's, what is slower or wrong fails, and what is the same is not measured.
func TestGateOnAFarm(t *testing.T) {
	y := newYard(t)
	if r := y.gate(true, "REPEATS=1"); r.Verdict != gate.New || !r.Moved || r.Current <= 0 {
		t.Fatalf("%+v", r)
	}
	if r := y.gate(false, "REPEATS=1"); r.Verdict != gate.Maintained || !strings.Contains(r.Reason, "nothing to measure") {
		t.Errorf("here: %+v", r)
	}
	if r := y.gate(true, "REPEATS=1,FACTOR=3"); r.Verdict != gate.Wrong {
		t.Errorf("%+v", r)
	}
	// Twenty times as slow is beyond the noise of any machine.
	there, here := y.gate(true, "REPEATS=20"), y.gate(false, "REPEATS=20")
	for _, r := range []reporting.Result{there, here} {
		if r.Verdict != gate.Regression || r.Method != gate.Interleaved || r.Evidence == nil ||
			r.Evidence.Candidate.Processes != r.Evidence.Rounds || r.Evidence.Change > -2 {
			t.Errorf("%s: %s, %+v", r.Verdict, r.Reason, r.Evidence)
		}
	}
	// The compiler's figures explain it wherever it was measured; a profiler looks at this machine's alone.
	missing := "no profiler has looked at it: it was measured on a farm"
	if !slices.Contains(there.Notes, missing) || slices.Contains(here.Notes, missing) {
		t.Errorf("there %q, here %q", there.Notes, here.Notes)
	}
	// How many samples count is the machine's affair: a busy one has some discarded.
	if there.Key != here.Key || there.Point != here.Point {
		t.Errorf("there %+v, here %+v", there, here)
	}
}

// While a gate holds a device, nothing else is measured there; its tasks go before those of
// searches.
func TestGateGoesBeforeASearch(t *testing.T) {
	y := newYard(t)
	f, err := farm.Open(t.Context(), y.farm)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	answered := func() (n int, used float64, gates []farm.SearchStatus) {
		status, err := f.Status(context.Background())
		if err != nil {
			t.Error(err)
		}
		for _, s := range status.Searches {
			if strings.HasPrefix(s.Title, "gate: ") {
				gates = append(gates, s)
			} else {
				n += s.Answered
				delete(s.Seconds, farm.Compiling)
				for _, seconds := range s.Seconds {
					used += seconds
				}
			}
		}
		return n, used, gates
	}
	var holds, most, answers atomic.Int64
	var used, each, held float64 // when the last hold began, for each answer until then, and how long it took
	y.held = func(do func()) {
		before, usedBefore, _ := answered()
		start := time.Now()
		do()
		used, each, held = usedBefore, usedBefore/float64(before), time.Since(start).Seconds()
		after, _, _ := answered()
		answers.Store(int64(after))
		holds.Add(1)
		most.Store(max(most.Load(), int64(after-before)))
	}
	searching, stop := context.WithCancel(t.Context())
	searched := make(chan error, 1)
	go func() { searched <- search(searching, f, y.folder) }()
	for n := 0; n < 3; n, _, _ = answered() {
		select {
		case err := <-searched:
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	y.gate(true, "REPEATS=1")
	n, usedAfter := 0, 0.0
	for ; n <= int(answers.Load()); n, usedAfter, _ = answered() {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if err := <-searched; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, _, gates := answered()
	further := float64(n - 1 - int(answers.Load())) // answers while this test did not look
	if more := usedAfter - used; more <= 0 || more-each*further > held {
		t.Errorf("the search paid for %.2f s of the device while it waited for %.2f s", more, held)
	}
	if len(gates) != 1 || gates[0].Priority != farm.GatePriority || gates[0].State != "ended" || gates[0].Open != 0 {
		t.Errorf("%+v", gates)
	}
	// One measurement may have been done and not yet written when the device was taken.
	if holds.Load() != 2 || most.Load() > 1 {
		t.Errorf("%d holds, during which a search had up to %d answers", holds.Load(), most.Load())
	}
}

// search measures the kernel's default again and again.
func search(ctx context.Context, f *farm.Farm, folder string) error {
	k, err := kernels.Load(folder, kernels.Host)
	if err != nil {
		return err
	}
	packed, err := farm.Pack(k)
	if err != nil {
		return err
	}
	chosen, err := ask.Choose(ctx, f, "", devices.Compilers[0])
	if err != nil {
		return err
	}
	e := ask.New(f, chosen,
		farm.Subject{
			Kernel:     cache.Digest(packed),
			Name:       k.Name,
			Definition: studies.Definition{Backend: k.Backend, Workload: "small", Seed: 1, Samples: 5},
		}, packed)
	if err := e.Begin(ctx, farm.Head{Study: "search", Title: "search"}, func(string) {}); err != nil {
		return err
	}
	defer e.End(context.WithoutCancel(ctx), false)
	for {
		prepared, err := e.Prepare(ctx, k.Default())
		if err == nil {
			_, err = e.Measure(ctx, prepared, 0)
		}
		if err != nil {
			return err
		}
	}
}
