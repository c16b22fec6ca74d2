#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what ran by lines and branches of the sources, whichever instantiation of a template it was.

Usage: ci/coverage_by_source.py COVERAGE.json PERCENT FILE...

COVERAGE.json is gcovr's. Exits 0 if and only if PERCENT of all lines ran, and every branch of the FILEs.
A statement that throws, or calls what refuses, has branches of the compiler's besides its conditions (each
temporary may have to be destroyed, or not): of its lines only as many count as its conditions have. A line
that was inlined several times has its branches as often: copies count as one. A line without a condition has
none that count.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THROWS = re.compile(r"\bthrow\b|\brequire\w*\(|\brefuse\w*\(")
JOINED = re.compile(r"&&|\|\|")
CONDITION = re.compile(r"\?|\b(?:if|while|for)\b")


def conditions_of(code):
    joined = len(JOINED.findall(code))
    return joined + (len(CONDITION.findall(code)) or (1 if joined else 0))


def conditions_of_throwing_lines(text):
    """Line -> number of conditions, of the lines of statements that throw."""
    found = {}
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        code = line.partition("//")[0]
        begin = THROWS.search(code)
        if begin and not inside and begin.group() == "throw":
            found[number] = conditions_of(code[: begin.start()])
        elif begin or inside:
            found[number] = conditions_of(code)
        if begin or inside:
            inside = not code.rstrip().endswith((";", "{", "}"))
    return found


def by_line(file):
    """Line -> [its count in each instantiation], and line -> {branch: count in all}."""
    counts, branches = defaultdict(list), defaultdict(lambda: defaultdict(int))
    for line in file["lines"]:
        counts[line["line_number"]].append(line["count"])
        for branch in line["branches"]:
            branches[line["line_number"]][branch["branchno"]] += branch["count"]
    return counts, branches


def branches_that_count(name, branches):
    """(line, count) of every branch."""
    text = (ROOT / name).read_text(encoding="utf-8")
    throwing = conditions_of_throwing_lines(text)
    lines = text.split("\n")
    for number, by_branch in sorted(branches.items()):
        counts = [count for _, count in sorted(by_branch.items())]
        wanted = 2 * throwing.get(number, conditions_of(lines[number - 1].partition("//")[0]))
        if number in throwing or wanted == 0:
            counts = counts[:wanted]
        elif len(counts) % wanted == 0:
            counts = [sum(counts[i::wanted]) for i in range(wanted)]
        yield from ((number, count) for count in counts)


def main():
    report, percent, wanted = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    files = {file["file"]: file for file in json.loads(Path(report).read_text(encoding="utf-8"))["files"]}
    failed = [f"{name}: nothing of it was counted" for name in wanted if name not in files]
    ran = total = 0
    for name, file in sorted(files.items()):
        counts, branches = by_line(file)
        lines_ran = sum(max(of_line) > 0 for of_line in counts.values())
        ran += lines_ran
        total += len(counts)
        if name not in wanted:
            continue
        counted = list(branches_that_count(name, branches))
        missed = [number for number, count in counted if count == 0]
        print(f"  {name}: branches {len(counted) - len(missed)} of {len(counted)}, lines {lines_ran} of {len(counts)}")
        failed += [f"{name}:{number}: a branch never ran" for number in missed]
    share = 100 * ran / max(total, 1)
    print(f"coverage: lines {ran} of {total} ({share:.1f} %)")
    if share < percent:
        failed.append(f"lines: less than {percent} %")
    print("\n".join(failed) if failed else "coverage: as wanted", file=sys.stderr if failed else sys.stdout)
    return 1 if failed else 0


sys.exit(main())
