"""cuBLAS's products of scaled fp8, by way of PyTorch: one for every group that has rows. PyTorch's
own grouped product takes scales of whole rows only."""
import pawl_rival


def scaled_mm(sizes, inputs):
    """The host knows the offsets beforehand. cuBLAS wants multiples of four rows: those beyond a
    group are written again by the next, and beyond the last there are three more."""
    import torch
    offsets = inputs["offsets"].tolist()
    active = [i for i in range(sizes["E"]) if offsets[i] < offsets[i + 1]]
    rows = [slice(offsets[i], offsets[i] + (offsets[i + 1] - offsets[i] + 3) // 4 * 4) for i in active]
    # Weights that nothing reads would count as more than the caches hold.
    inputs["b"], inputs["b_scales"] = inputs["b"][active].contiguous(), inputs["b_scales"][active].contiguous()
    pad = torch.nn.functional.pad
    inputs["a"] = pad(inputs["a"].view(torch.uint8), (0, 0, 0, 3)).view(inputs["a"].dtype)
    scales = pad(inputs["a_scales"], (0, 3), value=1)
    # Those of a group lie together: it wants a column of them for every 128 values.
    inputs["a_scales"] = torch.cat([scales[:, mine].flatten() for mine in rows])
    lengths = [len(scales) * (mine.stop - mine.start) for mine in rows]

    def launch(x):
        c = torch.empty(sizes["T"] + 3, sizes["N"], dtype=torch.bfloat16, device="cuda")
        for mine, b, b_scales, a_scales in zip(rows, x["b"], x["b_scales"], x["a_scales"].split(lengths)):
            torch._scaled_mm(x["a"][mine], b.t(), a_scales.view(len(scales), -1).t(), b_scales.t(),
                             out_dtype=torch.bfloat16, out=c[mine])
        return c[:sizes["T"]]
    return launch


pawl_rival.serve(scaled_mm)
