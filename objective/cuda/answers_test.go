package cuda

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/worker"
)

// addWith is a copy of the kernel that adds, with other inputs; b holds 0, 1, 2 and so on.
func addWith(t *testing.T, replacements ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/add")); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "kernel.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var inputs, sums []byte
	for i := range 1000 {
		inputs = binary.LittleEndian.AppendUint32(inputs, math.Float32bits(float32(i)))
		sums = binary.LittleEndian.AppendUint32(sums, math.Float32bits(1.5*float32(i)))
	}
	replacements = append(replacements, "{name: b, type: f32, shape: [N], ",
		"{name: b, type: f32, shape: [N], from: b.bin, ",
		"fuzz: {N: [64, 1000]}\n", "", "  large: {N: 40000}\n", "",
		"  # Its reference leaves an error behind.\n  cursed: {N: 50001}\n", "")
	for name, content := range map[string][]byte{
		"kernel.yaml": []byte(strings.NewReplacer(replacements...).Replace(string(manifest))),
		"b.bin":       inputs, "sum.bin": sums,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Inputs that are computed as a whole, or are in a file, get to the device, where they are
// timed in turns like all others.
func TestComputedInputsAreUploaded(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		settings{folder: addWith(t, "{name: a, type: f32, shape: [N]}",
			`{name: a, type: f32, shape: [N], fill: {formula: "i + random"}}`)})
	r.passes("")
	r.fails("MODE=wrong", objective.Fuzz, "wrong result")
	r.fails("MODE=tampers", objective.Fuzz, string(worker.InputModified))
}

// With answers from files there is no reference to compile, and what is right is compared
// on the device all the same, also after timing.
func TestAnswersFromFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		settings{folder: addWith(t, "reference: {cuda: reference.cu}\n", "", "out: true}", "out: true, answer: sum.bin}",
			"{name: a, type: f32, shape: [N]}", `{name: a, type: f32, shape: [N], fill: {formula: "0.5 * i"}}`)})
	r.passes("")
	if detail := r.fails("MODE=wrong", objective.Fuzz,
		"wrong result"); !strings.Contains(detail, "c[500] is 751, the answer is 750") {
		t.Error(detail)
	}
	r.fails("MODE=idle_when_timed", objective.Bench, string(worker.WrongWhenTimed))
	finding, err := r.Tester.Try(t.Context(), r.prepare(""), slices.Values(r.Tester.FullCases(r.kernel.Default())), nil)
	if err != nil || finding.Checked != 3 || finding.Failure != nil ||
		!strings.Contains(finding.Evidence.Unchecked, "held against sum.bin") {
		t.Errorf("%+v, %v", finding, err)
	}
}
