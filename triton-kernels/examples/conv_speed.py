"""Times the convolutions of conv_speed by cuDNN's best algorithm: conv_speed --list | python3 conv_speed.py [--forward]

Each repetition is timed by events of its own, after the L2 cache was overwritten, as conv_speed does.
"""

import statistics
import sys

import torch

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = False
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


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
for line in sys.stdin:
    name, *numbers = line.rstrip("\n").split("\t")
    n, h, w, c, k, r, s, stride, down, across = map(int, numbers)
    padding = (down, across)
    for kind, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16)]:
        best = {}
        for order in [torch.channels_last, torch.contiguous_format]:
            x = torch.randn(n, c, h, w, device="cuda", dtype=dtype).to(memory_format=order)
            weight = torch.randn(k, c, r, s, device="cuda", dtype=dtype).to(memory_format=order)
            y = torch.nn.functional.conv2d(x, weight, stride=stride, padding=padding)
            dy = torch.randn_like(y, memory_format=order)
            operations = 2 * y.numel() * c * r * s

            def gradient(mask):
                return torch.ops.aten.convolution_backward(
                    dy, x, weight, None, [stride, stride], list(padding), [1, 1], False, [0, 0], 1, mask
                )

            runs = {"": lambda: torch.nn.functional.conv2d(x, weight, stride=stride, padding=padding)}
            if "--forward" not in sys.argv:
                runs[" dx"] = lambda: gradient([True, False, False])
                runs[" dw"] = lambda: gradient([False, True, False])
            for what, run in runs.items():
                # The faster of both orders in memory.
                best[what] = min(best.get(what, float("inf")), milliseconds(run))
        for what, found in best.items():
            print(f"{name:7} {kind + what:12} {found * 1e3:9.1f} us {operations / found / 1e9:7.1f} TFLOPS", flush=True)
