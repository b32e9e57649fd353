"""Times what the vendor's libraries do with the workloads of our CUDA kernels.

    python3 docs/vendor.py [attention] [gemm] [copy]

It needs PyTorch. Launches are recorded in a graph over buffers that rotate past the
last-level cache, as pawl's are; the figure is the median of 25 runs of the graph.
"""
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

ATTENTION = [  # the workloads of kernels/attention_hopper: B, H, S, D, causal
    ("training_512", 32, 8, 512, 64, False),
    ("training_512_causal", 32, 8, 512, 64, True),
    ("small_448", 16, 4, 448, 64, False),
    ("large_640", 48, 16, 640, 64, False),
    ("context_1024", 32, 8, 1024, 64, False),
    ("context_2048", 16, 8, 2048, 64, False),
    ("context_4096_causal", 4, 16, 4096, 64, True),
    ("wide_2048", 8, 16, 2048, 128, False),
]
GEMM = [("square_4096", 4096, 4096, 4096), ("square_8192", 8192, 8192, 8192), ("tall", 256, 16384, 4096)]


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def microseconds(run, sets, launches):
    """The median time of one launch; run takes one of the sets of buffers."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run(sets[0])
    torch.cuda.synchronize()
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for i in range(launches):
            results.append(run(sets[i % len(sets)]))
    for _ in range(8):
        graph.replay()
    times = []
    for _ in range(25):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / launches)
    return sorted(times)[len(times) // 2]


def rotating(make, size):
    return [make() for _ in range(min(20, max(2, int(500e6 / size) + 1)))]


def attention():
    for name, b, h, s, d, causal in ATTENTION:
        size = 8 * b * h * s * d
        sets = rotating(lambda: [half(b, h, s, d) for _ in range(3)], size)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            time = microseconds(
                lambda x: torch.nn.functional.scaled_dot_product_attention(*x, is_causal=causal),
                sets, 8 if size > 2e8 else 20)
        print(f"cuDNN {name}: {time:.1f} µs")
        del sets
        torch.cuda.empty_cache()


def gemm():
    for name, m, n, k in GEMM:
        sets = rotating(lambda: [half(m, k), half(n, k), half(m, n)], 2 * (m * k + n * k + m * n))
        time = microseconds(lambda x: torch.mm(x[0], x[1].t(), out=x[2]), sets, 6)
        print(f"cuBLAS {name}: {time:.1f} µs, {2 * m * n * k / time / 1e6:.0f} TFLOP/s")
        del sets
        torch.cuda.empty_cache()


def copy():
    source = half(1 << 30)
    target = torch.empty_like(source)
    time = microseconds(lambda x: x[1].copy_(x[0]), [[source, target]], 4)
    print(f"copy: {2 * source.numel() * 2 / time / 1e6:.2f} TB/s read and written")


for part in sys.argv[1:] or ["attention", "gemm", "copy"]:
    {"attention": attention, "gemm": gemm, "copy": copy}[part]()
