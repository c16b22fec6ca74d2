# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""The targets of a GPU, by the counters of tokkos-bench."""

from target_table import Line


def share(ratio):
    """Of a benchmark whose time is `ratio` times that of its rival: the rival's part, in percent."""
    return 100.0 / ratio


def pairs(rows, kind, limit):
    """One read of the logits, at this share of the bandwidth that a read reaches."""
    name = f"measure/{kind}/{rows}/128256"
    return name, lambda r: Line(f"pairs only, {kind}, n = {rows}", limit, share(r["read_ratio"]), True, "%")


def probabilities(rows, moved, limit):
    """`moved` matrices read or written, at this share of the bandwidth of a copy, which moves two."""
    name = f"probabilities/float32/{rows}/128256"
    what = f"probabilities, n = {rows}, {moved} matrices moved"
    return name, lambda r: Line(what, limit, share(r["copy_ratio"]) * moved / 2, True, "%")


def on_device(what, name, limit):
    """Microseconds on the device, without the host's part in launches and fences."""
    return name, lambda r: Line(what, limit, 1e6 * r["device_seconds"], False, " us")


def speedup(what, name, limit):
    return name, lambda r: Line(what, limit, r["staged_speedup"], True)


TARGETS = [
    pairs(128, "float32", 85),
    pairs(512, "float32", 85),
    pairs(512, "bfloat16", 60),
    probabilities(256, 3, 85),
    probabilities(512, 3, 85),
    probabilities(16, 2, 80),
    probabilities(32, 2, 80),
    probabilities(64, 2, 80),
    *(on_device(f"probabilities, n = 1, V = {v}", f"probabilities/float32/1/{v}", 10) for v in (32000, 128256, 262144)),
    on_device("token, n = 1, V = 262144", "token/float32/1/262144", 10),
    speedup("token only against staged, n = 64", "token/float32/64/128256", 4),
    speedup("token only against staged, n = 512", "token/float32/512/128256", 4),
    on_device("lossless verify, 1 tree, one-hot drafts", "verify/float32/1/128256/one_hot_bonus", 10),
    on_device("lossless verify, 1 tree, one dense rejection", "verify/float32/1/128256/dense_one_rejection", 15),
]

NAMES = [name for name, _ in TARGETS]


def gpu_lines(results):
    """The lines of the table from {name: counters}."""
    return [line(results[name]) for name, line in TARGETS]
