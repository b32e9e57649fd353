package apply

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pawl/objective/devices"
	"pawl/studies"
)

func TestWhatIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		finding finding
		options Options
		before  func(t *testing.T, b *bench)
		nothing bool
		want    string
	}{
		"noise":       {finding: finding{speedup: 1.02, rounds: 6}, nothing: true, want: "keep the default"},
		"no winner":   {finding: finding{speedup: 0.5, rounds: 6}, nothing: true, want: "keep the default"},
		"unconfirmed": {finding: finding{speedup: 2, rounds: 2}, nothing: true, want: "unconfirmed"},
		"unchecked":   {finding: finding{speedup: 2, rounds: 6, unchecked: true}, want: "checked in full"},
		"failed by the gate": {
			finding: finding{speedup: 2, rounds: 6, gate: studies.Refused},
			want:    "the gate has failed its winner: regression",
		},
		"run already": {
			finding: finding{speedup: 2, rounds: 6, gate: studies.Running},
			nothing: true,
			want:    "you already run this",
		},
		"no gain": {
			finding: finding{speedup: 2, rounds: 6, gate: studies.Equal},
			nothing: true,
			want:    "no gain over what you run",
		},
		"a record": {finding: finding{speedup: 2, rounds: 6, study: func(s *studies.Study) { s.Backend = "replay" }},
			want: "not known how to get what was measured"},
		"built in an unknown way": {
			finding: finding{speedup: 2, rounds: 6, study: func(s *studies.Study) { s.Environment.Build = nil }},
			want:    "not known how to get what was measured",
		},
		"other sources": {finding: good, want: "are not those that were measured",
			before: func(t *testing.T, b *bench) { write(t, b.folder+"/scale.c", "void scale(float *y) { y[0] = 2; }\n") }},
		"another manifest": {finding: good, want: "are not those that were measured",
			before: func(t *testing.T, b *bench) { write(t, b.folder+"/kernel.yaml", manifest+"# more\n") }},
		"no folder": {finding: good, want: "--kernel",
			before: func(t *testing.T, b *bench) { os.RemoveAll(b.folder) }},
		"another kernel": {finding: good, options: Options{Kernel: "matmul"}, want: "it is a study of kernel scale"},
		"another kernel's name": {finding: good, want: "has kernel other",
			before: func(t *testing.T, b *bench) {
				write(t, b.folder+"/kernel.yaml", strings.Replace(manifest, "name: scale", "name: other", 1))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.finding)
			if test.before != nil {
				test.before(t, b)
			}
			for _, patch := range []bool{false, true} {
				o := test.options
				o.Manifest = patch
				_, err := b.prepare(t, o)
				var refusal *Refusal
				if !errors.As(err, &refusal) || !strings.Contains(err.Error(), test.want) || refusal.Nothing != test.nothing ||
					refusal.Advice == "" {
					t.Errorf("got %v, want a refusal with %q", err, test.want)
				}
			}
		})
	}
}

// kernelWith gives a study's kernel further workloads, of the manifest too.
func kernelWith(names ...string) func(*studies.Study) {
	return func(s *studies.Study) {
		s.Workloads = []studies.WorkloadFacts{{Name: "small"}}
		for _, name := range names {
			s.Workloads = append(s.Workloads, studies.WorkloadFacts{Name: name})
		}
	}
}

func TestAnotherWorkloadMustNotPay(t *testing.T) {
	for name, test := range map[string]struct {
		across           map[string]float64
		loss             string
		header, manifest string // why each is refused
	}{
		"nobody":   {across: map[string]float64{"large": 1.2, "tiny": 1}},
		"a little": {across: map[string]float64{"large": 0.98, "tiny": 1}},
		"a little is too much": {
			across:   map[string]float64{"large": 0.98, "tiny": 1},
			loss:     "1%",
			header:   "measured 1.02 times as long, beyond the limit of 1.0 %",
			manifest: "may be noise",
		},
		"much": {
			across:   map[string]float64{"large": 0.5, "tiny": 2},
			header:   "workload large measured 2.00 times",
			manifest: "workload large measured 2.00 times",
		},
		"much is fine": {across: map[string]float64{"large": 0.5, "tiny": 2}, loss: "50%"},
		"wrong": {
			across:   map[string]float64{"large": 1, "tiny": 0},
			loss:     "99%",
			header:   "--worst-loss 100% applies the header alone",
			manifest: "on workload tiny the winner fails",
		},
		"wrong where the header is not used": {
			across:   map[string]float64{"large": 1, "tiny": 0},
			loss:     "100%",
			manifest: "on workload tiny the winner fails",
		},
		"one is not measured":   {across: map[string]float64{"large": 1}, manifest: "was not measured on tiny"},
		"none of them measured": {manifest: "was not measured on large, tiny"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, finding{speedup: 2, rounds: 6, across: test.across, study: kernelWith("large", "tiny")})
			for patch, want := range map[bool]string{false: test.header, true: test.manifest} {
				_, err := b.prepare(t, Options{Manifest: patch, WorstLoss: test.loss})
				var refusal *Refusal
				if want == "" && err != nil ||
					want != "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), want) || refusal.Nothing) {
					t.Errorf("manifest %v: %v, want %q", patch, err, want)
				}
			}
		})
	}
}

func TestTheWorstLossIsAShare(t *testing.T) {
	for text, want := range map[string]float64{"": 0.03, "3%": 0.03, "0%": 0, "0.5": 0.5, "100 %": 1} {
		if got, err := ParseLoss(text); got != want || err != nil {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-1%", "101%", "nan", "3%%", "%"} {
		var mistake *devices.ArgumentError
		if _, err := ParseLoss(text); !errors.As(err, &mistake) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func ExampleRefusal() {
	fmt.Println(refuse(3, "its verdict is %q", "keep the default").advise("measure longer"))
	// Output: study 3 is not applied: its verdict is "keep the default"; measure longer
}
