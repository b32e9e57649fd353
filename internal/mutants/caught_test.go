package mutants

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

func TestMain(m *testing.M) {
	devices.Serve()
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets every process sleep a second before it ends
	os.Exit(m.Run())
}

var seed = flag.Uint64("seed", 1, "the number that fixes shapes and inputs")

// quickShare is the part of the mutants that the quick tier must catch.
const quickShare = 0.9

// reasons are by which check the full tier catches a mutant, for one of each kind. They are the sample of a plain test.
var reasons = map[string]string{
	"attention/no maximum":            "wrong result",  // the family overflow
	"attention/uninitialized maximum": "wrong result",  // poisoned scratch
	"matmul/read before the start":    "out of bounds", // a guard page before
	"matmul/aligned vectors":          "crashed",       // misaligned buffers
	"matmul/stops at a zero":          "wrong result",  // the family one-hot
	"tally/masked keys":               "wrong result",  // integers in their range
	"tally/counters of 16 bits":       "wrong result",  // the family repeated
}

func TestHostMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: other tests run through the same goroutines")
	}
	list := all(kernels.Host)
	if !thorough.All() {
		list = slices.DeleteFunc(list, func(m Mutant) bool { return reasons[m.Kernel+"/"+m.Name] == "" })
		if len(list) != len(reasons) {
			t.Errorf("%d of %d mutants are there", len(list), len(reasons))
		}
	}
	catch(t, machine(t), list)
}

func TestGPUMutantsAreCaught(t *testing.T) {
	m := gpu(t)
	catch(t, m, thorough.Some(all(kernels.CUDA), 20))
}

func machine(t *testing.T) *devices.Machine {
	return devices.Here(devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(text string) { t.Log(text) }})
}

// gpu is this machine where it has a GPU and a compiler for it.
func gpu(t *testing.T) *devices.Machine {
	t.Helper()
	m := machine(t)
	err := m.Missing(t.Context(), kernels.CUDA)
	switch {
	case err != nil && os.Getenv("PAWL_REQUIRE_GPU") != "":
		t.Fatal("PAWL_REQUIRE_GPU is set: ", err)
	case err != nil:
		t.Skip("NOTHING WAS TESTED, needs a GPU: ", err)
	}
	return m
}

// catch puts mutants and the kernels that they are made from through the tiers, kernel by kernel.
func catch(t *testing.T, m *devices.Machine, list []Mutant) {
	quick, others := 0, 0
	for _, name := range names(list) {
		t.Run(name, func(t *testing.T) {
			l := &lab{machine: m, options: objective.Options{Seed: *seed, FullSeed: *seed}}
			l.options.Residents = &l.residents
			defer l.residents.End()
			mine := slices.DeleteFunc(slices.Clone(list), func(m Mutant) bool { return m.Kernel != name })
			for i, a := range l.prepare(t, mine) {
				t.Run(mine[i].Name, func(t *testing.T) {
					if a.bench == nil {
						t.Fatal("it was not compiled")
					}
					defer a.bench.Close() // its processes are of no more use
					early := l.caught(t, a, mine[i])
					if !mine[i].Timed {
						if others++; early {
							quick++
						}
					}
				})
			}
			t.Run("as it is", func(t *testing.T) { l.passes(t, name, mine[0].Backend) })
		})
	}
	t.Logf("the quick tier catches %d of %d", quick, others)
	if thorough.All() && float64(quick) < quickShare*float64(others) {
		t.Errorf("the quick tier catches %d of %d, want %.0f %%", quick, others, 100*quickShare)
	}
}

// names are the kernels of mutants.
func names(list []Mutant) (names []string) {
	for _, m := range list {
		if !slices.Contains(names, m.Kernel) {
			names = append(names, m.Kernel)
		}
	}
	return names
}

// lab is what the mutants of a kernel share: the device, and the processes that hold inputs and right answers there.
type lab struct {
	machine   *devices.Machine
	options   objective.Options
	residents worker.Residents
}

// attempt is a kernel that is compiled and ready for the tiers.
type attempt struct {
	bench    *devices.Bench
	prepared objective.Prepared
}

// prepare compiles mutants, one per core at a time, so that the device never waits for a compiler. The first goes
// ahead: it compiles what all share.
func (l *lab) prepare(t *testing.T, list []Mutant) []attempt {
	attempts := make([]attempt, len(list))
	one := func(i int) {
		dir, err := list[i].write(t)
		if err == nil {
			attempts[i], err = l.open(t, dir, list[i])
		}
		if err != nil {
			t.Errorf("%s: %v", list[i].Name, err)
		}
	}
	one(0)
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := 1; i < len(list); i++ {
		group.Go(func() error {
			one(i)
			return nil
		})
	}
	_ = group.Wait() // they report through t
	return attempts
}

// open compiles the kernel in a folder at a mutant's point.
func (l *lab) open(t *testing.T, dir string, m Mutant) (a attempt, err error) {
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return a, err
	}
	c, err := l.machine.OpenAt(t.Context(), k, m.Workload, m.At, l.options)
	if err != nil {
		return attempt{}, err
	}
	a.bench, a.prepared = c.Bench, c.Prepared
	if a.prepared.Failure != nil {
		a.bench.Close()
		return attempt{}, fmt.Errorf("it does not even compile: %s", a.prepared.Failure)
	}
	return a, nil
}

// caught puts a mutant through both tiers, and times one that cheats. It says whether the quick tier has caught it.
func (l *lab) caught(t *testing.T, a attempt, m Mutant) (early bool) {
	quick, err := a.bench.Evaluator.Tester.TryQuick(t.Context(), a.prepared)
	if err != nil {
		t.Fatal(err)
	}
	tester := a.bench.Evaluator.Tester
	full, err := tester.Try(t.Context(), a.prepared, slices.Values(tester.FullCases(a.prepared.Point)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: quick tier: %v; full tier: %v, after %d cases", m.What, quick.Failure, full.Failure, full.Checked)
	switch {
	case m.Timed:
		outcome, err := a.timed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("timed: %v", outcome.Failure)
		switch {
		case outcome.Failure != nil:
		case m.Backend == kernels.Host:
			l.worked(t, m, outcome.Milliseconds())
		default:
			t.Error("it cheats, and timing does not catch it")
		}
	case full.Failure == nil:
		t.Error("the full tier does not catch it")
	case reasons[m.Kernel+"/"+m.Name] != "" && m.Backend == kernels.Host &&
		reasons[m.Kernel+"/"+m.Name] != full.Failure.Reason:
		t.Errorf("caught by %s, want %s", full.Failure, reasons[m.Kernel+"/"+m.Name])
	}
	return quick.Failure != nil
}

// rounds is how often a winner is measured again at least, before it has an interval.
const rounds = 6

// worked says that a kernel that timing does not catch has taken the time of the right one: it does its work then, and
// gains nothing.
func (l *lab) worked(t *testing.T, m Mutant, milliseconds float64) {
	dir, err := right(t, m.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.open(t, dir, Mutant{Backend: m.Backend, At: m.At, Workload: m.Workload})
	if err != nil {
		t.Fatal(err)
	}
	defer a.bench.Close()
	// What disturbs a measurement only adds time, and so may where a process has its memory: another has it elsewhere.
	right := math.Inf(1)
	for round := 0; round < 2*rounds && milliseconds < 0.7*right; round++ {
		a.bench.Evaluator.Refresh()
		outcome, err := a.timed(t.Context())
		if err != nil || outcome.Failure != nil {
			t.Fatal(outcome.Failure, err)
		}
		right = min(right, outcome.Milliseconds())
	}
	if milliseconds < 0.7*right {
		t.Errorf("it cheats, takes %.3g of %.3g ms, and timing does not catch it", milliseconds, right)
	} else {
		t.Logf("it takes %.3g ms, the right one %.3g ms", milliseconds, right)
	}
}

// timed measures as a search and a confirmation do. Of a graph's launches one is compared, so that a kernel that is
// right in some of them passes a sample by chance, and not all rounds.
func (a attempt) timed(ctx context.Context) (objective.Outcome, error) {
	outcome, err := a.bench.Evaluator.Measure(ctx, a.prepared, 0)
	for round := 0; round < rounds && err == nil && outcome.Failure == nil; round++ {
		a.bench.Evaluator.Refresh()
		outcome, err = a.bench.Evaluator.Sample(ctx, a.prepared, 5)
	}
	return outcome, err
}

// passes puts the kernel itself through the full tier, and times it.
func (l *lab) passes(t *testing.T, name, backend string) {
	dir, err := right(t, name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.open(t, dir, Mutant{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	defer a.bench.Close()
	failure, err := a.bench.Evaluator.Verify(t.Context(), a.prepared)
	if err == nil && failure == nil {
		var outcome objective.Outcome
		outcome, err = a.bench.Evaluator.Measure(t.Context(), a.prepared, 0)
		failure = outcome.Failure
	}
	if err != nil || failure != nil {
		t.Errorf("a false alarm: %v, %v", failure, err)
	}
}
