package across

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Machine returns this machine with the tools of a study.
func Machine(study studies.Study, cache string, getenv func(string) string, notice func(string)) *devices.Machine {
	asked := study.Options
	return devices.Here(devices.Options{
		Compiler: cmp.Or(asked.Compiler, devices.Compilers[0]), Cache: cache,
		CompileTimeout: cmp.Or(time.Duration(asked.CompileTimeout), time.Minute),
		Getenv:         getenv, Notice: notice,
	})
}

// Load reads the kernel of a study, from another folder where one is named, and makes sure
// that its files are those that were tuned.
func Load(ctx context.Context, machine *devices.Machine, study studies.Study, folder string) (*kernels.Kernel, error) {
	k, err := machine.Load(ctx, cmp.Or(folder, study.Origin), study.Backend)
	if err != nil {
		return nil, err
	}
	source, err := k.Digest()
	if err != nil {
		return nil, err
	}
	if k.Name != study.Kernel || source != study.Source {
		return nil, fmt.Errorf("the files of kernel %s are not those of study %d (digest %s then, %s now): tune again with "+
			"--across", k.Name, study.ID, study.Source, source)
	}
	return k, nil
}

// Comparison measures points of a study beside each other on a workload.
type Comparison struct {
	Phase  trial.Phase
	Points []space.Point
	// Rounds are those wanted; 0 means as many as the study's confirmation wanted.
	Rounds int
	// Before are the rounds that are recorded, and Record adds one.
	Before []trial.Round
	Record func(trial.Round) error
	// Left is the time that is left, nil for no limit; Stopped says that the user has had enough.
	Left    func() time.Duration
	Stopped func() bool
	// Begin is called before the first round.
	Begin func()
}

// WantedRounds are how many rounds are measured where so many are asked for, 0 for none.
func WantedRounds(study studies.Study, asked int) int { return cmp.Or(asked, study.Options.Rounds, 10) }

// Run measures what is missing, and returns all rounds; through says that it was not stopped.
func (c Comparison) Run(ctx context.Context, bench *devices.Bench, study studies.Study) (rounds []trial.Round,
	through bool, err error) {
	rounds = c.Before
	if c.Left == nil {
		c.Left = func() time.Duration { return confirm.Unlimited }
	}
	begin := sync.OnceFunc(c.Begin)
	through, err = confirm.Compare(ctx, search.RetryHung(bench.Evaluator), confirm.Study{
		Record: func(r trial.Round) error {
			if err := c.Record(r); err != nil {
				return err
			}
			rounds = append(rounds, r)
			return nil
		},
		Rounds:  func() []trial.Round { return rounds },
		Refresh: bench.Evaluator.Refresh, Left: c.Left, Stopped: c.Stopped,
		Progress: func(trial.Phase, int) { begin() },
	}, confirm.Options{
		Rounds: WantedRounds(study, c.Rounds), Samples: samples, Seed: stats.FreshSeed(), Lanes: runtime.NumCPU(),
	}, c.Phase, c.Points...)
	return rounds, through, err
}

// samples per round, as in a confirmation.
const samples = 10

// Open opens a workload of the study's kernel as the study has opened its own, on the same
// device with the same tools: anything else is an error.
func Open(ctx context.Context, machine *devices.Machine, study studies.Study,
	target devices.Target) (*devices.Bench, error) {
	o := study.Options.Measuring()
	o.Seed, o.RunTimeout = study.Seed, cmp.Or(o.RunTimeout, 10*time.Second)
	b, err := machine.Open(ctx, target, o)
	if err != nil {
		return nil, err
	}
	now := b.Backend.Facts().Environment
	difference := study.Elsewhere(now)
	switch {
	case study.Environment.Device != now.Device:
		err = fmt.Errorf("study %d was measured on another device: %q then, %q now", study.ID, study.Environment.Device,
			now.Device)
	case difference != "":
		err = fmt.Errorf("%s; tune again", difference)
	default:
		return b, nil
	}
	b.Close()
	return nil, err
}
