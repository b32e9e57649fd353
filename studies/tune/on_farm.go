package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
)

// Farm says which machines of a farm a study asks.
type Farm struct {
	farm.Options
	// On is the label of the devices: a part of their name. A record needs none.
	On string
	// Priority is 1 to 4, and what is lower goes first. Zero means a search's.
	Priority int
}

func openFarm(ctx context.Context, o Options) (*subject, error) {
	if err := o.checkFarm(); err != nil {
		return nil, err
	}
	label := o.Farm.On
	if o.Study.Backend == Replay {
		label = ask.Replay
	}
	o.Farm.Connections = cmp.Or(o.Farm.Connections, 16)
	o.Farm.Notice = o.Tools.Notice
	f, err := farm.Open(ctx, o.Farm.Options)
	if err != nil {
		return nil, err
	}
	chosen, err := ask.Choose(ctx, f, label, cmp.Or(o.Study.Compiler, devices.Compilers[0]))
	var s *subject
	if err == nil && label == ask.Replay {
		s, err = replayOnFarm(o, f, chosen)
	} else if err == nil {
		s, err = kernelOnFarm(ctx, o, f, chosen)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (o Options) checkFarm() error {
	switch s := o.Study; {
	case kernels.BackendOf(s.Backend).Program:
		return devices.Argumentf("--on is for kernels: a program is built and run on this machine")
	case s.Across:
		return devices.Argumentf("--across measures on this machine: leave it out with --on, and pawl studies across does " +
			"it afterwards")
	case s.LockClocks > 0:
		return devices.Argumentf("--lock-clocks is for this machine's GPU: leave it out with --on")
	case o.Profile:
		return devices.Argumentf("--profile is for this machine: leave it out with --on")
	case s.Backend != Replay && o.Farm.On == "":
		return devices.Argumentf("--on LABEL says which devices of the farm: a part of their name, such as h200")
	}
	return nil
}

// moveTo puts a farm in the place of this machine.
func (s *subject) moveTo(f *onFarm, chosen ask.Chosen) {
	s.farm, s.evaluator = f, f.evaluator
	s.how.Width = chosen.Width
	s.how.Lanes = cmp.Or(f.Lanes, chosen.Lanes)
	if chosen.Width > 1 {
		s.how.Ahead = min(search.FarmAhead, chosen.Lanes+chosen.Width)
	}
}

// onFarm is a farm whose machines answer for the points of a search.
type onFarm struct {
	Options
	evaluator *ask.Evaluator
	farm      *farm.Farm
}

// begin is called before a search with the study as it is recorded, and what was recorded before. The search writes to
// the recorder that it returns.
func (f *onFarm) begin(ctx context.Context, study studies.Study, past trial.Past,
	recorder search.Recorder) (search.Recorder, error) {
	for _, trial := range past.Trials {
		f.evaluator.Number(trial)
	}
	return numbering{recorder, f.evaluator.Number}, f.evaluator.Begin(ctx, farm.Head{
		Study:    identify(study),
		Title:    strings.TrimSpace(fmt.Sprintf("study %d: %s %s", study.ID, study.Kernel, study.Workload)),
		Label:    fmt.Sprint(study.ID),
		Priority: f.Farm.Priority,
	}, f.Tools.Notice)
}

// end is called after a search that has begun. An error loses nothing: everything that was found is recorded.
func (f *onFarm) end(ctx context.Context, finished bool) error {
	if spent, err := f.evaluator.Spent(ctx); err == nil && spent != "" {
		f.Tools.Notice("the farm spent: " + spent)
	}
	return f.evaluator.End(ctx, finished)
}

// numbering is a recorder that tells a farm the numbers of trials.
type numbering struct {
	search.Recorder
	number func(trial.Trial)
}

// Started notes the number of a trial.
func (n numbering) Started(t trial.Trial) error {
	n.number(t)
	return n.Recorder.Started(t)
}

// identify names a study among those of all databases.
func identify(s studies.Study) string {
	return cache.NewKey().Add("id", fmt.Sprint(s.ID)).Add("created", s.Created.UTC().Format(time.RFC3339Nano)).
		Add("source", s.Source).Add("fingerprint", s.Fingerprint).Add("seed", fmt.Sprint(s.Seed)).String()[:32]
}

// replayOnFarm opens a recorded space whose answers workers give.
func replayOnFarm(o Options, f *farm.Farm, chosen ask.Chosen) (*subject, error) {
	s, err := openReplay(o)
	if err != nil {
		return nil, err
	}
	path := s.head.Origin
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && slices.Contains(replay.Embedded(), path) {
		content, err = replay.ReadEmbedded(path)
	}
	if err != nil {
		return nil, err
	}
	e := ask.New(f, chosen,
		farm.Subject{Record: cache.Digest(content), Name: s.head.Kernel, Definition: o.Study.Definition}, content)
	s.moveTo(&onFarm{o, e, f}, chosen)
	return s, nil
}

// kernelOnFarm opens a kernel on the devices of a farm.
func kernelOnFarm(ctx context.Context, o Options, f *farm.Farm, chosen ask.Chosen) (*subject, error) {
	if asked := o.Study.Backend; asked != devices.Auto && asked != chosen.Measures.Backend {
		return nil,
			devices.Argumentf("--on %s is for backend %s, and --backend asks for %s", o.Farm.On, chosen.Measures.Backend, asked)
	}
	k, err := devices.LoadFor(cmp.Or(o.Kernel, DefaultKernel), chosen.Measures.Backend)
	if err != nil {
		return nil, err
	}
	t, pool, err := target(ctx, k, o)
	if err != nil {
		return nil, err
	}
	e, err := ask.NewKernel(f, chosen, t, o.Study.Definition)
	if err != nil {
		return nil, err
	}
	device, err := e.Describe(ctx)
	if err != nil {
		return nil, err
	}
	facts := studies.NewSpaceFacts(pool)
	facts.Infeasible = device.Reasons
	if pool, err = ask.Keep(pool, device); err != nil {
		return nil, err
	}
	if device.Default != nil {
		o.Tools.Notice(fmt.Sprintf("the default cannot be launched on %s: %s", device.Environment.Device, device.Default))
	}
	s := &subject{pool: pool, start: k.Start(), space: facts, how: ahead(k, cmp.Or(o.Lanes, chosen.Lanes))}
	if s.head, err = describeKernel(t, device.Environment, device.Roofline); err != nil {
		return nil, err
	}
	s.head.Environment.Commit = git.CheckedOut(k.Dir) // the farm has files, and no repository
	if device.Resident {
		s.how.Resident = e
	}
	s.moveTo(&onFarm{o, e, f}, chosen)
	return s, nil
}
