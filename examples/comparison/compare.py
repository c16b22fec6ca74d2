#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Replays one case of docs/comparison.md with the command `tokkos`, prints what Tokkos gives beside what
other systems give, and fails unless Tokkos gives what the case says, and unless what the case
says of anyone follows from the rules that it names (plain.py).

Usage: compare.py TOKKOS CASE.json [--keep FOLDER]   (FOLDER: for the files of the replay)
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import plain
import tensors

INTEGERS = ("bitmask", "draft_tokens", "token_tree_first_child", "token_tree_next_sibling",
            "token_tree_parent_ptr")
NAMES = {"ln": math.log, "exp": math.exp, "sqrt": math.sqrt, "inf": math.inf, "nan": math.nan}


def number(value):
    """A number, or a text such as "8/15", "ln 4", "-inf"."""
    if not isinstance(value, str):
        return value
    text = value.replace("ln ", "ln(") + ")" if value.startswith("ln ") else value
    return eval(text, {"__builtins__": {}}, NAMES)  # the repository's own text


def numbers(values):
    return [numbers(x) for x in values] if isinstance(values, list) else number(values)


def close(a, b):
    """Equal within what float32 may be off."""
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= 2e-6 * max(1.0, abs(b))


def same(name, got, expected, whose):
    got, expected = tensors.flat(got), tensors.flat(expected)
    if len(got) != len(expected) or not all(map(close, got, expected)):
        sys.exit(f"{whose}: {name} is {got}, expected {expected}")


def shown(values):
    if isinstance(values, list):
        return "[" + ", ".join(shown(x) for x in values) + "]"
    return f"{values:.6g}" if isinstance(values, float) else str(values)


def run_command(command, case, run, folder):
    """What Tokkos gives: the tensors of its output."""
    stem = folder / f"{run['name']}".replace(" ", "_")
    source, output = f"{stem}.in.safetensors", f"{stem}.out.safetensors"
    tensors.write(source, {k: numbers(v) for k, v in case["input"].items()}, INTEGERS)
    if "requests" in run:
        Path(f"{stem}.json").write_text(json.dumps(run["requests"]))
        arguments = ["replay", "--logits", source, "--requests", f"{stem}.json", "--truncated"]
    else:
        arguments = ["verify", "--tree", source, "--rule", run["rule"]]
    arguments = [command, *arguments, "--output", output]
    print("  " + " ".join(arguments))
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    return tensors.read(output)


def follow(case, request, row, rule):
    """What a rule of a case makes of a row: its edited logits, or its distribution."""
    if "policy" in rule:
        return {"logits": plain.penalize(row, rule["policy"], request)}
    p = plain.distribution(row, request, rule["order"], rule.get("ties", "id"))
    result = {"truncated_probs": p}
    u = plain.uniform(request) if rule.get("draw") == "philox" else None
    if u is not None:
        result["tokens"] = plain.draw(p, u)
    return result


def check_rule(case, run, rule, gives, whose):
    """Every row of what is said to be given must follow from the rule."""
    rows = numbers(case["input"]["logits"])
    for i, request in enumerate(run["requests"]["requests"]):
        computed = follow(case, request, rows[i], rule)
        for name in set(computed) & set(gives):
            same(name, computed[name], numbers(gives[name])[i], f"{whose} by its rule, row {i}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("case", type=Path)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    case = json.loads(arguments.case.read_text())
    print(case["title"])
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for run in case["runs"]:
            got = run_command(arguments.command, case, run, folder)
            for name, expected in run["gives"].items():
                same(name, got[name], numbers(expected), f"Tokkos, {run['name']}")
                print(f"  Tokkos, {run['name']}: {name} {shown(got[name])}")
            if "rule" in run and "requests" in run:
                check_rule(case, run, run["rule"], run["gives"], f"Tokkos, {run['name']}")
    for other in case["others"]:
        run = case["runs"][other.get("run", 0)]
        if "as" in other:
            gives = next(r for r in case["runs"] if r["name"] == other["as"])["gives"]
            told = f"as Tokkos, {other['as']}"
        else:
            gives = other["gives"]
            told = ", ".join(f"{k} {shown(numbers(v))}" if isinstance(v, list) else v
                             for k, v in gives.items())
        if "rule" in other:
            check_rule(case, run, other["rule"], gives, other["system"])
        print(f"  {other['system']}: {told}  ({other['source']})")


main()
