"""triton.autotune on docs/gallery/triton_matmul, beside points that pawl has found.

usage: python3 docs/triton_autotune.py [--sample N] [POINT ...]

A POINT is written as pawl writes it, such as BLOCK_K=64,BLOCK_M=128,...,num_warps=8. Autotune gets the 40
configurations that tutorials list, and N random ones of the kernel's 1,152. All winners are timed by
triton.testing.do_bench, which empties the L2 cache before each launch.
"""

import argparse
import itertools
import os
import random
import sys
import tempfile
import time

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # nothing is compiled beforehand
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gallery", "triton_matmul"))

import torch  # noqa: E402
import triton  # noqa: E402

from matmul import matmul  # noqa: E402

SIZE = 4096
plain = matmul.fn  # without autotune, with its heuristics
a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)


def config(m, n, k, group, warps, stages):
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": group}, num_warps=warps, num_stages=stages)


def launch(kernel, **meta):
    grid = lambda m: (triton.cdiv(SIZE, m["BLOCK_M"]) * triton.cdiv(SIZE, m["BLOCK_N"]),)
    kernel[grid](a, b, c, SIZE, SIZE, SIZE, *a.stride(), *b.stride(), *c.stride(), **meta)


def milliseconds(**meta):
    return triton.testing.do_bench(lambda: launch(plain, **meta), warmup=100, rep=400, return_mode="median")


def autotune(name, configs):
    start = time.time()
    tuner = triton.autotune(configs=configs, key=["M", "N", "K"])(plain)
    launch(tuner)
    torch.cuda.synchronize()
    took = time.time() - start
    best = tuner.best_config
    best = dict(best.kwargs, num_warps=best.num_warps, num_stages=best.num_stages)
    point = ",".join(f"{k}={v}" for k, v in sorted(best.items()))
    print(f"{name}: {len(configs)} configurations in {took:.1f} s, {1e3 * milliseconds(**best):.1f} us, {point}", flush=True)


options = argparse.ArgumentParser()
options.add_argument("--sample", type=int, default=60)
options.add_argument("points", nargs="*")
options = options.parse_args()
for point in options.points:
    meta = {k: int(v) for k, v in (pair.split("=") for pair in point.split(","))}
    print(f"point: {1e3 * milliseconds(**meta):.1f} us, {point}", flush=True)
tiles = [(128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (128, 32, 32), (64, 32, 32), (256, 64, 32),
         (128, 256, 32), (256, 128, 64)]
autotune("tutorials", [config(*tile, 8, warps, stages) for tile in tiles for warps in (4, 8) for stages in (3, 4)])
space = list(itertools.product((32, 64, 128, 256), (32, 64, 128, 256), (32, 64, 128), (1, 4, 8), (4, 8), (2, 3, 4, 5)))
if options.sample:
    autotune("random", [config(*point) for point in random.Random(1).sample(space, options.sample)])
print(f"torch: {1e3 * triton.testing.do_bench(lambda: torch.mm(a, b, out=c), warmup=100, rep=400, return_mode='median'):.1f} us")
