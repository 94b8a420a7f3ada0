"""One line in the table of statistics is all that a new statistic needs beside its file."""

import importlib
import inspect
import json
import subprocess
import sys
from unittest.mock import ANY

import pytest

import dpfast as dp
from dpfast.statistics.table import STATISTICS, TABLE

from ..support import battery, planted


def test_a_line_is_a_public_function_and_a_public_class():
    assert list(STATISTICS) == [entry.word for entry in TABLE]
    for entry in TABLE:
        home = dp
        for part in entry.word.split(".")[:-1]:
            home = getattr(home, part)
        assert getattr(home, entry.name) is entry.function and entry.name in home.__all__
        if entry.kind is not None:
            assert getattr(home, entry.statistic) is entry.kind and entry.statistic in home.__all__
            assert issubclass(entry.kind, dp.Statistic)


def test_every_public_statistic_has_a_line():
    kinds = {entry.kind for entry in TABLE}
    for home in (dp, dp.ptr):
        for name in home.__all__:
            found = getattr(home, name)
            if inspect.isclass(found) and issubclass(found, dp.Statistic):
                assert found in kinds or found is dp.Statistic, name


def test_what_statistics_are_of_is_loaded_when_it_is_asked_for():
    code = "import sys, dpfast; print([m for m in sys.modules if m.startswith('dpfast.stat')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['dpfast.statistics', 'dpfast.statistics.table']"


def test_a_line_has_cases_in_the_battery():
    line = STATISTICS["median"]
    cases = dict(battery.made([line], []))
    groups = (" of each group", " of each group within drawn bounds")
    more = ("", *battery.BESIDE.keys() - {" of weighted rows"}, *groups)
    assert set(cases) == {f"median{words}" for words in more}
    assert all(case.call is dp.median for name, case in cases.items() if "group" not in name)
    due = [(f"median{words}", ANY) for words in groups]
    assert list(battery.made([line], cases.values())) == due


@pytest.mark.full
def test_a_planted_line_is_seen_everywhere(tmp_path):
    for module in ("typer", "rich"):
        pytest.importorskip(module)
    command = [sys.executable, "-m", planted.__name__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=planted.ROOT)
    assert done.returncode == 0, done.stderr
    answers, told = (json.loads(line) for line in done.stdout.splitlines())
    assert len(answers) == 7 and all(49 < answer < 51 for answer in answers.values()), answers
    assert 49 < told["value"] < 51 and told["statistic"] == "upper_decile"
    assert importlib.util.find_spec(planted.HOME) is None
