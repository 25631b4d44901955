"""The peers of the comparison: PyTorch and Triton, worked off by requests from standard input.

`triton-bench compare --peers python3 peers.py` starts this. The protocol is in the benchmark's `protocol.rs`: one JSON value
a line, a reply for each request, until standard input ends. The cases come with the first request; nothing here knows them.

`--device cpu` runs PyTorch alone, to try the protocol on a machine without a GPU.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time

# Libraries print to standard output: keep it for replies, and send everything else to standard error.
REPLIES = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

try:
    import torch
except ImportError as error:
    print(json.dumps({"failed": f"PyTorch cannot be imported by {sys.executable}: {error}"}), file=REPLIES, flush=True)
    sys.exit(1)

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

SLACK = 16
BLOCKS = (1024, 2048)

if triton:
    # The kernel of Triton's first tutorial.
    @triton.jit
    def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
        pid = tl.program_id(axis=0)
        offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask)
        y = tl.load(y_ptr + offsets, mask=mask)
        tl.store(output_ptr + offsets, x + y, mask=mask)

    @triton.jit
    def copy_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
        pid = tl.program_id(axis=0)
        offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


class Moment:
    """An event of the GPU, or the clock where there is none."""

    def __init__(self, gpu):
        if gpu:
            self.event = torch.cuda.Event(enable_timing=True)
            self.event.record()
        else:
            self.event = time.perf_counter()

    def until(self, end):
        if isinstance(self.event, float):
            return (end.event - self.event) * 1e3
        return self.event.elapsed_time(end.event)


class Side:
    def __init__(self, device, cases, seed, flush_mib):
        self.gpu = device == "cuda"
        if self.gpu and not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} sees no CUDA device")
        self.device = device
        self.cases = {case["name"]: case for case in cases}
        self.flush = torch.zeros(flush_mib << 18, dtype=torch.int32, device=device)
        generator = torch.Generator(device=device).manual_seed(seed % (1 << 63))
        self.operands = {}
        for name, dtype in (("f32", torch.float32), ("f16", torch.float16)):
            lengths = [case["n"] + case["offset"] + SLACK for case in cases if case["dtype"] == name]
            length = max(lengths, default=0)
            x, y = (torch.randn(length, dtype=dtype, device=device, generator=generator) for _ in range(2))
            self.operands[name] = (x, y, torch.full_like(x, math.nan))
        # Chosen here, before the run: which block size Triton's kernels are compared with.
        self.blocks = {}
        if triton and self.gpu:
            for case in cases:
                try:
                    timed = {block: self.time(self.triton(case, block), 3, 9) for block in BLOCKS}
                    self.blocks[case["name"]] = min(BLOCKS, key=lambda block: statistics.median(timed[block]))
                except Exception as error:  # A peer that cannot compile is no reason to lose the others.
                    print(f"peers: triton, {case['name']}: {error}", file=sys.stderr)

    def ready(self):
        entries = []
        for name, case in self.cases.items():
            how = "copy_" if case["op"] == "copy" else "torch.add(out=)"
            entries.append({"case": name, "entry": "torch", "note": how})
            if name in self.blocks:
                entries.append({"case": name, "entry": "triton", "note": f"BLOCK={self.blocks[name]} num_warps=4"})
        versions = {"Python": platform.python_version(), "PyTorch": torch.__version__}
        if triton:
            versions["Triton"] = triton.__version__
        memory = torch.cuda.max_memory_allocated() if self.gpu else 0
        device = torch.cuda.get_device_name(0) if self.gpu else "CPU"
        return {"device": device, "versions": versions, "entries": entries, "memory": memory}

    def views(self, case):
        """The operands of a case: misaligned by its offset."""
        part = slice(case["offset"], case["offset"] + case["n"])
        return tuple(operand[part] for operand in self.operands[case["dtype"]])

    def triton(self, case, block):
        x, y, out = self.views(case)
        n = case["n"]
        grid = (triton.cdiv(n, block),)
        if case["op"] == "copy":
            return lambda: copy_kernel[grid](x, out, n, BLOCK_SIZE=block)
        return lambda: add_kernel[grid](x, y, out, n, BLOCK_SIZE=block)

    def torch(self, case):
        x, y, out = self.views(case)
        if case["op"] == "copy":
            return lambda: out.copy_(x)
        return lambda: torch.add(x, y, out=out)

    def run(self, work):
        case = self.cases[work["case"]]
        if work["entry"] == "torch":
            return self.torch(case)
        return self.triton(case, self.blocks[work["case"]])

    def synchronize(self):
        if self.gpu:
            torch.cuda.synchronize()

    def time(self, run, warmup, reps):
        """Milliseconds of each repetition; each begins with a cold L2 cache, and the host does not wait between them."""
        for _ in range(warmup):
            self.flush.zero_()
            run()
        moments = []
        for _ in range(reps):
            self.flush.zero_()
            start = Moment(self.gpu)
            run()
            moments.append((start, Moment(self.gpu)))
        self.synchronize()
        return [start.until(end) for start, end in moments]

    def check(self, work):
        case = self.cases[work["case"]]
        output = self.operands[case["dtype"]][2]
        output.fill_(math.nan)
        self.run(work)()
        x, y, out = self.views(case)
        difference = torch.zeros((), dtype=torch.float64, device=self.device)
        size = torch.zeros_like(difference)
        for i in range(0, case["n"], 1 << 24):
            part = slice(i, i + (1 << 24))
            reference = x[part].double()
            if case["op"] == "add":
                reference += y[part].double()
            difference += (out[part].double() - reference).square().sum()
            size += reference.square().sum()
        error = (difference / size).sqrt().item()
        behind = case["offset"] + case["n"]
        stray = sum(int((~part.isnan()).sum()) for part in (output[: case["offset"]], output[behind:]))
        bound = 0.0 if case["op"] == "copy" else {"f32": 2.0**-24, "f16": 2.0**-11}[case["dtype"]]
        return {"error": None if math.isnan(error) else error, "bound": bound, "stray": stray}


def answer(device, side, request):
    """The side after a request, and the reply."""
    (kind, what), = request.items()
    if kind == "prepare":
        side = Side(device, what["cases"], what["seed"], what["flush_mib"])
        return side, {"ready": side.ready()}
    if side is None:
        return side, {"failed": "`prepare` comes first"}
    if kind == "check":
        return side, {"checked": side.check(what)}
    if kind == "time":
        return side, {"timed": side.time(side.run(what["work"]), what["warmup"], what["reps"])}
    return side, {"failed": f"there is no request `{kind}`"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    device = parser.parse_args().device
    side = None
    for line in sys.stdin:
        try:
            side, reply = answer(device, side, json.loads(line))
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=REPLIES, flush=True)


if __name__ == "__main__":
    with torch.no_grad():
        main()
