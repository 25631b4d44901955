"""Times by PyTorch what resnet_speed times: bf16, channels last, norms folded, eager and compiled with CUDA graphs: python3 resnet_speed.py"""

import statistics

import torch
from torch import nn

flush = torch.empty(1 << 26, dtype=torch.int32, device="cuda")
torch.backends.cudnn.benchmark = True


def milliseconds(run, repetitions=20):
    times = []
    for i in range(repetitions + 5):
        flush.fill_(i)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[5:])


class Block(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.narrow = nn.Conv2d(channels, width, 1)
        self.seen = nn.Conv2d(width, width, 3, stride, 1)
        self.wide = nn.Conv2d(width, 4 * width, 1)
        self.past = nn.Conv2d(channels, 4 * width, 1, stride) if stride > 1 or channels != 4 * width else nn.Identity()

    def forward(self, x):
        return torch.relu(self.wide(torch.relu(self.seen(torch.relu(self.narrow(x))))) + self.past(x))


def network():
    layers, channels = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            layers.append(Block(channels, width, 2 if block == 0 and stage > 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


print(torch.cuda.get_device_name(), torch.__version__)
model = network().cuda().bfloat16().to(memory_format=torch.channels_last).eval()
compiled = torch.compile(model, mode="reduce-overhead")
with torch.inference_mode():
    for batch in (1, 8, 64, 256):
        x = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
        eager, graph = (milliseconds(lambda: of(x)) for of in (model, compiled))
        print(f"batch {batch}: eager {eager:.3f} ms, compiled {graph:.3f} ms", flush=True)
