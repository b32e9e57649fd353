package kernels

import (
	"strings"
	"testing"
)

const measuredManifest = `name: k
entry: f
source: {host: f.c, cuda: f.cu}
reference: {host: r.c, cuda: r.cu}
params: {STEPS: {values: [1, 2], default: 1}}
workloads: {small: {N: 10}}
args: [{name: y, type: f32, shape: [N], out: true}]
launch: {grid: [1], block: [32]}
`

// Each mistake in an objective has its place and what to do.
func TestMistakesInObjectives(t *testing.T) {
	for keys, want := range map[string]string{
		"minimize: tme":                    "tme is not declared; there are",
		"minimize: STEPS":                  `k.yaml:9:11: "STEPS" uses nothing that is measured`,
		"minimize: time < 3":               "a number",
		"minimize: energy * time":          `"energy * time": energy is read from the counter of an NVIDIA GPU, and on backend host nothing counts it; put the key into the section of a backend that does (cuda)`,
		"minimize: registers":              "registers is not measured on backend host",
		"minimize: time\nmaximize: time":   "k.yaml:10:11: minimize and maximize exclude each other",
		"require: [STEPS > 1]":             "belongs into constraints",
		"require: [time]":                  "a condition",
		"minimize: {a: 1}":                 "expected one value",
		"minimize: [time, [time]]":         "expected one value",
		"minimize: rate\ncommand: {run: a": "", // not YAML, but no crash
	} {
		err := Check("k.yaml", []byte(measuredManifest+keys), Host)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", keys, err, want)
		}
	}
	for _, keys := range []string{"minimize: energy * time", "require: [registers <= 128, spills == 0]",
		"cuda: {minimize: energy}", "let: {WORK: 2 * STEPS}\nminimize: time / WORK", "minimize: log(time) + 20",
		"maximize: 1 / (time - 1)"} {
		if err := Check("k.yaml", []byte(measuredManifest+keys), CUDA); err != nil {
			t.Errorf("%s: %v", keys, err)
		}
	}
}

// A section of a backend replaces the objective, and a parameter hides a quantity.
func TestObjectives(t *testing.T) {
	k, err := parse("k.yaml", []byte(measuredManifest+"minimize: time\ncuda: {minimize: energy * time}"), CUDA)
	if err != nil || len(k.Objectives) != 1 || k.Objectives[0].Unit != "" || !k.Measures(Energy) {
		t.Errorf("got %+v, %v", k, err)
	}
	hidden := strings.Replace(measuredManifest, "STEPS", "energy", 1)
	if k, err = parse("k.yaml", []byte(hidden+"minimize: time / energy"), CUDA); err != nil || k.Measures(Energy) ||
		k.Objectives[0].Parameters[0] != "energy" {
		t.Errorf("got %+v, %v", k, err)
	}
}

const programManifest = `name: p
params: {N: {values: [1, 2], default: 1}}
`

// Each mistake in a program has its place and what to do.
func TestMistakesInPrograms(t *testing.T) {
	for section, want := range map[string]string{
		"command: {build: [cc]}": "has no source for backend command",
		"command: {run: []}":     "has no source for backend command",
		`command: {run: [a, "{M}"]}`: "p.yaml:3:20: run: {M} is not defined (defined: " +
			"N, OUT); write {{M}} for the text itself",
		`command: {run: [a, "{STDOUT}"]}`: "{STDOUT} is not defined",
		`command: {build: [cc, x.c], run: [a]}`: "p.yaml:3:19: build writes nowhere that is the " +
			"point's own",
		"command: {run: [a], timeouts: {run: soon}}": `p.yaml:3:37: timeouts: "soon" is no time such as 30s or 5m`,
		"command: {run: [a], metrics: {m: {json: x}}}": "p.yaml:3:31: metrics are read, but nothing " +
			"says what they are for: minimize: m, or maximize: m",
		"command: {run: [a], metrics: {m: {}}, minimize: m}":              "needs either json",
		"command: {run: [a], metrics: {m: {match: '('}}, minimize: m}":    "missing closing )",
		"command: {run: [a], metrics: {m: {match: x}}, minimize: m}":      "has 0 groups",
		"command: {run: [a], metrics: {time: {json: x}}, minimize: time}": "pawl measures something of that name itself",
		"command: {run: [a], env: {'A-B': x}}":                            "is not the name of a variable",
		"command: {run: [a], files: [../x]}":                              "leaves the kernel's folder",
		"command: {run: [a], speed: 1}":                                   "unknown",
		`command: {run: [a], minimize: energy}`:                           "on backend command nothing counts it",
		"command: {run: [a], metrics: {m: {json: x, unit: s}}, minimize: m * m, require: ['m < 3', 'registers " +
			"< 128']}": "registers is not measured on backend command",
	} {
		err := Check("p.yaml", []byte(programManifest+section), Command)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", section, err, want)
		}
	}
}

// What belongs to a program: the files that its lists name, and those that it lists.
func TestFilesOfPrograms(t *testing.T) {
	k, err := parse("p.yaml",
		[]byte(programManifest+`command: {build: [cc, -o, "{OUT}/a", src/a.c], run: ["{OUT}/a", -n], files: [data.txt]}`),
		Command)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(k.named, " "); got != "data.txt cc -o src/a.c -n" {
		t.Errorf("got %s", got)
	}
}

func TestCommandLine(t *testing.T) {
	got := CommandLine([]string{"a{N}b", "{EMPTY}", "{{N}}", "x{EMPTY}", "", "{\"N\": 1}"},
		map[string]string{"N": "3", "EMPTY": ""})
	if text := strings.Join(got, "|"); text != `a3b|{N}|x||{"N": 1}` {
		t.Errorf("got %s", text)
	}
}
