#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the first seeds of each harness to seeds/; `ci/fuzz --seeds` adds those that a fuzzer found."""

import json
import pathlib
import random
import struct

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"


def write(harness, name, content):
    (SEEDS / harness).mkdir(parents=True, exist_ok=True)
    (SEEDS / harness / name).write_bytes(content)


def json_text(data_bytes, rows, text):
    return b"\x02" + struct.pack("<HB", data_bytes, rows) + text.encode()


def file_bytes(data_bytes, text):
    return b"\x03\x00" + struct.pack("<H", data_bytes) + text.encode()


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write_files():
    request = {
        "id": "a", "temperature": 0.7, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "seed": 3, "masked": False,
        "presence_penalty": 0.5, "frequency_penalty": 0.25, "repetition_penalty": 1.5, "logprobs": "raw",
        "top_logprobs": 2, "logit_bias": {"3": 1.5, "4": "-Infinity"}, "prompt_token_ids": [1, 2],
        "generated_token_ids": [3], "num_tokens": 2,
        "draft": {"token_ids": [1, 2], "parents": [-1, 0], "rows": [-1, 1]},
    }
    write("files", "request", json_text(0, 2, json.dumps({"policy": "seed", "requests": [request]})))
    header = {"__metadata__": {"a": "b"}, "logits": tensor("F32", [2, 3], 0, 24), "b": tensor("I32", [1], 24, 28)}
    write("files", "header", json_text(28, 0, json.dumps(header)))
    write("files", "deep", json_text(0, 0, '{"a":' * 40))
    write("files", "replay", file_bytes(20, json.dumps({"logits": tensor("F32", [1, 5], 0, 20)})))
    trees = {"model_probs": tensor("F32", [1, 2], 0, 8), "draft_probs": tensor("F32", [1, 2], 8, 16)}
    names = ["draft_tokens", "token_tree_first_child", "token_tree_next_sibling", "token_tree_parent_ptr"]
    for i, name in enumerate(names):
        trees[name] = tensor("I32", [1], 16 + 4 * i, 20 + 4 * i)
    trees["uniform_samples"] = tensor("F32", [1], 32, 36)
    write("files", "verify", file_bytes(36, json.dumps(trees)))


def main():
    write_files()
    source = random.Random(1)
    for harness, modes in (("files", (0, 1)), ("step", (0,)), ("trees", (0,)), ("verifier", (0,)), ("c_api", (0, 1, 2, 3, 240))):
        for mode in modes:
            for i in range(8):
                # Bytes of 248 and more plant bad values: in half of the seeds there are none.
                most = 255 if i % 2 else 247
                length = 32 << (i // 2 % 4)
                content = bytes(source.randint(0, most) for _ in range(length))
                write(harness, f"random-{mode}-{i}", bytes([mode]) + content if len(modes) > 1 else content)
        write(harness, "empty", b"")


main()
