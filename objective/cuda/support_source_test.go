package cuda

import (
	"bytes"
	_ "embed" // the C++ code
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
)

//go:embed testdata/host.h
var hostHeader string

// hostMain reads the table of quantiles and then requests, and answers each with
// the bytes of a buffer that pawl_fill has written, or pawl_draw where there is no type.
const hostMain = `
static u64 word() {
	u64 w;
	if (fread(&w, sizeof w, 1, stdin) != 1) exit(0);
	return w;
}

int main() {
	u64 count = word();
	double *quantiles = (double *)malloc(8 * count);
	for (u64 i = 0; i < count; i++) quantiles[i] = as<double>(word());
	for (;;) {
		u64 type = word();
		if (type == ~0ULL) {
			u64 size = word(), units = word(), unit = word(), piece = word(), flips = word(), stream = word();
			u8 *pool = (u8 *)malloc(units * unit), *drawn = (u8 *)malloc(size);
			if (fread(pool, unit, units, stdin) != units) exit(1);
			pawl_draw(drawn, 0, size, (u32 *)pool, units, unit, piece, flips, stream);
			fwrite(drawn, 1, size, stdout);
			free(pool), free(drawn);
			continue;
		}
		u64 kind = word(), n = word(), size = word(), stream = word(), row = word();
		double scale = as<double>(word());
		u64 low = word(), span = word(), pattern = word(), place = word(), between = word(), sequence = word(),
			slices = word();
		double top = as<double>(word());
		void *elements = malloc(n * size);
		pawl_fill(type, kind, elements, n, stream, row, scale, quantiles, low, span, pattern, place, between, sequence,
			slices, top);
		fwrite(elements, size, n, stdout);
		free(elements);
	}
}
`

// onHost is support.cu as a program for this machine. Only what is written in the
// language of the GPU is replaced.
func onHost(t *testing.T) string {
	t.Helper()
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler")
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("sums may be fused here")
	}
	source := string(supportSource)
	for old, replacement := range map[string]string{
		`asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));`:     "value = half_to_float(bits);",
		`asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));`:      "bits = double_to_half(x);",
		`asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));`: "start = 0;",
		`asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));`:   "now = ~0ULL;",
	} {
		if strings.Count(source, old) != 1 {
			t.Fatalf("support.cu has no longer one %s", old)
		}
		source = strings.Replace(source, old, replacement, 1)
	}
	program := filepath.Join(t.TempDir(), "support")
	command := exec.Command(compiler, "-x", "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-w", "-o", program, "-")
	command.Stdin = strings.NewReader(hostHeader + source + hostMain)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// The very source that runs on a GPU draws what the host draws, to the bit. The
// imaginary driver has a source of its own, and a GPU is not always at hand.
func TestSupportSourceDrawsAsTheHostDoes(t *testing.T) {
	t.Parallel()
	program := onHost(t)
	var request, want bytes.Buffer
	words := func(w ...uint64) { _ = binary.Write(&request, binary.NativeEndian, w) }
	table := inputs.Quantiles()
	words(uint64(len(table)))
	for _, x := range table {
		words(math.Float64bits(x))
	}
	var asked []string
	var ends []int
	err := everyFill(func(b arguments.Binding) error {
		b.Count = min(b.Count, 20_000)
		element, err := element.Named(b.Type)
		if err != nil {
			return err
		}
		r, err := inputs.NewRecipe(b, 5)
		if err != nil {
			return err
		}
		words(elementNumbers[b.Type], uint64(r.Kind), uint64(b.Count), uint64(element.Size), r.Stream, r.Row,
			math.Float64bits(r.Scale), uint64(r.Low), r.Span, uint64(r.Pattern), r.Places.Row, r.Places.Between,
			r.Places.Sequence, r.Places.Slices, math.Float64bits(r.Places.Top))
		content := make([]byte, int(b.Count)*element.Size)
		if err := new(inputs.Source).Fill(content, b, 5); err != nil {
			return err
		}
		want.Write(content)
		asked, ends = append(asked, fmt.Sprintf("%s %s %+v", b.Type, b.Fill, b.Range)), append(ends, want.Len())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range drawn {
		of, pool, content, err := expectDraw(b, 99)
		if err != nil {
			t.Fatal(err)
		}
		words(math.MaxUint64, uint64(len(content)), uint64(of.Units), uint64(of.Unit),
			uint64(of.Piece), uint64(of.Flips), 99)
		request.Write(pool)
		want.Write(content)
		asked, ends = append(asked, b.Name), append(ends, want.Len())
	}
	command := exec.Command(program)
	command.Stdin = &request
	got, err := command.Output()
	if err != nil || len(got) != want.Len() {
		t.Fatalf("%d bytes, want %d: %v", len(got), want.Len(), err)
	}
	start := 0
	for i, end := range ends {
		if !bytes.Equal(got[start:end], want.Bytes()[start:end]) {
			t.Errorf("%s differs", asked[i])
		}
		start = end
	}
}
