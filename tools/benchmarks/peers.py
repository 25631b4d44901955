"""The peers of the comparison: PyTorch, Triton and cuBLASLt, worked off by requests from standard input.

`triton-bench compare --peers python3 peers.py` starts this, and so does `triton-bench papers`. The protocol is in the benchmark's
`protocol.rs`: one JSON value a line, a reply for each request, until standard input ends. The cases come with the first request;
nothing here knows them.

`tutorials.py` is the same for `triton-bench users`, and takes from here what both need.

`--device cpu` runs PyTorch alone, to try the protocol on a machine without a GPU.
"""

import argparse
import collections
import functools
import inspect
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

import cublaslt

SLACK = 16
DTYPES = {
    "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i8": torch.int8,
}
# What outputs are poisoned with where that is not NaN: the least `i32`, which is no result.
LEAST = torch.iinfo(torch.int32).min

# Products of f32 are as exact as the type, as ours are; but for the cases that ask for TF32.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False

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

    # The single-pass kernel of Triton's tutorial: a row stays in registers.
    @triton.jit
    def softmax_kernel(x_ptr, output_ptr, stride, n_columns, BLOCK_SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        y = numerator / tl.sum(numerator, axis=0)
        tl.store(output_ptr + row * stride + columns, y, mask=mask)

    @triton.jit
    def cumsum_kernel(x_ptr, output_ptr, stride, n_columns, BLOCK_SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
        tl.store(output_ptr + row * stride + columns, tl.cumsum(x, axis=0), mask=mask)

    @triton.jit
    def layer_norm_kernel(x_ptr, w_ptr, b_ptr, output_ptr, stride, n_columns, eps, BLOCK_SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        mean = tl.sum(x, axis=0) / n_columns
        centred = tl.where(mask, x - mean, 0.0)
        variance = tl.sum(centred * centred, axis=0) / n_columns
        scale = 1 / tl.sqrt(variance + eps)
        w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
        b = tl.load(b_ptr + columns, mask=mask).to(tl.float32)
        tl.store(output_ptr + row * stride + columns, centred * scale * w + b, mask=mask)

    @triton.jit
    def rms_norm_kernel(x_ptr, w_ptr, output_ptr, stride, n_columns, eps, BLOCK_SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / n_columns + eps)
        w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
        tl.store(output_ptr + row * stride + columns, x * scale * w, mask=mask)

    # Rows that are longer than a program keeps, in loops: read twice, a norm's three times.
    @triton.jit
    def long_softmax_kernel(x_ptr, output_ptr, stride, n_columns, BLOCK_SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        top = tl.full((BLOCK_SIZE,), -3.0e38, tl.float32)
        total = tl.zeros((BLOCK_SIZE,), tl.float32)
        for first in range(0, n_columns, BLOCK_SIZE):
            mask = first + columns < n_columns
            x = tl.load(x_ptr + row * stride + first + columns, mask=mask, other=-3.0e38).to(tl.float32)
            new = tl.maximum(top, x)
            total = total * tl.exp(top - new) + tl.exp(x - new)
            top = new
        peak = tl.max(top, axis=0)
        share = 1 / tl.sum(total * tl.exp(top - peak), axis=0)
        for first in range(0, n_columns, BLOCK_SIZE):
            mask = first + columns < n_columns
            x = tl.load(x_ptr + row * stride + first + columns, mask=mask, other=0.0).to(tl.float32)
            tl.store(output_ptr + row * stride + first + columns, tl.exp(x - peak) * share, mask=mask)

    @triton.jit
    def long_norm_kernel(
        x_ptr, w_ptr, b_ptr, output_ptr, stride, n_columns, eps, CENTRED: tl.constexpr, BLOCK_SIZE: tl.constexpr
    ):
        row = tl.program_id(0).to(tl.int64)
        columns = tl.arange(0, BLOCK_SIZE)
        mean = 0.0
        if CENTRED:
            sums = tl.zeros((BLOCK_SIZE,), tl.float32)
            for first in range(0, n_columns, BLOCK_SIZE):
                mask = first + columns < n_columns
                sums += tl.load(x_ptr + row * stride + first + columns, mask=mask, other=0.0).to(tl.float32)
            mean = tl.sum(sums, axis=0) / n_columns
        squares = tl.zeros((BLOCK_SIZE,), tl.float32)
        for first in range(0, n_columns, BLOCK_SIZE):
            mask = first + columns < n_columns
            x = tl.load(x_ptr + row * stride + first + columns, mask=mask, other=0.0).to(tl.float32)
            centred = tl.where(mask, x - mean, 0.0)
            squares += centred * centred
        scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n_columns + eps)
        for first in range(0, n_columns, BLOCK_SIZE):
            mask = first + columns < n_columns
            x = tl.load(x_ptr + row * stride + first + columns, mask=mask, other=0.0).to(tl.float32)
            y = (x - mean) * scale * tl.load(w_ptr + first + columns, mask=mask).to(tl.float32)
            if CENTRED:
                y += tl.load(b_ptr + first + columns, mask=mask).to(tl.float32)
            tl.store(output_ptr + row * stride + first + columns, y, mask=mask)

    @triton.jit
    def transpose_kernel(x_ptr, output_ptr, rows, columns, BLOCK_SIZE: tl.constexpr):
        # x is rows by columns.
        i = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        j = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=(i < rows)[:, None] & (j < columns)[None, :])
        mask = (j < columns)[:, None] & (i < rows)[None, :]
        tl.store(output_ptr + j[:, None] * rows + i[None, :], tl.trans(x), mask=mask)

    # The kernel of Triton's tutorial on matrix products, programs in groups that share operands in the L2 cache.
    @triton.jit
    def matmul_kernel(
        a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
        BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PRECISION: tl.constexpr,
        ACC: tl.constexpr,
    ):
        pid = tl.program_id(0)
        pids_m, pids_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        first = pid // (GROUP * pids_n) * GROUP
        size = min(pids_m - first, GROUP)
        pid_m = first + pid % (GROUP * pids_n) % size
        pid_n = pid % (GROUP * pids_n) // size
        m = (pid_m * BM + tl.arange(0, BM)) % M
        n = (pid_n * BN + tl.arange(0, BN)) % N
        k = tl.arange(0, BK)
        a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
        b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
        acc = tl.zeros((BM, BN), dtype=ACC)
        for i in range(0, tl.cdiv(K, BK)):
            a = tl.load(a_ptrs, mask=k[None, :] < K - i * BK, other=0.0)
            b = tl.load(b_ptrs, mask=k[:, None] < K - i * BK, other=0.0)
            acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=ACC)
            a_ptrs += BK * stride_ak
            b_ptrs += BK * stride_bk
        m = pid_m * BM + tl.arange(0, BM)
        n = pid_n * BN + tl.arange(0, BN)
        mask = (m < M)[:, None] & (n < N)[None, :]
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


def compiled_for(arch, real):
    """The matrix product as Triton compiles it for an older architecture, assembled for the GPU that is there.

    For compute capability 8.0 that is cp.async and mma.sync, the instructions that ours are made of, where Triton would
    take wgmma. All stages up to PTX see the older target; only ptxas is told of the real one.
    """
    from triton.backends.compiler import BaseBackend, GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler import make_backend

    assemble, identify = CUDABackend.make_cubin, CUDABackend.hash
    expected = ["self", "src", "metadata", "opt", "capability"]
    if list(inspect.signature(assemble).parameters) != expected:
        raise RuntimeError(f"Triton {triton.__version__} assembles PTX in another way")
    older = GPUTarget("cuda", arch, 32)
    kernel = triton.jit(matmul_kernel.fn)
    create = kernel.create_binder

    def binder():
        parts = [older if isinstance(part, GPUTarget) else part for part in create()]
        return tuple(make_backend(older) if isinstance(part, BaseBackend) else part for part in parts)

    def make_cubin(self, src, metadata, opt, capability):
        return assemble(self, src, metadata, opt, real if capability == arch else capability)

    # Triton's cache on disk goes by this: what is assembled here is not what an older GPU would get.
    CUDABackend.hash = lambda self: identify(self) + (f"-on-{real}" if self.target.arch == arch else "")
    CUDABackend.make_cubin = make_cubin
    kernel.device_caches = collections.defaultdict(binder)
    return kernel


def configurations(case):
    """What Triton's kernel of a case may be compiled with."""
    op, columns = case["op"], case["shape"][1]
    if op in ("linear", "attention"):
        return []
    if op in ("copy", "add"):
        return [{"BLOCK_SIZE": block, "num_warps": 4} for block in (1024, 2048)]
    if op in ("softmax", "cumsum", "layernorm", "rmsnorm"):
        block = 1 << (columns - 1).bit_length()
        fitting = [warps for warps in (4, 8, 16, 32) if 4 <= block // (32 * warps) <= 64]
        whole = [{"BLOCK_SIZE": block, "num_warps": warps} for warps in fitting]
        # From here on a loop may be faster.
        loops = [{"BLOCK_SIZE": 8192, "num_warps": warps} for warps in (8, 16)]
        return whole + (loops if block >= LONG and op != "cumsum" else [])
    if op == "transpose":
        return [{"BLOCK_SIZE": block, "num_warps": warps} for block, warps in ((32, 4), (64, 4), (64, 8), (128, 8))]
    # BM, BN, BK, num_warps, num_stages; the first is tried for every case.
    rows, columns, k = case["shape"]
    if case["dtype"] == "i8":
        tiles = ((64, 128, 128, 4, 4), (128, 128, 128, 4, 4), (128, 128, 128, 8, 3), (128, 256, 128, 8, 3))
    elif case["dtype"] == "f64":
        tiles = ((64, 64, 16, 4, 3), (64, 32, 16, 4, 3), (128, 64, 16, 8, 3))
    elif min(rows, columns) <= 128:
        if case["dtype"] == "f32":
            tiles = ((64, 64, 32, 4, 3), (32, 32, 64, 4, 3), (32, 64, 32, 4, 4))
        else:
            tiles = ((64, 64, 64, 4, 4), (32, 32, 128, 4, 4), (128, 64, 64, 4, 4))
    elif case["tf32"]:
        tiles = ((128, 128, 32, 8, 3), (128, 128, 32, 4, 3), (64, 128, 32, 4, 4), (128, 256, 32, 8, 3))
    elif case["dtype"] == "f32":
        tiles = ((64, 64, 16, 4, 3), (128, 64, 16, 4, 3), (128, 128, 16, 8, 3))
    else:
        tiles = ((64, 128, 64, 4, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3))

    def fit(tile, size):
        # No tile is larger than the operands; 16 is the least that `tl.dot` takes.
        return min(tile, max(16, 1 << (size - 1).bit_length()))

    fitting = dict.fromkeys((fit(m, rows), fit(n, columns), fit(d, k), *rest) for m, n, d, *rest in tiles)
    return [
        {"BM": m, "BN": n, "BK": d, "GROUP": 8, "num_warps": warps, "num_stages": stages}
        for m, n, d, warps, stages in fitting
    ]


# How PyTorch computes each operation.
TORCH = {
    "copy": "copy_",
    "add": "torch.add(out=)",
    "softmax": "torch.softmax",
    "cumsum": "torch.cumsum(out=)",
    "layernorm": "layer_norm",
    "rmsnorm": "rms_norm",
    "transpose": "copy_(x.t())",
    "matmul": "torch.matmul(out=)",
    "linear": "addmm with GELU",
    "attention": "cuDNN",
}

EPSILON = 1e-5

# Columns of a row, rounded up to a power of two, from which on Triton's kernels may read it in loops.
LONG = 32768

# Seconds in which Triton's configurations are tried; later, the first that works is taken.
TUNING = 60

# Seconds in which algorithms of cuBLASLt are tried.
SCREENING = 90

# How many of a case's algorithms, the fastest of a few repetitions, are timed as the run times.
FINALISTS = 8

# Milliseconds below which the host may not be ahead of the device. Our side has the same limit.
SHORT = 0.25

# The entry of Triton's matrix product for compute capability 8.0.
OLDER = "triton sm_80"

# The entry of the fastest algorithm that cuBLASLt offers: only of what is asked for it by name, since it takes long to find.
LT = "cublasLt"

# The entry of PyTorch's linear layer as it is mostly written: the activation is a kernel of its own.
UNFUSED = "torch unfused"


def attention_of_head(q, k, v, causal):
    """Attention of a head in double precision, some rows at a time."""
    rows = []
    for at in range(0, len(q), 2048):
        scores = q[at : at + 2048].double() @ k.double().t() / math.sqrt(q.shape[1])
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(at + 1), -math.inf)
        rows.append(torch.softmax(scores, dim=-1) @ v.double())
    return torch.cat(rows)


def second_of(case):
    """Where the second part of y begins: the bias behind the weight, or v behind k; aligned as both are."""
    _, columns, k = case["shape"]
    if case["op"] == "attention":
        return case["n"]
    return ((columns * k if case["op"] == "linear" else columns) + 7) // 8 * 8


def lengths_of(case):
    """Elements of x, y and out."""
    n, (rows, columns, k) = case["n"], case["shape"]
    padded = rows * case["pitch"]
    special = {
        "add": (n, n, n),
        "softmax": (padded, 0, padded),
        "cumsum": (padded, 0, padded),
        "layernorm": (padded, second_of(case) + columns, padded),
        "rmsnorm": (padded, columns, padded),
        "matmul": (rows * k, k * columns, n),
        "linear": (rows * k, second_of(case) + columns, n),
        "attention": (n, 2 * n, n),
    }
    return special.get(case["op"], (n, 0, n))


def note(how):
    """A configuration in words, as ours are."""
    if "BM" in how:
        tile = "{BM}x{BN}x{BK}".format(**how)
        return f"{tile} num_warps={how['num_warps']} num_stages={how['num_stages']}"
    return f"BLOCK={how['BLOCK_SIZE']} num_warps={how['num_warps']}"


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


def random(length, dtype, generator):
    """Inputs: normally distributed, and of integers any."""
    if dtype == torch.int8:
        return torch.randint(-128, 128, (length,), dtype=dtype, device=generator.device, generator=generator)
    return torch.randn(length, dtype=dtype, device=generator.device, generator=generator)


def poisoned(length, dtype, device):
    """An output before its first result; of int8 results are int32."""
    if dtype == torch.int8:
        return torch.full((length,), LEAST, dtype=torch.int32, device=device)
    return torch.full((length,), math.nan, dtype=dtype, device=device)


def is_poison(out):
    return out.isnan() if out.is_floating_point() else out == LEAST


def rounded(x, y, out):
    """A product of f32 whose operands are rounded to TF32, which nothing else may be."""
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return torch.matmul(x, y, out=out)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


class Side:
    def __init__(self, device, cases, seed, flush_mib, wanted=()):
        """`wanted` are the entries to have; without any all but that of cuBLASLt."""
        self.gpu = device == "cuda"
        self.wanted = wanted
        if self.gpu and not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} sees no CUDA device")
        self.device = device
        self.cases = {case["name"]: case for case in cases}
        self.flush = torch.zeros(flush_mib << 18, dtype=torch.int32, device=device)
        generator = torch.Generator(device=device).manual_seed(seed % (1 << 63))
        self.operands = {}
        for name, dtype in DTYPES.items():
            of_type = [case for case in cases if case["dtype"] == name]
            lengths = [[case["offset"] + length + SLACK for length in lengths_of(case)] for case in of_type]
            if lengths:
                x, y, out = (max(of_one) for of_one in zip(*lengths))
                x, y = (random(length, dtype, generator) for length in (x, y))
                self.operands[name] = (x, y, poisoned(out, dtype, device))
        self.kernels = {"triton": matmul_kernel} if triton and self.gpu and self.has("triton") else {}
        if self.kernels and self.has(OLDER):
            try:
                real = triton.runtime.driver.active.get_current_target().arch
                if real > 80:
                    self.kernels[OLDER] = compiled_for(80, real)
            except Exception as error:
                print(f"peers: {OLDER} is left out: {error}", file=sys.stderr)
        self.graphs = {}
        self.chosen = self.tuned(cases)
        # Versions of what is loaded here, or why it could not be.
        self.libraries = {}
        self.fastest = self.screened(cases) if self.has(LT) else {}

    @classmethod
    def prepared(cls, device, what):
        """The side that a request asks for."""
        return cls(device, what["cases"], what["seed"], what["flush_mib"], what.get("entries", ()))

    def has(self, entry):
        return entry in self.wanted if self.wanted else entry != LT

    def screened(self, cases):
        """Chosen here, before the run: of each product the fastest of cuBLASLt's algorithms whose result is right."""
        try:
            if not self.gpu:
                raise RuntimeError("there is no GPU")
            library = cublaslt.Library.load()
            self.workspace = torch.empty(cublaslt.WORKSPACE, dtype=torch.uint8, device=self.device)
        except Exception as error:  # No reason to lose the others.
            self.libraries["cuBLASLt"] = f"left out: {error}"
            print(f"peers: {LT} is left out: {error}", file=sys.stderr)
            return {}
        self.libraries["cuBLASLt"] = library.version()
        products = [case for case in cases if case["op"] == "matmul" and case["dtype"] in cublaslt.TYPES and not case["tf32"]]
        fastest, until = {}, time.monotonic() + SCREENING
        for done, case in enumerate(products):
            now = time.monotonic()
            # What is left of the time is shared by the cases that are left.
            share = now + (until - now) / (len(products) - done)
            try:
                fastest[case["name"]] = self.fastest_algorithm(library, case, share)
            except Exception as error:
                print(f"peers: {LT}, {case['name']}: {error}", file=sys.stderr)
        return fastest

    def fastest_algorithm(self, library, case, until):
        """What runs the fastest algorithm of a case, and in words how many were tried, the heuristic's first ones first."""
        operands = [operand.data_ptr() for operand in self.views(case)]
        workspace = (self.workspace.data_ptr(), cublaslt.WORKSPACE)
        stream = lambda: torch.cuda.current_stream().cuda_stream
        product = cublaslt.Product(library, case, operands, workspace, stream)
        runs = [functools.partial(product.run, index) for index in range(len(product.algorithms))]
        timed, failures = [], []
        for index, run in enumerate(runs):
            if timed and time.monotonic() > until:
                break
            try:
                self.repeat(run, 1)
                timed.append((statistics.median(self.repeat(run, 5)), index))
            except RuntimeError as error:
                failures.append(str(error))
        if not timed:
            raise RuntimeError("; ".join(dict.fromkeys(failures)) or "the heuristic offers no algorithm")
        best = None
        for _, index in sorted(timed)[:FINALISTS]:
            error, _ = self.compared(case, runs[index])
            if not error <= case["bound"]:
                print(f"peers: {LT}, {case['name']}: algorithm {index} has an error of {error:.2e}", file=sys.stderr)
                continue
            key = (case["name"], LT, index)
            ms = statistics.median(self.timed(key, runs[index], 3, 9))
            self.graphs.pop(key, None)
            best = min(best, (ms, index)) if best else (ms, index)
        if not best:
            raise RuntimeError(f"the fastest {FINALISTS} of {len(timed)} algorithms are wrong")
        return runs[best[1]], f"rank {best[1] + 1}, fastest of {len(timed)} algorithms"

    def tuned(self, cases):
        """Chosen here, before the run: which configuration of Triton's kernels is compared, of each case and entry.

        Every first configuration comes before every second one, so that the time is shared by all cases.
        """
        until = time.monotonic() + TUNING
        ranked = []
        for case in cases:
            has_older = case["op"] == "matmul" and case["dtype"] in ("f32", "bf16")
            entries = [entry for entry in self.kernels if entry != OLDER or has_older]
            ranked += [(rank, case, entry, how) for entry in entries for rank, how in enumerate(configurations(case))]
        timed = collections.defaultdict(list)
        for _, case, entry, how in sorted(ranked, key=lambda work: work[0]):
            key = (case["name"], entry)
            if entry not in self.kernels or timed[key] and time.monotonic() > until:
                continue
            try:
                timed[key].append((self.measured(self.triton(case, entry, how)), how))
            except Exception as error:  # A peer that cannot compile is no reason to lose the others.
                print(f"peers: {entry}, {case['name']}, {how}: {error}", file=sys.stderr)
                if entry == OLDER and not any(times for (_, of), times in timed.items() if of == OLDER):
                    print(f"peers: {OLDER} is left out, since its first did not run", file=sys.stderr)
                    del self.kernels[OLDER]
        return {key: min(times, key=lambda pair: pair[0])[1] for key, times in timed.items() if times}

    def measured(self, run):
        """The median of a few repetitions after a few that do not count."""
        self.repeat(run, 3)
        return statistics.median(self.repeat(run, 9))

    def ready(self):
        entries = []
        for name, case in self.cases.items():
            how = "torch._int_mm(out=)" if case["dtype"] == "i8" else TORCH[case["op"]]
            if self.has("torch"):
                entries.append({"case": name, "entry": "torch", "note": how})
            if case["op"] == "linear" and self.gpu and self.has(UNFUSED):
                entries.append({"case": name, "entry": UNFUSED, "note": "addmm, then gelu"})
            if name in self.fastest:
                entries.append({"case": name, "entry": LT, "note": self.fastest[name][1]})
            for entry in self.kernels:
                if (name, entry) in self.chosen:
                    entries.append({"case": name, "entry": entry, "note": note(self.chosen[name, entry])})
        versions = {"Python": platform.python_version(), "PyTorch": torch.__version__}
        if triton:
            versions["Triton"] = triton.__version__
        versions.update(self.libraries)
        memory = torch.cuda.max_memory_allocated() if self.gpu else 0
        device = torch.cuda.get_device_name(0) if self.gpu else "CPU"
        return {"device": device, "versions": versions, "entries": entries, "memory": memory}

    def views(self, case):
        """The operands of a case: misaligned by its offset, in the shapes that they have."""
        at, (rows, columns, k) = case["offset"], case["shape"]
        x, y, out = (operand[at : at + n] for operand, n in zip(self.operands[case["dtype"]], lengths_of(case)))
        if case["op"] in ("softmax", "cumsum", "layernorm", "rmsnorm"):
            x, out = (operand.view(rows, case["pitch"])[:, :columns] for operand in (x, out))
            return x, y, out
        if case["op"] == "transpose":
            return x.view(columns, rows), y, out.view(rows, columns)
        if case["op"] == "matmul":
            x = x.view(k, rows).t() if case["layouts"] in ("TN", "TT") else x.view(rows, k)
            y = y.view(columns, k).t() if case["layouts"] in ("NT", "TT") else y.view(k, columns)
            return x, y, out.view(rows, columns)
        if case["op"] == "linear":
            return x.view(rows, k), y[: k * columns].view(k, columns), out.view(rows, columns)
        if case["op"] == "attention":
            return x.view(rows, columns), y, out.view(rows, columns)
        return x, y, out

    def bias(self, case):
        """The bias of a linear layer."""
        at = case["offset"] + second_of(case)
        return self.operands[case["dtype"]][1][at : at + case["shape"][1]]

    def heads(self, case):
        """The operands of attention, by head."""
        (x, y, _), (rows, columns, tokens) = self.views(case), case["shape"]
        k, v = y[: case["n"]], y[second_of(case) :]
        return [operand.view(1, rows // tokens, tokens, columns) for operand in (x, k, v)]

    def triton(self, case, entry, how):
        x, y, out = self.views(case)
        op, n, (rows, columns, k) = case["op"], case["n"], case["shape"]
        if op == "copy":
            return lambda: copy_kernel[(triton.cdiv(n, how["BLOCK_SIZE"]),)](x, out, n, **how)
        if op == "add":
            return lambda: add_kernel[(triton.cdiv(n, how["BLOCK_SIZE"]),)](x, y, out, n, **how)
        if op in ("softmax", "layernorm", "rmsnorm") and how["BLOCK_SIZE"] < columns:
            if op == "softmax":
                return lambda: long_softmax_kernel[(rows,)](x, out, case["pitch"], columns, **how)
            w, b, centred = y[:columns], y[second_of(case) :] if op == "layernorm" else y, op == "layernorm"
            return lambda: long_norm_kernel[(rows,)](x, w, b, out, case["pitch"], columns, EPSILON, centred, **how)
        if op == "softmax":
            return lambda: softmax_kernel[(rows,)](x, out, case["pitch"], columns, **how)
        if op == "cumsum":
            return lambda: cumsum_kernel[(rows,)](x, out, case["pitch"], columns, **how)
        if op == "layernorm":
            w, b = y[:columns], y[second_of(case) :]
            return lambda: layer_norm_kernel[(rows,)](x, w, b, out, case["pitch"], columns, EPSILON, **how)
        if op == "rmsnorm":
            return lambda: rms_norm_kernel[(rows,)](x, y[:columns], out, case["pitch"], columns, EPSILON, **how)
        if op == "transpose":
            grid = (triton.cdiv(rows, how["BLOCK_SIZE"]), triton.cdiv(columns, how["BLOCK_SIZE"]))
            return lambda: transpose_kernel[grid](x, out, columns, rows, **how)
        grid = (triton.cdiv(rows, how["BM"]) * triton.cdiv(columns, how["BN"]),)
        # Of half types the precision says nothing.
        types = {"PRECISION": "tf32" if case["tf32"] else "ieee", "ACC": tl.float32}
        if case["dtype"] == "f64":
            types["ACC"] = tl.float64
        if case["dtype"] == "i8":
            types["ACC"] = tl.int32
        sizes = (rows, columns, k, *x.stride(), *y.stride())
        return lambda: self.kernels[entry][grid](x, y, out, *sizes, **types, **how)

    def torch(self, case, fused=True):
        x, y, out = self.views(case)
        op, columns = case["op"], case["shape"][1]
        if op == "copy":
            return lambda: out.copy_(x)
        if op == "add":
            return lambda: torch.add(x, y, out=out)
        if op == "softmax":
            return lambda: torch.softmax(x, dim=-1)
        if op == "cumsum":
            return lambda: torch.cumsum(x, dim=-1, out=out)
        if op == "layernorm":
            w, b = y[:columns], y[second_of(case) :]
            return lambda: torch.nn.functional.layer_norm(x, (columns,), w, b, EPSILON)
        if op == "rmsnorm":
            return lambda: torch.nn.functional.rms_norm(x, (columns,), y[:columns], EPSILON)
        if op == "transpose":
            return lambda: out.copy_(x.t())
        if op == "linear":
            bias = self.bias(case)
            if self.gpu and fused:
                # The product's epilogue adds the bias and applies the activation.
                return lambda: torch._addmm_activation(bias, x, y, use_gelu=True)
            return lambda: torch.nn.functional.gelu(torch.addmm(bias, x, y), approximate="tanh")
        if op == "attention":
            q, k, v = self.heads(case)

            def attend():
                sdpa = torch.nn.functional.scaled_dot_product_attention
                return sdpa(q, k, v, is_causal=case["causal"]).view(out.shape)

            def by_cudnn():
                backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION
                with torch.nn.attention.sdpa_kernel([backend]):
                    return attend()

            return by_cudnn if self.gpu else attend
        if case["tf32"]:
            return lambda: rounded(x, y, out)
        if case["dtype"] == "i8":
            return lambda: torch._int_mm(x, y, out=out)
        return lambda: torch.matmul(x, y, out=out)

    def run(self, work):
        case = self.cases[work["case"]]
        if work["entry"] == LT:
            return self.fastest[work["case"]][0]
        if work["entry"] in ("torch", UNFUSED):
            return self.torch(case, fused=work["entry"] == "torch")
        return self.triton(case, work["entry"], self.chosen[work["case"], work["entry"]])

    def synchronize(self):
        if self.gpu:
            torch.cuda.synchronize()

    def time(self, work, warmup, reps):
        """Milliseconds of each repetition. What the warm-up finds to be short is captured once and launched as a graph."""
        return self.timed((work["case"], work["entry"]), self.run(work), warmup, reps)

    def timed(self, key, run, warmup, reps):
        """The same of a function, whose graph is kept by a key."""
        warm = self.repeat(run, warmup)
        if self.gpu and warm and statistics.median(warm) < SHORT:
            if key not in self.graphs:
                self.graphs[key] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graphs[key]):
                    run()
            run = self.graphs[key].replay
            self.repeat(run, 1)
        return self.repeat(run, reps)

    def repeat(self, run, reps):
        """Each begins with a cold L2 cache, and the host does not wait between them."""
        moments = []
        for _ in range(reps):
            self.flush.zero_()
            start = Moment(self.gpu)
            run()
            moments.append((start, Moment(self.gpu)))
        self.synchronize()
        return [start.until(end) for start, end in moments]

    def reference(self, case, part):
        """The elements of a result in double precision: of some rows, or a part of a result without rows."""
        x, y, _ = self.views(case)
        op, columns = case["op"], case["shape"][1]
        if op == "copy":
            return x[part].double()
        if op == "add":
            return x[part].double() + y[part].double()
        if op == "softmax":
            return torch.softmax(x[part].double(), dim=-1)
        if op == "cumsum":
            return torch.cumsum(x[part].double(), dim=-1)
        if op == "layernorm":
            w, b = y[:columns].double(), y[second_of(case) :].double()
            return torch.nn.functional.layer_norm(x[part].double(), (columns,), w, b, EPSILON)
        if op == "rmsnorm":
            w = y[:columns].double()
            return torch.nn.functional.rms_norm(x[part].double(), (columns,), w, EPSILON)
        if op == "transpose":
            return x[:, part].t().double()
        if op == "linear":
            sums = x[part].double() @ y.double() + self.bias(case).double()
            return torch.nn.functional.gelu(sums, approximate="tanh")
        if op == "attention":
            tokens = case["shape"][2]
            first, last = part.start // tokens, (min(part.stop, case["shape"][0]) - 1) // tokens
            heads = zip(*(operand[0, first : last + 1] for operand in self.heads(case)))
            # Head by head: the scores of all of them are more than the memory holds.
            found = torch.cat([attention_of_head(*head, case["causal"]) for head in heads])
            return found[part.start - first * tokens :][: part.stop - part.start]
        return x[part].double() @ y.double()

    def compared(self, case, run):
        """The relative error of a result, which is NaN where an element was not written, and the elements written beside it."""
        output = self.operands[case["dtype"]][2]
        output.fill_(math.nan if output.is_floating_point() else LEAST)
        result = run()
        out = self.views(case)[2]
        if torch.is_tensor(result) and result.data_ptr() != out.data_ptr():
            out.copy_(result)  # Of a function that has no `out`.
        difference = torch.zeros((), dtype=torch.float64, device=self.device)
        size = torch.zeros_like(difference)
        step = 1 << 24 if out.dim() == 1 else max(1, (1 << 24) // case["shape"][1])
        for i in range(0, len(out), step):
            part = slice(i, i + step)
            reference = self.reference(case, part)
            difference += (out[part].double() - reference).square().sum()
            size += reference.square().sum()
        error = (difference / size).sqrt().item()
        behind = case["offset"] + lengths_of(case)[2]
        stray = sum(int((~is_poison(part)).sum()) for part in (output[: case["offset"]], output[behind:]))
        return error, stray

    def check(self, work):
        case = self.cases[work["case"]]
        error, stray = self.compared(case, self.run(work))
        return {"error": None if math.isnan(error) else error, "bound": case["bound"], "stray": stray}


def answer(device, side, request, make):
    """The side after a request, and the reply."""
    (kind, what), = request.items()
    if kind == "prepare":
        side = make.prepared(device, what)
        return side, {"ready": side.ready()}
    if side is None:
        return side, {"failed": "`prepare` comes first"}
    if kind == "check":
        return side, {"checked": side.check(what)}
    if kind == "time":
        return side, {"timed": side.time(what["work"], what["warmup"], what["reps"])}
    return side, {"failed": f"there is no request `{kind}`"}


def main(make, description):
    """Works off requests to a side of a class."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    device = parser.parse_args().device
    side = None
    for line in sys.stdin:
        try:
            side, reply = answer(device, side, json.loads(line), make)
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=REPLIES, flush=True)


if __name__ == "__main__":
    with torch.no_grad():
        main(Side, __doc__)
