package tune

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pawl/internal/postgrestest"
	"pawl/internal/thorough"
	"pawl/kernels/scaffold"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/serve"
)

// role makes this binary a worker of a farm, or a study that asks one.
const role = "PAWL_TEST_FARM_ROLE"

// part is what a process of the tests is told.
type part struct {
	URL, Folder string
	Asks        bool
	Host        string
	Kernel      string
	Backend     string
	On          string
	Seed        uint64
	Trials      int
	// Version is the program's. Empty means test.
	Version string
}

// The test binary plays the program's other roles.
func TestMain(m *testing.M) {
	devices.Serve()
	if text := os.Getenv(role); text != "" {
		if err := play(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(text string) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	where := farm.Options{URL: p.URL, Version: cmp.Or(p.Version, "test"), Log: log}
	if !p.Asks {
		return serve.Run(ctx, serve.Options{
			Farm: where, Lanes: 2, Grace: time.Second, Host: p.Host,
			Tools: devices.Tools{Cache: p.Folder, Getenv: os.Getenv, Notice: func(string) {}},
		})
	}
	_, err := Run(ctx, p.options(&Farm{Options: where, On: p.On}))
	return err
}

func (p part) options(f *Farm) Options {
	return Options{
		Study: studies.Options{
			Definition: studies.Definition{Backend: p.Backend, Sampler: "random", Seed: p.Seed, Samples: 5},
			Goals:      trial.Goals{Trials: p.Trials, Rounds: 3, Finalists: 1},
		},
		Given:  []string{"backend", "sampler", "seed", "trials", "rounds", "finalists"},
		Kernel: p.Kernel, Resume: true, Farm: f,
		Database: filepath.Join(p.Folder, "studies.db"), Observer: Unobserved{}, Version: cmp.Or(p.Version, "test"),
		Tools: devices.Tools{Cache: filepath.Join(p.Folder, "cache"), Getenv: os.Getenv,
			Notice: func(text string) { fmt.Fprintln(os.Stderr, text) }},
	}
}

// child is one that is killed and started again.
type child struct {
	t    *testing.T
	part part

	mu      sync.Mutex
	command *exec.Cmd
	output  bytes.Buffer
	ended   chan error
}

func start(t *testing.T, p part) *child {
	t.Helper()
	running := &child{t: t, part: p}
	running.again()
	t.Cleanup(running.kill)
	return running
}

func (p *child) again() {
	encoded, err := json.Marshal(p.part)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command = exec.Command(os.Args[0], "-test.run", "^$")
	p.command.Env = append(os.Environ(), role+"="+string(encoded))
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	p.ended = ended
	command := p.command
	go func() { ended <- command.Wait() }()
}

func (p *child) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.command.Process.Kill() // it may have ended
	for err := range p.ended {
		p.ended <- err
		break
	}
}

// over reports whether the process has ended by itself, and how.
func (p *child) over() (bool, error) {
	select {
	case err := <-p.ended:
		p.ended <- err
		return true, err
	default:
		return false, nil
	}
}

// farmKills is how often something is killed.
var farmKills = flag.Int("farm-kills", thorough.Count(1, 100),
	"how often TestNothingIsLostByKills kills a worker or who asks")

// Four workers and two studies, all of them killed at random, and the server restarted in
// the middle: every trial is recorded exactly once, none is lost, and both studies end.
func TestNothingIsLostByKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.Database(t)
	if err := farm.Init(t.Context(), farm.Options{URL: url, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	most := *farmKills
	var workers []*child
	for range 4 {
		workers = append(workers, start(t, part{URL: url, Folder: t.TempDir()}))
	}
	ask := func(seed uint64) *child {
		return start(t, part{URL: url, Folder: t.TempDir(), Asks: true, Backend: Replay, Seed: seed,
			Trials: thorough.Count(60, 200)})
	}
	asking := []*child{ask(1), ask(2)}
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for deadline := time.Now().Add(time.Minute +
		time.Duration(most)*15*time.Second); ; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the studies do not end\n%s\n%s", asking[0].output.String(), asking[1].output.String())
		}
		ended := 0
		for i, a := range asking {
			over, err := a.over()
			if over && err != nil {
				t.Fatalf("a study failed: %v\n%s", err, a.output.String())
			}
			if over && killed < most { // the next one
				told(t, a.part)
				asking[i] = ask(a.part.Seed + 2)
			} else if over {
				ended++
			}
		}
		if ended == len(asking) {
			break
		}
		if killed == most {
			continue
		}
		time.Sleep(time.Duration(500+random.IntN(1500)) * time.Millisecond)
		victim := random.IntN(len(workers) + len(asking))
		if killed++; killed == most/2+1 {
			server.Stop(t)
			server.Restart(t)
		}
		if victim < len(workers) {
			workers[victim].kill()
			workers[victim].again()
			continue
		}
		victim -= len(workers)
		if over, _ := asking[victim].over(); !over {
			asking[victim].kill()
			asking[victim].again()
		}
	}
	t.Logf("%d kills", killed)
	for _, a := range asking {
		undisturbed(t, a.part, told(t, a.part))
	}
}

// undisturbed holds a study that was killed to the same one on this machine, which nobody
// disturbs: the same points in the same order, and as the record has them.
func undisturbed(t *testing.T, p part, killed recorded) {
	t.Helper()
	p.Folder = t.TempDir()
	o := p.options(nil)
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for i, want := range told(t, p).Trials {
		got := killed.Trials[i]
		if got.Point != want.Point || got.OK() != want.OK() {
			t.Errorf("trial %d is %s (worked: %v), and %s (%v) where nobody was killed", i, got.Point, got.OK(), want.Point,
				want.OK())
		}
	}
}

// told holds a study's record to what was asked: every trial once, and the points that one
// machine asks.
func told(t *testing.T, p part) recorded {
	t.Helper()
	store, err := studies.OpenExisting(t.Context(), filepath.Join(p.Folder, "studies.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := store.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%d studies, %v", len(all), err)
	}
	past, err := store.Past(t.Context(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(past.Trials) != p.Trials {
		t.Errorf("%d trials of %d", len(past.Trials), p.Trials)
	}
	seen := map[space.Point]bool{}
	for i, trial := range past.Trials {
		if trial.Number != i || !trial.Finished || seen[trial.Point] {
			t.Errorf("trial %d: number %d, finished %v, seen before %v", i, trial.Number, trial.Finished, seen[trial.Point])
		}
		seen[trial.Point] = true
	}
	if len(past.Standing()) == 0 {
		t.Error("nothing was confirmed")
	}
	return recorded{past}
}

// moving is an observer that moves the farm to another version, after some trials.
type moving struct {
	Unobserved
	after int
	move  func()
}

// Observe counts trials.
func (m *moving) Observe(p search.Progress) {
	if m.move != nil && p.Finished >= m.after {
		m.move()
		m.move = nil
	}
}

// A study whose farm is moved to another version ends with a sentence, and the other version
// resumes it, which it says: every trial is recorded once.
func TestAStudyWhoseFarmMovesOn(t *testing.T) {
	t.Parallel()
	asked := part{URL: postgrestest.Database(t), Folder: t.TempDir(), Asks: true, Backend: Replay, Seed: 1, Trials: 40}
	tuned := func(version string, observer Observer) (string, error) {
		var said strings.Builder
		o := asked.options(&Farm{Options: farm.Options{URL: asked.URL, Version: version}})
		o.Observer, o.Version, o.Tools.Notice = observer, version, func(text string) { fmt.Fprintln(&said, text) }
		_, err := Run(t.Context(), o)
		return said.String(), err
	}
	initialize := func(version string) {
		if err := farm.Init(t.Context(), farm.Options{URL: asked.URL, Version: version}); err != nil {
			t.Error(err)
		}
	}
	initialize("1")
	old := start(t, part{URL: asked.URL, Folder: t.TempDir(), Version: "1"})
	_, err := tuned("1", &moving{after: 10, move: func() {
		old.kill() // or it would answer until it hears of the move
		initialize("2")
	}})
	if err == nil || !strings.Contains(err.Error(), "farm farm was moved to pawl 2") ||
		!strings.Contains(err.Error(), "10 finished trials are saved as study 1") {
		t.Fatalf("%v", err)
	}
	_, err = tuned("1", Unobserved{})
	if err == nil || !strings.Contains(err.Error(), "is of pawl 2 and this is pawl 1") {
		t.Errorf("%v", err)
	}
	start(t, part{URL: asked.URL, Folder: t.TempDir(), Version: "2"})
	said, err := tuned("2", Unobserved{})
	if want := "study 1 was started by pawl 1 and is resumed by pawl 2, which may search and measure differently"; err !=
		nil || !strings.Contains(said, want) {
		t.Errorf("%v\n%s", err, said)
	}
	told(t, asked)
}

// A kernel on the processors of two machines that are killed now and then: every trial is
// recorded once with the device that measured it, and the finalists were on one.
func TestDevicesAreRecorded(t *testing.T) {
	thorough.Only(t, "it compiles and starts many processes")
	t.Parallel()
	url := postgrestest.Database(t)
	if err := farm.Init(t.Context(), farm.Options{URL: url, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	workers := []*child{start(t, part{URL: url, Folder: t.TempDir(), Host: "one"}),
		start(t, part{URL: url, Folder: t.TempDir(), Host: "two"})}
	kernel := filepath.Join(t.TempDir(), "small")
	if _, err := scaffold.Write(kernel, scaffold.Source{}); err != nil {
		t.Fatal(err)
	}
	asked := part{
		URL:     url,
		Folder:  t.TempDir(),
		Asks:    true,
		Kernel:  kernel,
		Backend: "host",
		On:      processor(t, url),
		Seed:    1,
		Trials:  8,
	}
	asking := start(t, asked)
	over, err := false, error(nil)
	for i, deadline := 0, time.Now().Add(3*time.Minute); !over; i++ {
		if time.Now().After(deadline) {
			t.Fatalf("the study does not end\n%s", asking.output.String())
		}
		time.Sleep(200 * time.Millisecond)
		if over, err = asking.over(); !over && i%10 == 9 && i < 30 {
			workers[i/10%2].kill()
			workers[i/10%2].again()
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, asking.output.String())
	}
	trials, rounds := told(t, asked).devices()
	delete(trials, "one")
	delete(trials, "two")
	if len(trials) != 0 || len(rounds) != 1 || rounds["one"]+rounds["two"] == 0 {
		t.Errorf("trials on other devices: %v; finalists on %v", trials, rounds)
	}
}

// processor waits for two machines and returns what they measure on.
func processor(t *testing.T, url string) string {
	t.Helper()
	f, err := farm.Open(t.Context(), farm.Options{URL: url, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		machines, err := f.Machines(t.Context(), farm.Silence)
		if err != nil {
			t.Fatal(err)
		}
		if len(machines) == 2 {
			return machines[0].Offers.Measures.Device
		}
	}
	t.Fatal("no machines")
	return ""
}

// recorded is what a study has recorded.
type recorded struct{ trial.Past }

// devices counts the trials and the rounds of finalists that were measured, by device.
func (r recorded) devices() (trials, rounds map[string]int) {
	trials, rounds = map[string]int{}, map[string]int{}
	for _, t := range r.Trials {
		if t.OK() && t.Outcome.SameAs == "" {
			trials[t.Outcome.Device]++
		}
	}
	for _, round := range r.Standing() {
		rounds[round.Outcome.Device]++
	}
	return trials, rounds
}
