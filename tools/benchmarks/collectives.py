"""All-reduce of bf16 by size through PyTorch's NCCL, one process a GPU: the peer of `triton-bench collectives`.

Prints a line for each size: bytes, microseconds of a repetition on the slowest rank.
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, world, most, repetitions):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", rank))
    sizes = [8 << (3 * i) for i in range(32) if 8 << (3 * i) < most] + [most]
    for size in sizes:
        x = torch.zeros(max(size // 2, 1), dtype=torch.bfloat16, device="cuda")
        count = repetitions if size > 1 << 24 else 5 * repetitions
        for _ in range(5):
            dist.all_reduce(x)
        dist.barrier()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            dist.all_reduce(x)
        end.record()
        end.synchronize()
        slowest = torch.tensor([start.elapsed_time(end) / count * 1e3], device="cuda", dtype=torch.float64)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        if rank == 0:
            print(f"{size:12} {slowest.item():12.2f}", flush=True)
    if rank == 0:
        print("NCCL", ".".join(str(part) for part in torch.cuda.nccl.version()), "PyTorch", torch.__version__)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--most", type=int, default=1 << 30)
    parser.add_argument("--repetitions", type=int, default=20)
    options = parser.parse_args()
    mp.spawn(run, (options.devices, options.most, options.repetitions), nprocs=options.devices)
