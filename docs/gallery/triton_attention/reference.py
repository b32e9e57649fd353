"""The definition of attention. Arrays are double precision here."""

import numpy


def attention_forward(q, k, v, scale, S, CAUSAL):
    result = numpy.empty_like(v)
    for head in numpy.ndindex(q.shape[:2]):  # the scores of one head fit into a cache
        weight = scale * q[head] @ k[head].T
        if CAUSAL:
            weight[~numpy.tri(S, dtype=bool)] = -numpy.inf
        weight -= weight.max(axis=-1, keepdims=True)
        numpy.exp(weight, out=weight)
        result[head] = weight @ v[head] / weight.sum(axis=-1, keepdims=True)
    return result
