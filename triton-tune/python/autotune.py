#!/usr/bin/env python3
"""How long Triton's autotuner takes to choose among the eight configurations of `examples/tuned_softmax.rs`, on the same rows.

    python triton-tune/python/autotune.py

It prints the time of the first launch in a process, which compiles what is not in Triton's cache and measures; of the first launch of another
number of columns, which measures again; and of launches whose choice is known. A second process finds the code in the cache, but measures
again unless `--cache-results` is given.
"""

import argparse
import statistics
import time

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"N": 16384, "LOOP": False}, num_warps=4),
    triton.Config({"N": 16384, "LOOP": False}, num_warps=8),
    triton.Config({"N": 16384, "LOOP": False}, num_warps=16),
    triton.Config({"N": 16384, "LOOP": False}, num_warps=32),
    triton.Config({"N": 1024, "LOOP": True}, num_warps=4),
    triton.Config({"N": 2048, "LOOP": True}, num_warps=8),
    triton.Config({"N": 4096, "LOOP": True}, num_warps=8),
    triton.Config({"N": 4096, "LOOP": True}, num_warps=16),
]


def softmax(x, out, columns, N: tl.constexpr, LOOP: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    lanes = tl.arange(0, N)
    if LOOP:
        top = tl.full([N], -3.4e38, tl.float32)
        total = tl.zeros([N], tl.float32)
        for c in range(0, columns, N):
            v = tl.load(x + row + c + lanes, mask=c + lanes < columns, other=-float("inf"))
            following = tl.maximum(top, v)
            total = total * tl.exp(top - following) + tl.exp(v - following)
            top = following
        most = tl.max(top, axis=0)
        sum = tl.sum(total * tl.exp(top - most), axis=0)
        for c in range(0, columns, N):
            inside = c + lanes < columns
            v = tl.load(x + row + c + lanes, mask=inside)
            tl.store(out + row + c + lanes, tl.exp(v - most) / sum, mask=inside)
    else:
        inside = lanes < columns
        v = tl.load(x + row + lanes, mask=inside, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row + lanes, e / tl.sum(e, axis=0), mask=inside)


def fits(configs, arguments, **_):
    """A row in registers is no longer than they hold."""
    return [config for config in configs if config.kwargs["LOOP"] or config.kwargs["N"] >= arguments["columns"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache-results", action="store_true", help="keep what was chosen in Triton's cache")
    options = parser.parse_args()
    keep = {"cache_results": True} if options.cache_results else {}
    tuned = triton.autotune(CONFIGS, key=["columns"], prune_configs_by={"early_config_prune": fits}, **keep)
    kernel = tuned(triton.jit(softmax))

    rows = 4096
    x = torch.randn(rows * 12672, device="cuda")
    out = torch.empty_like(x)
    torch.cuda.synchronize()

    def timed(columns):
        start = time.perf_counter()
        kernel[(rows,)](x, out, columns)
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3

    print(f"Triton {triton.__version__}, {len(CONFIGS)} configurations, {rows} rows")
    print(f"first launch, 12672 columns: {timed(12672):.0f} ms, {kernel.best_config}")
    expected = torch.softmax(x.view(rows, 12672), 1).flatten()
    print(f"largest error: {float((out - expected).abs().max()):.1e}")
    print(f"first launch of 12608 columns: {timed(12608):.0f} ms, {kernel.best_config}")
    known = []
    for _ in range(200):
        start = time.perf_counter()
        kernel[(1,)](x, out, 12672)
        known.append((time.perf_counter() - start) * 1e6)
    torch.cuda.synchronize()
    print(f"a launch whose choice is known takes the host {statistics.median(known):.1f} us")


if __name__ == "__main__":
    main()
