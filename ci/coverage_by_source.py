#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what ran by lines and branches of the sources, whichever instantiation of a template it was.

Usage: ci/coverage_by_source.py REPORT.json BUILD PERCENT FILE...

REPORT.json is gcovr's, for the lines. Branches are what gcov itself says of every object under BUILD: gcovr drops
those of functions that were inlined. Exits 0 if and only if PERCENT of all lines ran, and in the FILEs both ways
of every condition, and every `require...(` refused something. An `if` or `while` of which gcov knows no branch counts
as one that never ran; of conditions that the compiler made one, or took out, there is less to run. Not counted are
branches of exceptions that calls throw, and lines that say GCOV_EXCL_BR_LINE, with the reason.
"""

import collections
import json
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GCOV = os.environ.get("GCOV", "gcov")
REFUSES = re.compile(r"(?:\btokkos::|(?<![\w:]))(require\w*)\(")
DEFINES = re.compile(r"\b(?:void|auto)\s+(?:\w+::)*require\w*\(")
JOINED = re.compile(r"(?<= )(?:&&|\|\|)(?= |$)")  # not the && of a reference
CONDITION = re.compile(r"\?|\b(?:if|while|for)\b")
EXCLUDED = "GCOV_EXCL_BR_LINE"
CONTROL = re.compile(r"\s*(?:\} else )?(?:if|while) \(")
STATIC = re.compile(r"\bif constexpr\b|\bstatic_assert\b|\brequires\b|#|\bfor \([^;]*\) \{?$")


def code_of(line):
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.partition("//")[0])


def conditions_of(code):
    """How many conditions a line has, each with two branches."""
    joined = len(JOINED.findall(code))
    return joined + (len(CONDITION.findall(code)) or (1 if joined else 0))


def refusals_of(lines):
    """First line -> last line of the statements that refuse what does not hold."""
    found, number = {}, 0
    while number < len(lines):
        code = code_of(lines[number])
        begin = number
        if REFUSES.search(code) and not DEFINES.search(code) and "if constexpr" not in code:
            while not code.rstrip().endswith((";", "{")) and number + 1 < len(lines):
                number += 1
                code = code_of(lines[number])
            if code.rstrip().endswith(";"):
                found[begin + 1] = number + 1
        number += 1
    return found


def is_ours(name):
    return name.startswith(("include/tokkos/", "src/", "tools/"))


def relative(name):
    path = Path(name)
    return os.path.relpath(path, ROOT) if path.is_absolute() else name


def gcov(*options):
    return subprocess.run([GCOV, "-b", *options], cwd=ROOT, capture_output=True, text=True, errors="replace").stdout


def branches_of(file):
    """(file, line) -> the counts of its branches, those of exceptions left out, in each instantiation."""
    found = collections.defaultdict(list)
    for text in gcov("--json-format", "--stdout", file).splitlines():
        if not text.strip():
            continue
        for source in json.loads(text)["files"]:
            name = relative(source["file"])
            if not is_ours(name):
                continue
            for line in source["lines"]:
                counts = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                found[(name, line["line_number"])] += [counts] if counts else []
    return dict(found)


LINE = re.compile(r"\s*(-|#####|=====|\d+)\*?:\s*(\d+):")
CALL = re.compile(r"call\s+\d+ (?:returned (\d+)|never executed)")
BRANCH = re.compile(r"branch\s+\d+ (?:taken (\d+)|never executed)(.*)")


def refused_in(file, refusals):
    """The (file, first line) of statements that refused something in this object."""
    found, name, statement = set(), "", None

    def close():
        if statement is not None and did_refuse(statement):
            found.add((name, statement["first"]))

    for text in gcov("-c", "-t", file).splitlines():
        match = LINE.match(text)
        if match and match[2] == "0":
            if "Source:" in text:
                close()
                statement = None
                name = relative(text.split("Source:")[1])
            continue
        if name not in refusals:
            continue
        if match:
            number = int(match[2])
            if statement is not None and not statement["first"] < number <= statement["last"]:
                close()
                statement = None
            count = int(match[1]) if match[1].isdigit() else 0
            if number in refusals[name]:
                statement = {"first": number, "last": refusals[name][number], "count": count, "calls": [], "branches": []}
                statement["is_if"] = match.string[match.end() :].lstrip().startswith(("if (", "} else if ("))
        elif statement is not None:
            call, branch = CALL.match(text), BRANCH.match(text)
            if call and call[1]:
                statement["calls"].append(int(call[1]))
            elif branch:
                statement["branches"].append((int(branch[1] or 0), "throw" in branch[2]))
    close()
    return found


def did_refuse(statement):
    """Whether what throws was thrown through, or the last call came back less often than it was entered."""
    branches = statement["branches"]
    if any(count > 0 and throws for count, throws in branches):
        return True
    if not statement["calls"]:
        return False
    returned = statement["calls"][-1]
    ways_in = [count for count, throws in branches[:2] if not throws] if statement["is_if"] else [statement["count"]]
    return any(ways_in) and min((count for count in ways_in if count >= returned), default=returned) > returned


def read(arguments):
    file, refusals = arguments
    return branches_of(file), refused_in(file, refusals)


def by_source(build, refusals):
    """The lines that gcov knows, the branches of each, and the statements that refused."""
    lines, branches, refused = set(), collections.defaultdict(list), set()
    files = sorted(str(file) for file in Path(build).rglob("*.gcda"))
    with multiprocessing.Pool() as pool:
        for found, of_object in pool.imap_unordered(read, [(file, refusals) for file in files], chunksize=4):
            refused |= of_object
            for place, counts in found.items():
                lines.add(place)
                branches[place] += counts
    return lines, branches, refused


def ways(instantiations, conditions):
    """How often each way of a line's conditions was taken: of a line that was inlined several times the copies
    count as one, and so do instantiations in which the compiler left as many branches."""
    sums = {}
    for counts in instantiations:
        if len(counts) % (2 * conditions) == 0:
            counts = [sum(counts[way :: 2 * conditions]) for way in range(2 * conditions)]
        sums[len(counts)] = [sum(pair) for pair in zip(counts, sums.get(len(counts), [0] * len(counts)))]
    return min(sums.values(), key=lambda taken: (taken.count(0), -len(taken)), default=[])


def lines_that_ran(report):
    """How many lines ran, and of how many."""
    ran = {}
    for file in json.loads(Path(report).read_text(encoding="utf-8"))["files"]:
        for line in file["lines"]:
            place = (file["file"], line["line_number"])
            ran[place] = ran.get(place, False) or line["count"] > 0
    return sum(ran.values()), len(ran)


def main():
    report, build, percent, wanted = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    texts = {name: (ROOT / name).read_text(encoding="utf-8").split("\n") for name in wanted}
    refusals = {name: refusals_of(lines) for name, lines in texts.items()}
    lines, branches, refused = by_source(build, refusals)
    names = {name for name, _ in lines}
    failed = [f"{name}: nothing of it was counted" for name in wanted if name not in names]
    for name in (name for name in wanted if name in names):
        total = missed = 0
        inside = {line for first, last in refusals[name].items() for line in range(first, last + 1)}
        for number, line in enumerate(texts[name], 1):
            conditions = conditions_of(code_of(line))
            if (name, number) not in lines or conditions == 0 or STATIC.search(line) or EXCLUDED in line:
                continue
            taken = ways(branches.get((name, number), []), conditions)
            if not taken and number not in inside and CONTROL.match(line):
                taken = [0, 0]  # gcov knows of no branch
            total += len(taken)
            missed += taken.count(0)
            failed += [f"{name}:{number}: a branch never ran: {line.strip()}"] * taken.count(0)
        for first in refusals[name]:
            if all((name, line) not in lines for line in range(first, refusals[name][first] + 1)):
                continue
            total += 1
            if (name, first) not in refused:
                missed += 1
                failed.append(f"{name}:{first}: never refused anything: {texts[name][first - 1].strip()}")
        print(f"  {name}: branches and refusals {total - missed} of {total}")
    ran, known = lines_that_ran(report)
    share = 100 * ran / max(known, 1)
    print(f"coverage: lines {ran} of {known} ({share:.1f} %)")
    if share < percent:
        failed.append(f"lines: less than {percent} %")
    print("\n".join(failed) if failed else "coverage: as wanted", file=sys.stderr if failed else sys.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
