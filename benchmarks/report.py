"""Measure the cases of the speed table, and rewrite `docs/guide/speed.md`.

    python benchmarks/report.py [SECTION ...] [--write] [--keep]

The cases are those of the suite (`pytest benchmarks`), and a section is one of its files. Each case
runs once in its test, which asserts the answer. Then it is timed in turn with what stands beside
it, in one process, on one thread unless the row says how many; the figure is the best of several
rounds. Rivals that are not installed are left out. DPFAST_BENCH_SMOKE=1 tries it on few rows.
--keep, and so --write, appends the run to `benchmarks/history.jsonl`, which `benchmarks/history.py`
draws.
"""

import argparse
import os
import platform
import re
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # before NumPy is there
    for name in ("DPFAST_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np
import pytest

import dpfast as dp

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import history, rivals
from benchmarks.conftest import SMOKE

ROOT = Path(__file__).parent.parent


class Row(NamedTuple):
    """A row of the table, as `report.txt` describes it."""

    work: str
    tests: list[str]
    label: str
    parts: list[str]
    per: list[str]


def sections():
    """The rows by section, one for each of those that a line stands for."""
    found = {}
    for line in (ROOT / "benchmarks" / "report.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = rows = []
        elif line and line[0] != "#":
            cells = [cell.strip() for cell in line.split("|")]
            work, ours, label, others, over, per = cells + [""] * (6 - len(cells))
            for given in over.split(", "):
                parts = given.split(":")
                tests = [name.format(*parts) for name in (ours, *others.split(", ")) if name]
                rows.append(Row(work, tests, label, parts, per.split(", ")))
    return found


TABLE = sections()
#: Both times of a row from those of its tests, where these are not simply two.
TIMES = {
    "compiled": lambda m, ours, calls, scatter: (ours, 1.15 * calls / m.CORES + scatter),
    "called": lambda m, ours, calls: (max(ours - calls, 0), calls),
}


class Case:
    """Stands where the suite has the fixture of pytest-benchmark, and keeps the call."""

    stats, group = None, None

    def __init__(self):
        self.extra_info, self.yardsticks, self.first = {}, {}, None

    def __call__(self, function, *args, **kwargs):
        return self.pedantic(function, args, kwargs)

    def pedantic(self, function, args=(), kwargs=None, setup=None, **_):
        def call():
            own, named = (setup and setup()) or (args, kwargs or {})
            start = time.perf_counter()
            answer = function(*own, **named)
            return time.perf_counter() - start, answer

        self.seconds = lambda: call()[0]
        self.first, answer = call()
        return answer


def of_call(function, *args):
    case = Case()
    case(function, *args)
    return case


def best(cases):
    """Seconds of the fastest call of each, all in turn each round, so that a drift hits all."""
    calls = [min(20, max(1, int(1e-3 / case.first))) for case in cases]
    times = [float("inf")] * len(cases)
    for _ in range(3 if max(case.first for case in cases) > 0.3 else 7):
        for i, case in enumerate(cases):
            times[i] = min(times[i], sum(case.seconds() for _ in range(calls[i])) / calls[i])
    return times


class Section:
    """A plugin of pytest that runs the tests of a section, and times each row in between."""

    def __init__(self, name):
        self.name, self.cases = name, {}
        self.due, self.found = dict(enumerate(TABLE[name])), {}

    @pytest.fixture
    def benchmark(self, request):
        case = Case()
        yield case
        if case.first is not None:  # the test was not skipped
            self.cases[request.node.name] = case
            for at in [at for at, row in self.due.items() if self.cases.keys() >= {*row.tests}]:
                self.found[at] = self.measured(self.due.pop(at), request.module)
            needed = {test for row in self.due.values() for test in row.tests}
            self.cases = {name: self.cases[name] for name in self.cases.keys() & needed}

    def measured(self, row, m):
        """(work, our seconds, label, other seconds) of a row."""
        label = row.label.format(*row.parts, m=m)
        if label == "rival":
            label = rivals.version(rivals.load(row.parts[-1]))
        cases = [self.cases[test] for test in row.tests]
        if len(cases) == 1:
            cases.append(of_call(cases[0].yardsticks[label]))
        times = best(cases)
        if self.name in TIMES:
            times = TIMES[self.name](m, *times)
        if row.per != [""]:
            times = [t / getattr(m, size) for t, size in zip(times, row.per, strict=True)]
        return row.work.format(*row.parts, m=m), times[0], label, times[1]

    def run(self):
        """The rows, in their order; those whose tests were skipped are left out."""
        path = ROOT / "benchmarks" / f"test_bench_{self.name}.py"
        names = sorted({test for row in self.due.values() for test in row.tests})
        options = ["-qq", "-p", "no:benchmark", "-p", "no:cacheprovider", "-W", "ignore"]
        tests = [f"{path}::{name}" for name in names]
        if pytest.main([*options, "-o", "addopts=", *tests], plugins=[self]) != 0:
            sys.exit(f"{path.name} has failed")
        for row in self.due.values():
            print(f"left out: {', '.join(row.tests)}", file=sys.stderr)
        return [self.found[at] for at in sorted(self.found)]


def learners_of_rivals():
    """Whole fits; their errors are in the table of `benchmarks/learners.py`."""
    rival = rivals.load("diffprivlib")
    if rival is None:
        return
    from benchmarks import learners

    count = 2_000 if SMOKE else 200_000
    for make in learners.CASES.values():
        for case in make(count, 1.0):
            ours, theirs = best([of_call(f, *case.large) for f in (case.ours, case.theirs)])
            yield f"private {case.name}, {count:.0e} rows", ours, rivals.version(rival), theirs


def show(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.3g} {unit}"


def measured(names):
    """The rows of sections: the work, our seconds, what is beside it, its seconds."""
    found = [row for name in names for row in Section(name).run()]
    return [*found, *(learners_of_rivals() if len(names) == len(TABLE) else ())]


def table(found):
    """The lines of the table, and the note under it."""
    lines = [
        f"| {work} | {show(ours)} | {label} | {show(other)} | {ours / other:.2g} |"
        for work, ours, label, other in found
    ]
    note = (
        "Best of several rounds in one run, one thread unless it says how many, "
        f"{os.cpu_count()} cores, {processor()}, instruction set {dp._kernels.rng.isa()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}; written by "
        "`benchmarks/report.py`."
    )
    return lines, note


def processor():
    """Its name where the system tells it, for NumPy has vector code for some only."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return ", ".join([platform.machine(), *names[:1]])


def write(lines, note):
    """Rewrite the table between the two marks of the page."""
    page = ROOT / "docs" / "guide" / "speed.md"
    head = ["| work | dpfast | compared with | its time | ratio |", "|---|---:|---|---:|---:|"]
    text = "\n".join([*head, *lines, "", note])
    new, count = re.subn(
        r"(<!-- speed -->\n).*?(<!-- /speed -->)",
        lambda m: f"{m[1]}{text}\n{m[2]}",
        page.read_text(encoding="utf-8"),
        flags=re.S,
    )
    if count != 1:
        sys.exit(f"{page.name} has no pair of <!-- speed --> marks")
    page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(TABLE)}")
    parser.add_argument("--write", action="store_true", help="rewrite the table, and keep the run")
    parser.add_argument("--keep", action="store_true", help="append the run to the history")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(TABLE):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    if options.write and (options.sections or SMOKE):
        parser.error("the table is written from all sections at full size")
    if options.keep and SMOKE:
        parser.error("what is kept is measured at full size")
    warnings.simplefilter("ignore")
    found = measured(options.sections or list(TABLE))
    lines, note = table(found)
    print("\n".join([*lines, "", note]))
    if options.write:
        write(lines, note)
    if options.write or options.keep:
        history.keep(found, f"{os.cpu_count()} cores, {processor()}")
