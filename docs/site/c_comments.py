#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's filter for tokkos.h: prints it with its plain C comments as documentation comments. The licence
and the titles of sections stay plain; what stands behind a member or an enumerator belongs to it. What the
header says once for all (its rules for create, destroy, init and size) is added where it holds."""

import re
import sys

PLAIN = re.compile(r"/\* (----|clang-format)")
# What is said once, for declarations without a comment of their own: on a line of its own before, or behind.
RULES = (
    (r"TOKKOS_API void (\w+)_init\(", "Fills in the defaults of a struct that is `size` bytes long; see {0}_default()."),
    (r"TOKKOS_API tokkos_status \w+_create\(", "Makes an object; see Ownership."),
    (r"TOKKOS_API tokkos_status \w+_destroy\(", "Ends the object; null is fine. See Ownership."),
    (r"typedef struct (\w+) \1;", "An object; see Ownership."),
)
MEMBERS = (
    (r"  size_t size;", "as {name}_default() sets it"),
    (r"  int32_t reserved;", "0"),
    (r"  size_t \w*count;", "how many there are"),
)


def documented(text):
    licence, _, rest = text.partition("*\n")
    yield f"{licence}*/\n/** @file\n"
    name, is_told = "", False
    for line in rest.splitlines(keepends=True):
        before, opening, _ = line.partition("/*")
        if opening and not PLAIN.search(line):
            line = line.replace("/*", "/**<" if before.strip() else "/**", 1)
        for pattern, words in RULES:
            found = re.match(pattern, line)
            if found and not is_told:
                line = f"/** {words.format(*found.groups())} */ {line}"
        struct = re.match(r"typedef struct (\w+) {", line)
        name = struct[1] if struct else name
        for pattern, words in MEMBERS:
            if re.fullmatch(pattern + "\n", line):
                line = f"{line[:-1]} /**< {words.format(name=name)} */\n"
        is_told = line.rstrip().endswith("*/") and "/**<" not in line or (is_told and not line.strip())
        yield line


with open(sys.argv[1], encoding="utf-8") as header:
    sys.stdout.writelines(documented(header.read()))
