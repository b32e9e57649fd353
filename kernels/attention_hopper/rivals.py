"""PyTorch's backends for attention: python3 rivals.py cudnn|flash|efficient.

There is none for fp8: there they get the same numbers in bf16, converted beforehand."""
import sys

import pawl_rival


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


pawl_rival.serve(backend)
