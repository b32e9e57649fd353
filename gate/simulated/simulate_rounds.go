package simulated

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl/gate"
	"pawl/objective"
)

// Options says what to simulate.
type Options struct {
	// Comparisons is how many comparisons are made per fault.
	Comparisons int
	// Seed is the first of the seeds.
	Seed uint64
	// Slowdown is the real slowdown that is to be found, as a share.
	Slowdown float64
	Policy   gate.Policy
	// Progress is called with how many rows are done; nil for none.
	Progress func(done, total int)
}

// Run makes the table of sides measured in rounds. Comparisons share the processors;
// seeds fix each of them, so the table does not depend on how many there are.
func Run(ctx context.Context, o Options) ([]Row, error) {
	var rows []Row
	for _, fault := range Faults {
		row, err := inRounds(ctx, fault, o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		if o.Progress != nil {
			o.Progress(len(rows), len(Faults))
		}
	}
	return rows, nil
}

type kernel struct {
	// time is how long a call takes on a quiet machine, in milliseconds.
	time float64
	// slowShare of the calls take twice as long: its tail is heavy, its median not.
	slowShare float64
}

// startProcess is what a process costs before its first sample, in milliseconds.
const startProcess = 15

// measurer is a simulated machine that has a clock: a process takes as long
// as its samples do, and a little for its start.
type measurer struct {
	machine   *machine
	arms      int // of a round
	processes int
	elapsed   time.Duration
}

// arm is a side of a comparison on the machine.
type arm struct {
	*measurer
	kernel
	name gate.Arm
}

func (a arm) Renew() {}

func (a arm) String() string { return string(a.name) }

// Sample runs a process of the arm.
func (a arm) Sample(_ context.Context, samples int) (objective.Outcome, error) {
	m, k := a.measurer, a.kernel
	place := m.processes % m.arms
	m.processes++
	times := m.machine.process(samples, k.time*(1+m.machine.fault.Trend*float64(place)))
	total := float64(startProcess)
	for i := range times {
		if k.slowShare > 0 && m.machine.random.Float64() < k.slowShare {
			times[i] *= 2
		}
		total += times[i]
	}
	m.elapsed += time.Duration(total * float64(time.Millisecond))
	return objective.Outcome{Samples: times}, nil
}

func (m *measurer) now() time.Time { return time.Unix(0, 0).Add(m.elapsed) }

// samplesEach is how many samples a simulated process takes where the policy does
// not say: as many as the other ways of measuring, and quick.
const samplesEach = 20

// together compares arms on one machine, in rounds. Another run of the same machine
// has the same seed and another number.
func together(ctx context.Context, f Fault, seed, run uint64, arms map[gate.Arm]kernel, p gate.Policy,
	verdictOnly bool) (gate.Comparison, error) {
	m := &measurer{machine: newMachine(f, seed, 3*p.Rounds[0]*samplesEach), arms: len(arms)}
	if run > 0 {
		m.machine.again(seed + run<<32)
	}
	sides := gate.Arms{}
	for name, k := range arms {
		sides[name] = arm{m, k, name}
	}
	return gate.Compare(ctx, sides, p, gate.Options{
		Seed: seed + run<<32, Samples: samplesEach, Now: m.now, VerdictOnly: verdictOnly,
		Simulations: 50, // thousands of comparisons need no more each
	})
}

// slowShare of a candidate's calls take twice as long where the tail is tested.
const slowShare = 0.4

// inRounds makes the row of one machine, measured in rounds.
func inRounds(ctx context.Context, f Fault, o Options) (Row, error) {
	row := Row{
		Fault:    f.Name,
		Method:   string(gate.Interleaved),
		Equal:    map[gate.Verdict]int{},
		Slowed:   map[gate.Verdict]int{},
		Together: Together{Eroded: map[gate.Verdict]int{}},
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	found := make([]trials, o.Comparisons)
	for i := range found {
		workers.Go(func() (err error) {
			seed := o.Seed + uint64(i)
			if err := ctx.Err(); err != nil {
				return err
			}
			if found[i], err = try(ctx, f, seed, o); err != nil {
				return fmt.Errorf("simulating %s, seed %d: %w", f.Name, seed, err)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return row, err
	}
	for _, t := range found { // in order, whoever was first
		row.count(t, o.Slowdown)
	}
	return row, nil
}

// trials are the comparisons on one machine: sides that are equal, also to the
// best accepted entry; a slower candidate; one that is slower than the best accepted entry
// only; one with a heavy tail; and one that is slower by what the first printed.
type trials struct{ equal, slowed, eroded, tail, printed gate.Comparison }

func try(ctx context.Context, f Fault, seed uint64, o Options) (t trials, err error) {
	time := cmp.Or(f.Milliseconds, 1)
	verdictOnly := false
	// The best accepted entry takes a time of its own; 0 for none.
	compare := func(run uint64, candidate kernel, best float64) (c gate.Comparison) {
		arms := map[gate.Arm]kernel{gate.Baseline: {time: time}, gate.Control: {time: time}, gate.Candidate: candidate}
		if best > 0 {
			arms[gate.Best] = kernel{time: best}
		}
		if err == nil {
			c, err = together(ctx, f, seed, run, arms, o.Policy, verdictOnly)
		}
		return c
	}
	t.equal = compare(0, kernel{time: time}, time)
	verdictOnly = true // of the others nothing else is counted
	t.slowed = compare(0, kernel{time: time * (1 + o.Slowdown)}, 0)
	t.eroded = compare(0, kernel{time: time}, time/(1+o.Slowdown))
	t.tail = compare(0, kernel{time: time, slowShare: slowShare}, 0)
	// As many arms as when it was printed, and no erosion.
	printed := time * (1 + t.equal.SmallestRegression)
	t.printed = compare(1, kernel{time: printed}, printed)
	return t, err
}

func (r *Row) count(t trials, slowdown float64) {
	r.Equal[t.equal.Verdict]++
	r.Slowed[t.slowed.Verdict]++
	r.Together.Eroded[t.eroded.Verdict]++
	r.Together.Warned.add(t.equal.SlowerTail())
	r.Together.Covered.cover(t.equal, 0)
	r.Together.Covered.cover(t.slowed, -slowdown)
	if len(t.tail.Tails) > 0 || t.tail.Verdict == gate.Regression {
		r.Together.Tails.add(t.tail.SlowerTail() || t.tail.Verdict == gate.Regression)
	}
	if t.equal.SmallestRegression > 0 {
		r.Together.Smallest = append(r.Together.Smallest, t.equal.SmallestRegression)
		r.Together.Seen.add(t.printed.Verdict == gate.Regression)
	}
}
