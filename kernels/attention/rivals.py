"""PyTorch's attention, by the backend that it chooses."""
import pawl_rival


def attention(sizes, inputs):
    from torch.nn.functional import scaled_dot_product_attention
    return lambda x: scaled_dot_product_attention(x["q"], x["k"], x["v"], is_causal=bool(sizes["CAUSAL"]))


pawl_rival.serve(attention)
