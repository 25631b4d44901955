"""Triton's side of `triton-bench users`: kernels that follow the algorithms of Triton's tutorials, and what users write beside them.

A function for each row gives what runs it: one callable, where the tutorial has one configuration, or a list of notes and callables, one for
each configuration of the tutorial's autotuner.
"""

import itertools

import torch

try:
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice
except ImportError:
    triton = None

if triton:

    # Tutorial 01.
    @triton.jit
    def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        total = tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)
        tl.store(out_ptr + at, total, mask=mask)

    # Tutorial 02: programs go over rows, as many apart as there are programs.
    @triton.jit
    def softmax_kernel(
        out_ptr, in_ptr, in_stride, out_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr
    ):
        first, step = tl.program_id(0), tl.num_programs(0)
        for row in tl.range(first, rows, step, num_stages=STAGES):
            at = tl.arange(0, BLOCK)
            mask = at < columns
            values = tl.load(in_ptr + row * in_stride + at, mask=mask, other=-float("inf"))
            numerator = tl.exp(values - tl.max(values, axis=0))
            tl.store(out_ptr + row * out_stride + at, numerator / tl.sum(numerator, axis=0), mask=mask)

    @triton.jit
    def leaky_relu(x):
        return tl.where(x >= 0, x, 0.01 * x)

    # Tutorial 03; b is converted, if it is of another type, and columns may have a scale.
    @triton.jit
    def matmul_kernel(
        a_ptr, b_ptr, c_ptr, scale_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
        BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
        SCALED: tl.constexpr,
    ):
        pid = tl.program_id(axis=0)
        tiles_m = tl.cdiv(M, BM)
        tiles_n = tl.cdiv(N, BN)
        in_group = GROUP * tiles_n
        first_m = pid // in_group * GROUP
        size_m = min(tiles_m - first_m, GROUP)
        pid_m = first_m + (pid % in_group) % size_m
        pid_n = (pid % in_group) // size_m
        rows = (pid_m * BM + tl.arange(0, BM)) % M
        columns = (pid_n * BN + tl.arange(0, BN)) % N
        inner = tl.arange(0, BK)
        a_ptrs = a_ptr + (rows[:, None] * stride_am + inner[None, :] * stride_ak)
        b_ptrs = b_ptr + (inner[:, None] * stride_bk + columns[None, :] * stride_bn)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for i in range(0, tl.cdiv(K, BK)):
            a = tl.load(a_ptrs, mask=inner[None, :] < K - i * BK, other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] < K - i * BK, other=0)
            acc = tl.dot(a, b.to(tl.float16), acc)
            a_ptrs += BK * stride_ak
            b_ptrs += BK * stride_bk
        if ACTIVATION == "leaky_relu":
            acc = leaky_relu(acc)
        rows = pid_m * BM + tl.arange(0, BM)
        columns = pid_n * BN + tl.arange(0, BN)
        if SCALED:
            acc = acc * tl.load(scale_ptr + columns, mask=columns < N, other=0.0)[None, :]
        c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
        tl.store(c_ptrs, acc.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))

    # Tutorial 04: what is dropped follows from a seed.
    @triton.jit
    def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
        at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(x_ptr + at, mask=mask)
        keep = tl.rand(seed, at) > p
        tl.store(out_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=mask)

    # Tutorial 05, forward: a row a program, in blocks.
    @triton.jit
    def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        y_ptr += row * stride
        x_ptr += row * stride
        total = tl.zeros([BLOCK], dtype=tl.float32)
        for first in range(0, N, BLOCK):
            at = first + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + at, mask=at < N, other=0.0).to(tl.float32)
        mean = tl.sum(total, axis=0) / N
        squares = tl.zeros([BLOCK], dtype=tl.float32)
        for first in range(0, N, BLOCK):
            at = first + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + at, mask=at < N, other=0.0).to(tl.float32)
            x = tl.where(at < N, x - mean, 0.0)
            squares += x * x
        rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
        for first in range(0, N, BLOCK):
            at = first + tl.arange(0, BLOCK)
            mask = at < N
            w = tl.load(w_ptr + at, mask=mask)
            b = tl.load(b_ptr + at, mask=mask)
            x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
            tl.store(y_ptr + at, (x - mean) * rstd * w + b, mask=mask)

    # Tutorial 05, backward: partial sums of the gradients of weights and biases in GROUP rows, each under a lock.
    @triton.jit
    def layer_norm_dx_kernel(
        dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
        GROUP: tl.constexpr, BLOCK: tl.constexpr,
    ):
        row = tl.program_id(0)
        at = tl.arange(0, BLOCK)
        mask = at < N
        x_ptr += row * stride
        dy_ptr += row * stride
        dx_ptr += row * stride
        group = row % GROUP
        lock = lock_ptr + group
        count_ptr = lock + GROUP
        dw_ptrs = dw_ptr + group * N + at
        db_ptrs = db_ptr + group * N + at
        x = tl.load(x_ptr + at, mask=mask, other=0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=mask, other=0).to(tl.float32)
        w = tl.load(w_ptr + at, mask=mask).to(tl.float32)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        normed = tl.where(mask, (x - mean) * rstd, 0.0)
        wdy = tl.where(mask, w * dy, 0.0)
        c1 = tl.sum(normed * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        tl.store(dx_ptr + at, (wdy - (normed * c1 + c2)) * rstd, mask=mask)
        part_w = (dy * normed).to(w_ptr.dtype.element_ty)
        part_b = dy.to(w_ptr.dtype.element_ty)
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        count = tl.load(count_ptr)
        if count == 0:
            tl.atomic_xchg(count_ptr, 1)
        else:
            part_w += tl.load(dw_ptrs, mask=mask)
            part_b += tl.load(db_ptrs, mask=mask)
        tl.store(dw_ptrs, part_w, mask=mask)
        tl.store(db_ptrs, part_b, mask=mask)
        # All threads have stored before the lock is free.
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)

    @triton.jit
    def layer_norm_dwdb_kernel(
        dw_ptr, db_ptr, final_dw_ptr, final_db_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr
    ):
        columns = tl.program_id(0) * BN + tl.arange(0, BN)
        dw = tl.zeros((BM, BN), dtype=tl.float32)
        db = tl.zeros((BM, BN), dtype=tl.float32)
        for first in range(0, M, BM):
            rows = first + tl.arange(0, BM)
            mask = (rows[:, None] < M) & (columns[None, :] < N)
            at = rows[:, None] * N + columns[None, :]
            dw += tl.load(dw_ptr + at, mask=mask, other=0.0)
            db += tl.load(db_ptr + at, mask=mask, other=0.0)
        tl.store(final_dw_ptr + columns, tl.sum(dw, axis=0), mask=columns < N)
        tl.store(final_db_ptr + columns, tl.sum(db, axis=0), mask=columns < N)

    # Tutorial 06: blocks of keys that every row sees, and then those on the diagonal.
    @triton.jit
    def attention_step(
        acc, total, top, q, k_ptrs, v_ptrs, stride_m, lo, hi, scale, rows, keys,
        MASKED: tl.constexpr, BN: tl.constexpr,
    ):
        for first in tl.range(lo, hi, BN):
            k = tl.load(k_ptrs)
            scores = tl.dot(q, k)
            if MASKED:
                seen = rows[:, None] >= (first + keys)[None, :]
                scores = scores * scale + tl.where(seen, 0, -1.0e6)
                new = tl.maximum(top, tl.max(scores, 1))
                scores -= new[:, None]
            else:
                new = tl.maximum(top, tl.max(scores, 1) * scale)
                scores = scores * scale - new[:, None]
            weights = tl.math.exp2(scores)
            kept = tl.math.exp2(top - new)
            of_block = tl.sum(weights, 1)
            acc = acc * kept[:, None]
            v = tl.load(v_ptrs)
            acc = tl.dot(weights.to(tl.float16), v, acc)
            total = total * kept + of_block
            top = new
            k_ptrs += BN * stride_m
            v_ptrs += BN * stride_m
        return acc, total, top, k_ptrs, v_ptrs

    @triton.jit
    def attention_kernel(
        q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, stride_h, stride_m, N_CTX,
        D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    ):
        block = tl.program_id(0)
        head = tl.program_id(1).to(tl.int64) * stride_h
        rows = block * BM + tl.arange(0, BM)
        keys = tl.arange(0, BN)
        columns = tl.arange(0, D)
        q = tl.load(q_ptr + head + rows[:, None] * stride_m + columns[None, :])
        k_ptrs = k_ptr + head + columns[:, None] + keys[None, :] * stride_m
        v_ptrs = v_ptr + head + keys[:, None] * stride_m + columns[None, :]
        top = tl.zeros([BM], dtype=tl.float32) - float("inf")
        total = tl.zeros([BM], dtype=tl.float32) + 1.0
        acc = tl.zeros([BM, D], dtype=tl.float32)
        scale = sm_scale * 1.44269504
        if CAUSAL:
            acc, total, top, k_ptrs, v_ptrs = attention_step(
                acc, total, top, q, k_ptrs, v_ptrs, stride_m, 0, block * BM, scale, rows, keys, False, BN
            )
            acc, total, top, k_ptrs, v_ptrs = attention_step(
                acc, total, top, q, k_ptrs, v_ptrs, stride_m, block * BM, (block + 1) * BM, scale, rows, keys, True, BN
            )
        else:
            acc, total, top, k_ptrs, v_ptrs = attention_step(
                acc, total, top, q, k_ptrs, v_ptrs, stride_m, 0, N_CTX, scale, rows, keys, False, BN
            )
        acc = acc / total[:, None]
        tl.store(out_ptr + head + rows[:, None] * stride_m + columns[None, :], acc.to(tl.float16))

    # Tutorial 07.
    @triton.jit
    def asin_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out_ptr + at, libdevice.asin(tl.load(x_ptr + at, mask=mask)), mask=mask)

    # Tutorial 08: addresses, sizes and pitches of the groups stand in memory; a fixed number of programs goes over all tiles.
    @triton.jit
    def grouped_kernel(
        a_ptrs_ptr, b_ptrs_ptr, c_ptrs_ptr, sizes_ptr, pitches_ptr, groups,
        PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ):
        tile = tl.program_id(0)
        end = 0
        for g in range(groups):
            m = tl.load(sizes_ptr + g * 3)
            n = tl.load(sizes_ptr + g * 3 + 1)
            k = tl.load(sizes_ptr + g * 3 + 2)
            tiles_n = tl.cdiv(n, BN)
            tiles = tl.cdiv(m, BM) * tiles_n
            while tile >= end and tile < end + tiles:
                lda = tl.load(pitches_ptr + g * 3)
                ldb = tl.load(pitches_ptr + g * 3 + 1)
                ldc = tl.load(pitches_ptr + g * 3 + 2)
                a_ptr = tl.load(a_ptrs_ptr + g).to(tl.pointer_type(tl.float16))
                b_ptr = tl.load(b_ptrs_ptr + g).to(tl.pointer_type(tl.float16))
                c_ptr = tl.load(c_ptrs_ptr + g).to(tl.pointer_type(tl.float16))
                inside = tile - end
                rows = inside // tiles_n * BM + tl.arange(0, BM)
                columns = inside % tiles_n * BN + tl.arange(0, BN)
                inner = tl.arange(0, BK)
                a_ptrs = a_ptr + rows[:, None] * lda + inner[None, :]
                b_ptrs = b_ptr + inner[:, None] * ldb + columns[None, :]
                acc = tl.zeros((BM, BN), dtype=tl.float32)
                for step in range(0, tl.cdiv(k, BK)):
                    tl.multiple_of(a_ptrs, [16, 16])
                    tl.multiple_of(b_ptrs, [16, 16])
                    acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
                    a_ptrs += BK
                    b_ptrs += BK * ldb
                tl.store(c_ptr + rows[:, None] * ldc + columns[None, :], acc.to(tl.float16))
                tile += PROGRAMS
            end += tiles

    @triton.jit
    def place_of(tile, in_group, tiles_m, GROUP: tl.constexpr):
        first_m = tile // in_group * GROUP
        size_m = min(tiles_m - first_m, GROUP)
        return first_m + tile % size_m, (tile % in_group) // size_m

    # Tutorial 09, without descriptors.
    @triton.jit
    def persistent_kernel(
        a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
        BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr,
        FLATTEN: tl.constexpr,
    ):
        tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        steps = tl.cdiv(K, BK)
        in_group = GROUP * tiles_n
        inner_mask = tl.arange(0, BK)
        # The place of a tile is computed again for its result, so that loads of the next one may come before.
        stored = tl.program_id(axis=0) - PROGRAMS
        for tile in tl.range(tl.program_id(axis=0), tiles_m * tiles_n, PROGRAMS, flatten=FLATTEN):
            pid_m, pid_n = place_of(tile, in_group, tiles_m, GROUP)
            rows = pid_m * BM + tl.arange(0, BM)
            columns = pid_n * BN + tl.arange(0, BN)
            rows = tl.where(rows < M, rows, 0)
            columns = tl.where(columns < N, columns, 0)
            rows = tl.max_contiguous(tl.multiple_of(rows, BM), BM)
            columns = tl.max_contiguous(tl.multiple_of(columns, BN), BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for i in range(steps):
                inner = i * BK + tl.arange(0, BK)
                a_ptrs = a_ptr + (rows[:, None] * stride_am + inner[None, :] * stride_ak)
                b_ptrs = b_ptr + (inner[:, None] * stride_bk + columns[None, :] * stride_bn)
                a = tl.load(a_ptrs, mask=inner_mask[None, :] < K - i * BK, other=0.0)
                b = tl.load(b_ptrs, mask=inner_mask[:, None] < K - i * BK, other=0.0)
                acc = tl.dot(a, b, acc)
            stored += PROGRAMS
            pid_m, pid_n = place_of(stored, in_group, tiles_m, GROUP)
            rows = pid_m * BM + tl.arange(0, BM)
            columns = pid_n * BN + tl.arange(0, BN)
            c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
            tl.store(c_ptrs, acc.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))

    @triton.jit
    def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, positions, ROWS: tl.constexpr, D: tl.constexpr):
        row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
        pair = tl.arange(0, D // 2)[None, :]
        mask = row < positions
        at = (tl.program_id(1) * positions + row) * D + 2 * pair
        a = tl.load(x_ptr + at, mask=mask).to(tl.float32)
        b = tl.load(x_ptr + at + 1, mask=mask).to(tl.float32)
        cos = tl.load(cos_ptr + row * (D // 2) + pair, mask=mask)
        sin = tl.load(sin_ptr + row * (D // 2) + pair, mask=mask)
        tl.store(out_ptr + at, a * cos - b * sin, mask=mask)
        tl.store(out_ptr + at + 1, a * sin + b * cos, mask=mask)

    @triton.jit
    def after_one_another(a, b, aa, bb):
        return a * aa, aa * b + bb

    @triton.jit
    def scan_kernel(a_ptr, b_ptr, h_ptr, steps, channels, T: tl.constexpr, C: tl.constexpr):
        channel = (tl.program_id(0) * C + tl.arange(0, C))[None, :]
        t = tl.arange(0, T)[:, None]
        state = tl.zeros((1, C), dtype=tl.float32)
        for first in range(0, steps, T):
            mask = (first + t < steps) & (channel < channels)
            at = (first + t) * channels + channel
            a = tl.load(a_ptr + at, mask=mask, other=0.0)
            b = tl.load(b_ptr + at, mask=mask, other=0.0)
            factors, terms = tl.associative_scan((a, b), 0, after_one_another)
            states = factors * state + terms
            tl.store(h_ptr + at, states, mask=mask)
            state = tl.sum(tl.where(t == T - 1, states, 0.0), axis=0)[None, :]

    @triton.jit
    def histogram_kernel(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        byte = tl.load(x_ptr + at, mask=mask, other=0).to(tl.int32)
        tl.atomic_add(counts_ptr + byte, tl.full((BLOCK,), 1, tl.int32), mask=mask, sem="relaxed")


def multiprocessors():
    return torch.cuda.get_device_properties(0).multi_processor_count


def spelled(how):
    """A configuration in words, as ours are."""
    return " ".join(f"{name}={value}" for name, value in how.items())


def add(x, y, out):
    n = x.numel()
    return lambda: add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)


def softmax(x, out):
    rows, columns = x.shape
    how = {"BLOCK": triton.next_power_of_2(columns), "STAGES": 4, "num_warps": 8}
    operands = (out, x, x.stride(0), out.stride(0), rows, columns)
    compiled = softmax_kernel.warmup(*operands, **how, grid=(1,))
    compiled._init_handles()
    # As many programs as are resident at once.
    occupancy = 65536 // (max(compiled.n_regs, 1) * 32 * how["num_warps"])
    if compiled.metadata.shared:
        occupancy = min(occupancy, 227 * 1024 // compiled.metadata.shared)
    programs = min(multiprocessors() * max(occupancy, 1), rows)
    return lambda: softmax_kernel[(programs,)](*operands, **how), f"{spelled(how)}, {programs} programs"


# BM, BN, BK, stages and warps of tutorial 03.
PRODUCTS = (
    (128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4),
    (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2), (128, 256, 128, 3, 8), (256, 128, 128, 3, 8),
    (256, 64, 128, 4, 4), (64, 256, 128, 4, 4), (128, 128, 128, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4),
    (128, 32, 64, 4, 4),
)


def products(a, b, scale, c, strides_of_b, tiles, activation=""):
    """The kernel of tutorial 03 in several configurations."""
    (m, k), n = a.shape, c.shape[1]
    sizes = (m, n, k, *a.stride(), *strides_of_b, *c.stride())
    fixed = {"GROUP": 8, "ACTIVATION": activation, "SCALED": scale is not None}
    tuned = []
    for bm, bn, bk, stages, warps in tiles:
        how = {"BM": bm, "BN": bn, "BK": bk, "num_stages": stages, "num_warps": warps}
        grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
        run = lambda grid=grid, how=how: matmul_kernel[grid](a, b, c, c if scale is None else scale, *sizes, **fixed, **how)
        tuned.append((spelled(how), run))
    return tuned


def matmul(a, b, c, activation="", tile=None):
    tiles = [(*tile, stages, warps) for warps in (8, 4) for stages in (3, 4)] if tile else PRODUCTS
    return products(a, b, None, c, b.stride(), tiles, activation)


def w8a16(a, b, scale, c):
    few = ((16, 64, 128, 4, 4), (16, 128, 64, 4, 4), (16, 64, 256, 3, 4), (16, 32, 256, 4, 4))
    many = ((64, 128, 64, 4, 4), (128, 128, 64, 3, 8), (128, 256, 64, 3, 8), (128, 64, 64, 4, 4))
    # b is [N, K]: along K its elements are neighbours.
    return products(a, b, scale, c, (b.stride(1), b.stride(0)), few if a.shape[0] <= 16 else many)


def dropout(x, out, p, seed):
    n = x.numel()
    return lambda: dropout_kernel[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)


def layer_norm(x, y, w, b, mean, rstd, eps):
    rows, n = x.shape
    block = min(65536 // x.element_size(), triton.next_power_of_2(n))
    how = {"BLOCK": block, "num_warps": min(max(block // 256, 1), 8)}
    run = lambda: layer_norm_kernel[(rows,)](x, y, w, b, mean, rstd, x.stride(0), n, eps, **how)
    return run, spelled(how)


def layer_norm_backward(x, dy, w, mean, rstd, dx, dw, db):
    rows, n = x.shape
    group = 256 if n <= 1024 else 128 if n <= 4096 else 96 if n <= 8192 else 64
    block = min(65536 // x.element_size(), triton.next_power_of_2(n))
    how = {"GROUP": group, "BLOCK": block, "num_warps": min(max(block // 256, 1), 8)}
    locks = torch.zeros(2 * group, dtype=torch.int32, device=x.device)
    part_w, part_b = (torch.zeros((group, n), dtype=w.dtype, device=x.device) for _ in range(2))

    def run():
        locks.zero_()
        operands = (dx, dy, part_w, part_b, x, w, mean, rstd, locks, x.stride(0), n)
        layer_norm_dx_kernel[(rows,)](*operands, **how)
        grid = (triton.cdiv(n, 128),)
        layer_norm_dwdb_kernel[grid](part_w, part_b, dw, db, min(group, rows), n, BM=32, BN=128)

    return run, spelled(how)


def attention(q, k, v, out, causal):
    heads, tokens, columns = q.shape
    sizes = (columns**-0.5, q.stride(0), q.stride(1), tokens)
    tuned = []
    for bm, bn, stages, warps in itertools.product((128, 64), (64, 128, 32), (3, 4, 2), (4, 8)):
        # What the tutorial leaves out on Hopper, too.
        if bn > columns or bm * bn < 128 * 128 and warps == 8 or causal and bm < bn:
            continue
        how = {"BM": bm, "BN": bn, "num_stages": stages, "num_warps": warps}
        grid = (triton.cdiv(tokens, bm), heads)
        run = lambda grid=grid, how=how: attention_kernel[grid](q, k, v, out, *sizes, D=columns, CAUSAL=causal, **how)
        tuned.append((spelled(how), run))
    return tuned


def asin(x, out):
    n = x.numel()
    return lambda: asin_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


def grouped(a, b, c):
    device = a[0].device
    addresses = [torch.tensor([one.data_ptr() for one in each], dtype=torch.int64, device=device) for each in (a, b, c)]
    sizes = [size for x, y in zip(a, b) for size in (x.shape[0], y.shape[1], x.shape[1])]
    pitches = [one.stride(0) for each in zip(a, b, c) for one in each]
    sizes, pitches = (torch.tensor(each, dtype=torch.int32, device=device) for each in (sizes, pitches))
    tuned = []
    tiles = ((128, 128, 32), (64, 64, 32))
    listed = [(*tile, programs) for tile in tiles for programs in (84, 128)]
    for bm, bn, bk, programs in [*listed, (128, 128, 64, multiprocessors()), (64, 128, 64, multiprocessors())]:
        # Its accesses have no masks.
        if any(x.shape[0] % bm or y.shape[1] % bn or x.shape[1] % bk for x, y in zip(a, b)):
            continue
        how = {"BM": bm, "BN": bn, "BK": bk, "PROGRAMS": programs}
        run = lambda how=how: grouped_kernel[(how["PROGRAMS"],)](*addresses, sizes, pitches, len(a), **how)
        tuned.append((spelled(how), run))
    return tuned


def persistent(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    sizes = (m, n, k, *a.stride(), *b.stride(), *c.stride())
    # With one flat loop, as the tutorial has it, Triton 3.6 keeps fewer stages of operands that are no descriptors; so both are tried.
    listed = itertools.product((256, 128), (64, 128), (3, 4), (8, 4), (False, True))
    tuned = []
    for bn, bk, stages, warps, flat in listed:
        how = {"BM": 128, "BN": bn, "BK": bk, "FLATTEN": flat, "num_stages": stages, "num_warps": warps}
        programs = multiprocessors()
        grid = (min(programs, triton.cdiv(m, 128) * triton.cdiv(n, bn)),)
        run = lambda grid=grid, how=how: persistent_kernel[grid](a, b, c, *sizes, GROUP=8, PROGRAMS=grid[0], **how)
        tuned.append((spelled(how), run))
    return tuned


def rotary(x, cos, sin, out):
    heads, positions, columns = x.shape
    how = {"ROWS": 32, "num_warps": 4}
    grid = (triton.cdiv(positions, 32), heads)
    return lambda: rotary_kernel[grid](x, cos, sin, out, positions, D=columns, **how), spelled(how)


def scan(a, b, h):
    steps, channels = a.shape
    how = {"T": 64, "C": 32, "num_warps": 8}
    grid = (triton.cdiv(channels, 32),)
    return lambda: scan_kernel[grid](a, b, h, steps, channels, **how), spelled(how)


def histogram(x, counts):
    n = x.numel()
    how = {"BLOCK": 2048, "num_warps": 4}

    def run():
        counts.zero_()
        histogram_kernel[(triton.cdiv(n, 2048),)](x, counts, n, **how)

    return run, spelled(how)
