"""The order of tiles, for more than one kernel."""

import triton
import triton.language as tl


@triton.jit
def grouped(tile, rows, columns, GROUP: tl.constexpr):
    """The tile of a program: GROUP rows of tiles are walked through column by column."""
    group = tile // (GROUP * columns)
    first = group * GROUP
    height = tl.minimum(rows - first, GROUP)
    inside = tile % (GROUP * columns)
    return first + inside % height, inside // height
