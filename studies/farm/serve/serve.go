// Package serve is a worker of a farm: it takes tasks and does them with what its machine
// has, exactly as a study on that machine would.
//
//  1. Offers: the machine is looked at as pawl doctor does. Its GPU and driver, or its
//     processor, name the queues for measuring; each compiler with what it compiles for
//     names one for compiling.
//  2. A task's kernel is fetched, checked by its digest and opened; the last few stay open.
//  3. Compilations leave their binaries in the farm; devices run what they fetch from there,
//     and need no compiler.
//
// A worker keeps nothing that matters: it may be killed at any time.
package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/devices"
	"pawl/studies/farm"
)

// DefaultGrace is how long jobs in hand may take when a worker is stopped.
const DefaultGrace = 20 * time.Second

// Options say what a worker offers.
type Options struct {
	Farm farm.Options
	// Compile and Measure choose; neither means both.
	Compile, Measure bool
	// Architectures are GPUs to compile for that are not here, such as sm_90.
	Architectures []string
	// Lanes is how many compilers run at once. Zero means one per core.
	Lanes int
	// Host names the machine. Empty means the system's name for it.
	Host string
	// Grace is how long jobs in hand may take after a request to stop. Zero means DefaultGrace.
	Grace time.Duration
	// Tools say where compilers and the cache are.
	Tools devices.Tools
	// Hold does what a comparison asks of a device that it holds. Nil means that this worker has no part in comparisons.
	Hold func(ctx context.Context, sides []*devices.Configuration, task json.RawMessage) (json.RawMessage, error)
	// Began is called with what is offered, once the farm knows of it; it may be nil.
	Began func(farm.Offers)
}

type server struct {
	Options
	farm  *farm.Farm
	cache *cache.Cache
	// cores are shared by compilations, one each, and by measurements on the processor, which take all of them.
	cores *semaphore.Weighted
	width int64
	// devices are the GPUs: a measurement takes one, a comparison all of them.
	devices *semaphore.Weighted
	gpus    int64
	// identity tells this machine's devices from others of their model.
	identity string
	// stored are the digests that the farm was given, with the time.
	stored  sync.Map
	benches benches
}

// Run works until the context ends.
func Run(ctx context.Context, o Options) error {
	if !o.Compile && !o.Measure {
		o.Compile, o.Measure = true, true
	}
	o.Lanes, o.Grace = cmp.Or(o.Lanes, runtime.NumCPU()), cmp.Or(o.Grace, DefaultGrace)
	if o.Host == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("this machine has no name (--host gives it one): %w", err)
		}
		o.Host = name
	}
	folder, err := o.Tools.CacheFolder()
	if err != nil {
		return err
	}
	kept, err := cache.Open(folder)
	if err != nil {
		return err
	}
	offers, err := find(ctx, o)
	if err != nil {
		return err
	}
	o.Farm.Connections = cmp.Or(o.Farm.Connections, o.Lanes+6)
	f, err := farm.Open(ctx, o.Farm)
	if err != nil {
		return err
	}
	defer f.Close()
	cores := int64(runtime.NumCPU())
	s := &server{
		Options:  o,
		farm:     f,
		cache:    kept,
		cores:    semaphore.NewWeighted(cores),
		width:    cores,
		gpus:     1,
		identity: o.Host,
		benches:  benches{open: map[string]*bench{}},
	}
	if m := offers.Measures; m != nil {
		s.gpus, s.identity = int64(m.Width), m.Identity
	}
	s.devices = semaphore.NewWeighted(s.gpus)
	defer s.benches.closeIdle() // no task is left
	if o.Began != nil {
		o.Began(offers)
	}
	return f.Work(ctx, farm.WorkOptions{
		ID: o.Host + "-" + strings.ToLower(rand.Text()[:10]), Host: o.Host, Identity: s.identity, Offers: offers,
		Queues: queues(offers), Grace: o.Grace, Do: s.do,
	})
}

// find looks at the machine. A machine that has nothing of what is asked for is an error.
func find(ctx context.Context, o Options) (farm.Offers, error) {
	offers := farm.Offers{Lanes: o.Lanes, Replays: o.Measure}
	measures, compiles := devices.Here(o.Tools).Offers(ctx, o.Host, o.Architectures)
	if o.Measure {
		offers.Measures = measures
	}
	if o.Compile {
		offers.Compiles = compiles
	}
	if !o.Measure && len(offers.Compiles) == 0 {
		return offers, errors.New("this machine has no compiler: pawl doctor says what it has")
	}
	return offers, nil
}

// queues are those of a worker's offers, each with how many jobs at once.
func queues(offers farm.Offers) map[string]int {
	found := map[string]int{}
	if m := offers.Measures; m != nil {
		found[farm.MeasureQueue(*m)], found[farm.OwnQueue(*m)] = m.Width, m.Width
	}
	for _, c := range offers.Compiles {
		found[farm.CompileQueue(c)] = offers.Lanes
	}
	if offers.Replays {
		found[farm.ReplayQueue] = max(offers.Lanes, 2)
	}
	return found
}

func (s *server) do(ctx context.Context, job farm.Job) (farm.Answer, error) {
	if job.Subject.Record != "" {
		return s.replay(ctx, job)
	}
	if backend := kernels.BackendOf(job.Subject.Definition.Backend); backend.Name == "" || backend.Program {
		return farm.Answer{},
			fmt.Errorf("backend %q: a farm runs kernels on GPUs and processors", job.Subject.Definition.Backend)
	}
	switch job.Action {
	case farm.DescribeBuild, farm.Compile:
		return s.build(ctx, job)
	case farm.Describe, farm.Measure, farm.Verify, farm.Sample, farm.Look:
		return s.run(ctx, job)
	case farm.Hold:
		return s.compare(ctx, job)
	}
	return farm.Answer{}, fmt.Errorf("this worker does not know the action %q", job.Action)
}
