# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""What ci/gpu, ci/cuda and ci/cuda-registers share: which GPU there is, and builds for one."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Kokkos's name of an architecture, by compute capability and by AMD's own name.
NVIDIA = {
    "7.0": "VOLTA70",
    "7.5": "TURING75",
    "8.0": "AMPERE80",
    "8.6": "AMPERE86",
    "8.9": "ADA89",
    "9.0": "HOPPER90",
    "10.0": "BLACKWELL100",
    "12.0": "BLACKWELL120",
}
AMD = {name: "AMD_" + name.upper() for name in ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100")}


class Stop(Exception):
    """What ends a script with one line."""


@dataclasses.dataclass
class Device:
    backend: str  # the preset, cuda or hip
    architecture: str  # Kokkos's name
    name: str


def output_of(*command):
    """What a program prints; empty if it is not there or fails."""
    if not shutil.which(command[0]):
        return ""
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else ""


def present_device():
    """Backend, compiler, known architectures, capability and name of this machine's first GPU, or None."""
    listed = output_of("nvidia-smi", "--query-gpu=compute_cap,name,driver_version", "--format=csv,noheader")
    found = re.match(r"(\d+\.\d+), ([^,]+), (\S+)", listed)
    if found:
        capability, name, driver = found.groups()
        return "cuda", "nvcc", NVIDIA, capability, f"{name}, driver {driver}"
    agents = output_of("rocminfo")
    found = re.search(r"Name:\s+(gfx[0-9a-f]+)\b.*?Marketing Name:\s+([^\n]+)", agents, re.S)
    if found:
        return "hip", "hipcc", AMD, found.group(1), found.group(2).strip()
    return None


def find_device(named=None):
    """The first GPU of this machine, built for by the architecture that was named, if one was. Stops if there
    is none, or its compiler or architecture is not known."""
    present = present_device()
    if present is None:
        raise Stop("no GPU: neither nvidia-smi nor rocminfo names one")
    backend, compiler, architectures, key, name = present
    if named:
        architectures = {key: named}
    if key not in architectures:
        raise Stop(f"{name} ({key}): not among the known architectures {', '.join(architectures)}; name it with --arch")
    if not shutil.which(compiler):
        raise Stop(f"{name}: there is no {compiler} on the PATH")
    return Device(backend, architectures[key], name)


GRACE = 10  # seconds that a command has to end when it is interrupted


def stop(process):
    """Ends a process group. Ninja and CTest end what they started in groups of its own when they are
    interrupted, and not when they are killed."""
    for sent, grace in ((signal.SIGINT, GRACE), (signal.SIGKILL, None)):
        if process.poll() is not None:
            return
        os.killpg(process.pid, sent)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            pass


def run_limited(command, log, limit=None, environment=None):
    """Runs a command and all that it starts, its output appended to a file. Returns its status; None if
    the time was up."""
    with open(log, "a") as file:
        file.write("$ " + " ".join(str(word) for word in command) + "\n")
        file.flush()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, **(environment or {})),
            start_new_session=True,
        )
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            stop(process)


def configure_command(backend, folder, options):
    """Configures the preset of a backend in a folder."""
    return ["cmake", "--preset", backend, "-B", str(folder), *(f"-D{name}={value}" for name, value in options.items())]


def build_command(folder, *targets, jobs=None, more=()):
    command = ["cmake", "--build", str(folder), *more]
    if targets:
        command += ["--target", *targets]
    return command + (["--parallel", str(jobs)] if jobs else [])
