package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl/gate"
	"pawl/kernels"
	"pawl/objective"
)

func example(kernel string, milliseconds float64) Entry {
	e := Entry{
		Key:    Key{Device: "chip", Kernel: kernel, Workload: "small", Type: "f32"},
		Origin: kernel, Dims: "N=100", Point: "BLOCK=4", Source: "s" + kernel, Binary: "b", Commit: "c0ffee",
		Environment: objective.Environment{Backend: "host", Device: "chip"},
		Measured:    time.Date(2026, 7, 30, 6, 0, 0, 0, time.UTC),
	}
	e.Summarise([][]float64{{milliseconds, milliseconds * 1.01}, {milliseconds * 0.99, milliseconds}},
		Work{Flops: 100, Bytes: 800})
	return e
}

func written(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "results", "baseline.json")
	f := New()
	scale := example("scale", 2)
	scale.Archive = "text"
	f.Put(scale)
	f.Put(example("add", 1.234567891))
	if err := f.WriteResults(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := written(t)
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 2 || f.Entries[0].Kernel != "add" || f.Entries[1].Archive != "text" {
		t.Errorf("%+v", f)
	}
	e, _ := f.Find(example("scale", 2).Key)
	if e.Median != 2 || e.Samples[1][0] != 1.98 || e.Throughput != 100/0.002 || e.Bandwidth != 800/0.002 {
		t.Errorf("%+v", e)
	}
	if err := f.WriteResults(path); err != nil {
		t.Errorf("written again: %v", err)
	}
	content, _ := os.ReadFile(path)
	if leftovers, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(leftovers) > 0 || len(content) == 0 {
		t.Errorf("left behind: %v", leftovers)
	}
}

// Every damage has its own message, and the file stays as it was, whoever tries
// to write.
func TestDamageIsNamedAndLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		damage  func(string) string
		message string
	}{
		"truncated": {func(s string) string { return s[:len(s)/2] }, "unexpected end of JSON"},
		"empty":     {func(string) string { return "" }, "unexpected end of JSON"},
		"no JSON":   {func(string) string { return "hello" }, "not JSON"},
		"edited": {func(s string) string { return strings.Replace(s, `"p99": 2.0`, `"p99": 1.0`, 1) },
			"edited by hand"},
		"new key": {func(s string) string { return strings.Replace(s, `"p99"`, `"extra": 1, "p99"`, 1) },
			`unknown field "extra"`},
		"NaN": {func(s string) string { return strings.Replace(s, `"median": 2`, `"median": NaN`, 1) },
			"not JSON: invalid character 'N'"},
		"NaN sample": {func(s string) string { return strings.Replace(s, "; 1.98", "; NaN", 1) }, "NaN is not a time"},
		"newer": {func(s string) string { return strings.Replace(s, `"version": 3`, `"version": 4`, 1) },
			"newer pawl (version 4"},
		"foreign": {func(string) string { return `{"format": "other"}` }, "not a pawl baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t)
			good, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := c.damage(string(content))
			if damaged == string(content) {
				t.Fatal("not damaged")
			}
			if err := os.WriteFile(path, []byte(damaged), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = Read(path)
			if err == nil || !strings.Contains(err.Error(), c.message) || errors.Is(err, ErrForeign) != (name == "foreign") {
				t.Errorf("got %v", err)
			}
			if err := Update(path, func(f *File) error { *f = *good; return nil }); err == nil {
				t.Error("overwritten")
			}
			if after, _ := os.ReadFile(path); string(after) != damaged {
				t.Error("changed")
			}
		})
	}
}

func TestNaNIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Entry){
		"median":   func(e *Entry) { e.Median = math.NaN() },
		"interval": func(e *Entry) { e.Interval.High = math.Inf(1) },
		"sample":   func(e *Entry) { e.Samples[0][0] = math.NaN() },
		"zero":     func(e *Entry) { e.Samples[1][1] = 0 },
	} {
		path := filepath.Join(t.TempDir(), "baseline.json")
		e := example("scale", 2)
		change(&e)
		f := New()
		f.Put(e)
		if err := f.WriteResults(path); err == nil || !strings.Contains(err.Error(), "refusing to write") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// The best accepted entry stays through acceptances of what is slower, until a release
// is declared, and a gain beyond it takes its place.
func TestBestAcceptedEntry(t *testing.T) {
	f := New()
	key := example("scale", 2).Key
	f.Put(example("scale", 2))
	if _, ok := f.FindBest(key); ok {
		t.Error("a best entry beside the first baseline")
	}
	f.Put(example("scale", 1.8))
	f.Accept(example("scale", 1.85), Acceptance{Reason: "clearer code"})
	f.Accept(example("scale", 1.9), Acceptance{Reason: "more precise"})
	if best, ok := f.FindBest(key); !ok || best.Median != 1.8 {
		t.Errorf("%v %v", best.Median, ok)
	}
	f.Put(example("scale", 1.7))
	if best, ok := f.FindBest(key); ok {
		t.Errorf("%v is better than the best", best.Median)
	}
	sizes := example("scale", 9)
	sizes.Dims = "N=900"
	f.Accept(sizes, Acceptance{Reason: "other sizes"})
	if _, ok := f.FindBest(key); ok {
		t.Error("a best entry of other sizes")
	}
	f.Accept(example("scale", 2.5), Acceptance{Reason: "twice the precision", Release: true})
	if _, ok := f.FindBest(key); ok {
		t.Error("the best entry before the release is still there")
	}
	if trail := f.of(key).Accepted; len(trail) != 4 || trail[3].From != 9 || trail[3].To != 2.5 {
		t.Errorf("%+v", trail)
	}
}

func TestSourcesArePackedAndUnpacked(t *testing.T) {
	files := []kernels.File{
		{Name: "include/deep.h", Content: []byte("#define X 1\n")},
		{Name: "kernel.yaml", Content: []byte("name: x\n")},
	}
	packed, err := Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := Unpack(packed, to); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if content, err := os.ReadFile(filepath.Join(to, f.Name)); err != nil || !bytes.Equal(content, f.Content) {
			t.Errorf("%s: %q %v", f.Name, content, err)
		}
	}
	if again, _ := Pack(files); again != packed {
		t.Error("the same sources pack differently")
	}
	if err := Unpack("bm90IGd6aXA=", to); err == nil {
		t.Error("nonsense was unpacked")
	}
	large := []kernels.File{{Name: "a", Content: make([]byte, archiveLimit)}, {Name: "b", Content: []byte("x")}}
	if _, err := Pack(large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// A run that was killed while it wrote costs its own line only.
func TestHistorySurvivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", HistoryName)
	change := -0.04
	event := Event{Key: example("scale", 2).Key, Verdict: gate.Regression, Median: 2, Change: &change}
	if err := AppendHistory(path, []Event{event, event}); err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(path)
	if err := os.WriteFile(path, content[:len(content)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := AppendHistory(path, []Event{event}); err != nil {
		t.Fatal(err)
	}
	events, damaged, err := ReadHistory(path)
	if err != nil || damaged != 1 || len(events) != 2 || *events[1].Change != change {
		t.Errorf("%d events, %d damaged, %v", len(events), damaged, err)
	}
	if events, _, err := ReadHistory(filepath.Join(t.TempDir(), "none")); err != nil || len(events) > 0 {
		t.Error(fmt.Sprint(events, err))
	}
}

// A bit that changed makes its line unreadable, or nothing else.
func TestNoFlippedBitInAHistoryIsSilent(t *testing.T) {
	path := filepath.Join(t.TempDir(), HistoryName)
	change := -0.04
	event := Event{
		Key:     example("scale", 2).Key,
		Commit:  "c0ffee",
		Verdict: gate.Regression,
		Reason:  "slower",
		Median:  2.125,
		Change:  &change,
	}
	if err := AppendHistory(path, []Event{event, event}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, damaged, err := ReadHistory(path)
	if err != nil || damaged > 0 || len(want) != 2 {
		t.Fatalf("%v, %d damaged, %v", want, damaged, err)
	}
	for bit := 0; bit < 8*len(content); bit += 3 {
		flipped := bytes.Clone(content)
		flipped[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, damaged, err := ReadHistory(path); err == nil && damaged == 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("bit %d: %+v", bit, got)
		}
	}
	old := `{"time":"2026-01-02T03:04:05Z","device":"chip","kernel":"scale","workload":"small","type":"f32","point":"","verdict":"new","reason":""}` + "\n"
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, damaged, err := ReadHistory(path); err != nil || damaged > 0 || len(got) != 1 {
		t.Errorf("a line of an older pawl: %v, %d damaged, %v", got, damaged, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format": "pawl baseline", "version": 2, "entries": [{"samples": "1 2; 3", "best": {}, "digest": ""}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if file, err := parse(content); (file == nil) == (err == nil) {
			t.Errorf("%v %v", file, err)
		}
	})
}
