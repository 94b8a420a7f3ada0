"""The rows of the speed table are cases of the benchmark suite, and can be measured again."""

import os
import re
import subprocess
import sys

import pytest

from ..support.pages import GUIDE, ROOT, program

report, history = program("report"), program("history")


def shown():
    """The rows of the table of the page, each a list of cells."""
    text = (GUIDE / "speed.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- speed -->\n(.*?)<!-- /speed -->", text, re.S)[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def test_every_row_names_tests_that_are_there():
    assert len(report.TABLE) > 15
    for section, rows in report.TABLE.items():
        text = (ROOT / "benchmarks" / f"test_bench_{section}.py").read_text(encoding="utf-8")
        for test in {test.partition("[")[0] for row in rows for test in row.tests}:
            assert f"\ndef {test}(" in text, (section, test)


def test_what_the_readme_says_of_a_median_is_measured():
    ratios = {(work, label): float(ratio) for work, _, label, _, ratio in shown()}
    assert len(ratios) > 90
    median = "private median, 5e+07 unsorted float64"
    assert 2 <= ratios[median, "`np.max`"] <= 3
    assert ratios[median, "`np.partition` (not private)"] < 0.1
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "two to three times as long as `np.max`, and less than a tenth as long as" in text


@pytest.mark.full
@pytest.mark.parametrize("section", ["intervals", "online", "compiled"])
def test_a_section_can_be_measured(section):
    run = [sys.executable, str(ROOT / "benchmarks" / "report.py"), section]
    env = {**os.environ, "DPFAST_BENCH_SMOKE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(lines) == len(report.TABLE[section])
    assert all(re.fullmatch(r"\| .+ \| \S+ (s|ms|µs|ns) \| .+ \|", line) for line in lines)


def test_the_history_shows_every_run():
    text = (GUIDE / "speed-history.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- history -->\n(.*?)<!-- /history -->", text, re.S)[1]
    kept = history.runs()
    assert shown.splitlines() == history.lines(kept)
    assert len(kept) > 1 and kept == sorted(kept, key=lambda run: run["date"])
