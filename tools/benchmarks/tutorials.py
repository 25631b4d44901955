"""The peers of `triton-bench users`: Triton's tutorials and PyTorch, worked off by requests from standard input.

`triton-bench users --peers python3 tutorials.py` starts this. The protocol is that of `peers.py`, which has what both need. Each kernel
follows the algorithm of the tutorial that it is named after and is tuned over that tutorial's configurations.

`--device cpu` runs PyTorch alone, to try the protocol on a machine without a GPU.
"""

import collections
import dataclasses
import math
import platform
import sys
import time
import typing

import peers
import torch
import tutorial_kernels as kernels

# Seconds in which configurations are tried; later, the first that works is taken. Our side has the same limit.
TUNING = 120

# Elements behind a result, which must stay unchanged.
SLACK = 64

GROUPS = 4
CHANNELS = 16
DROPPED = 0.5
EPSILON = 1e-5
SEED = 7
F = torch.nn.functional


@dataclasses.dataclass
class Entry:
    """An implementation of a row."""

    # How it is configured, in words.
    note: str
    run: typing.Callable
    # The relative error of what it has computed last.
    error: typing.Callable
    # What it writes.
    outputs: tuple
    # Whether it can be captured as a graph.
    graph: bool = True


class Output:
    """A result with elements behind it."""

    def __init__(self, shape, dtype, device):
        self.length = math.prod(shape)
        self.all = torch.zeros(self.length + SLACK, dtype=dtype, device=device)
        self.shape = shape

    @property
    def tensor(self):
        return self.all[: self.length].view(self.shape)

    def poison(self):
        self.all.fill_(math.nan if self.all.is_floating_point() else peers.LEAST)

    def stray(self):
        return int((~peers.is_poison(self.all[self.length :])).sum())


def relative(found, expected):
    """The relative error; `expected` gives the rows of a slice in double precision."""
    difference = torch.zeros((), dtype=torch.float64, device=found.device)
    size = torch.zeros_like(difference)
    step = max(1, (1 << 24) * len(found) // max(1, found.numel()))
    for first in range(0, len(found), step):
        part = slice(first, first + step)
        reference = expected(part)
        difference += (found[part].double() - reference).square().sum()
        size += reference.square().sum()
    return (difference / size).sqrt().item() if size.item() else difference.sqrt().item()


def worst(*errors):
    """The greatest error; NaN if there is one."""
    return math.nan if any(math.isnan(error) for error in errors) else max(errors)


class Rows:
    """The rows by their kernels: each is an `Entry` by name, where `triton` is a list, one for each configuration."""

    def __init__(self, device, generator):
        self.device, self.generator, self.gpu = device, generator, device == "cuda"
        self.triton = kernels.triton is not None and self.gpu

    def random(self, shape, dtype=torch.float16):
        return peers.random(math.prod(shape), dtype, self.generator).view(shape)

    def output(self, shape, dtype=torch.float16):
        return Output(shape, dtype, self.device)

    def torch(self, note, run, out, expected, graph=True):
        """An entry of PyTorch whose result, if it is a tensor of its own, is copied to be compared."""
        last = {}

        def kept():
            last["result"] = run()

        def error():
            result = last["result"]
            if torch.is_tensor(result) and result.data_ptr() != out.tensor.data_ptr():
                out.tensor.copy_(result.view(out.shape))
            return relative(out.tensor, expected)

        return Entry(note, kept, error, (out,), graph)

    def copy(self, case):
        """A copy that moves as many bytes as a row."""
        length = max(1, case["bytes"] // 8)
        x, out = self.random((length,), torch.float32), self.output((length,), torch.float32)
        run = lambda: out.tensor.copy_(x)
        return Entry("copy_ of as many bytes", run, lambda: relative(out.tensor, lambda part: x[part].double()), (out,))

    def entries(self, case):
        made = getattr(self, case["kernel"])(case)
        if not self.triton:
            made.pop("triton", None)
        return made

    # Tutorial 01.
    def add(self, case):
        n = case["shape"][0]
        x, y, out = self.random((n,), torch.float32), self.random((n,), torch.float32), self.output((n,), torch.float32)
        expected = lambda part: x[part].double() + y[part].double()
        made = {"torch": self.torch("torch.add(out=)", lambda: torch.add(x, y, out=out.tensor), out, expected)}
        if self.triton:
            run = kernels.add(x, y, out.tensor)
            made["triton"] = [Entry("BLOCK=1024", run, lambda: relative(out.tensor, expected), (out,))]
        return made

    # Tutorial 02.
    def softmax(self, case):
        rows, columns, _ = case["shape"]
        x, out = self.random((rows, columns), torch.float32), self.output((rows, columns), torch.float32)
        expected = lambda part: torch.softmax(x[part].double(), dim=-1)
        made = {"torch": self.torch("torch.softmax", lambda: torch.softmax(x, dim=-1), out, expected)}
        if self.triton:
            run, note = kernels.softmax(x, out.tensor)
            made["triton"] = [Entry(note, run, lambda: relative(out.tensor, expected), (out,))]
        return made

    def product(self, case, activation="", persistent=False, tile=None):
        m, n, k = case["shape"]
        a, b, c = self.random((m, k)), self.random((k, n)), self.output((m, n))

        def expected(part):
            sums = a[part].double() @ b.double()
            return torch.where(sums >= 0, sums, 0.01 * sums) if activation else sums

        run = lambda: torch.matmul(a, b, out=c.tensor)
        if activation:
            run = lambda: F.leaky_relu(torch.matmul(a, b, out=c.tensor), inplace=True)
        made = {"torch": self.torch("torch.matmul(out=)", run, c, expected)}
        if self.triton:
            make = kernels.persistent if persistent else kernels.matmul
            tuned = make(a, b, c.tensor) if persistent else make(a, b, c.tensor, activation=activation, tile=tile)
            error = lambda: relative(c.tensor, expected)
            made["triton"] = [Entry(note, run, error, (c,)) for note, run in tuned]
        return made

    # Tutorial 03.
    def matmul(self, case):
        return self.product(case)

    def leaky_matmul(self, case):
        return self.product(case, activation="leaky_relu")

    def plain_matmul(self, case):
        return self.product(case, tile=case["tile"])

    # Tutorial 09.
    def persistent_matmul(self, case):
        return self.product(case, persistent=True)

    # Tutorial 04.
    def dropout(self, case):
        n = case["shape"][0]
        x, out = self.random((n,), torch.float32), self.output((n,), torch.float32)

        def error():
            kept = (out.tensor != 0).double().mean().item()
            if abs(kept - (1 - DROPPED)) > 6 * math.sqrt(DROPPED * (1 - DROPPED) / n):
                return math.nan
            scaled = lambda part: x[part].double() / (1 - DROPPED)
            return relative(out.tensor, lambda part: torch.where(out.tensor[part] == 0, 0.0, scaled(part)))

        run = lambda: out.tensor.copy_(F.dropout(x, DROPPED, training=True))
        made = {"torch": Entry("dropout, then copy_", run, error, (out,))}
        if self.triton:
            made["triton"] = [Entry("BLOCK=1024", kernels.dropout(x, out.tensor, DROPPED, SEED), error, (out,))]
        return made

    # Tutorial 05.
    def layer_norm(self, case):
        rows, n, _ = case["shape"]
        x, w, b, y = self.random((rows, n)), self.random((n,)), self.random((n,)), self.output((rows, n))
        expected = lambda part: F.layer_norm(x[part].double(), (n,), w.double(), b.double(), EPSILON)
        run = lambda: F.layer_norm(x, (n,), w, b, EPSILON)
        made = {"torch": self.torch("layer_norm", run, y, expected)}
        if self.triton:
            moments = [torch.empty(rows, dtype=torch.float32, device=self.device) for _ in range(2)]
            run, note = kernels.layer_norm(x, y.tensor, w, b, *moments, EPSILON)
            made["triton"] = [Entry(note, run, lambda: relative(y.tensor, expected), (y,))]
        return made

    def layer_norm_backward(self, case):
        rows, n, _ = case["shape"]
        x, dy, w = self.random((rows, n)), self.random((rows, n)), self.random((n,))
        mean = x.double().mean(dim=1).float()
        rstd = (1 / (x.double().var(dim=1, unbiased=False) + EPSILON).sqrt()).float()
        dx, dw, db = self.output((rows, n)), self.output((n,)), self.output((n,))

        def normed(part):
            return (x[part].double() - mean[part, None].double()) * rstd[part, None].double()

        def expected_dx(part):
            xhat, wdy = normed(part), w.double() * dy[part].double()
            c1, c2 = (xhat * wdy).mean(dim=1, keepdim=True), wdy.mean(dim=1, keepdim=True)
            return (wdy - (xhat * c1 + c2)) * rstd[part, None].double()

        sums = [torch.zeros(n, dtype=torch.float64, device=self.device) for _ in range(2)]
        for first in range(0, rows, 512):
            part = slice(first, first + 512)
            sums[0] += (dy[part].double() * normed(part)).sum(dim=0)
            sums[1] += dy[part].double().sum(dim=0)

        def error():
            of_sums = [relative(out.tensor, lambda part: of[part]) for out, of in zip((dw, db), sums)]
            return worst(relative(dx.tensor, expected_dx), *of_sums)

        # On the CPU the moments have the operands' type.
        moments = [of[:, None] if self.gpu else of[:, None].to(x.dtype) for of in (mean, rstd)]

        def by_torch():
            return torch.ops.aten.native_layer_norm_backward(dy, x, [n], *moments, w, w, [True, True, True])

        def torch_error():
            for out, result in zip((dx, dw, db), by_torch()):
                out.tensor.copy_(result)
            return error()

        made = {"torch": Entry("native_layer_norm_backward", by_torch, torch_error, (dx, dw, db))}
        if self.triton:
            run, note = kernels.layer_norm_backward(x, dy, w, mean, rstd, dx.tensor, dw.tensor, db.tensor)
            made["triton"] = [Entry(note, run, error, (dx, dw, db))]
        return made

    # Tutorial 06.
    def attention(self, case, causal=False):
        heads, tokens, columns = case["shape"]
        q, k, v = (self.random((1, heads, tokens, columns)) for _ in range(3))
        out = self.output((heads, tokens, columns))

        def expected(part):
            q64, k64, v64 = (operand[0, part].double() for operand in (q, k, v))
            scores = q64 @ k64.transpose(1, 2) / math.sqrt(columns)
            if causal:
                scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
            return torch.softmax(scores, dim=-1) @ v64

        # A head at a time: its scores in double precision are 128 MiB.
        def error():
            each = [relative(out.tensor[head : head + 1], lambda _, h=head: expected(slice(h, h + 1))) for head in range(heads)]
            return worst(*each)

        last = {}

        def by_torch():
            last["result"] = F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        def torch_error():
            out.tensor.copy_(last["result"][0])
            return error()

        made = {"torch": Entry("scaled_dot_product_attention", by_torch, torch_error, (out,))}
        if self.triton:
            tuned = kernels.attention(q[0], k[0], v[0], out.tensor, causal)
            made["triton"] = [Entry(note, run, error, (out,)) for note, run in tuned]
        return made

    def causal_attention(self, case):
        return self.attention(case, causal=True)

    # Tutorial 07.
    def asin(self, case):
        n = case["shape"][0]
        x, out = self.random((n,), torch.float32), self.output((n,), torch.float32)
        x /= 1 + x.abs()
        expected = lambda part: torch.asin(x[part].double())
        made = {"torch": self.torch("torch.asin(out=)", lambda: torch.asin(x, out=out.tensor), out, expected)}
        if self.triton:
            run = kernels.asin(x, out.tensor)
            made["triton"] = [Entry("BLOCK=1024", run, lambda: relative(out.tensor, expected), (out,))]
        return made

    # Tutorial 08.
    def grouped_matmul(self, case):
        m, n, k = case["shape"]
        rows = [max(1, m >> group) for group in range(GROUPS)]
        a, b = [self.random((m, k)) for m in rows], [self.random((k, n)) for _ in rows]
        c = [self.output((m, n)) for m in rows]

        def error():
            each = []
            for x, y, out in zip(a, b, c):
                each.append(relative(out.tensor, lambda part: x[part].double() @ y.double()))
            return worst(*each)

        def by_torch():
            for x, y, out in zip(a, b, c):
                torch.matmul(x, y, out=out.tensor)

        made = {"torch": Entry("torch.matmul(out=) for each group", by_torch, error, tuple(c))}
        if self.triton:
            tuned = kernels.grouped(a, b, [out.tensor for out in c])
            made["triton"] = [Entry(note, run, error, tuple(c)) for note, run in tuned]
        return made

    def w8a16(self, case):
        m, n, k = case["shape"]
        # Of few rows as many layers as on our side, each with weights and a result of its own.
        layers = 1 if m > 64 else 8
        a, scale = self.random((m, k)), self.random((n,), torch.float32) / 128
        b, c = [self.random((n, k), torch.int8) for _ in range(layers)], [self.output((m, n)) for _ in range(layers)]
        made = {"copy": self.copy(case)}
        if self.triton:
            expected = lambda of: lambda part: a[part].double() @ of.double().t() * scale.double()
            error = lambda: worst(*(relative(y.tensor, expected(x)) for x, y in zip(b, c)))
            each = [kernels.w8a16(a, x, scale, y.tensor) for x, y in zip(b, c)]

            def all_of(runs):
                return lambda: [run() for run in runs]

            made["triton"] = [
                Entry(same[0][0], all_of([run for _, run in same]), error, tuple(c)) for same in zip(*each)
            ]
        return made

    def mixed_matmul(self, case):
        m, n, k = case["shape"]
        a, b, c = self.random((m, k)), self.random((k, n), torch.int8), self.output((m, n))
        made = {}
        if self.triton:
            error = lambda: relative(c.tensor, lambda part: a[part].double() @ b.double())
            tuned = kernels.matmul(a, b, c.tensor, tile=case["tile"])
            made["triton"] = [Entry(note, run, error, (c,)) for note, run in tuned]
        return made

    def rotary(self, case):
        heads, positions, columns = case["shape"]
        x, out = self.random((heads, positions, columns)), self.output((heads, positions, columns))
        steps = torch.arange(columns // 2, dtype=torch.float64, device=self.device) / (columns // 2)
        angles = torch.arange(positions, dtype=torch.float64, device=self.device)[:, None] * 10000.0**-steps
        cos, sin = angles.cos().float(), angles.sin().float()

        def expected(part):
            a, b = x[part, :, 0::2].double(), x[part, :, 1::2].double()
            turned = (a * cos.double() - b * sin.double(), a * sin.double() + b * cos.double())
            return torch.stack(turned, dim=-1).flatten(-2)

        made = {"copy": self.copy(case)}
        if self.triton:
            run, note = kernels.rotary(x, cos, sin, out.tensor)
            made["triton"] = [Entry(note, run, lambda: relative(out.tensor, expected), (out,))]
        return made

    def scan(self, case):
        steps, channels, _ = case["shape"]
        a, b = self.random((steps, channels), torch.float32), self.random((steps, channels), torch.float32)
        a = 1 / (1 + a.abs())
        h = self.output((steps, channels), torch.float32)

        def error():
            expected = torch.empty((steps, channels), dtype=torch.float64, device=self.device)
            state = torch.zeros(channels, dtype=torch.float64, device=self.device)
            for t in range(steps):
                state = a[t].double() * state + b[t].double()
                expected[t] = state
            return relative(h.tensor, lambda part: expected[part])

        made = {"copy": self.copy(case)}
        if self.triton:
            run, note = kernels.scan(a, b, h.tensor)
            made["triton"] = [Entry(note, run, error, (h,))]
        return made

    def fft(self, case):
        rows, points, _ = case["shape"]
        x, out = self.random((rows, points, 2), torch.float32), self.output((rows, points, 2), torch.float32)
        complex_x, complex_out = torch.view_as_complex(x), torch.view_as_complex(out.tensor)
        expected = lambda part: torch.view_as_real(torch.fft.fft(complex_x[part].to(torch.complex128)))
        run = lambda: torch.fft.fft(complex_x, out=complex_out)
        error = lambda: relative(out.tensor, expected)
        return {"torch": Entry("torch.fft.fft(out=)", run, error, (out,))}

    def top(self, case):
        rows, columns, count = case["shape"]
        x = self.random((rows, columns), torch.float32)
        values, places = self.output((rows, count), torch.float32), self.output((rows, count), torch.int64)
        run = lambda: torch.topk(x, count, dim=-1, out=(values.tensor, places.tensor))

        def error():
            if not torch.equal(x.gather(1, places.tensor), values.tensor):
                return math.nan
            return relative(values.tensor, lambda part: x[part].double().sort(dim=-1, descending=True).values[:, :count])

        return {"torch": Entry("torch.topk(out=)", run, error, (values, places))}

    def group_norm(self, case):
        items, groups, inside = case["shape"]
        x, out = self.random((items, groups * CHANNELS, inside)), self.output((items, groups * CHANNELS, inside))
        w, b = self.random((groups * CHANNELS,)), self.random((groups * CHANNELS,))
        expected = lambda part: F.group_norm(x[part].double(), groups, w.double(), b.double(), EPSILON)
        return {"torch": self.torch("group_norm", lambda: F.group_norm(x, groups, w, b, EPSILON), out, expected)}

    def histogram(self, case):
        n = case["shape"][0]
        x, counts = self.random((n,), torch.int8).view(torch.uint8), self.output((256,), torch.int32)
        expected = torch.bincount(x.cpu().long(), minlength=256).to(self.device).double()
        error = lambda: relative(counts.tensor, lambda part: expected[part])
        run = lambda: counts.tensor.copy_(torch.bincount(x, minlength=256))
        # The result's length depends on the operand, which the host waits for.
        made = {"torch": Entry("torch.bincount, then copy_", run, error, (counts,), graph=False)}
        if self.triton:
            run, note = kernels.histogram(x, counts.tensor)
            made["triton"] = [Entry(note, run, error, (counts,))]
        return made


class Side(peers.Side):
    """The side of `users`."""

    def __init__(self, device, cases, seed, flush_mib):
        self.gpu, self.device = device == "cuda", device
        if self.gpu and not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} sees no CUDA device")
        self.bounds = {case["name"]: case["bound"] for case in cases}
        self.flush = torch.zeros(flush_mib << 18, dtype=torch.int32, device=device)
        rows = Rows(device, torch.Generator(device=device).manual_seed(seed % (1 << 63)))
        self.graphs, self.entries, candidates = {}, {}, []
        for case in cases:
            try:
                made = rows.entries(case)
            except Exception as error:  # A row that cannot be made is no reason to lose the others.
                print(f"peers: {case['name']}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            for name, entry in made.items():
                if isinstance(entry, list):
                    candidates += [(rank, (case["name"], name), one) for rank, one in enumerate(entry)]
                else:
                    self.entries[case["name"], name] = entry
        self.entries.update(self.tuned_entries(candidates))

    @classmethod
    def prepared(cls, device, what):
        return cls(device, what["users"], what["seed"], what["flush_mib"])

    def tuned_entries(self, candidates):
        """The fastest configuration of each entry. Every first one comes before every second one, so that all rows share the time."""
        until = time.monotonic() + TUNING
        timed = collections.defaultdict(list)
        for _, key, entry in sorted(candidates, key=lambda candidate: candidate[0]):
            if timed[key] and time.monotonic() > until:
                continue
            try:
                timed[key].append((self.measured(entry.run), entry))
            except Exception as error:  # A configuration that cannot compile is no reason to lose the others.
                print(f"peers: {key[1]}, {key[0]}, {entry.note}: {error}", file=sys.stderr)
        return {key: min(times, key=lambda pair: pair[0])[1] for key, times in timed.items() if times}

    def ready(self):
        entries = [{"case": case, "entry": name, "note": entry.note} for (case, name), entry in self.entries.items()]
        versions = {"Python": platform.python_version(), "PyTorch": torch.__version__}
        if kernels.triton:
            versions["Triton"] = kernels.triton.__version__
        memory = torch.cuda.max_memory_allocated() if self.gpu else 0
        device = torch.cuda.get_device_name(0) if self.gpu else "CPU"
        return {"device": device, "versions": versions, "entries": entries, "memory": memory}

    def time(self, work, warmup, reps):
        key = (work["case"], work["entry"])
        entry = self.entries[key]
        if not entry.graph:
            self.repeat(entry.run, warmup)
            return self.repeat(entry.run, reps)
        return self.timed(key, entry.run, warmup, reps)

    def check(self, work):
        entry = self.entries[work["case"], work["entry"]]
        for output in entry.outputs:
            output.poison()
        entry.run()
        self.synchronize()
        error, stray = entry.error(), sum(output.stray() for output in entry.outputs)
        return {"error": None if math.isnan(error) else error, "bound": self.bounds[work["case"]], "stray": stray}


if __name__ == "__main__":
    with torch.no_grad():
        peers.main(Side, __doc__)
