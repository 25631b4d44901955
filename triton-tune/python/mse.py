#!/usr/bin/env python3
"""Fits the networks of `triton-tune table mse` with PyTorch, on the same rows, and prints their errors.

    triton-tune table mse --data triton-tune/data/gemm-h200.csv.gz --op gemm-bf16 --split-out split.csv
    python triton-tune/python/mse.py --data triton-tune/data/gemm-h200.csv.gz --op gemm-bf16 --split split.csv

It shares no code with the tuner: features, standardisation, networks and schedule are written again from their description.
"""

import argparse
import csv
import gzip
import math

import torch

NETWORKS = [
    [64],
    [512],
    [32, 64, 32],
    [64, 128, 64],
    [32, 64, 128, 64, 32],
    [64, 128, 256, 128, 64],
    [64, 128, 192, 256, 192, 128, 64],
]


def recorded(paths, op):
    """The rows of an operation, as dictionaries of text."""
    rows = []
    for path in paths:
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
        with opened as file:
            rows += [row for row in csv.DictReader(file) if op is None or row["op"] == op]
    return rows


def log2(column):
    """Logarithms of a column; flags stay, and a column with zeros is log2(x + 1)."""
    if bool(((column == 0) | (column == 1)).all()):
        return column
    return torch.log2(column + 1 if bool((column <= 0).any()) else column)


def standardised(values, train):
    """Zero mean and unit deviation over the rows that are trained on."""
    mean = values[train].mean(0)
    deviation = values[train].std(0, unbiased=False)
    # A column of one value.
    deviation = torch.where(deviation > 1e-9, deviation, torch.ones_like(deviation))
    return ((values - mean) / deviation).float()


def network(inputs, hidden):
    """Layers with ReLU between them, of He's uniform weights."""
    layers = []
    for units in [*hidden, 1]:
        layer = torch.nn.Linear(inputs, units)
        bound = math.sqrt(6 / inputs)
        torch.nn.init.uniform_(layer.weight, -bound, bound)
        torch.nn.init.zeros_(layer.bias)
        layers += [layer, torch.nn.ReLU()]
        inputs = units
    return torch.nn.Sequential(*layers[:-1])


def error(inputs, targets, train, test, hidden, options, seed):
    """The mean squared error of a network on held-out rows."""
    torch.manual_seed(seed)
    net = network(inputs.shape[1], hidden).to(inputs.device)
    adam = torch.optim.Adam(net.parameters(), lr=options.rate)
    steps = options.epochs * math.ceil(len(train) / options.batch)
    last, step = options.rate / 100, 0
    for _ in range(options.epochs):
        order = train[torch.randperm(len(train), device=train.device)]
        for batch in order.split(options.batch):
            at = step / max(steps - 1, 1)
            for group in adam.param_groups:
                group["lr"] = last + (options.rate - last) * 0.5 * (1 + math.cos(math.pi * at))
            loss = ((net(inputs[batch]).squeeze(1) - targets[batch]) ** 2).mean()
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            step += 1
    with torch.no_grad():
        return float(((net(inputs[test]).squeeze(1) - targets[test]) ** 2).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, help="files of recorded rows")
    parser.add_argument("--op", help="only rows of this operation")
    parser.add_argument("--split", required=True, help="what `table mse --split-out` wrote for the same data")
    parser.add_argument("--target", choices=["time", "tflops"], default="tflops")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=1, help="networks of each row, whose errors are averaged")
    parser.add_argument("--networks", type=int, default=len(NETWORKS), help="only the first ones")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = recorded(options.data, options.op)
    names = [name for name in rows[0] if name.startswith(("context.", "choice."))]
    raw = torch.tensor([[float(row[name]) for name in names] for row in rows], dtype=torch.float64)
    us = torch.tensor([float(row["us"]) for row in rows], dtype=torch.float64)
    if options.target == "time":
        target = torch.log2(us)
    else:
        extents = [raw[:, names.index(f"context.{axis}")] for axis in "mnk"]
        target = 2 * extents[0] * extents[1] * extents[2] / us * 1e-6
    logs = torch.stack([log2(raw[:, column]) for column in range(len(names))], 1)

    with open(options.split) as file:
        split = list(csv.DictReader(file))
    if len(split) != len(rows):
        raise SystemExit(f"the split has {len(split)} rows, but the data has {len(rows)}; write it for the same data")

    print("hidden layers | rows: log | raw | contexts: log | raw")
    for hidden in NETWORKS[: options.networks]:
        found = []
        for by in ["row", "context"]:
            train = torch.tensor([row for row, part in enumerate(split) if part[by] == "0"])
            test = torch.tensor([row for row, part in enumerate(split) if part[by] == "1"])
            targets = standardised(target[:, None], train).squeeze(1).to(device)
            for values in [logs, raw]:
                inputs = standardised(values, train).to(device)
                errors = [
                    error(inputs, targets, train.to(device), test.to(device), hidden, options, seed)
                    for seed in range(1, options.repeat + 1)
                ]
                found.append(sum(errors) / len(errors))
        print(" | ".join([", ".join(map(str, hidden)), *(f"{value:.4f}" for value in found)]), flush=True)


if __name__ == "__main__":
    main()
