"""Times by PyTorch what elements_speed times, after the L2 cache was overwritten: python3 elements_speed.py"""

import statistics

import torch
import torch.nn.functional as F

flush = torch.empty(1 << 26, dtype=torch.int32, device="cuda")
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = False


def report(what, run, repetitions=20):
    times = []
    for i in range(repetitions + 3):
        flush.fill_(i)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    print(f"{what}: {statistics.median(times[3:]) * 1e3:.1f} us", flush=True)


def elements():
    m, n = 1 << 13, 1 << 14
    a, b, y = (torch.randn(m, n, device="cuda") for _ in range(3))
    h, g, z = (torch.randn(m, n, device="cuda").bfloat16() for _ in range(3))
    row, column = h[0].clone(), h[:, :1].clone()
    mask = torch.arange(n, device="cuda") % 3 == 0
    report("add f32", lambda: torch.add(a, b, out=y))
    report("add bf16", lambda: torch.add(h, g, out=z))
    report("add a row bf16", lambda: torch.add(h, row, out=z))
    report("mul a column bf16", lambda: torch.mul(h, column, out=z))
    report("mul a number bf16", lambda: torch.mul(h, 0.5, out=z))
    report("clamp f32", lambda: torch.clamp(a, 0, 1, out=y))
    report("copy f32 to bf16", lambda: z.copy_(a))
    report("copy bf16 to f32", lambda: y.copy_(h))
    report("select f32 by a row", lambda: torch.where(mask, a, b, out=y))
    report("concat bf16", lambda: torch.cat([h[:, : n // 2], g[:, n // 2 :]], 1, out=z))
    report("add bf16 from an odd element on", lambda: torch.add(h[:, 1:], g[:, 1:], out=z[:, 1:]))
    x3, y3 = (t.view(-1)[: m * n // 4 * 3].view(-1, 3) for t in (a, y))
    report("add rows of 3 f32", lambda: torch.add(x3, b[0, :3], out=y3))
    report("copy bf16 transposed", lambda: z.view(n, m).copy_(h.t()))
    report("copy bf16 NCHW to NHWC", lambda: z.view(32, 128, 128, 256).copy_(h.view(32, 256, 128, 128).permute(0, 2, 3, 1)))


def pools(dtype):
    name = {torch.bfloat16: "bf16", torch.float32: "f32"}[dtype]
    x = torch.randn(64, 128, 112, 112, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
    half = torch.randn(64, 128, 56, 56, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
    report(f"max_pool 3x3 stride 2 {name}", lambda: F.max_pool2d(x, 3, 2, 1))
    report(f"max_pool 2x2 {name}", lambda: F.max_pool2d(x, 2))
    report(f"avg_pool 2x2 {name}", lambda: F.avg_pool2d(x, 2))
    report(f"avg_pool 3x3 stride 1 {name}", lambda: F.avg_pool2d(x, 3, 1, 1))
    _, index = F.max_pool2d(x, 2, return_indices=True)
    back = torch.ops.aten.max_pool2d_with_indices_backward
    report(f"max_pool_backward 2x2 {name}", lambda: back(half, x, [2, 2], [2, 2], [0, 0], [1, 1], False, index))
    back = torch.ops.aten.avg_pool2d_backward
    report(f"avg_pool_backward 2x2 {name}", lambda: back(half, x, [2, 2], [2, 2], [0, 0], False, True, None))
    report(f"upsample nearest 2x {name}", lambda: F.interpolate(half, scale_factor=2, mode="nearest"))
    report(f"upsample bilinear 2x {name}", lambda: F.interpolate(half, scale_factor=2, mode="bilinear"))
    report(f"global average {name}", lambda: F.adaptive_avg_pool2d(x, 1))


def reductions(dtype):
    name = {torch.bfloat16: "bf16", torch.float32: "f32"}[dtype]
    x = torch.randn(1 << 13, 1 << 14, device="cuda", dtype=dtype)
    report(f"sum of rows {name}", lambda: x.sum(1))
    report(f"sum of columns {name}", lambda: x.sum(0))
    report(f"sum of all {name}", lambda: x.sum())
    report(f"sum of a middle axis {name}", lambda: x.view(64, -1, 512).sum(1))
    report(f"max of rows {name}", lambda: x.amax(1))
    report(f"argmax of rows {name}", lambda: x.argmax(1))
    report(f"var of rows, two reads {name}", lambda: x.var(1))
    for columns in (128, 1 << 14, 1 << 22):
        report(f"cumsum of {columns} {name}", lambda: x.view(-1, columns).cumsum(1))


def depthwise(dtype):
    name = {torch.bfloat16: "bf16", torch.float32: "f32"}[dtype]
    for side, c, window, stride in [(112, 64, 3, 1), (56, 256, 3, 1), (28, 512, 3, 1), (56, 256, 3, 2), (56, 256, 5, 1)]:
        n = (1 << 27) // (side * side * c)
        x = torch.randn(n, c, side, side, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
        w = torch.randn(c, 1, window, window, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
        what = f"{window}x{window} stride {stride} {name} {n}x{side}x{side}x{c}"
        p = window // 2
        report(f"depthwise {what}", lambda: F.conv2d(x, w, stride=stride, padding=p, groups=c))
        dy = torch.randn_like(F.conv2d(x, w, stride=stride, padding=p, groups=c))
        back = torch.ops.aten.convolution_backward
        args = (None, [stride] * 2, [p] * 2, [1, 1], False, [0, 0], c)
        report(f"depthwise dx {what}", lambda: back(dy, x, w, *args, [True, False, False]))
        report(f"depthwise dw {what}", lambda: back(dy, x, w, *args, [False, True, False]))


print(torch.cuda.get_device_name(), torch.__version__)
elements()
for of in (torch.bfloat16, torch.float32):
    pools(of)
    reductions(of)
    depthwise(of)
