"""Grouped products by PyTorch: python3 rivals.py grouped_mm|loop."""
import sys

import pawl_rival


def grouped_mm(sizes, inputs):
    import torch
    return lambda x: torch._grouped_mm(x["a"], x["b"].transpose(1, 2), offs=x["offsets"][1:])


def loop(sizes, inputs):
    """A product for every group that has rows; the host knows the offsets beforehand."""
    import torch
    offsets = inputs["offsets"].tolist()
    active = [i for i in range(sizes["E"]) if offsets[i] < offsets[i + 1]]
    # Weights that nothing reads would count as more than the caches hold.
    inputs["b"] = inputs["b"][active].contiguous()

    def launch(x):
        c = torch.empty(sizes["T"], sizes["N"], dtype=torch.bfloat16, device="cuda")
        for place, i in enumerate(active):
            rows = slice(offsets[i], offsets[i + 1])
            torch.mm(x["a"][rows], x["b"][place].t(), out=c[rows])
        return c
    return launch


pawl_rival.serve({"grouped_mm": grouped_mm, "loop": loop}[sys.argv[1]])
