package simulate

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/internal/stats"
	"pawl/search"
	"pawl/search/sampler"
)

// FarmOptions say what farm is simulated: machines alike, each with a GPU and compilers,
// and one database between them and those who ask. Samplers, the number in flight and the
// order of the queue are those of a real farm; times are recorded or given here.
type FarmOptions struct {
	// Machines are the sizes to simulate.
	Machines []int
	// Lanes is the number of compilers of a machine. Zero means 16.
	Lanes int
	// Sampler is the one that asks. Empty means sampler.Default.
	Sampler string
	// Trials is the number of each study, Seeds how often one study alone is repeated.
	// Zero means 300, and 10.
	Trials, Seeds int
	// Ask is what a point takes to choose, one after the other in a study. Zero means 10 ms, as
	// docs/benchmarks.md has of 16 in flight.
	Ask time.Duration
	// Queue is what River takes for a task, and Database what the writing of its answer does:
	// of one server, one after the other. Latency is what a task waits beside that. Zero means
	// what docs/benchmarks.md has of two cores.
	Queue, Database, Latency time.Duration
	// Deaths is the mean time after which a machine dies; it is back after Absence. Zero
	// means that none does, and half a minute.
	Deaths, Absence time.Duration
	// Silence is how long a dead machine's jobs wait before others have them. Zero means 5 s.
	Silence time.Duration
}

// What a task takes of a server with two cores, as measured: see docs/benchmarks.md.
const (
	measuredQueue    = 1500 * time.Microsecond
	measuredDatabase = 300 * time.Microsecond
	measuredLatency  = time.Millisecond
)

// mostAhead is what a study on a farm has in flight at most.
const mostAhead = 64

func (o FarmOptions) withDefaults() FarmOptions {
	o.Lanes, o.Trials, o.Seeds = cmp.Or(o.Lanes, 16), cmp.Or(o.Trials, 300), cmp.Or(o.Seeds, 10)
	o.Sampler, o.Ask = cmp.Or(o.Sampler, sampler.Default), cmp.Or(o.Ask, 10*time.Millisecond)
	o.Queue, o.Database, o.Latency = cmp.Or(o.Queue, measuredQueue), cmp.Or(o.Database, measuredDatabase),
		cmp.Or(o.Latency, measuredLatency)
	o.Absence, o.Silence = cmp.Or(o.Absence, 30*time.Second), cmp.Or(o.Silence, 5*time.Second)
	return o
}

// FarmRow is what a farm of one size does.
type FarmRow struct {
	Machines int `json:"machines"`
	// Studies ask at once; the figures below are until the first of them has ended.
	Studies         int     `json:"studies"`
	TrialsPerSecond float64 `json:"trials_per_second"`
	// Shares of the time.
	GPUIdle      float64 `json:"gpu_idle"`
	CompilerBusy float64 `json:"compiler_busy"`
	// QueueBusy and DatabaseBusy are of one server.
	QueueBusy    float64 `json:"queue_busy"`
	DatabaseBusy float64 `json:"database_busy"`
	AskingBusy   float64 `json:"asking_busy"`
	// Limit is what is used most.
	Limit string `json:"limit"`
	// Redone are tasks that died with their machine.
	Redone int `json:"redone"`
	// Near is the median time in seconds after which one study alone is within 1 % of the
	// optimum, of those repeats that get there, whose share is Reached. Gain is how many
	// times sooner than on one machine, 0 where either never gets there.
	Near    float64 `json:"near_seconds"`
	Reached float64 `json:"reached"`
	Gain    float64 `json:"gain"`
}

// RunFarm simulates farms over a recorded space.
func RunFarm(ctx context.Context, file string, options FarmOptions) ([]FarmRow, error) {
	r, err := readRecorded(file)
	if err != nil {
		return nil, err
	}
	if err := r.costsKnown(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return r.farms(ctx, options.withDefaults())
}

func (r *Recorded) farms(ctx context.Context, options FarmOptions) (rows []FarmRow, err error) {
	alone := map[int]FarmRow{}
	for _, machines := range append([]int{1}, options.Machines...) {
		if _, known := alone[machines]; known {
			continue
		}
		var row FarmRow
		if row.Near, row.Reached, err = r.near(ctx, machines, options); err != nil {
			return nil, err
		}
		if one := alone[1]; row.Reached > 0 && one.Reached > 0 {
			row.Gain = one.Near / row.Near
		}
		alone[machines] = row
	}
	for _, machines := range options.Machines {
		// Two machines' compilers keep a study's 64 in flight busy; which points it asks for
		// is of no matter here.
		busy := options
		busy.Sampler = "random"
		f, err := r.newFarm(machines, (machines+1)/2, 1, busy)
		if err == nil {
			err = f.run(ctx, true)
		}
		if err != nil {
			return nil, err
		}
		row := f.row()
		row.Near, row.Reached, row.Gain = alone[machines].Near, alone[machines].Reached, alone[machines].Gain
		if machines == 1 {
			row.Gain = 1
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// near returns when one study alone is within 1 % of the optimum.
func (r *Recorded) near(ctx context.Context, machines int, options FarmOptions) (seconds, reached float64, err error) {
	var times []float64
	for seed := range options.Seeds {
		f, err := r.newFarm(machines, 1, uint64(seed), options)
		if err == nil {
			err = f.run(ctx, false)
		}
		if err != nil {
			return 0, 0, err
		}
		if f.studies[0].near > 0 {
			times = append(times, f.studies[0].near.Seconds())
		}
	}
	if len(times) == 0 {
		return 0, 0, nil
	}
	return stats.Median(times), float64(len(times)) / float64(options.Seeds), nil
}

// virtualFarm is machines, studies and a database that share a clock which only events move.
type virtualFarm struct {
	recorded *Recorded
	options  FarmOptions
	rng      *rand.Rand
	machines []*virtualMachine
	studies  []*virtualStudy
	waiting  [2]tasks // to be compiled, and measured, in the order of their turns
	served   [2]int64 // the turn of what was served last
	events   events
	now      time.Duration

	serverFree, asking           time.Duration
	filed                        int
	compiling, measuring         time.Duration
	finished, redone, sequential int
}

type virtualMachine struct {
	free  [2]int // compilers, GPUs
	lives int    // how often it has come up
	dead  bool
	hand  map[*virtualTask]bool
}

type virtualStudy struct {
	chooser         sampler.Sampler
	view            *sampler.View
	depth           search.Depth
	seed            uint64
	first           []int
	asked, finished int
	flights         int
	free            time.Duration // when who asks has chosen
	// compiling and measuring are what finished trials took.
	compiling, measuring time.Duration
	best                 float64
	near                 time.Duration
	turns                [2]search.Turn
}

// virtualTask is a point that is compiled, kind 0, or measured, kind 1.
type virtualTask struct {
	study *virtualStudy
	index int
	kind  int
	turn  int64
	order int // of filing
}

// tasks are those that wait, the next one first.
type tasks []*virtualTask

func (t tasks) Len() int { return len(t) }
func (t tasks) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].turn, t[j].turn), cmp.Compare(t[i].order, t[j].order)) < 0
}
func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *tasks) Push(x any)   { *t = append(*t, x.(*virtualTask)) }
func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func (r *Recorded) newFarm(machines, studies int, seed uint64, options FarmOptions) (*virtualFarm, error) {
	f := &virtualFarm{recorded: r, options: options, rng: rand.New(rand.NewPCG(seed, noiseStream))}
	for range machines {
		m := &virtualMachine{free: [2]int{options.Lanes, 1}, hand: map[*virtualTask]bool{}}
		f.machines = append(f.machines, m)
		f.expectDeath(m)
	}
	ahead := search.Lanes(search.AcceleratorAhead, options.Lanes)
	if machines > 1 {
		ahead = min(mostAhead, machines*(options.Lanes+1))
	}
	for i := range studies {
		chooser, err := sampler.New(options.Sampler, r.space.Space(), sampler.Defaults())
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		f.studies = append(f.studies, &virtualStudy{
			chooser: chooser, view: sampler.NewView(r.space.Pool()), depth: search.NewDepth(ahead, machines, false),
			seed: seed + uint64(i), first: r.defaultPoint(), best: math.Inf(1),
		})
	}
	return f, nil
}

func (f *virtualFarm) at(when time.Duration, do func()) {
	f.sequential++
	heap.Push(&f.events, event{when, f.sequential, do})
}

// run goes on until the first study has ended, or all of them have.
func (f *virtualFarm) run(ctx context.Context, first bool) error {
	for _, s := range f.studies {
		f.ask(s)
	}
	for len(f.events) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		over := func(s *virtualStudy) bool { return s.flights == 0 }
		if first && slices.ContainsFunc(f.studies, over) ||
			!slices.ContainsFunc(f.studies, func(s *virtualStudy) bool { return !over(s) }) {
			return nil
		}
		next := heap.Pop(&f.events).(event)
		f.now = next.at
		next.do()
	}
	return nil
}

// ask lets a study ask for as many points as are worth it.
func (f *virtualFarm) ask(s *virtualStudy) {
	for s.flights < s.depth.At(s.finished, s.compiling, s.measuring) && s.asked < f.options.Trials &&
		s.view.FreeCount() > 0 {
		index := 0
		if s.asked < len(s.first) {
			index = s.first[s.asked]
		} else {
			index = s.chooser.Next(s.view, rand.New(rand.NewPCG(s.seed, uint64(s.asked))))
		}
		s.view.Ask(index)
		s.asked++
		s.flights++
		s.free = max(s.free, f.now) + f.options.Ask
		f.asking += f.options.Ask
		f.at(s.free, func() { f.file(&virtualTask{study: s, index: index}) })
	}
}

// file takes a task through the database to whoever is free.
func (f *virtualFarm) file(t *virtualTask) {
	f.filed++
	t.turn, t.order = t.study.turns[t.kind].Next(f.served[t.kind]), f.filed
	f.serverFree = max(f.serverFree, f.now) + f.options.Queue + f.options.Database
	f.at(f.serverFree+f.options.Latency, func() { f.queue(t) })
}

func (f *virtualFarm) queue(t *virtualTask) {
	heap.Push(&f.waiting[t.kind], t)
	f.assign(t.kind)
}

// assign gives tasks to machines that are free, in turn.
func (f *virtualFarm) assign(kind int) {
	for _, m := range f.machines {
		for len(f.waiting[kind]) > 0 && m.free[kind] > 0 && !m.dead {
			t := heap.Pop(&f.waiting[kind]).(*virtualTask)
			f.served[kind] = t.turn
			f.work(m, t)
		}
		if len(f.waiting[kind]) == 0 {
			return
		}
	}
}

func (f *virtualFarm) work(m *virtualMachine, t *virtualTask) {
	compile, device := f.recorded.costs(t.index)
	takes, life := [2]time.Duration{compile, device}[t.kind], m.lives
	m.free[t.kind]--
	m.hand[t] = true
	f.at(f.now+takes, func() {
		if m.dead || m.lives != life {
			return // it died with its machine
		}
		delete(m.hand, t)
		m.free[t.kind]++
		if t.kind == 0 {
			f.compiling += takes
			f.file(&virtualTask{study: t.study, index: t.index, kind: 1})
		} else {
			f.measuring += takes
			f.finish(t, compile, device)
		}
		f.assign(t.kind)
	})
}

// finish tells a study about a point.
func (f *virtualFarm) finish(t *virtualTask, compile, device time.Duration) {
	s := t.study
	s.flights--
	s.finished++
	f.finished++
	s.compiling += compile
	s.measuring += device
	o := f.recorded.observe(t.index, nil, Options{})
	s.view.Observe(o)
	if !o.Failed && o.Milliseconds < s.best {
		if s.best = o.Milliseconds; s.near == 0 && f.recorded.fraction(s.best) >= 1-nearOptimum {
			s.near = f.now
		}
	}
	f.ask(s)
}

// expectDeath lets a machine die some time, and come back.
func (f *virtualFarm) expectDeath(m *virtualMachine) {
	if f.options.Deaths == 0 {
		return
	}
	f.at(f.now+time.Duration(f.rng.ExpFloat64()*float64(f.options.Deaths)), func() {
		m.dead = true
		lost := make([]*virtualTask, 0, len(m.hand))
		for t := range m.hand {
			lost = append(lost, t)
		}
		slices.SortFunc(lost, func(a, b *virtualTask) int { return cmp.Or(a.kind-b.kind, a.index-b.index) })
		f.redone += len(lost)
		f.at(f.now+f.options.Silence, func() {
			for _, t := range lost {
				f.queue(t)
			}
		})
		f.at(f.now+f.options.Absence, func() {
			m.dead, m.hand, m.free = false, map[*virtualTask]bool{}, [2]int{f.options.Lanes, 1}
			m.lives++
			f.expectDeath(m)
			f.assign(0)
			f.assign(1)
		})
	})
}
