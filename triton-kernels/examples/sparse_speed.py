"""Times PyTorch's block-sparse operators on the shapes of sparse_speed, inside a CUDA graph: python3 sparse_speed.py [--seed N]

Beside them the three operators of the thesis in Triton, the fastest of a few configurations each, and FlexAttention with the same mask.

PyTorch's are those of `torch.sparse._triton_ops`: `sampled_addmm`, `bsr_softmax` and `bsr_dense_mm`, over BSR tensors of a batch. A BSR tensor has as
many blocks in each of its matrices, so that masks are random ones with a fixed number of blocks; causal ones are the same for all heads.
"""

import argparse
import statistics

import torch
import triton
import triton.language as tl
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
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


CONFIGS = [triton.Config({}, num_warps=warps, num_stages=stages) for warps in (1, 2, 4, 8) for stages in (2, 3, 4)]


@triton.autotune(CONFIGS, key=["B"])
@triton.jit
def sampled(q, k, x, table, blocks, rows, heads: tl.constexpr, B: tl.constexpr, D: tl.constexpr):
    """A program a block of x = q kᵀ; the table has head, row and column of each."""
    at, z = tl.program_id(0), tl.program_id(1).to(tl.int64)
    head, row, column = tl.load(table + at * 3), tl.load(table + at * 3 + 1), tl.load(table + at * 3 + 2)
    i, d = tl.arange(0, B), tl.arange(0, D)
    base = (z * heads + head) * rows
    a = tl.load(q + (base + row * B + i)[:, None] * D + d[None, :])
    b = tl.load(k + (base + column * B + i)[None, :] * D + d[:, None])
    tl.store(x + ((z * blocks + at) * B + i[:, None]) * B + i[None, :], tl.dot(a, b).to(tl.bfloat16))


@triton.autotune(CONFIGS, key=["B", "N"])
@triton.jit
def row_softmax(x, starts, blocks, scale, B: tl.constexpr, N: tl.constexpr):
    """A program a row of a row of blocks, whose blocks follow each other."""
    line, i, z = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    first, end = tl.load(starts + line), tl.load(starts + line + 1)
    n = tl.arange(0, N)
    block = first + n // B
    at = x + ((z * blocks + block) * B + i) * B + n % B
    v = tl.load(at, mask=block < end, other=-float("inf")).to(tl.float32) * scale
    v = tl.exp(v - tl.max(v, 0))
    tl.store(at, (v / tl.sum(v, 0)).to(tl.bfloat16), mask=block < end)


@triton.autotune(CONFIGS, key=["B"])
@triton.jit
def applied(x, v, out, starts, table, blocks, rows, heads: tl.constexpr, B: tl.constexpr, D: tl.constexpr):
    """A program a row of blocks of out = x v."""
    line, z = tl.program_id(0), tl.program_id(1).to(tl.int64)
    head, i, d = line // (rows // B), tl.arange(0, B), tl.arange(0, D)
    base = (z * heads + head) * rows
    acc = tl.zeros([B, D], tl.float32)
    for at in range(tl.load(starts + line), tl.load(starts + line + 1)):
        p = tl.load(x + ((z * blocks + at) * B + i[:, None]) * B + i[None, :])
        acc += tl.dot(p, tl.load(v + (base + tl.load(table + at * 3 + 2) * B + i)[:, None] * D + d[None, :]))
    tl.store(out + (z * heads * rows + line * B + i)[:, None] * D + d[None, :], acc.to(tl.bfloat16))


class Ported:
    """The three operators over a mask `[HEADS, n / block, n / block]`."""

    def __init__(self, mask, block, batch):
        self.table = mask.nonzero().int().contiguous().cuda()
        self.starts = torch.nn.functional.pad(mask.sum(2).flatten().cumsum(0), (1, 0)).int().cuda()
        self.blocks, self.block, self.batch, self.rows = len(self.table), block, batch, mask.shape[1] * block
        self.longest = triton.next_power_of_2(int(mask.sum(2).max()) * block)
        self.x = torch.zeros(batch, self.blocks, block, block, dtype=torch.bfloat16, device="cuda")
        self.lines = mask.shape[0] * mask.shape[1]

    def sampled(self, q, k):
        grid = (self.blocks, self.batch)
        sampled[grid](q, k, self.x, self.table, self.blocks, self.rows, heads=HEADS, B=self.block, D=DEPTH)

    def softmax(self):
        row_softmax[(self.lines, self.block, self.batch)](self.x, self.starts, self.blocks, 0.125, B=self.block, N=self.longest)

    def applied(self, v, out):
        grid = (self.lines, self.batch)
        applied[grid](self.x, v, out, self.starts, self.table, self.blocks, self.rows, heads=HEADS, B=self.block, D=DEPTH)


def flex(mask, block, batch):
    """FlexAttention over the mask, compiled."""
    rows, lookup = mask.shape[1] * block, mask.cuda()

    def has(_, head, query, key):
        return lookup[head, query // block, key // block]

    blocks = create_block_mask(has, None, HEADS, rows, rows, device="cuda", BLOCK_SIZE=max(block, 128))
    compiled = torch.compile(flex_attention, dynamic=False)
    q, k, v = (torch.randn(batch, HEADS, rows, DEPTH, dtype=torch.bfloat16, device="cuda") for _ in range(3))
    return lambda: compiled(q, k, v, block_mask=blocks)


def operations(x):
    values = x.values() if x.layout == torch.sparse_bsr else x
    return 2.0 * values.numel() * DEPTH


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
    torch._dynamo.config.cache_size_limit = 64
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    for block in [16, 32, 64]:
        for length in [512, 1024, 2048, 4096]:
            batch = TOKENS // length
            mask = random(length, block)
            q, k = (torch.randn(batch * HEADS, length, DEPTH, dtype=torch.bfloat16, device="cuda") for _ in range(2))
            x, transposed = sparse(mask, block, batch), k.transpose(1, 2)
            name = f"bf16 length {length} block {block}"
            report(f"sampled_addmm {name}", "TFLOPS", lambda: ops.sampled_addmm(x, q, transposed, beta=0.0), operations(x))
            ported = Ported(mask, block, batch)
            report(f"Triton sampled {name}", "TFLOPS", lambda: ported.sampled(q, k), operations(ported.x))
        report(f"Triton softmax {name}", "TB/s", ported.softmax, 2.0 * 2 * ported.x.numel())
        bytes_moved = 2.0 * 2 * x.values().numel()
        report(f"bsr_softmax {name}", "TB/s", lambda: ops.bsr_softmax(x), bytes_moved)
        for length in [1024, 4096]:
            batch, rows = TOKENS // length, length // block
            causal = torch.ones(rows, rows, dtype=torch.bool).tril().expand(HEADS, rows, rows)
            p = sparse(causal, block, batch)
            v = torch.randn(batch * HEADS, length, DEPTH, dtype=torch.bfloat16, device="cuda")
            ported, out = Ported(causal, block, batch), torch.empty_like(v)
            report(f"Triton applied bf16 causal length {length} block {block}", "TFLOPS", lambda: ported.applied(v, out), operations(ported.x))
            of_random = random(length, block)
            amount = 4.0 * int(of_random.sum()) * block * block * DEPTH * batch
            report(f"FlexAttention bf16 length {length} block {block}", "TFLOPS", flex(of_random, block, batch), amount)
            name = f"bf16 causal length {length} block {block}"
            report(f"bsr_dense_mm {name}", "TFLOPS", lambda: ops.bsr_dense_mm(p, v), operations(p))


if __name__ == "__main__":
    main()
