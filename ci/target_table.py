# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""What ci/bench and ci/gpu share: running named benchmarks, and the table of target, measured figure and verdict."""

import dataclasses
import json
import os
import subprocess


@dataclasses.dataclass
class Line:
    """A line of the table: the measured figure must reach the limit, or stay at or below it."""

    what: str
    limit: float
    measured: float
    at_least: bool = False
    unit: str = "x"

    @property
    def met(self):
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def run_benchmarks(program, names, output, machine, environment=None, limit=None, repetitions=1):
    """Runs the named benchmarks, writes Google Benchmark's JSON to `output`, with the machine in its
    context, and returns {name: counters}: of several repetitions, each on memory of its own, the medians."""
    # Of the characters in names, a point alone means something in an extended regular expression.
    pattern = "^(" + "|".join(n.replace(".", "[.]") for n in sorted(set(names))) + ")$"
    command = [str(program), f"--benchmark_filter={pattern}", f"--benchmark_out={output}"]
    if repetitions > 1:
        # In random order, so that what slows the machine for a second spoils one repetition of some benchmark.
        command += [f"--benchmark_repetitions={repetitions}", "--benchmark_report_aggregates_only=true"]
        command += ["--benchmark_enable_random_interleaving=true"]
    subprocess.run(
        command,
        env=dict(os.environ, **(environment or {})),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=limit,
    )
    report = json.loads(output.read_text())
    report["context"]["machine"] = machine
    report["context"].pop("host_name", None)
    report["context"].pop("executable", None)
    # Google Benchmark's own build, which only counts iterations.
    report["context"]["google_benchmark_build_type"] = report["context"].pop("library_build_type", None)
    report["context"].pop("library_build_type_is_of", None)
    if repetitions > 1:
        report["context"]["repetitions"] = repetitions
        report["benchmarks"] = [b for b in report["benchmarks"] if b["aggregate_name"] == "median"]
        for benchmark in report["benchmarks"]:
            benchmark["name"] = benchmark["run_name"]
    output.write_text(json.dumps(report, indent=1) + "\n")
    return {b["name"]: b for b in report["benchmarks"]}


def print_table(machine, lines):
    """Prints the lines; True if every one is met."""
    print(f"{machine}\n\n{'what':<52}{'target':>9}{'measured':>11}  verdict")
    for line in lines:
        limit = f"{'>=' if line.at_least else '<='} {line.limit:g}{line.unit}"
        measured = f"{line.measured:.2f}{line.unit}"
        print(f"{line.what:<52}{limit:>9}{measured:>11}  {'met' if line.met else 'MISSED'}")
    return all(line.met for line in lines)
