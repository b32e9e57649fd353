package kernels

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/space"
)

// blocks returns the examples on the manifest's page that begin with a text.
func blocks(t *testing.T, start string) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if strings.HasPrefix(match[1], start) {
			found = append(found, match[1])
		}
	}
	return found
}

// The arguments on the page can be used as they stand there.
func TestArgumentsOnThePage(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"x.npy": "\x93NUMPY\x01\x00\x3e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }   \n" +
			strings.Repeat("\x00\x00\x80\x3f", 64),
		"scale.c": "float d_filter[81]; int d_width;",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tried := 0
	for _, block := range append(blocks(t, "  - {name"), blocks(t, "  - name")...) {
		if strings.Contains(block, "tensormap") || strings.Contains(block, "answer") {
			continue // see the two tests below
		}
		tried++
		output := "  - {name: result, type: f32, shape: [N], out: true}\n"
		manifest := "name: page\nentry: page\nsource: scale.c\nreference: scale.c\nparams: {BLOCK: {values: [1, 2], " +
			"default: 1}}\nworkloads: {only: {N: 64}}\nargs:\n" + block + output
		k, err := parse("kernel.yaml", []byte(manifest), Host)
		if err != nil {
			t.Errorf("%s\n%v", block, err)
			continue
		}
		if _, err := k.Bind(Dims{"N": 1000}); err != nil {
			t.Error(err)
		}
	}
	if tried < 2 {
		t.Errorf("%d examples of arguments", tried)
	}
}

// The descriptor on the page can be encoded, and the answer stands for a reference.
func TestDescriptorAndAnswerOnThePage(t *testing.T) {
	for _, block := range blocks(t, "  - {name") {
		head := "name: page\nentry: page\nsource: {cuda: scale.cu, host: scale.c}\nparams: {BLOCK_N: {values: [32, 64], " +
			"default: 64}}\nlaunch: {grid: [1], block: [32]}\n"
		switch {
		case strings.Contains(block, "tensormap"):
			manifest := head + "reference: scale.cu\nworkloads: {only: {B: 2, H: 3, S: 256, D: 64}}\nargs:\n" + block +
				"  - {name: y, type: f32, shape: [S], out: true}\n"
			k, err := parse("kernel.yaml", []byte(manifest), CUDA)
			if err != nil {
				t.Fatal(err)
			}
			env := k.Workloads[0].Dims.Environment()
			env.Set(k.Default())
			if layouts, err := k.Arguments.TensorLayouts(env); err != nil || len(layouts) != 1 {
				t.Errorf("%+v, %v", layouts, err)
			}
		case strings.Contains(block, "answer"):
			manifest := head + "workloads: {only: {N: 64}}\nargs:\n" + block
			if k, err := parse("kernel.yaml", []byte(manifest), Host); err != nil || !k.Answered() {
				t.Error(err)
			}
		}
	}
}

// Every example on the page is tried: by a test here, or by the one that is named.
func TestEveryExampleIsTried(t *testing.T) {
	tried := []string{
		"name: rows", "entry:", "params:\n  BLOCK_M", "params:\n  TILE", "args:\n  - {name: q", "  - {name", "  - name",
		"launch:\n", "constraints:\n", "source:", "flags:", "workloads:\n",
		"compile:",                  // TestSourcesThatCommandsCompile
		"name: copy", "name: steps", // TestProgramsOnThePage in objective/command
	}
	for _, block := range blocks(t, "") {
		if !slices.ContainsFunc(tried, func(start string) bool { return strings.HasPrefix(block, start) }) {
			t.Errorf("nobody tries this example:\n%s", block)
		}
	}
}

// The units, the folders of includes and the flags on the page can be used.
func TestSourcesAndFlagsOnThePage(t *testing.T) {
	for _, start := range []string{"source:", "flags:", "args:\n  - {name: q", "workloads:\n"} {
		found := blocks(t, start)
		if len(found) != 1 {
			t.Fatalf("%d of %q", len(found), start)
		}
		manifest := "name: page\nentry: page\nlaunch: {grid: [1], block: [32]}\n" + found[0]
		if start != "workloads:\n" {
			manifest += "workloads: {only: {N: 64, B: 2, S: 64, D: 64}}\n"
		}
		if start != "source:" {
			manifest += "source: scale.cu\nreference: scale.cu\n"
		}
		if start != "flags:" {
			manifest += "params: {A: {values: [1, 2], default: 1}}\n"
		}
		if !strings.Contains(found[0], "args:") {
			manifest += "args: [{name: y, type: f32, shape: [N], out: true}]\n"
		}
		if _, err := parse("kernel.yaml", []byte(manifest), CUDA); err != nil {
			t.Errorf("%s\n%v", found[0], err)
		}
	}
}

// The list of launches on the page is one.
func TestLaunchesOnThePage(t *testing.T) {
	launches := blocks(t, "launch:\n")
	if len(launches) != 1 {
		t.Fatalf("%d lists of launches", len(launches))
	}
	manifest := "name: page\nentry: page\nsource: scale.cu\nreference: scale.cu\nparams: {BLOCK: {values: [32, 64], " +
		"default: 32}}\nworkloads: {only: {R: 3, N: 64}}\n" +
		"args: [{name: x, type: f32, shape: [R, N]}, {name: stats, type: f32, shape: [R, 2], scratch: true}, {name: y, " +
		"type: f32, shape: [R, N], out: true}, {name: R, type: i32, value: R}, {name: N, type: i32, value: N}]\n" +
		launches[0]
	k, err := parse("kernel.yaml", []byte(manifest), CUDA)
	if err != nil || len(k.Launch.Steps) != 2 || k.Launch.Inherited {
		t.Errorf("%+v, %v", k, err)
	}
}

// The entry on the page is an instance whose arguments are parameters.
func TestEntryOnThePage(t *testing.T) {
	entries := blocks(t, "entry:")
	if len(entries) != 1 {
		t.Fatalf("%d entries", len(entries))
	}
	manifest := "name: page\nsource: scale.cu\nreference: scale.cu\nparams: {LANES: {values: [1, 4], default: 4}, " +
		"THREADS: {values: [32, 64], default: 32}}\n" +
		"workloads: {only: {N: 64}}\nargs: [{name: y, type: f32, shape: [N], out: true}]\nlaunch: {grid: [N], block: " +
		"[THREADS]}\n" + entries[0]
	k, err := parse("kernel.yaml", []byte(manifest), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	if got := EntryAt(k.Entry, k.Default()); got != "tiled::reduce<4, 32, float>" {
		t.Error(got)
	}
}

// The reference on the page is given one of two parameters, and the work is another for each.
func TestReferenceParametersOnThePage(t *testing.T) {
	params := blocks(t, "params:\n  TILE")
	if len(params) != 1 {
		t.Fatalf("%d lists of parameters", len(params))
	}
	manifest := "name: page\nentry: page\nsource: scale.c\nreference: scale.c\nworkloads: {only: {N: 64}}\nargs: " +
		"[{name: y, type: f32, shape: [N], out: true}]\n" + params[0]
	k, err := parse("kernel.yaml", []byte(manifest), Host)
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.Default().With("STEPS", space.IntegerValue(4))
	if err != nil {
		t.Fatal(err)
	}
	if got := k.ReferencePoint(point).String(); got != "STEPS=4" {
		t.Errorf("the reference gets %s", got)
	}
	if flops, _, err := k.Work.For(Dims{"N": 64}, point); err != nil || flops != 6*4*64 || !k.Work.Varies(Dims{"N": 64}) {
		t.Errorf("%g flops, %v", flops, err)
	}
}

// The constraints on the page mean what a reader takes them for.
func TestConstraintsOnThePage(t *testing.T) {
	params := blocks(t, "params:\n  BLOCK_M")
	constraints := blocks(t, "constraints:\n")
	if len(params) != 1 || len(constraints) != 1 {
		t.Fatalf("%d lists of parameters, %d of constraints", len(params), len(constraints))
	}
	manifest := "name: page\nentry: page\nsource: scale.c\nreference: scale.c\nworkloads: {only: {N: 64}}\nargs: " +
		"[{name: y, type: f32, shape: [N], out: true}]\n" + params[0] + constraints[0]
	k, err := parse("kernel.yaml", []byte(manifest), Host)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	for point, valid := range map[string]bool{
		"BLOCK_M=16,BANKS=1,LAYOUT=row,PACK=false":    false, // 16 is below 32
		"BLOCK_M=32,BANKS=1,LAYOUT=row,PACK=false":    true,
		"BLOCK_M=64,BANKS=3,LAYOUT=row,PACK=true":     false, // 192 is above 128
		"BLOCK_M=64,BANKS=1,LAYOUT=row,PACK=false":    false, // neither 16 nor 32, not packed
		"BLOCK_M=64,BANKS=1,LAYOUT=row,PACK=true":     true,
		"BLOCK_M=32,BANKS=1,LAYOUT=column,PACK=true":  false, // packed columns
		"BLOCK_M=32,BANKS=3,LAYOUT=column,PACK=false": false, // 3 banks of columns
		"BLOCK_M=32,BANKS=3,LAYOUT=row,PACK=false":    true,
		"BLOCK_M=16,BANKS=2,LAYOUT=row,PACK=true":     false, // 16 % 32
	} {
		p, err := space.ParsePoint(point + ",ALPHA=0.5,UNROLL=1,EXACT=0")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(p); (err == nil) != valid {
			t.Errorf("%s: %v, want %v", point, err, valid)
		}
	}
}

// Every key that a manifest may have is in an example on the page.
func TestEveryKeyHasAnExample(t *testing.T) {
	examples := strings.Join(blocks(t, ""), "\n")
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] ||
			!strings.HasPrefix(of.PkgPath(), reflect.TypeFor[manifest]().PkgPath()) {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if name == "texture" { // it is there to be refused
				continue
			}
			if name != "" && !regexp.MustCompile(`(^|[^\w])`+name+`:`).MatchString(examples) {
				t.Errorf("%s of %s has no example", name, of.Name())
			}
			walk(field.Type)
		}
	}
	for _, part := range []any{
		manifest{},
		section{},
		paramEntry{},
		stepEntry{},
		gridEntry{},
		arguments.Entry{},
		arguments.TensorMapEntry{},
		arguments.ToleranceEntry{},
		workEntry{},
		commandEntry{},
	} {
		walk(reflect.TypeOf(part))
	}
	if len(seen) < 12 {
		t.Errorf("%d kinds of keys", len(seen))
	}
}

// The whole manifest on the page is one, for both backends.
func TestWholeManifestOnThePage(t *testing.T) {
	whole := blocks(t, "name: rows")
	if len(whole) != 1 {
		t.Fatalf("%d of them", len(whole))
	}
	for _, backend := range []string{Host, CUDA} {
		if _, err := parse("kernel.yaml", []byte(whole[0]), backend); err != nil {
			t.Error(err)
		}
	}
}
