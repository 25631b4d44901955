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


def networks(inputs, hidden, count, device):
    """Weights and biases of several networks, side by side: He's uniform weights, biases of zero."""
    layers = []
    for units in [*hidden, 1]:
        bound = math.sqrt(6 / inputs)
        weights = torch.empty(count, inputs, units, device=device).uniform_(-bound, bound)
        layers.append([weights.requires_grad_(), torch.zeros(count, 1, units, device=device, requires_grad=True)])
        inputs = units
    return layers


def predict(layers, inputs):
    """What each network says of its own inputs, with ReLU between the layers."""
    values = inputs
    for index, (weights, bias) in enumerate(layers):
        values = torch.baddbmm(bias, values, weights)
        if index + 1 < len(layers):
            values = torch.relu(values)
    return values.squeeze(2)


def errors(inputs, targets, train, test, hidden, options):
    """The mean squared errors of several networks on held-out rows. They are trained at once, each on an order of its own: the sum of their
    errors has the gradients of each."""
    torch.manual_seed(1)
    count = options.repeat
    layers = networks(inputs.shape[1], hidden, count, inputs.device)
    adam = torch.optim.Adam([part for layer in layers for part in layer], lr=options.rate)
    steps = options.epochs * math.ceil(len(train) / options.batch)
    last, step = options.rate / 100, 0
    for _ in range(options.epochs):
        order = torch.stack([train[torch.randperm(len(train), device=train.device)] for _ in range(count)])
        for batch in order.split(options.batch, 1):
            at = step / max(steps - 1, 1)
            for group in adam.param_groups:
                group["lr"] = last + (options.rate - last) * 0.5 * (1 + math.cos(math.pi * at))
            loss = ((predict(layers, inputs[batch]) - targets[batch]) ** 2).mean(1).sum()
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            step += 1
    with torch.no_grad():
        held_out = inputs[test].expand(count, -1, -1)
        return ((predict(layers, held_out) - targets[test]) ** 2).mean(1).tolist()


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
                several = errors(inputs, targets, train.to(device), test.to(device), hidden, options)
                found.append(sum(several) / len(several))
        print(" | ".join([", ".join(map(str, hidden)), *(f"{value:.4f}" for value in found)]), flush=True)


if __name__ == "__main__":
    main()
