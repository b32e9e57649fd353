"""The product of two matrices, with strides: a program per tile of the result."""

import torch
import triton
import triton.language as tl

from tiles import grouped


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP": 8}, num_stages=4, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8}, num_stages=3, num_warps=8),
    ],
    key=["M", "N", "K"],
)
@triton.heuristics({"WIDE": lambda arguments: arguments["BLOCK_N"] >= 128})
@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
           WIDE: tl.constexpr):
    row, column = grouped(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # Reading the tail again is as right as reading nothing, and needs no mask.
    at = a + (rows % M)[:, None] * stride_am + depth[None, :] * stride_ak
    bt = b + depth[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        x = tl.load(at, mask=depth[None, :] < left, other=0.0)
        y = tl.load(bt, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        at += BLOCK_K * stride_ak
        bt += BLOCK_K * stride_bk
    if WIDE:
        tl.max_contiguous(columns, BLOCK_N)
    ct = c + rows[:, None].to(tl.int64) * stride_cm + columns[None, :] * stride_cn
    tl.store(ct, total.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


def product(a, b):
    """How it is called in an application."""
    c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(c.shape[0], meta["BLOCK_M"]) * triton.cdiv(c.shape[1], meta["BLOCK_N"]),)
    matmul[grid](a, b, c, *c.shape, a.shape[1], *a.stride(), *b.stride(), *c.stride())
    return c
