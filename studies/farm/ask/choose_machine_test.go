package ask

import (
	"context"
	"os"
	"testing"
	"time"

	"pawl/internal/postgrestest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/serve"
)

// The test binary plays the program's other roles.
func TestMain(m *testing.M) {
	devices.Serve()
	os.Exit(m.Run())
}

const version = "test"

// newFarm makes a farm with workers in this process, and opens it for who asks.
func newFarm(t testing.TB, workers ...serve.Options) *farm.Farm {
	t.Helper()
	options := farm.Options{URL: postgrestest.Database(t), Version: version}
	if err := farm.Init(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	for _, o := range workers {
		o.Farm = options
		o.Tools = devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}}
		work(t, o)
	}
	options.Connections = 24
	f, err := farm.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// work runs a worker until the test ends, or stop is called.
func work(t testing.TB, o serve.Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.Run(ctx, o) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the worker: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// recorded returns the embedded record of attention, and a farm's evaluator of it.
func recorded(t testing.TB, f *farm.Farm, study string) (*replay.Space, *Evaluator) {
	t.Helper()
	name, found := replay.EmbeddedOf("attention")
	if !found {
		t.Fatal("no record")
	}
	content, err := replay.ReadEmbedded(name)
	if err != nil {
		t.Fatal(err)
	}
	record, err := replay.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	played, err := replay.New(record)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := f.Put(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := Choose(t.Context(), f, Replay, "")
	if err != nil {
		t.Fatal(err)
	}
	e := New(f, chosen,
		farm.Subject{Record: digest, Name: "attention", Definition: studies.Definition{Backend: Replay, Seed: 7}}, content)
	if err := e.Begin(t.Context(), farm.Head{Study: study, Title: "attention"},
		func(text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.End(context.Background(), true); err != nil {
			t.Error(err)
		}
	})
	return played, e
}

// nowhere records nothing.
type nowhere struct{}

func (nowhere) Started(trial.Trial) error                  { return nil }
func (nowhere) Finished(trial.Trial) error                 { return nil }
func (nowhere) Measured(trial.Round) error                 { return nil }
func (nowhere) Disqualified(int, *objective.Failure) error { return nil }

// A study with one worker asks on a farm what it asks on one machine.
func TestAFarmAsksTheSamePoints(t *testing.T) {
	t.Parallel()
	f := newFarm(t, serve.Options{Lanes: 2})
	played, e := recorded(t, f, "one")
	ask := func(evaluator search.Evaluator) (points []space.Point) {
		start := time.Now()
		result, err := search.Run(t.Context(), played.Pool(), evaluator, nowhere{}, trial.Past{}, search.Options{
			Sampler: "auto", Seed: 7, Lanes: 2, Goals: trial.Goals{Trials: 40, Finalists: 2, Rounds: 3},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(start))
		for _, trial := range result.Trials {
			points = append(points, trial.Point)
		}
		return points
	}
	here, there := ask(replay.NewEvaluator(played, 7)), ask(e)
	if len(here) != 40 || len(there) != 40 {
		t.Fatalf("%d and %d trials", len(here), len(there))
	}
	for i := range here {
		if here[i] != there[i] {
			t.Fatalf("trial %d: %s here, %s on the farm", i, here[i], there[i])
		}
	}
}

// A kernel travels with its sources, and its binaries to a machine without a compiler.
func TestAKernelTravels(t *testing.T) {
	t.Parallel()
	f := newFarm(t, serve.Options{Compile: true, Lanes: 1, Host: "compiler"}, serve.Options{Measure: true, Host: "device"})
	k, err := kernels.Load("matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := farm.Pack(k)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := f.Put(t.Context(), packed)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := Choose(t.Context(), f, "", "nvcc")
	if err != nil {
		t.Fatal(err)
	}
	target, err := devices.NewTarget(k, "")
	if err != nil {
		t.Fatal(err)
	}
	e := New(f, chosen,
		farm.Subject{Kernel: digest, Name: k.Name, Definition: studies.Definition{Backend: k.Backend,
			Workload: target.Workload.Name, Seed: 7, Samples: 5}},
		packed)
	description, err := e.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if description.Environment.Compiler == "" || description.Environment.Device == "" {
		t.Errorf("%+v", description)
	}
	if err := e.Begin(t.Context(), farm.Head{Study: "travels", Title: k.Name}, func(text string) { t.Log(text) }); err !=
		nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.End(context.Background(), true); err != nil {
			t.Error(err)
		}
	}()
	prepared, err := e.Prepare(t.Context(), k.Default())
	if err != nil || prepared.Failure != nil {
		t.Fatal(err, prepared.Failure)
	}
	outcome, err := e.Measure(t.Context(), prepared, 0)
	if err != nil || outcome.Failure != nil || len(outcome.Samples) < 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if failure, err := e.Verify(t.Context(), prepared); failure != nil || err != nil {
		t.Fatal(failure, err)
	}
	sampled, err := e.Sample(t.Context(), prepared, 3)
	if err != nil || len(sampled.Samples) != 3 || sampled.Evidence == nil || sampled.Binary != prepared.Binary.Digest {
		t.Fatalf("%+v, %v", sampled, err)
	}
}
