"""The definition of attention. Arrays are double precision here."""

import numpy


def attention_forward(q, k, v, scale, S, CAUSAL):
    score = scale * q @ k.swapaxes(-1, -2)
    if CAUSAL:
        score = numpy.where(numpy.tri(S, dtype=bool), score, -numpy.inf)
    weight = numpy.exp(score - score.max(axis=-1, keepdims=True))
    return weight @ v / weight.sum(axis=-1, keepdims=True)
