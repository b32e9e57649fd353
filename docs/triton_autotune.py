"""triton.autotune on a kernel of docs/gallery, beside points that pawl has found.

usage: python3 docs/triton_autotune.py {attention,matmul} [--sample N] [POINT ...]

A POINT is written as pawl writes it, such as BLOCK_M=64,BLOCK_N=64,num_stages=3,num_warps=4. Autotune gets the 36 or 40
configurations that tutorials list, and N random ones of all. Every winner is timed by triton.testing.do_bench, which
empties the L2 cache before each launch.
"""

import argparse
import itertools
import os
import random
import sys
import tempfile
import time

options = argparse.ArgumentParser()
options.add_argument("kernel", choices=["attention", "matmul"])
options.add_argument("--sample", type=int, default=60)
options.add_argument("points", nargs="*")
options = options.parse_intermixed_args()

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # nothing is compiled beforehand
gallery = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gallery")
sys.path.insert(0, os.path.join(gallery, "triton_" + options.kernel))

import torch  # noqa: E402
import triton  # noqa: E402


def random_tensor(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def config(**values):
    chosen = {name: values.pop(name) for name in ("num_warps", "num_stages")}
    return triton.Config(values, **chosen)


if options.kernel == "matmul":
    from matmul import matmul

    SIZE = 4096
    plain, key = matmul.fn, ["M", "N", "K"]  # without autotune, with its heuristics
    a, b = random_tensor(SIZE, SIZE), random_tensor(SIZE, SIZE)
    c = torch.empty_like(a)
    arguments = a, b, c, SIZE, SIZE, SIZE, *a.stride(), *b.stride(), *c.stride()
    grid = lambda m: (triton.cdiv(SIZE, m["BLOCK_M"]) * triton.cdiv(SIZE, m["BLOCK_N"]),)
    constants = {}
    space = dict(BLOCK_M=(32, 64, 128, 256), BLOCK_N=(32, 64, 128, 256), BLOCK_K=(32, 64, 128), GROUP=(1, 4, 8),
                 num_warps=(4, 8), num_stages=(2, 3, 4, 5))
    tiles = [(128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (128, 32, 32), (64, 32, 32),
             (256, 64, 32), (128, 256, 32), (256, 128, 64)]
    listed = [dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, GROUP=8, num_warps=warps, num_stages=stages)
              for m, n, k in tiles for warps in (4, 8) for stages in (3, 4)]
    vendor = lambda: torch.mm(a, b, out=c)
else:
    from attention import attention_forward as plain

    B, H, S, D = 32, 8, 512, 64
    key = ["S"]
    q, k, v = (random_tensor(B, H, S, D) for _ in range(3))
    arguments = q, k, v, torch.empty_like(q), D ** -0.5, S
    grid = lambda m: (triton.cdiv(S, m["BLOCK_M"]), B * H)
    constants = {"CAUSAL": 0, "D": D}
    space = dict(BLOCK_M=(16, 32, 64, 128, 256), BLOCK_N=(16, 32, 64, 128, 256), num_warps=(1, 2, 4, 8, 16),
                 num_stages=(1, 2, 3, 4, 5))
    listed = [dict(BLOCK_M=m, BLOCK_N=n, num_warps=warps, num_stages=stages)
              for m in (64, 128) for n in (32, 64, 128) for warps in (4, 8) for stages in (2, 3, 4)]
    vendor = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)


def microseconds(launch):
    times = []
    for _ in range(5):
        time.sleep(0.5)  # tensor cores that never rest reach the power limit
        times.append(triton.testing.do_bench(launch, return_mode="median"))
    return 1e3 * sorted(times)[2]


def measured(point):
    return microseconds(lambda: plain[grid](*arguments, **constants, **point))


def autotune(name, points):
    start = time.time()
    tuner = triton.autotune(configs=[config(**point) for point in points], key=key)(plain)
    tuner[grid](*arguments, **constants)
    torch.cuda.synchronize()
    took = time.time() - start
    best = dict(tuner.best_config.kwargs, num_warps=tuner.best_config.num_warps, num_stages=tuner.best_config.num_stages)
    text = ",".join(f"{name}={value}" for name, value in sorted(best.items()))
    print(f"{name}: {len(points)} configurations in {took:.1f} s, {measured(best):.2f} us, {text}", flush=True)


for text in options.points:
    point = {name: int(value) for name, value in (pair.split("=") for pair in text.split(","))}
    print(f"point: {measured(point):.2f} us, {text}", flush=True)
print(f"torch: {microseconds(vendor):.2f} us", flush=True)
autotune("tutorials", listed)
if options.sample:
    every = [dict(zip(space, values)) for values in itertools.product(*space.values())]
    autotune(f"random, of {len(every)}", random.Random(1).sample(every, options.sample))
