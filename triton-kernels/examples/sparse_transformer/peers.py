"""Times the block of sparse_transformer in PyTorch, with scores that are stored and by its fused attention: python3 peers.py [tokens]

Forward, backward and a step of SGD in bf16, as sparse_transformer does.
"""

import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS = 768, 12


class Block(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attention(self, x):
        batch, context, _ = x.shape
        q, k, v = self.qkv(x).view(batch, context, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if self.fused:
            o = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            seen = torch.ones(context, context, dtype=torch.bool, device=x.device).tril()
            o = scores.masked_fill(~seen, float("-inf")).softmax(-1) @ v
        return self.out(o.transpose(1, 2).reshape(batch, context, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


def milliseconds(context, tokens, fused, steps=10):
    torch.manual_seed(7)
    block = Block(fused).to("cuda", torch.bfloat16)
    x, target = (torch.rand(tokens // context, context, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    optimizer = torch.optim.SGD(block.parameters(), lr=0.5)
    times = []
    for _ in range(steps + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        functional.mse_loss(block(x), target).backward()
        optimizer.step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[3:])


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
context = min(tokens, 1024)
while context <= tokens:
    found = []
    for fused in (False, True):
        try:
            found.append(f"{milliseconds(context, tokens, fused):10.2f}")
        except torch.cuda.OutOfMemoryError:
            found.append("no memory")
    print(f"{context:8} stored {found[0]} ms, fused {found[1]} ms", flush=True)
    context *= 2
