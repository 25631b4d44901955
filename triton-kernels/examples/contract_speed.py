"""Times the contractions of contract_speed by torch.einsum: contract_speed --list | python3 contract_speed.py

Each repetition is timed by events of its own, after the L2 cache was overwritten, as contract_speed does.
"""

import statistics
import sys

import torch

torch.backends.cuda.matmul.allow_tf32 = False
flush = torch.empty(1 << 26, dtype=torch.int32, device="cuda")


def milliseconds(run, repetitions=20):
    times = []
    for i in range(repetitions + 3):
        flush.fill_(i)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
for line in sys.stdin:
    name, text, extents = line.rstrip("\n").split("\t")
    extents = {letter: int(extent) for letter, extent in (part.split("=") for part in extents.split())}
    operations = 2
    for extent in extents.values():
        operations *= extent
    for kind, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16)]:
        operands = [
            (torch.rand([extents[c] for c in letters], device="cuda") * 4 - 2).to(dtype)
            for letters in text.split("->")[0].split(",")
        ]
        found = milliseconds(lambda: torch.einsum(text, *operands))
        print(f"{name:10} {kind:4} {found:9.3f} ms {operations / found / 1e9:7.1f} TFLOPS", flush=True)
