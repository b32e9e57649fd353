"""Grouped products of scaled fp8 by PyTorch: python3 rivals.py scaled_mm|grouped_bf16."""
import sys

import pawl_rival


def scaled_mm(sizes, inputs):
    """A product for every group that has rows; the host knows the offsets beforehand. cuBLAS wants
    multiples of four rows: those beyond a group are written again by the next."""
    import torch
    offsets = inputs["offsets"].tolist()
    active = [i for i in range(sizes["E"]) if offsets[i] < offsets[i + 1]]
    rows = {i: (offsets[i + 1] - offsets[i] + 3) // 4 * 4 for i in active}
    # Weights that nothing reads would count as more than the caches hold.
    inputs["b"], inputs["b_scales"] = inputs["b"][active].contiguous(), inputs["b_scales"][active].contiguous()
    inputs["a"] = torch.cat([inputs["a"].view(torch.uint8), torch.zeros_like(inputs["a"][:1].view(torch.uint8)).expand(
        3, -1)]).view(inputs["a"].dtype)
    scales = torch.nn.functional.pad(inputs["a_scales"], (0, 3), value=1)
    inputs["a_scales"] = torch.cat([scales[:, offsets[i]:offsets[i] + rows[i]].flatten() for i in active])
    blocks = scales.shape[0]

    def launch(x):
        c = torch.empty(sizes["T"] + 3, sizes["N"], dtype=torch.bfloat16, device="cuda")
        at = 0
        for place, i in enumerate(active):
            mine = slice(offsets[i], offsets[i] + rows[i])
            scale = x["a_scales"][at:at + blocks * rows[i]].view(blocks, rows[i]).t()
            at += blocks * rows[i]
            torch._scaled_mm(x["a"][mine], x["b"][place].t(), scale, x["b_scales"][place].t(),
                             out_dtype=torch.bfloat16, out=c[mine])
        return c[:sizes["T"]]
    return launch


def grouped_bf16(sizes, inputs):
    """What there is for groups: a product of what was scaled and rounded to bf16 beforehand."""
    import torch

    def scaled(values, scales):
        return (values.float() * scales.repeat_interleave(128, -1)[..., :sizes["K"]]).bfloat16()
    inputs["a"] = scaled(inputs["a"], inputs["a_scales"].t())
    inputs["b"] = torch.stack([scaled(b, s.repeat_interleave(128, 0)[:sizes["N"]])
                               for b, s in zip(inputs["b"], inputs["b_scales"])])
    return lambda x: torch._grouped_mm(x["a"], x["b"].transpose(1, 2), offs=x["offsets"][1:])


pawl_rival.serve({"scaled_mm": scaled_mm, "grouped_bf16": grouped_bf16}[sys.argv[1]])
