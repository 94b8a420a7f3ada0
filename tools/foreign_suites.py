"""Run another tool's own tests through the adapter of dpfast that has its names.

    python tools/foreign_suites.py PATH --tool diffprivlib [--part tests/tools] [--list failed]

PATH is a checkout of the tool, whose tests stay where they are. Modules of the adapter take the
names of the tool's, pytest runs the tests, and each of them is counted in one row: it passes,
fails, is refused for a reason that the adapter states, or does not apply, since it tests a private
part of the tool or what the table below says. A test that is refused for its seed runs again with
seeds ignored. A tool is an entry of `SUITES`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.machinery
import io
import os
import re
import sys
import types
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dpfast.errors import DataError


@dataclass(frozen=True)
class Suite:
    """How the tests of a tool meet its adapter.

    Parameters
    ----------
    package : str
        The name under which the tests import the tool.
    modules : dict
        Patterns of its modules, and what stands for each: the first that matches.
    parts : tuple of str
        Folders and files of tests.
    helpers : dict
        Further names of those modules, as "module:name".
    apart : dict
        Patterns of tests that do not apply, and why.
    seeds : tuple of str
        Modules of the adapter whose `generator_of` refuses seeds.
    """

    package: str
    modules: dict[str, str]
    parts: tuple[str, ...] = ("tests",)
    helpers: dict[str, str] = field(default_factory=dict)
    apart: dict[str, str] = field(default_factory=dict)
    seeds: tuple[str, ...] = ()


OURS = "dpfast.adapters."
IBM = OURS + "diffprivlib"
SUITES = {
    "diffprivlib": Suite(
        "diffprivlib",
        {
            r"tools(\.\w+)?": IBM + ".tools",
            r"mechanisms(\.\w+)?": IBM + ".mechanisms",
            r"models(\.\w+)?": IBM + ".models",
            "accountant": IBM + ".accountant",
            "utils": IBM + ".refusals",
            "": IBM,
        },
        ("tests/mechanisms", "tests/tools", "tests/models", "tests/test_Budget*.py"),
        {"check_random_state": "sklearn.utils:check_random_state"},
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
        seeds=(IBM + ".tools", IBM + ".mechanisms.base", IBM + ".models"),
    ),
    "opendp": Suite("opendp", {"": OURS + "opendp"}, ("python/test",)),
    "pipelinedp": Suite("pipeline_dp", {r".*": OURS + "pipelinedp"}),
    "dpsynth": Suite("mbi", {r".*": OURS + "mbi"}, ("test",)),
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

    def __init__(self, suite: Suite) -> None:
        self.suite = suite

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to load a module of the tool."""
        root, _, rest = name.partition(".")
        if root == self.suite.package and any(
            re.fullmatch(pattern, rest) for pattern in self.suite.modules
        ):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the module of the adapter."""
        rest = spec.name.partition(".")[2]
        found = next(own for rule, own in self.suite.modules.items() if re.fullmatch(rule, rest))
        return Alias(spec.name, importlib.import_module(found), self.suite.helpers)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: the module is there."""


class Record:
    """What became of each test, as pytest reports it."""

    def __init__(self, suite: Suite) -> None:
        self.suite, self.found = suite, {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Keep the worst of the phases of a test."""
        yield
        name = re.sub(r"^.*?(?=tests?/)", "", item.nodeid)
        if call.excinfo is not None:
            self.found[name] = self.verdict(name, call.excinfo.value)
        else:
            self.found.setdefault(name, ("passes", ""))

    def pytest_collectreport(self, report: Any) -> None:
        """Count a file that cannot be imported as one test."""
        if report.failed:
            text = str(report.longrepr)
            private = re.search(r"cannot import name '_|No module named|cannot import name", text)
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
        reason = getattr(error, "reason", None)
        if isinstance(reason, str):
            return "refused", reason
        if isinstance(error, DataError):
            return "refused", "an answer about a row: " + str(error).partition(";")[0][:60]
        missing = re.search(r"no attribute '_\w+", str(error))
        private = isinstance(error, AttributeError) and missing
        if private or (isinstance(error, ImportError) and "cannot import name" in str(error)):
            return "does not apply", "a private part of theirs"
        return "fails", f"{type(error).__name__}: {' '.join(str(error).split())[:110]}"


def ran(suite: Suite, names: list[str], loud: bool = False) -> dict[str, tuple[str, str]]:
    """Run tests, and return what became of each."""
    record = Record(suite)
    options = [
        "-q",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
        "-c",
        os.devnull,
    ]
    with contextlib.redirect_stdout(sys.stdout if loud else io.StringIO()):
        pytest.main([*options, f"--rootdir={Path.cwd()}", *names], plugins=[record])
    return record.found


def without_seeds(suite: Suite) -> None:
    """Let each seed mean the secure generator."""
    for name in suite.seeds:
        importlib.import_module(name).generator_of = lambda random_state: None


def suite_of(suite: Suite, parts: list[str]) -> dict[str, tuple[str, str]]:
    """Run the tests of a tool, and those that are refused for a seed once more without."""
    paths = [str(path) for part in parts for path in sorted(Path().glob(part))]
    first = ran(suite, paths)
    seeded = [name for name, (_, why) in first.items() if why == "seeded"]
    if seeded:
        without_seeds(suite)
        again = ran(suite, seeded)
        for name in seeded:
            kind, why = again.get(name, ("refused", "seeded"))
            same = kind == "fails" and "random_state" in name
            first[name] = ("refused", "seeded") if same else (kind, why)
    return first


def table(found: dict[str, tuple[str, str]]) -> str:
    """Return how many tests there are of each kind, and why."""
    kinds = Counter(kind for kind, _ in found.values())
    lines = ["| tests | what became of them |", "|---:|---|"]
    for kind in ("passes", "fails", "refused", "does not apply"):
        lines.append(f"| {kinds[kind]} | {kind} |")
        if kind in ("refused", "does not apply"):
            whys = Counter(why for own, why in found.values() if own == kind)
            lines += [f"| {count} | - {kind}: {why} |" for why, count in whys.most_common()]
    applicable = kinds["passes"] + kinds["fails"]
    share = 100 * kinds["passes"] / max(applicable, 1)
    return "\n".join([*lines, "", f"{share:.1f} % of {applicable} that apply pass"])


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--tool", choices=SUITES, required=True)
    parser.add_argument("--part", action="append", help="a folder or file of tests, in PATH")
    parser.add_argument("--list", help="show the tests of this kind")
    given = parser.parse_args()
    suite = SUITES[given.tool]
    os.chdir(given.path)
    sys.meta_path.insert(0, Finder(suite))  # type: ignore[arg-type]
    found = suite_of(suite, given.part or list(suite.parts))
    for name, (kind, why) in found.items():
        if kind == given.list:
            print(f"{name}: {why}")
    print(table(found))


if __name__ == "__main__":
    main()
