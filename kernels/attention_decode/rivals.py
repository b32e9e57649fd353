"""Attention for decoding by others: python3 rivals.py sdpa|contiguous|flex|flash3.

sdpa gathers the pages in every launch and leaves the rest to scaled_dot_product_attention.
contiguous finds keys and values gathered, which is no work of its own, and takes what is fastest
in PyTorch then. flex is FlexAttention on the pages, by a mask of blocks. flash3 is
FlashAttention-3, whose wheel has no pages: it finds them gathered, too."""
import sys

import pawl_rival


def gathered(sizes, x, name):
    pages = x["table"].view(sizes["B"], -1).long()
    return x[name][pages].flatten(1, 2).transpose(1, 2)  # B, HK, tokens, D


def masked(sizes, inputs):
    """scaled_dot_product_attention over as many tokens as the longest sequence has."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention
    longest, lengths = sizes["S"], inputs["lengths"]
    mask = None
    if int(lengths.min()) < longest:
        mask = (torch.arange(longest, device="cuda") < lengths[:, None])[:, None, None]
    return lambda q, k, v: attention(q[:, :, None], k[:, :, :longest], v[:, :, :longest], attn_mask=mask,
                                     enable_gqa=True)[:, :, 0]


def sdpa(sizes, inputs):
    attention = masked(sizes, inputs)
    return lambda x: attention(x["q"], gathered(sizes, x, "k"), gathered(sizes, x, "v"))


def variable(sizes, inputs):
    """PyTorch's attention for sequences of several lengths, which lie one behind the other."""
    import torch
    from torch.nn.attention.varlen import varlen_attn
    lengths = inputs["lengths"]
    starts = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()
    one = torch.arange(sizes["B"] + 1, device="cuda", dtype=torch.int32)

    def launch(q, k, v):
        try:
            return varlen_attn(q, k, v, one, starts, 1, sizes["S"], enable_gqa=True)
        except TypeError:
            return varlen_attn(q, k, v, one, starts, 1, sizes["S"])
    return launch


def contiguous(sizes, inputs):
    import torch
    padded = {name: gathered(sizes, inputs, name).contiguous() for name in "kv"}
    valid = torch.arange(padded["k"].shape[2], device="cuda") < inputs["lengths"][:, None]
    packed = {name: x.transpose(1, 2)[valid].contiguous() for name, x in padded.items()}
    ways = []
    for name, make, content in (("masked", masked, padded), ("variable", variable, packed)):
        try:
            launch = make(sizes, inputs)
            ways.append((seconds(lambda: launch(inputs["q"], content["k"], content["v"])), name, launch, content))
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
    if not ways:
        raise pawl_rival.Missing("neither a mask nor sequences of several lengths")
    _, name, launch, content = min(ways, key=lambda way: way[0])
    print(f"{name} is the fastest of {[(way[1], way[0]) for way in ways]}", file=sys.stderr)
    inputs.update(content)
    return lambda x: launch(x["q"], x["k"], x["v"])


def seconds(launch):
    import torch
    for _ in range(3):
        launch()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(10):
        launch()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e4


def flex(sizes, inputs):
    import torch
    from torch.nn.attention.flex_attention import BlockMask, flex_attention
    page = sizes["PAGE"]
    pages = inputs["table"].view(sizes["B"], 1, 1, -1)
    whole = inputs["lengths"] // page
    rest = inputs["lengths"] % page
    last = pages.gather(3, whole.clamp(max=pages.shape[3] - 1).view(-1, 1, 1, 1).long()).int()

    def inside(b, h, q, token):
        return token % page < rest[b]
    # A row of blocks is as wide as there are pages in all; of the rest nothing is looked at.
    wide = lambda x: torch.nn.functional.pad(x.int(), (0, pages.numel() - x.shape[3])).contiguous()
    mask = BlockMask.from_kv_blocks((rest > 0).int().view(-1, 1, 1), wide(last), whole.view(-1, 1, 1), wide(pages),
                                    BLOCK_SIZE=(128, page), mask_mod=inside,
                                    seq_lengths=(1, pages.numel() * page))
    compiled = torch.compile(flex_attention, dynamic=False)

    def launch(x):
        k, v = (x[name].flatten(0, 1).transpose(0, 1)[None] for name in "kv")  # 1, HK, all tokens, D
        return compiled(x["q"][:, :, None], k, v, block_mask=mask, enable_gqa=True)[:, :, 0]
    return launch


def flash3(sizes, inputs):
    try:
        from fa3_fwd_interface import flash_attn_with_kvcache
    except ImportError as error:
        raise pawl_rival.Missing(f"FlashAttention-3 (fa3-fwd) is not here: {error}")
    if not sizes["BF16"]:
        raise pawl_rival.Missing("fa3-fwd has no fp16")

    inputs.update({name: gathered(sizes, inputs, name).transpose(1, 2).contiguous() for name in "kv"})
    return lambda x: flash_attn_with_kvcache(x["q"][:, None], x["k"], x["v"], cache_seqlens=x["lengths"])


pawl_rival.serve({"sdpa": sdpa, "contiguous": contiguous, "flex": flex, "flash3": flash3}[sys.argv[1]])
