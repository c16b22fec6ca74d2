# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""safetensors files of small lists: float32, and int32 where asked for."""

import json
import struct


def shape_of(values):
    return [len(values)] + (shape_of(values[0]) if isinstance(values[0], list) else [])


def flat(values):
    return [x for row in values for x in flat(row)] if isinstance(values, list) else [values]


def write(path, tensors, integers=()):
    """@param tensors name: nested lists"""
    header, data = {}, b""
    for name, values in tensors.items():
        kind, letter = ("I32", "i") if name in integers else ("F32", "f")
        numbers = flat(values)
        packed = struct.pack(f"<{len(numbers)}{letter}", *numbers)
        offsets = [len(data), len(data) + len(packed)]
        header[name] = {"dtype": kind, "shape": shape_of(values), "data_offsets": offsets}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    """@return name: nested lists"""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + x for x in entry["data_offsets"])
        letter = {"F32": "f", "I32": "i"}[entry["dtype"]]
        values = list(struct.unpack(f"<{(end - begin) // 4}{letter}", content[begin:end]))
        for extent in reversed(entry["shape"][1:]):
            values = [values[i : i + extent] for i in range(0, len(values), extent)]
        tensors[name] = values
    return tensors
