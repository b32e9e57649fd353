package kernels

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/kernels/document"
)

// list returns a list of n numbers as YAML.
func list(n int) string {
	var numbers []string
	for i := range n {
		numbers = append(numbers, fmt.Sprint(i+1))
	}
	return "[" + strings.Join(numbers, ", ") + "]"
}

// sized returns a manifest that is large in one way.
func sized(values, params, lets, nesting, shapes int) string {
	var text strings.Builder
	text.WriteString("name: k\nentry: k\nsource: k.c\nreference: r.c\nparams:\n")
	for i := range params {
		fmt.Fprintf(&text, "  P%d: {values: %s, default: 1}\n", i, list(values))
	}
	if lets > 0 {
		text.WriteString("let:\n  L0: N\n")
		for i := 1; i < lets; i++ {
			fmt.Fprintf(&text, "  L%d: L%d + 1\n", i, i-1)
		}
	}
	fmt.Fprintf(&text, "constraints: [\"%sP0%s > 0\"]\n", strings.Repeat("(", nesting), strings.Repeat(")", nesting))
	fmt.Fprintf(&text,
		"workloads: {w: {N: 4, M: 4}}\nargs: [{name: y, type: f32, shape: [N], out: true}]\nfuzz: {N: %s, M: %s}\n",
		list(shapes), list(shapes))
	return text.String()
}

// What no person writes gets a sentence, in no time and without a crash; what lies
// within the limits is read.
func TestLimitsOfAManifest(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"usual":         {sized(10, 5, 3, 2, 4), ""},
		"large":         {sized(1000, 4, 100, 90, 100), ""},
		"values":        {sized(1001, 1, 0, 0, 1), "parameter P0: 1001 values, at most 1000 are supported"},
		"many values":   {sized(30_000, 1, 0, 0, 1), "parameter P0: 30000 values, at most 1000 are supported"},
		"more values":   {sized(100_000, 1, 0, 0, 1), "the manifest has"},
		"params":        {sized(1, 101, 0, 0, 1), "params has 101 entries, at most 100 are supported"},
		"many params":   {sized(1, 5000, 0, 0, 1), "5000 names, at most 1000 are supported"},
		"lets":          {sized(1, 1, 101, 0, 1), "let has 101 entries, at most 100"},
		"brackets":      {sized(1, 1, 0, 101, 1), "more than 100 brackets inside each other"},
		"many brackets": {"params: " + strings.Repeat("[", 100_000), "more than 100 brackets inside each other"},
		"open brackets": {sized(1, 1, 0, 0, 1) + "domain: [\"" + strings.Repeat("(", 100_000), "more than 100 brackets"},
		"braces":        {"params: " + strings.Repeat("{a: ", 60_000), "more than 100 "},
		"dashes":        {"flags:\n  " + strings.Repeat("- ", 100_000) + "x", "more than 100 lists inside each other"},
		"questions":     {strings.Repeat("? ", 100_000) + "x", "more than 100 lists inside each other"},
		"anchors":       {"name: " + strings.Repeat("&a ", 80_000) + "x", "more than 100 lists inside each other"},
		"tags":          {"name: " + strings.Repeat("!!str ", 40_000) + "x", "more than 100 lists inside each other"},
		"keys":          {strings.Repeat("a: ", 80_000) + "x", "more than 100 lists inside each other"},
		"shapes":        {sized(1, 1, 0, 0, 101), "fuzz gives more than 10000 shapes"},
		"a long condition": {sized(1, 1, 0, 0, 1) + "domain: [\"" + strings.Repeat("N + ", 2000) + "N > 0\"]\n",
			"8005 characters long, at most 4096 are supported"},
		"operators": {sized(1, 1, 0, 0, 1) + "domain: [\"" + strings.Repeat("!", 4000) + "(N > 0)\"]\n", ""},
		"size":      {sized(1, 1, 0, 0, 1) + "# " + strings.Repeat("x", 1<<20), "the manifest has"},
		"constraints": {sized(1, 1, 0, 0, 1) + "domain: [" + strings.Repeat("N > 0, ", 1001) + "]\n",
			"domain has 1001 entries, at most 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("kernel.yaml", []byte(test.text), Host)
			if test.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%.300v", err)
			}
			if len(err.Error()) > 700 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// Manifests of any size are read or refused, and what is read can be used.
func FuzzManifestSizes(f *testing.F) {
	f.Add(uint16(10), uint8(3), uint8(2), uint16(3), uint8(4))
	f.Add(uint16(1001), uint8(1), uint8(0), uint16(0), uint8(1))
	f.Add(uint16(1), uint8(200), uint8(150), uint16(5000), uint8(255))
	f.Fuzz(func(t *testing.T, values uint16, params, lets uint8, nesting uint16, shapes uint8) {
		k, err := parse("kernel.yaml",
			[]byte(sized(1+int(values)%3000, 1+int(params), int(lets), int(nesting), 1+int(shapes))), Host)
		if err != nil {
			return
		}
		w := k.Workloads[0]
		if _, err := k.Space(w); err != nil {
			t.Error(err)
		}
		if !k.Allows(w.Dims) {
			t.Error("the workload is outside the domain")
		}
	})
}

// The caret stands at the definition that is wrong, also where its name ends like another's.
func TestAWrongDefinitionIsFoundByItsName(t *testing.T) {
	for wrong, line := range map[string]int{"B": 7, "TAB": 8, "T": 9} {
		text := "name: k\nentry: k\nsource: {host: k.c}\nreference: {host: r.c}\nworkloads: {w: {N: 4}}\nlet:\n"
		for _, name := range []string{"B", "TAB", "T"} {
			text += "  " + name + ": N"
			if name == wrong {
				text += " + missing"
			}
			text += "\n"
		}
		text += "params: {P: {values: [1, 2], default: 1}}\nargs: [{name: y, type: f32, shape: [N], out: true}]\n"
		var found *document.Error
		if err := Check("kernel.yaml", []byte(text), Host); !errors.As(err, &found) || found.Line != line {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
