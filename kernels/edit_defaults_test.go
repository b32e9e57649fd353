package kernels

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"pawl/internal/thorough"
	"pawl/space"
)

// patchable is a manifest up to its params.
const patchable = `name: k # the name
entry: k
source: {host: k.c}
reference: {host: r.c}
workloads: {w: {N: 4}, v: {N: 8}}
args: [{name: y, type: f32, shape: [N], out: true}]
`

func mustPoint(t *testing.T, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDefaultsAreReplacedWhereTheyStand(t *testing.T) {
	for name, test := range map[string]struct{ point, before, after string }{
		"block": {
			"A=2,B=fast",
			"params:\n  A:\n    # why one\n    values: [1, 2]\n    default:   1   # the first\n\n  B: {values: [slow, fast], " +
				"default: slow}\n",
			"params:\n  A:\n    # why one\n    values: [1, 2]\n    default:   2   # the first\n\n  B: {values: [slow, fast], " +
				"default: fast}\n",
		},
		"only what differs": {
			"A=2,B=16",
			"params: {A: {values: [1, 2], default: 1}, B: {values: [0x10, 8], default: 0x10}}\n",
			"params: {A: {values: [1, 2], default: 2}, B: {values: [0x10, 8], default: 0x10}}\n",
		},
		"two line endings": {
			"A=32,B=true",
			"params:\r\n  A: {default: 16, values: [16, 32]} # a\r\n  B:\n    values: [true, false]\r\n    default: false\r\n",
			"params:\r\n  A: {default: 32, values: [16, 32]} # a\r\n  B:\n    values: [true, false]\r\n    default: true\r\n",
		},
		"longer and shorter on one line, behind letters of two bytes": {
			"A=100,B=1",
			"params: {A: {ordered: true, values: [1, 100], default: 1}, B: {values: [1, 100], default: 100}} # größer\n",
			"params: {A: {ordered: true, values: [1, 100], default: 100}, B: {values: [1, 100], default: 1}} # größer\n",
		},
		"double quotes": {
			`A="a \"b\""`,
			"params: {A: {values: [\"é\", \"a \\\"b\\\"\"], default: \"é\"}}\n",
			"params: {A: {values: [\"é\", \"a \\\"b\\\"\"], default: \"a \\\"b\\\"\"}}\n",
		},
		"single quotes": {
			`A="it's"`,
			"params:\n  A: {values: ['x', 'it''s'], default: 'x'}\n",
			"params:\n  A: {values: ['x', 'it''s'], default: 'it''s'}\n",
		},
		"quotes where they are needed": {
			`A="1"`,
			"params:\n  A: {values: [x, '1'], default: x}\n",
			"params:\n  A: {values: [x, '1'], default: \"1\"}\n",
		},
		"a comma in brackets": {
			`A="a, b"`,
			"params: {A: {values: [x, 'a, b'], default: x}}\n",
			"params: {A: {values: [x, 'a, b'], default: \"a, b\"}}\n",
		},
		"an anchor of the whole": {
			"A=2",
			"host:\n  params: &own\n    A: {values: [1, 2], default: 1}\n",
			"host:\n  params: &own\n    A: {values: [1, 2], default: 2}\n",
		},
		"on the next line": {
			"A=2",
			"params:\n  A:\n    values: [1, 2]\n    default:\n      1\n",
			"params:\n  A:\n    values: [1, 2]\n    default:\n      2\n",
		},
		"comments between lines that end in two bytes": {
			"A=2,B=2",
			"# a\r\nparams:\r\n  # b\r\n  A: {values: [1, 2], default: 1} # c\r\n\r\n  # d\r\n  B:\r\n    values:\r\n      - " +
				"1\r\n      - 2\r\n    default:\r\n      1\r\n",
			"# a\r\nparams:\r\n  # b\r\n  A: {values: [1, 2], default: 2} # c\r\n\r\n  # d\r\n  B:\r\n    values:\r\n      - " +
				"1\r\n      - 2\r\n    default:\r\n      2\r\n",
		},
		"no end of line": {"A=2", "params: {A: {values: [1, 2], default: 1}}", "params: {A: {values: [1, 2], default: 2}}"},
		"nothing to do": {"A=1", "params: {A: {values: [1, 2], default: 0x1}}",
			"params: {A: {values: [1, 2], default: 0x1}}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WithDefaults("kernel.yaml", []byte(patchable+test.before), Host, mustPoint(t, test.point))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != patchable+test.after {
				t.Errorf("got\n%s\nwant\n%s", strings.TrimPrefix(string(got), patchable), test.after)
			}
		})
	}
}

func TestDefaultsThatCannotBeReplaced(t *testing.T) {
	both := strings.NewReplacer("source: {host: k.c}", "source: k.c", "reference: {host: r.c}",
		"reference: r.c").Replace(patchable) +
		"cuda: {source: k.cu, launch: {grid: [1], block: [1]}}\n"
	for name, test := range map[string]struct{ manifest, point, message string }{
		"a block": {patchable + "params:\n  A:\n    values: [x, y]\n    default: >-\n      x\n", "A=y",
			"edit it by hand"},
		"no such value": {patchable + "params: {A: {values: [1, 2], default: 1}}\n", "A=3", "cannot be used"},
		"another kind": {patchable + "params: {A: {values: [1, 2], default: 1}}\n", "A=true",
			"cannot be used"},
		"a missing name": {patchable + "params: {A: {values: [1, 2], default: 1}}\n", "B=1",
			"says nothing about parameter A"},
		"one name too many": {patchable + "params: {A: {values: [1, 2], default: 1}}\n", "A=2,B=1",
			"the default would be A=2"},
		"invalid on another workload": {patchable +
			"params: {A: {values: [1, 2], default: 1}}\nconstraints: [A * N <= 8]\n", "A=2", "cannot be used"},
		"shared with another backend": {both + "params: {A: {values: [1, 2], default: 1}}\n", "A=2",
			"the defaults of cuda would change with those of host"},
		"a tag": {patchable + "params: {A: {values: [1, 2], default: !!int 1}}\n", "A=2", "expected one value"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WithDefaults("kernel.yaml", []byte(test.manifest), Host, mustPoint(t, test.point))
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %s and error %v, want %q", got, err, test.message)
			}
		})
	}
}

// An anchor inside a default may be used elsewhere. No manifest that uses one can be
// read today; the guard does not rely on that.
func TestOnlyDefaultsMayChange(t *testing.T) {
	before := patchable + "params: {A: {values: [1, 2], default: 1}}\nflags: [-O1]\n"
	after := strings.NewReplacer("default: 1", "default: 2", "-O1", "-O2").Replace(before)
	if err := onlyDefaults([]byte(before), []byte(after), Host); err == nil ||
		!strings.Contains(err.Error(), "something else") {
		t.Errorf("got %v", err)
	}
	if err := onlyDefaults([]byte(before), []byte(strings.Replace(before, "# the name", "# a name", 1)), Host); err !=
		nil {
		t.Errorf("a comment is no change: %v", err)
	}
}

// namesFor returns the names of the embedded kernels that have a source for a backend, sorted.
func namesFor(backend string) []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		_, err := loadEmbedded(name, backend)
		return isNoSource(err)
	})
}

func TestDefaultsOfEmbeddedManifests(t *testing.T) {
	for _, backend := range []string{Host, CUDA} {
		for _, name := range thorough.Some(namesFor(backend), 3) {
			k, err := Load(name, backend)
			if err != nil {
				t.Fatal(err)
			}
			content, err := embedded.ReadFile(name + "/" + ManifestName)
			if err != nil {
				t.Fatal(err)
			}
			patched := 0
			for _, p := range k.params {
				if patched == 2 { // each takes several readings of the manifest
					break
				}
				v := p.Values[len(p.Values)-1]
				point, err := k.Default().With(p.Name, v)
				if err != nil || v == p.Default {
					continue
				}
				changed, err := WithDefaults(name, content, backend, point)
				if err != nil {
					if !strings.Contains(err.Error(), "cannot be used") { // a constraint
						t.Error(err)
					}
					continue
				}
				patched++
				back, err := WithDefaults(name, changed, backend, k.Default())
				if err != nil || !bytes.Equal(back, content) {
					t.Errorf("%s: there and back is not the same, %v", point, err)
				}
			}
			if patched == 0 {
				t.Errorf("no default of %s on %s could be changed", name, backend)
			}
		}
	}
}

// tokens returns the comments of a manifest and how many other tokens it has.
func tokens(content []byte) (comments []string, others int) {
	for _, t := range lexer.Tokenize(string(content)) {
		if t.Type == token.CommentType {
			comments = append(comments, t.Value)
		} else {
			others++
		}
	}
	return comments, others
}

func FuzzWithDefaults(f *testing.F) {
	f.Add(patchable+"params:\n  A:\n    values: [1, 2]\n    default: 1 # c\n", uint64(1))
	f.Add(patchable+"params:\r\n  é: {values: ['ü', \"a, b\", x], default: 'ü'}\r\n", uint64(2))
	f.Add(patchable+"host: {params: &p {A: {values: [0x10, 1], default: &d 0x10}}}\n", uint64(3))
	f.Add(patchable+"params: {A: {values: [true, false], default: true}, B: {values: ['#', ': '], default: '#'}}",
		uint64(5))
	f.Fuzz(func(t *testing.T, manifest string, choice uint64) {
		content := []byte(manifest)
		k, err := parse("kernel.yaml", content, Host)
		if err != nil {
			return
		}
		point := k.Default()
		for _, p := range k.params {
			v := p.Values[choice%uint64(len(p.Values))]
			choice = choice*6364136223846793005 + 1442695040888963407
			if point, err = point.With(p.Name, v); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := WithDefaults("kernel.yaml", content, Host, point)
		if err != nil {
			return
		}
		again, err := parse("kernel.yaml", changed, Host)
		if err != nil || again.Default() != point {
			t.Fatalf("the default is %v, want %s: %v\n%s", again, point, err, changed)
		}
		if bytes.Count(changed, []byte("\n")) != bytes.Count(content, []byte("\n")) ||
			bytes.Count(changed, []byte("\r")) != bytes.Count(content, []byte("\r")) {
			t.Fatalf("lines changed\n%q\n%q", content, changed)
		}
		before, count := tokens(content)
		after, countAfter := tokens(changed)
		if strings.Join(before, "\n") != strings.Join(after, "\n") || count != countAfter {
			t.Fatalf("comments or tokens changed\n%q\n%q", content, changed)
		}
	})
}
