"""Times PyTorch's block-sparse operators on the shapes of sparse_speed, inside a CUDA graph: python3 sparse_speed.py [--seed N]

They are those of `torch.sparse._triton_ops`: `sampled_addmm`, `bsr_softmax` and `bsr_dense_mm`, over BSR tensors of a batch. A BSR tensor has as
many blocks in each of its matrices, so that masks are random ones with a fixed number of blocks; causal ones are the same for all heads.
"""

import argparse
import statistics

import torch
from torch.sparse import _triton_ops as ops

HEADS, DEPTH, TOKENS, REPETITIONS = 12, 64, 1 << 14, 20
FLUSH = None


def milliseconds(run):
    """The median time of a call, each after the L2 cache was overwritten. Python's part is left out: the calls are a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for i in range(REPETITIONS + 3):
        FLUSH.fill_(i)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        times.append((start, end))
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in times[3:])


def sparse(mask, block, batch):
    """A BSR tensor `[batch * HEADS, n, n]` of ones, where `mask`, `[HEADS, n / block, n / block]`, has blocks."""
    rows = mask.shape[1]
    counts = mask.sum(2)
    crow = torch.nn.functional.pad(counts.cumsum(1), (1, 0)).repeat(batch, 1)
    columns = torch.stack([head.nonzero()[:, 1] for head in mask]).repeat(batch, 1)
    values = torch.ones(batch * HEADS, columns.shape[1], block, block, dtype=torch.bfloat16, device="cuda")
    size = (batch * HEADS, rows * block, rows * block)
    return torch.sparse_bsr_tensor(crow.cuda(), columns.cuda(), values, size=size)


def random(length, block):
    """An eighth of the blocks of each head, at random."""
    rows = length // block
    mask = torch.zeros(HEADS, rows * rows, dtype=torch.bool)
    for head in mask:
        head[torch.randperm(rows * rows)[: rows * rows // 8]] = True
    return mask.view(HEADS, rows, rows)


def operations(x):
    return 2.0 * x.values().numel() * DEPTH


def report(what, unit, run, amount):
    try:
        time = milliseconds(run)
        print(f"{what}: {time * 1e3:.1f} us, {amount / time / 1e9:.2f} {unit}", flush=True)
    except Exception as error:  # noqa: BLE001, a peer that refuses a shape is a row of the report
        print(f"{what}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)


def main():
    global FLUSH
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    torch.manual_seed(parser.parse_args().seed)
    FLUSH = torch.zeros(1 << 26, dtype=torch.int32, device="cuda")
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    for block in [16, 32, 64]:
        for length in [512, 1024, 2048, 4096]:
            batch = TOKENS // length
            q, k = (torch.randn(batch * HEADS, length, DEPTH, dtype=torch.bfloat16, device="cuda") for _ in range(2))
            x, transposed = sparse(random(length, block), block, batch), k.transpose(1, 2)
            name = f"bf16 length {length} block {block}"
            report(f"sampled_addmm {name}", "TFLOPS", lambda: ops.sampled_addmm(x, q, transposed, beta=0.0), operations(x))
        bytes_moved = 2.0 * 2 * x.values().numel()
        report(f"bsr_softmax {name}", "TB/s", lambda: ops.bsr_softmax(x), bytes_moved)
        for length in [1024, 4096]:
            batch, rows = TOKENS // length, length // block
            causal = torch.ones(rows, rows, dtype=torch.bool).tril().expand(HEADS, rows, rows)
            p = sparse(causal, block, batch)
            v = torch.randn(batch * HEADS, length, DEPTH, dtype=torch.bfloat16, device="cuda")
            name = f"bf16 causal length {length} block {block}"
            report(f"bsr_dense_mm {name}", "TFLOPS", lambda: ops.bsr_dense_mm(p, v), operations(p))


if __name__ == "__main__":
    main()
