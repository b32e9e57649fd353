import torch
import triton
import triton.language as tl


@triton.jit
def _inner(acc, l, m, q, k_ptrs, v_ptrs, stride_kn, stride_vn, scale, N_CTX, BLOCK_N: tl.constexpr):
    for start in range(0, N_CTX, BLOCK_N):
        inside = start + tl.arange(0, BLOCK_N) < N_CTX
        k = tl.load(k_ptrs + start * stride_kn, mask=inside[None, :], other=0.0)
        score = tl.where(inside[None, :], tl.dot(q, k) * scale, float("-inf"))
        new = tl.maximum(m, tl.max(score, 1))
        p = tl.exp(score - new[:, None])
        alpha = tl.exp(m - new)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_ptrs + start * stride_vn, mask=inside[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    return acc, l


@triton.autotune(
    configs=[triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w, num_stages=s)
             for m in [64, 128] for n in [32, 64] for w in [4, 8] for s in [2, 3]],
    key=["N_CTX"])
@triton.jit
def attention(Q, K, V, Out, sm_scale, stride_qz, stride_qm, stride_kz, stride_kn, stride_vz, stride_vn, stride_oz,
              stride_om, Z, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, HEAD_DIM)
    keys = tl.arange(0, BLOCK_N)
    q = tl.load(Q + head * stride_qz + rows[:, None] * stride_qm + columns[None, :], mask=rows[:, None] < N_CTX)
    k_ptrs = K + head * stride_kz + keys[None, :] * stride_kn + columns[:, None]
    v_ptrs = V + head * stride_vz + keys[:, None] * stride_vn + columns[None, :]
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    l = tl.zeros([BLOCK_M], dtype=tl.float32)
    m = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    acc, l = _inner(acc, l, m, q, k_ptrs, v_ptrs, stride_kn, stride_vn, sm_scale, N_CTX, BLOCK_N)
    o_ptrs = Out + head * stride_oz + rows[:, None] * stride_om + columns[None, :]
    tl.store(o_ptrs, (acc / l[:, None]).to(Out.dtype.element_ty), mask=rows[:, None] < N_CTX)
