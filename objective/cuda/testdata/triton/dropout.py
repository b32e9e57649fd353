import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def dropout(x_ptr, output_ptr, mask_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr, scale: tl.constexpr = True,
            residual_ptr=None):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    if scale:
        x = x / (1 - p)
    if residual_ptr is not None:
        x += tl.load(residual_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, tl.where(keep, x, 0.0), mask=mask)
    tl.store(mask_ptr + offsets, keep.to(tl.float32), mask=mask)
