"""Run another tool's own tests with the adapter of dpfast in its place.

    python tools/foreign_suites.py PATH --tool diffprivlib [--part tests/tools] [--list fails]

PATH is a checkout of the tool, whose tests stay where they are. An adapter that has the names of a
tool takes those of its modules; one that draws for a tool is installed in it. Then pytest runs the
tests, and each of them is counted once: it passes, fails, is refused for a reason that the adapter
states, or does not apply. It does not apply where it passes without reaching dpfast, fails without
the adapter too, tests a private part of the tool, or is in the table below, which says why. A test
that is refused for its seed runs again with seeds ignored. A tool is an entry of `SUITES`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.machinery
import importlib.util
import io
import multiprocessing
import os
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpfast
from dpfast.adapters import mbi
from dpfast.errors import DpfastError

KINDS = ("passes", "fails", "refused", "does not apply")
HOME = str(Path(dpfast.__file__).parent)
#: What became of each test, and why.
Found = dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Suite:
    """How the tests of a tool meet its adapter.

    Parameters
    ----------
    package : str
        The name under which the tests import the tool.
    installed : callable
        Returns the context in which the adapter is in the place of the tool.
    parts : tuple of str
        Folders and files of tests.
    apart : dict
        Patterns of tests that do not apply, and why.
    seeds : tuple of str
        Modules of the adapter whose `generator_of` refuses seeds.
    """

    package: str
    installed: Callable[[], AbstractContextManager[Any]]
    parts: tuple[str, ...]
    apart: dict[str, str] = field(default_factory=dict)
    seeds: tuple[str, ...] = ()


def named(
    package: str, modules: dict[str, str], helpers: dict[str, str]
) -> Callable[[], AbstractContextManager[Any]]:
    """Return what gives modules of an adapter the names of a tool's.

    Parameters
    ----------
    package : str
    modules : dict
        Patterns of its modules, and what stands for each: the first that matches.
    helpers : dict
        Further names of those modules, as "module:name".
    """

    @contextlib.contextmanager
    def installed() -> Iterator[None]:
        finder: Any = Finder(package, modules, helpers)
        sys.meta_path.insert(0, finder)
        yield
        sys.meta_path.remove(finder)

    return installed


def of(adapter: str) -> Callable[[], AbstractContextManager[Any]]:
    """Return `installed` of an adapter that draws for a tool."""
    return lambda: importlib.import_module(OURS + adapter).installed()


@contextlib.contextmanager
def drawn() -> Iterator[None]:
    """Let dpsynth, which takes generators of NumPy, draw and select by dpfast."""

    def generator(seed: Any = None) -> Any:
        return dpfast.rng.generator() if seed is None or isinstance(seed, int) else seed

    def select(
        scores: Any, epsilon: Any, sensitivity: Any, rng: Any, monotonic: Any = False
    ) -> Any:
        return mbi.exponential_mechanism(scores, epsilon, sensitivity, monotonic=monotonic)

    common = importlib.import_module("dpsynth.discrete_mechanisms.common")
    with (
        patch.object(np.random, "default_rng", generator),
        patch.object(common, "exponential_mechanism", select),
    ):
        yield


OURS = "dpfast.adapters."
IBM = OURS + "diffprivlib"
SUITES = {
    "diffprivlib": Suite(
        "diffprivlib",
        named(
            "diffprivlib",
            {
                r"tools(\.\w+)?": IBM + ".tools",
                r"mechanisms(\.\w+)?": IBM + ".mechanisms",
                r"models(\.\w+)?": IBM + ".models",
                "accountant": IBM + ".accountant",
                "utils": IBM + ".refusals",
                "": IBM,
            },
            {"check_random_state": "sklearn.utils:check_random_state"},
        ),
        ("tests/mechanisms", "tests/tools", "tests/models", "tests/test_Budget*.py"),
        {
            "transforms/": "transformers of answers are no part of the adapter",
            "BernoulliNegExp": "a sampler of theirs",
            "DPMechanism::test_random_state": "a sampler of theirs",
            "PCA::test_no_range": "a norm bounds each column",
            r"(Forest|Tree)Classifier::test_(sklearn|shuffle|random|warm|simple)": "sklearn trees",
            "with_axes": "all answers of an axis are one spend",
            "Gaussian::test_large_epsilon": "dpfast allows more",
            "(GaussianDiscrete|Staircase)::test_variance": "dpfast allows more",
            "Snapping::test_effective_epsilon": "exact noise loses nothing to rounding",
        },
        seeds=(IBM + ".tools", IBM + ".mechanisms", IBM + ".models"),
    ),
    "opendp": Suite(
        "opendp",
        of("opendp"),
        tuple(
            f"python/test/{name}"
            for name in (
                "test_meas.py",
                "test_comb.py",
                "test_binary_search.py",
                "test_core.py",
                "test_interactive.py",
                "test_serialization.py",
                "test_user_transform.py",
                "test_trans.py",
                "integration",
                "context",
                "extras",
            )
        ),
    ),
    "dpsynth": Suite(
        "dpsynth",
        drawn,
        ("tests/discrete_mechanisms", "tests/local_mode"),
        {"matches_default|scales_noise": "expects the numbers of a seed"},
    ),
    "pipelinedp": Suite(
        "pipeline_dp",
        of("pipelinedp"),
        tuple(
            f"tests/{name}_test.py"
            for name in (
                "dp_computations",
                "partition_selection",
                "combiners",
                "dp_engine",
                "private_contribution_bounds",
            )
        ),
        {
            "is_used|partition_selection_test|noised_value_if": "expects a call of PyDP",
            "create_(thresholding_mechanism|combiner)": "expects a class of PyDP",
        },
    ),
}


class Alias(types.ModuleType):
    """A module of the adapter under a name of the tool."""

    def __init__(self, name: str, target: types.ModuleType, helpers: dict[str, str]) -> None:
        super().__init__(name)
        self._target, self._helpers, self.__path__ = target, helpers, []

    def __getattr__(self, name: str) -> Any:
        if name in self._helpers:
            module, _, own = self._helpers[name].partition(":")
            return getattr(importlib.import_module(module), own)
        return getattr(self._target, name)


class Finder:
    """Finds the modules of a tool in the adapter."""

    def __init__(self, package: str, modules: dict[str, str], helpers: dict[str, str]) -> None:
        self.package, self.modules, self.helpers = package, modules, helpers

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to load a module of the tool."""
        root, _, rest = name.partition(".")
        if root == self.package and any(re.fullmatch(rule, rest) for rule in self.modules):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the module of the adapter."""
        rest = spec.name.partition(".")[2]
        found = next(own for rule, own in self.modules.items() if re.fullmatch(rule, rest))
        return Alias(spec.name, importlib.import_module(found), self.helpers)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: the module is there."""


class Record:
    """What became of each test, as pytest reports it."""

    def __init__(self, suite: Suite, only: list[str] | None) -> None:
        self.suite, self.only, self.found, self.reached = suite, only, {}, set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what is not asked for."""
        if self.only is not None:
            items[:] = [item for item in items if item.nodeid in self.only]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        """Note whether a test reaches dpfast."""

        def look(frame: Any, event: str, arg: Any) -> None:
            if frame.f_code.co_filename.startswith(HOME):
                self.reached.add(item.nodeid)
                sys.setprofile(None)

        sys.setprofile(look)
        yield
        sys.setprofile(None)
        if self.found[item.nodeid][0] == "passes" and item.nodeid not in self.reached:
            self.found[item.nodeid] = "does not apply", "does not reach dpfast"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Keep the worst of the phases of a test."""
        yield
        name = item.nodeid
        if call.excinfo is not None:
            self.found[name] = self.verdict(name, call.excinfo.value)
        else:
            self.found.setdefault(name, ("passes", ""))

    def pytest_collectreport(self, report: Any) -> None:
        """Count a file that cannot be imported as one test."""
        if report.failed:
            text = str(report.longrepr)
            rule = f"cannot import name|No module named '{self.suite.package}"
            private = re.search(rule, text)
            kind = (
                ("does not apply", "a helper of their own") if private else ("fails", text[-200:])
            )
            self.found[report.nodeid] = kind

    def verdict(self, name: str, error: BaseException) -> tuple[str, str]:
        """Say what an error means."""
        for rule, why in self.suite.apart.items():
            if re.search(rule, name):
                return "does not apply", why
        if isinstance(error, pytest.skip.Exception):
            return "does not apply", "skipped by itself"
        if isinstance(error, DpfastError) or str(error).startswith("there is no exact "):
            return "refused", getattr(error, "reason", re.split(", got|[;:]", str(error))[0][:90])
        missing = re.search(r"no attribute '_\w+", str(error))
        private = isinstance(error, AttributeError) and missing
        if private or (isinstance(error, ImportError) and "cannot import name" in str(error)):
            return "does not apply", "a private part of theirs"
        return "fails", f"{type(error).__name__}: {' '.join(str(error).split())[:110]}"


def ran(suite: Suite, paths: Iterable[str], only: list[str] | None = None) -> Found:
    """Run tests, or some of them, and return what became of each."""
    record = Record(suite, only)
    off = [f"-pno:{plugin}" for plugin in ("cacheprovider", "randomly", "xdist")]
    options = ["-q", "--continue-on-collection-errors", *off, "-c", os.devnull]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*options, f"--rootdir={Path.cwd()}", *paths], plugins=[record])
    return record.found


def some(tool: str, names: list[str]) -> Found:
    """Run some tests, in a process of their own without the adapter."""
    return ran(SUITES[tool], {name.partition("::")[0] for name in names}, names)


def suite_of(tool: str, paths: list[str]) -> Found:
    """Run the tests of a tool, and some of them once more: without seeds, and without dpfast."""
    suite, again = SUITES[tool], {}
    real = importlib.util.find_spec(suite.package)  # is the tool installed?
    with suite.installed():
        first = ran(suite, paths)
        seeded = [name for name, (_, why) in first.items() if why == "seeded"]
        if seeded:
            for name in suite.seeds:
                importlib.import_module(name).generator_of = lambda random_state: None
            again = some(tool, seeded)
    for name, (kind, why) in again.items():
        if kind != "fails" or "random_state" not in name:
            first[name] = kind, why
    failed = [name for name, (kind, _) in first.items() if kind == "fails"]
    if real and failed:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            for name, (kind, _) in pool.submit(some, tool, failed).result().items():
                if kind == "fails":
                    first[name] = "does not apply", "fails without dpfast too"
    return first


def table(found: Found, parts: dict[str, list[str]]) -> str:
    """Return how many tests there are of each kind, by part, and why."""
    lines = ["| tests | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * len(KINDS)]
    for part, paths in {**parts, "all": [""]}.items():
        kinds = Counter(kind for name, (kind, _) in found.items() if name.startswith(tuple(paths)))
        lines.append(f"| {part} | " + " | ".join(str(kinds[kind]) for kind in KINDS) + " |")
    share = 100 * kinds["passes"] / max(kinds["passes"] + kinds["fails"], 1)
    lines += ["", f"{share:.1f} % of {kinds['passes'] + kinds['fails']} that apply pass", ""]
    for kind in KINDS[2:]:
        whys = Counter(why for own, why in found.values() if own == kind)
        lines += [f"{count:4} {kind}: {why}" for why, count in whys.most_common()]
    return "\n".join(lines)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--tool", choices=SUITES, required=True)
    parser.add_argument("--part", action="append", help="a folder or file of tests, in PATH")
    parser.add_argument("--list", choices=KINDS, help="show the tests of this kind")
    given = parser.parse_args()
    os.chdir(given.path)
    parts = {
        part: [str(path) for path in sorted(Path().glob(part))]
        for part in given.part or SUITES[given.tool].parts
    }
    found = suite_of(given.tool, [path for paths in parts.values() for path in paths])
    for name, (kind, why) in found.items():
        if kind == given.list:
            print(f"{name}: {why}")
    print(table(found, parts))


if __name__ == "__main__":
    main()
