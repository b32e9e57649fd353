import torch
import triton
import triton.language as tl

from activations import leaky_relu


def get_configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32}, num_stages=s, num_warps=w)
        for m, n, s, w in [(128, 256, 3, 8), (64, 256, 4, 4), (128, 128, 4, 4)]
    ]


@triton.autotune(configs=get_configs(), key=["M", "N", "K"])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                  ACTIVATION: tl.constexpr = ""):
    pid = tl.program_id(axis=0)
    columns = tl.cdiv(N, BLOCK_N)
    offs_m = (pid // columns) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % columns) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_m[:, None] % M * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] % N * stride_bn)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    c_ptrs = c_ptr + stride_cm * offs_m.to(tl.int64)[:, None] + stride_cn * offs_n[None, :]
    tl.store(c_ptrs, total.to(tl.float16), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
