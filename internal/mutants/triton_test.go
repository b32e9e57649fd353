package mutants

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
)

// The anchors of the kernels in Triton, which are in the gallery.
const (
	attentionSeen  = `seen = keys[None, :] < S`
	attentionScale = `factor = scale * 1.4426950408889634`
	attentionSum   = `total = total * shrunk + tl.sum(weight, 1)`
	attentionLoop  = `for at in range(0, end, BLOCK_N):`
	attentionStore = `    tl.store(o + place, (mixed / total[:, None]).to(o.dtype.element_ty), mask=inside)`
	matmulLeft     = `x = tl.load(at, mask=depth[None, :] < left, other=0.0)`
	matmulRight    = `y = tl.load(bt, mask=depth[:, None] < left, other=0.0)`
	matmulInside   = `mask=(rows[:, None] < M) & (columns[None, :] < N))`
	matmulStore    = `tl.store(ct, total.to(c.dtype.element_ty), ` + matmulInside
)

var tritonAttention = on(kernels.CUDA, "triton_attention", onWorkload("ragged", []Mutant{
	{Name: "no mask", What: "takes what is behind the last key for keys",
		Old: `tl.where(seen, score, float("-inf"))`, New: `tl.where(seen, score, score)`},
	{Name: "a key too many", What: "takes one key more", Old: attentionSeen, New: `seen = keys[None, :] <= S`},
	{Name: "a key too few", What: "leaves the last key out", Old: attentionSeen, New: `seen = keys[None, :] < S - 1`},
	{Name: "no maximum", What: "does not subtract the largest score: overflows for large ones",
		Old: `now = tl.maximum(largest, tl.max(score, 1))`, New: `now = tl.zeros([BLOCK_M], tl.float32)`},
	{Name: "sum not rescaled", What: "adds weights of different scales", Old: attentionSum,
		New: `total = total + tl.sum(weight, 1)`},
	{Name: "sum doubled", What: "adds every weight twice", Old: attentionSum,
		New: `total = total * shrunk + 2 * tl.sum(weight, 1)`},
	{Name: "mix not rescaled", What: "adds values of different scales", Old: `mixed = mixed * shrunk[:, None] + tl.dot`,
		New: `mixed = mixed + tl.dot`},
	{Name: "no division", What: "does not divide by the sum", Old: `(mixed / total[:, None])`, New: `mixed`},
	{Name: "wrong base", What: "takes powers of two for exponentials", Old: attentionScale, New: `factor = scale`},
	{Name: "no scale", What: "does not scale the scores", Old: attentionScale, New: `factor = 1.4426950408889634`},
	{Name: "store without a mask", What: "writes rows that are not its own", Old: attentionStore,
		New: `    tl.store(o + place, (mixed / total[:, None]).to(o.dtype.element_ty))`},
	{Name: "weights of 8 bits", What: "rounds weights to two bits behind the point", Old: `weight.to(value.dtype)`,
		New: `weight.to(tl.float8e5).to(value.dtype)`},
	{Name: "last tile left out", What: "leaves the last keys out", Old: attentionLoop,
		New: `for at in range(0, end - BLOCK_N, BLOCK_N):`},
	{Name: "first tile left out", What: "leaves the first keys out", Old: attentionLoop,
		New: `for at in range(BLOCK_N, end, BLOCK_N):`},
	{Name: "another head", What: "computes every other head twice", Old: `tl.program_id(1).to(tl.int64)`,
		New: `(tl.program_id(1) // 2 * 2).to(tl.int64)`},
	{Name: "stale rows", What: "writes the first block of rows only", Old: attentionStore,
		New: "    if start == 0:\n    " + attentionStore},
	{Name: "keys for values", What: "mixes keys", Old: `value = tl.load(v + there`, New: `value = tl.load(k + there`},
	{Name: "another maximum", What: "forgets which maximum its sums are scaled by", Old: `        largest = now`,
		New: `        largest = now + 1`},
}))

var tritonMatmul = on(kernels.CUDA, "triton_matmul", onWorkload("square_1024", []Mutant{
	{Name: "no mask along the depth", What: "multiplies what is behind the last column", Old: matmulLeft,
		New: `x = tl.load(at)`, End: matmulRight, NewEnd: `y = tl.load(bt)`},
	{Name: "ones behind the depth", What: "fills the tail with ones", Old: matmulLeft,
		New: `x = tl.load(at, mask=depth[None, :] < left, other=1.0)`, End: matmulRight,
		NewEnd: `y = tl.load(bt, mask=depth[:, None] < left, other=1.0)`},
	{Name: "a column short", What: "leaves the last product out", Old: `left = K - step * BLOCK_K`,
		New: `left = K - step * BLOCK_K - 1`},
	{Name: "last step left out", What: "leaves the tail of the depth out", Old: `tl.cdiv(K, BLOCK_K)`, New: `K // BLOCK_K`},
	{Name: "rows without a mask", What: "writes past the last row", Old: matmulInside,
		New: `mask=(columns[None, :] < N) & (rows[:, None] < M + BLOCK_M))`},
	{Name: "columns without a mask", What: "writes into the next row", Old: matmulInside,
		New: `mask=(rows[:, None] < M) & (columns[None, :] < N + BLOCK_N))`},
	{Name: "sums of 16 bits", What: "rounds sums to fp16", Old: `total = tl.dot(x, y, total)`,
		New: `total = tl.dot(x, y, total).to(tl.float16).to(tl.float32)`},
	{Name: "left stands still", What: "reads the first columns again and again", Old: `at += BLOCK_K * stride_ak`,
		New: `at += 0 * stride_ak`},
	{Name: "another stride", What: "steps over rows by the stride of the other matrix", Old: `bt += BLOCK_K * stride_bk`,
		New: `bt += BLOCK_K * stride_am`},
	{Name: "transposed", What: "writes rows for columns",
		Old: `rows[:, None].to(tl.int64) * stride_cm + columns[None, :] * stride_cn`,
		New: `rows[:, None].to(tl.int64) * stride_cn + columns[None, :] * stride_cm`},
	{Name: "modulo of the other", What: "wraps columns at the number of rows", Old: `(columns % N)`, New: `(columns % M)`},
	{Name: "whole groups", What: "takes the last group of tiles for a whole one", File: "tiles.py", At: "GROUP=8",
		Old: `height = tl.minimum(rows - first, GROUP)`, New: `height = GROUP`},
	{Name: "stale tiles", What: "computes every other tile twice", Old: `grouped(tl.program_id(0),`,
		New: `grouped(tl.program_id(0) // 2 * 2,`},
	{Name: "adds to what is there", What: "adds the product to what the output held", Old: matmulStore,
		New: `tl.store(ct, (total + tl.load(ct, ` + matmulInside + `.to(tl.float32)).to(c.dtype.element_ty), ` +
			matmulInside},
}))

func tritons() []Mutant { return slices.Concat(tritonAttention, tritonMatmul) }

// gallery returns the files of a kernel of the gallery: beside this package, or in the folder
// that a test binary is run in.
func gallery(kernel string) (fs.FS, error) {
	for _, root := range []string{"../..", "."} {
		dir := filepath.Join(root, "docs", "gallery", kernel)
		if _, err := os.Stat(filepath.Join(dir, kernels.ManifestName)); err == nil {
			return os.DirFS(dir), nil
		}
	}
	return nil, errors.New("there is no gallery with " + kernel)
}

func TestTritonMutantsFitTheKernels(t *testing.T) {
	if len(tritons()) < 25 {
		t.Errorf("only %d", len(tritons()))
	}
	for _, m := range tritons() {
		dir, err := m.write(t)
		if err == nil {
			_, err = m.target(dir)
		}
		if err != nil {
			t.Errorf("%s/%s: %v", m.Kernel, m.Name, err)
		}
	}
}

func TestGPUTritonMutantsAreCaught(t *testing.T) {
	m := gpu(t)
	catch(t, m, thorough.Some(tritons(), 8))
}
