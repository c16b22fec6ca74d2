# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Small stand-ins for the parts of Spack that the recipe uses, so that it can be imported and asked what it
would do where Spack is not installed. They know what the recipe needs and no more: conditions are lists of
variants of the package, versions and compilers are compared by the few forms that the recipe has."""

import importlib.util
import re
import sys
import types

CUDA_ARCHITECTURES = ("70", "80", "90", "100")
AMDGPU_TARGETS = ("gfx90a", "gfx942")


class Directives:
    """What the directives of a class were called with; classes begin with a fresh one."""

    def __init__(self):
        self.variants, self.dependencies, self.conflicts, self.versions = [], [], [], []


collected = Directives()


def variant(name, default=None, description="", values=(True, False), multi=False, sticky=False, when=None):
    assert description, f"variant {name} has no description"
    collected.variants.append({"name": name, "default": default, "values": values, "when": when})


def depends_on(spec, when=None, type=("build", "link")):  # noqa: A002, as Spack calls it
    types_of_it = (type,) if isinstance(type, str) else type
    assert set(types_of_it) <= {"build", "link", "run", "test"}, types_of_it
    collected.dependencies.append({"spec": spec, "when": when, "types": types_of_it})


def conflicts(spec, when=None, msg=None):
    assert msg, f"the conflict {spec} has no message"
    collected.conflicts.append({"spec": spec, "when": when, "message": msg})


class CMakePackage:
    run_tests = False

    @staticmethod
    def define(name, value):
        if isinstance(value, bool):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
        text = ";".join(str(one) for one in value) if isinstance(value, (list, tuple)) else str(value)
        return f"-D{name}:STRING={text}"

    def define_from_variant(self, name, of):
        known = [one["name"] for one in self.directives.variants]
        assert of in known, f"there is no variant {of}"
        return self.define(name, self.spec.values[of]) if of in self.spec.values else ""


class CudaPackage:
    cuda_arch_values = CUDA_ARCHITECTURES
    inherited_variants = ({"name": "cuda", "default": False, "values": (True, False), "when": None},)


class ROCmPackage:
    amdgpu_targets = AMDGPU_TARGETS
    inherited_variants = ({"name": "rocm", "default": False, "values": (True, False), "when": None},)


def load(recipe):
    """The class of a recipe, with `directives`: what it declared, its bases included."""
    directives = collected
    offered = {
        "variant": variant,
        "depends_on": depends_on,
        "conflicts": conflicts,
        "version": lambda name, **more: collected.versions.append((name, more)),
        "license": lambda name: None,
        "run_after": lambda phase: lambda method: method,
        "join_path": lambda *parts: "/".join(parts),
    }
    modules = {
        "spack": {},
        "spack.package": offered,
        "spack_repo": {},
        "spack_repo.builtin": {},
        "spack_repo.builtin.build_systems": {},
        "spack_repo.builtin.build_systems.cmake": {"CMakePackage": CMakePackage},
        "spack_repo.builtin.build_systems.cuda": {"CudaPackage": CudaPackage},
        "spack_repo.builtin.build_systems.rocm": {"ROCmPackage": ROCmPackage},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(contents)
        module.__path__ = []
        sys.modules[name] = module
    specification = importlib.util.spec_from_file_location("recipe", recipe)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    package = next(one for one in vars(module).values() if isinstance(one, type) and CMakePackage in one.__bases__)
    inherited = [one for base in package.__bases__ for one in getattr(base, "inherited_variants", ())]
    directives.variants[:0] = [dict(one) for one in inherited]
    package.directives = directives
    return package


CONDITION = re.compile(r"(?P<flag>[+~])(?P<name>[a-z_]+)|(?P<key>[a-z_]+)=(?P<value>[\w,]+)|(?P<other>[%^@]\S.*)")


def holds(condition, values, beside=()):
    """Whether variants have the values of a condition; what else it names (a compiler, a dependency) is looked
    for in `beside`, as it is written."""
    if condition is None:
        return True
    for match in CONDITION.finditer(condition):
        if match["flag"]:
            if values.get(match["name"]) is not (match["flag"] == "+"):
                return False
        elif match["key"]:
            if str(values.get(match["key"])) != match["value"]:
                return False
        elif match["other"] not in beside:
            return False
    return True


class Spec:
    """What is asked for ("+cuda cuda_arch=90 ~openmp"), with the defaults of all other variants."""

    def __init__(self, package, request, tests=False):
        directives = package.directives
        asked = {}
        self.beside = []
        for match in CONDITION.finditer(request):
            if match["flag"]:
                asked[match["name"]] = match["flag"] == "+"
            elif match["key"]:
                asked[match["key"]] = match["value"]
            else:
                self.beside.append(match["other"])
        self.values = {}
        for one in directives.variants:
            if holds(one["when"], {**self.values, **asked}):
                self.values[one["name"]] = asked.get(one["name"], one["default"])
        unknown = set(asked) - set(self.values)
        assert not unknown, f"no such variants here: {unknown}"
        self.refusals = [
            one["message"]
            for one in directives.conflicts
            if holds(one["spec"], self.values, self.beside) and holds(one["when"], self.values, self.beside)
        ]
        self.dependencies = {}
        for one in directives.dependencies:
            wanted = tests or set(one["types"]) != {"test"}
            if wanted and holds(one["when"], self.values, self.beside):
                name, constraint = re.match(r"([a-z0-9-]+)\s*(.*)", one["spec"]).groups()
                self.dependencies.setdefault(name, set()).update(constraint.split())

    def satisfies(self, condition):
        return holds(condition, self.values, self.beside)

    def __getitem__(self, name):
        assert name in self.dependencies or name == "hip", f"{name} is not a dependency"
        return types.SimpleNamespace(prefix=f"/prefix/{name}", hipcc="/prefix/hip/bin/hipcc")


def make(package, request, tests=False):
    """A package as the recipe would be built for a request."""
    made = package()
    made.spec = Spec(package, request, tests)
    made.run_tests = tests
    wrapped = types.SimpleNamespace(kokkos_cxx="/prefix/kokkos-nvcc-wrapper/bin/nvcc_wrapper")
    type(made).__getitem__ = lambda self, name: wrapped
    return made
