import triton
import triton.language as tl


@triton.heuristics({"EVEN_K": lambda args: args["BLOCK_K"] == 32})
@triton.jit
def grouped_product(a_ptr, b_ptr, c_ptr, sizes_ptr, bias_ptr, groups, M, N, K, NUM_SM: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr,
                    HAS_BIAS: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(groups):
        rows = tl.load(sizes_ptr + g).to(tl.int32)
        rows = tl.minimum(tl.maximum(rows, 0), M)
        columns = tl.cdiv(N, BLOCK_N)
        count = tl.cdiv(rows, BLOCK_M) * columns
        while tile >= last and tile < last + count:
            at = tile - last
            m = at // columns * BLOCK_M + tl.arange(0, BLOCK_M)
            n = at % columns * BLOCK_N + tl.arange(0, BLOCK_N)
            k = tl.arange(0, BLOCK_K)
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for step in range(0, K, BLOCK_K):
                a = tl.load(a_ptr + m[:, None] * K + step + k[None, :], mask=(m[:, None] < rows) & (step + k[None, :] < K))
                b = tl.load(b_ptr + (step + k)[:, None] * N + n[None, :], mask=(n[None, :] < N) & (step + k[:, None] < K))
                total = tl.dot(a, b, total)
            if HAS_BIAS:
                total += tl.load(bias_ptr + n, mask=n < N)[None, :]
            tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(c_ptr.dtype.element_ty),
                     mask=(m[:, None] < rows) & (n[None, :] < N))
            tile += NUM_SM
        last += count
