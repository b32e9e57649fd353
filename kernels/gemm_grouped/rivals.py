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
    groups = [(i, offsets[i], offsets[i + 1]) for i in range(sizes["E"]) if offsets[i] < offsets[i + 1]]

    def launch(x):
        c = torch.empty(sizes["T"], sizes["N"], dtype=torch.bfloat16, device="cuda")
        for i, start, end in groups:
            torch.mm(x["a"][start:end], x["b"][i].t(), out=c[start:end])
        return c
    return launch


pawl_rival.serve({"grouped_mm": grouped_mm, "loop": loop}[sys.argv[1]])
