"""PyTorch's backends for attention, and FlashAttention-3: python3 rivals.py cudnn|flash|efficient|flash3.

There is none for fp8: there they get the same numbers in bf16, converted beforehand."""
import sys

import pawl_rival


def flash3(sizes, inputs):
    """The wheel fa3-fwd, which has bf16 alone; heads of a token lie side by side there."""
    import torch
    try:
        from fa3_fwd_interface import flash_attn_func
    except ImportError as error:
        raise pawl_rival.Missing(f"FlashAttention-3 (fa3-fwd) is not here: {error}")
    if not sizes["BF16"]:
        raise pawl_rival.Missing("fa3-fwd has no fp16")
    inputs.update({name: inputs[name].to(torch.bfloat16).transpose(1, 2).contiguous() for name in "qkv"})

    def launch(x):
        out = flash_attn_func(x["q"], x["k"], x["v"], causal=bool(sizes["CAUSAL"]))
        return (out[0] if isinstance(out, tuple) else out).transpose(1, 2)
    return launch


def backend(sizes, inputs):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attention
    chosen = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
              "efficient": SDPBackend.EFFICIENT_ATTENTION}[sys.argv[1]]

    if sizes["FP8"]:
        import torch
        inputs.update({name: x.to(torch.bfloat16) for name, x in inputs.items()})

    def launch(x):
        with sdpa_kernel(chosen):
            return attention(x["q"], x["k"], x["v"], is_causal=bool(sizes["CAUSAL"]),
                             enable_gqa=sizes["HK"] != sizes["H"])
    return launch


pawl_rival.serve(flash3 if sys.argv[1] == "flash3" else backend)
