package apply

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

const manifest = `# a kernel
name: scale
entry: scale
source: {host: scale.c}
reference: {host: scale.c}
workloads:
  small: {N: 4}
args: [{name: y, type: f32, shape: [N], out: true}]
params:
  BLOCK: {values: [16, 32, 64], default: 16} # first guess
  MODE:
    values: ['plain', 'fast']
    default: 'plain'   # as ever
`

const (
	initial = "BLOCK=16,MODE=plain"
	winner  = "BLOCK=64,MODE=fast"
)

func point(t testing.TB, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// bench is a kernel's folder with a database of one study of it.
type bench struct {
	folder string
	store  *studies.Store
	study  int64
}

// finding is what a study has found: the times are made up.
type finding struct {
	// speedup is the winner's; the default takes 4 ms.
	speedup float64
	rounds  int
	// unchecked leaves out what was checked.
	unchecked bool
	study     func(*studies.Study)
	// manifest is the kernel's, the usual one where it is empty.
	manifest string
	// gate is what the gate said, nothing where it is empty.
	gate studies.Standing
	// across are the speedups on other workloads: three rounds with one of these each, and
	// 0 for a failure.
	across map[string]float64
}

func newBench(t *testing.T, f finding) *bench {
	t.Helper()
	t.Chdir(t.TempDir())
	b := &bench{folder: "kernels/scale"}
	write(t, filepath.Join(b.folder, "kernel.yaml"), cmp.Or(f.manifest, manifest))
	write(t, filepath.Join(b.folder, "scale.c"), "void scale(float *y) { y[0] = 1; }\n")
	k, err := kernels.Load(b.folder, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	study := studies.Study{
		Subject: studies.Subject{
			Kernel:   "scale",
			Origin:   b.folder,
			Workload: "small",
			Backend:  kernels.Host,
		},
		Created: time.Unix(1e9, 0),
	}
	study.Ended = trial.TrialsDone
	study.Environment.Device = "a test"
	study.Environment.Build = &objective.Build{Source: "scale.c", Compiler: []string{"cc"}, Flags: []string{"-O2"}}
	if study.Source, err = k.Digest(); err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	study.Space = studies.NewSpaceFacts(pool)
	if f.study != nil {
		f.study(&study)
	}
	if b.store, err = studies.Open(t.Context(), "tuning/studies.db"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	if b.study, err = b.store.Create(t.Context(), study); err != nil {
		t.Fatal(err)
	}
	b.record(t, f)
	return b
}

// record records two trials and the rounds of their confirmation.
func (b *bench) record(t *testing.T, f finding) {
	t.Helper()
	recorder := b.store.Recorder(b.study)
	for i, text := range []string{initial, winner} {
		outcome := objective.Outcome{}
		for sample := range 3 {
			ms := 4 + 0.001*float64(sample)
			if text == winner {
				ms /= f.speedup
			}
			outcome.Samples = append(outcome.Samples, ms)
		}
		tried := trial.Trial{Number: i, Point: point(t, text), Outcome: outcome}
		if err := errors.Join(recorder.Started(tried), recorder.Finished(tried)); err != nil {
			t.Fatal(err)
		}
		for number := range f.rounds {
			round := trial.Round{Phase: trial.Confirmation, Number: number, Point: tried.Point, Outcome: outcome}
			if number == 0 && !f.unchecked {
				round.Outcome.Evidence = &check.Evidence{Cases: []check.Case{{Dims: kernels.Dims{"N": 7}}}}
			}
			if err := recorder.Measured(round); err != nil {
				t.Fatal(err)
			}
		}
		for workload, speedup := range f.across {
			b.recordAcross(t, workload, tried.Point, speedup)
		}
	}
	if f.gate != "" {
		if err := b.store.Gated(t.Context(), b.study,
			studies.Gating{
				Point:    point(t, winner),
				Workload: "small",
				Standing: f.gate,
				Verdict:  "regression",
				Reason:   "it is slower.",
			}); err != nil {
			t.Fatal(err)
		}
	}
}

// recordAcross records three rounds of a point on another workload.
func (b *bench) recordAcross(t *testing.T, workload string, p space.Point, speedup float64) {
	t.Helper()
	for number := range 3 {
		ms := 4 + 0.5*float64(number) // what hits both alike
		round := trial.Round{Phase: trial.Across, Number: number, Point: p}
		switch {
		case p.String() != winner:
			round.Outcome.Samples = []float64{ms}
		case speedup == 0:
			round.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}
		case number == 1: // not every round agrees
			round.Outcome.Samples = []float64{ms / max(speedup, 1)}
		default:
			round.Outcome.Samples = []float64{ms / speedup}
		}
		if err := b.store.Recorder(b.study).MeasuredAcross(workload, round); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) prepare(t *testing.T, o Options) (*Change, error) {
	t.Helper()
	return Prepare(t.Context(), b.store, b.study, o)
}

func mustPrepare(t *testing.T, b *bench, o Options) *Change {
	t.Helper()
	c, err := b.prepare(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var good = finding{speedup: 2, rounds: 6}

func TestApplyingChangesTheDefaultsAndNothingElse(t *testing.T) {
	b := newBench(t, good)
	c := mustPrepare(t, b, Options{Manifest: true})
	if got := read(t, b.folder+"/kernel.yaml"); got != manifest {
		t.Errorf("preparing has changed the manifest: %s", got)
	}
	written, err := c.Write()
	if err != nil || len(written) != 2 {
		t.Fatalf("wrote %v, %v", written, err)
	}
	want := strings.NewReplacer("default: 16}", "default: 64}", "default: 'plain'", "default: 'fast'").Replace(manifest)
	if got := read(t, b.folder+"/kernel.yaml"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if header := read(t, b.folder+"/scale_small.h"); !strings.Contains(header, "#define BLOCK 64\n") ||
		!strings.Contains(header, "#define MODE fast\n") {
		t.Errorf("the header is %s", header)
	}
	if got := strings.Join(c.Changes(), "; "); got != "BLOCK 16 → 64; MODE plain → fast" {
		t.Errorf("the changes are %s", got)
	}
	again := mustPrepare(t, b, Options{Manifest: true})
	if written, err := again.Write(); !again.Already || len(written) > 0 || err != nil {
		t.Errorf("applied again: already %v, wrote %v, %v", again.Already, written, err)
	}
}

func TestTheHeaderAloneGoesWhereItIsWanted(t *testing.T) {
	b := newBench(t, good)
	for range 2 {
		if _, err := mustPrepare(t, b, Options{To: "elsewhere"}).Write(); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := mustPrepare(t, b, Options{To: "elsewhere"}).Write(); len(written) > 0 || err != nil {
		t.Errorf("what is there was written again: %v, %v", written, err)
	}
	read(t, "elsewhere/scale_small.h")
	if entries, err := os.ReadDir(b.folder); len(entries) != 2 || err != nil {
		t.Errorf("the kernel's folder has %v, %v", entries, err)
	}
	write(t, "theirs/scale_small.h", "int theirs;\n")
	var refusal *Refusal
	if _, err := b.prepare(t, Options{To: "theirs"}); !errors.As(err, &refusal) ||
		!strings.Contains(err.Error(), "pawl has not written it") {
		t.Errorf("somebody's file: %v", err)
	}
	if _, err := mustPrepare(t, b, Options{NoHeader: true}).Write(); err != nil {
		t.Error(err)
	}
}

func TestAnEmbeddedKernelHasNoManifestToChange(t *testing.T) {
	b := newBench(t, finding{speedup: 2, rounds: 6, study: func(s *studies.Study) {
		k, err := kernels.Load("matmul", kernels.Host)
		if err != nil {
			t.Fatal(err)
		}
		s.Kernel, s.Origin = "matmul", "matmul"
		if s.Source, err = k.Digest(); err != nil {
			t.Fatal(err)
		}
	}})
	if _, err := b.prepare(t, Options{Manifest: true}); err == nil || !strings.Contains(err.Error(), "embedded in pawl") {
		t.Errorf("got %v", err)
	}
	if written, err := mustPrepare(t, b, Options{}).Write(); err != nil || len(written) != 1 ||
		written[0] != "matmul_small.h" {
		t.Errorf("wrote %v, %v", written, err)
	}
}

func TestADamagedStudyIsNotApplied(t *testing.T) {
	b := newBench(t, good)
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	content := read(t, "tuning/studies.db")
	at := strings.Index(content, "2.0005,")
	if at < 0 {
		t.Fatal("the winner's samples are not in the file")
	}
	write(t, "tuning/studies.db", content[:at]+"1"+content[at+1:])
	var err error
	if b.store, err = studies.OpenExisting(t.Context(), "tuning/studies.db"); err != nil {
		t.Fatal(err)
	}
	var damaged *studies.DamagedError
	if _, err := b.prepare(t, Options{}); !errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatChangesMeanwhileIsLeftAlone(t *testing.T) {
	b := newBench(t, good)
	c := mustPrepare(t, b, Options{Manifest: true, NoHeader: true})
	write(t, b.folder+"/kernel.yaml", "theirs")
	if _, err := c.Write(); err == nil || read(t, b.folder+"/kernel.yaml") != "theirs" {
		t.Errorf("got %v", err)
	}
}
