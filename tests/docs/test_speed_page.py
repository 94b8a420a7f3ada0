"""The rows of the speed table are cases of the benchmark suite, and can be measured again."""

import os
import re
import subprocess
import sys

import pytest

from ..support.pages import GUIDE, ROOT, program

report = program("report")


def shown(path):
    """The lines of the table in a page."""
    text = path.read_text(encoding="utf-8")
    table = re.search(r"<!-- speed -->\n(.*?)<!-- /speed -->", text, re.S)[1]
    return [line for line in table.splitlines() if line.startswith("| ")][1:]


def test_every_row_names_tests_that_are_there():
    assert len(report.TABLE) > 15
    for section, rows in report.TABLE.items():
        text = (ROOT / "benchmarks" / f"test_bench_{section}.py").read_text(encoding="utf-8")
        for test in {test.partition("[")[0] for row in rows for test in row.tests}:
            assert f"\ndef {test}(" in text, (section, test)


def test_the_headlines_of_the_readme_are_rows_of_the_page():
    lines = shown(GUIDE / "speed.md")
    assert len(lines) > 90
    assert [line for line in lines if report.is_headline(line)] == shown(ROOT / "README.md")
    for pattern in report.HEADLINES:
        assert any(report.matches(line, pattern) for line in lines), pattern


@pytest.mark.full
@pytest.mark.parametrize("section", ["intervals", "online", "compiled"])
def test_a_section_can_be_measured(section):
    run = [sys.executable, str(ROOT / "benchmarks" / "report.py"), section]
    env = {**os.environ, "DPFAST_BENCH_SMOKE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(lines) == len(report.TABLE[section])
    assert all(re.fullmatch(r"\| .+ \| \S+ (s|ms|µs|ns) \| .+ \|", line) for line in lines)
