"""Attention with an online softmax: a program per block of queries of a head."""

import triton
import triton.language as tl


@triton.jit
def attention_forward(q, k, v, o, scale, S, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64) * S * D
    rows = start + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, D)
    place = head + rows[:, None] * D + columns[None, :]
    inside = rows[:, None] < S
    query = tl.load(q + place, mask=inside, other=0.0)
    # Powers of two are cheaper than those of e.
    factor = scale * 1.4426950408889634
    largest = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    mixed = tl.zeros([BLOCK_M, D], tl.float32)
    end = S
    if CAUSAL:
        end = tl.minimum(S, start + BLOCK_M)
    for at in range(0, end, BLOCK_N):
        keys = at + tl.arange(0, BLOCK_N)
        there = head + keys[:, None] * D + columns[None, :]
        key = tl.load(k + there, mask=keys[:, None] < S, other=0.0)
        score = tl.dot(query, tl.trans(key)) * factor
        seen = keys[None, :] < S
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        score = tl.where(seen, score, float("-inf"))
        now = tl.maximum(largest, tl.max(score, 1))
        weight = tl.exp2(score - now[:, None])
        shrunk = tl.exp2(largest - now)
        total = total * shrunk + tl.sum(weight, 1)
        value = tl.load(v + there, mask=keys[:, None] < S, other=0.0)
        mixed = mixed * shrunk[:, None] + tl.dot(weight.to(value.dtype), value)
        largest = now
    tl.store(o + place, (mixed / total[:, None]).to(o.dtype.element_ty), mask=inside)
