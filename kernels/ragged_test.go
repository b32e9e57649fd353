package kernels_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pawl/kernels"
	"pawl/kernels/inputs"
)

// The work of kernels whose sequences and groups have lengths of their own is a formula over the sizes, and
// what it says is what the inputs hold: a time below it fails a point.
func TestWorkOfRaggedInputs(t *testing.T) {
	for _, test := range []struct {
		kernel, argument string
		bytes            func(values []int64, d kernels.Dims) int64
	}{
		{"attention_decode", "lengths", func(lengths []int64, d kernels.Dims) int64 {
			tokens := int64(0)
			for _, length := range lengths {
				if length < 1 || length > d["S"] {
					t.Errorf("%v: a sequence of %d tokens", d, length)
				}
				tokens += length
			}
			return 4*tokens*d["HK"]*d["D"] + 4*d["B"]*d["HK"]*d["G"]*d["D"] // keys, values; queries, results
		}},
		{"gemm_grouped", "offsets", func(offsets []int64, d kernels.Dims) int64 {
			return 2 * (d["T"]*d["K"] + active(t, offsets, d)*d["N"]*d["K"] + d["T"]*d["N"])
		}},
		{"gemm_grouped_fp8", "offsets", func(offsets []int64, d kernels.Dims) int64 {
			weights := active(t, offsets, d) * d["N"] * d["K"]  // in blocks of 128 x 128, all whole
			scales := 4 * (d["T"]*d["K"]/128 + weights/128/128) // f32
			return d["T"]*d["K"] + weights + 2*d["T"]*d["N"] + scales
		}},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			k, err := kernels.Load(test.kernel, kernels.CUDA)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range k.Workloads {
				want := test.bytes(integers(t, k, w.Dims, test.argument), w.Dims)
				got, err := k.Work.Bytes.Number(w.Dims.Environment())
				if err != nil || int64(got) != want {
					t.Errorf("%s: %v bytes by the formula (%v), %d by the inputs", w.Name, got, err, want)
				}
			}
		})
	}
}

// active returns how many groups have rows.
func active(t *testing.T, offsets []int64, d kernels.Dims) int64 {
	t.Helper()
	if !slices.IsSorted(offsets) || offsets[0] != 0 || offsets[d["E"]] != d["T"] {
		t.Errorf("%v: offsets %v", d, offsets)
	}
	return int64(len(slices.Compact(offsets)) - 1)
}

// integers returns what an input of 32-bit integers holds.
func integers(t *testing.T, k *kernels.Kernel, dims kernels.Dims, name string) (values []int64) {
	t.Helper()
	bindings, err := k.Bind(dims)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bindings {
		if b.Name != name {
			continue
		}
		content := make([]byte, 4*b.Count)
		if err := new(inputs.Source).Fill(content, b, 1); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(content); i += 4 {
			values = append(values, int64(int32(binary.LittleEndian.Uint32(content[i:]))))
		}
	}
	return values
}
