"""`replay` compares whatever has an entry for each row, under whatever name it is handed over."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.audit import replayed
from dpfast.budget import watched

from ..support import battery
from ..support.pairwise import quick_rows

N = 60
#: What passes its arguments on to a mechanism of the caller's; see `Marked`.
UNTRIED = {"dp.extend.release"}
_KEYS = battery.CASES["keys of people"]
CASES = battery.CASES | {
    "keys of some": replace(_KEYS, kw={**_KEYS.kw, **battery.MASKED}, rows=("ids", "where"))
}
#: Every release with every argument that has an entry for each row.
BESIDE = [(name, row) for name, case in CASES.items() for row in case.rows]


def cut(value: Any, n: int) -> Any:
    if isinstance(value, dict):
        return {name: column[:n] for name, column in value.items()}
    return value[:n]


def of_others(column: Any) -> Any:
    """A column that says something else of each row if there is another row."""
    if len(column) % 2:
        return column
    return ~column if column.dtype == bool else column + (column.max() + 1)


def beside(name: str, row: str | None = None) -> dp.audit.Replay:
    case = CASES[name]

    def program(rows: dict[str, Any]) -> Any:
        given = {**rows, row: of_others(rows[row])} if row else rows
        return case.call(**{**case.kw, **given, **case.losses[0]})

    whole = {next(iter(case.parameters)): case.data, **{row: case.kw[row] for row in case.rows}}
    x, x2 = ({name: cut(value, n) for name, value in whole.items()} for n in (N + 1, N))
    return dp.audit.replay(program, x, x2)


@quick_rows(12)
@pytest.mark.parametrize("name", sorted({name for name, _ in BESIDE}))
def test_entries_that_look_at_their_own_row_are_clean(name):
    assert beside(name) == dp.audit.Replay((), 1)


@quick_rows(12)
@pytest.mark.parametrize(("name", "row"), BESIDE, ids=map("-".join, BESIDE))
def test_entries_that_look_at_other_rows_are_found(name, row):
    found = beside(name, row)
    assert not found.clean and any("differ" in leak for leak in found.leaks), found


def test_each_argument_with_an_entry_a_row_is_tried():
    """Of each public function that takes one, by its signature."""
    names = {row for _, row in BESIDE}
    tried = {(CASES[name].call, row) for name, row in BESIDE}
    tried = {(getattr(call, "__name__", str(call)), row) for call, row in tried}
    for public, function in battery.public():
        takes = {*inspect.signature(function).parameters}
        if not inspect.isfunction(function) or "where" not in takes or public in UNTRIED:
            continue
        for row in names & takes - {"ids"}:  # which are read in one place
            assert (function.__name__, row) in tried, public


def test_a_comparison_of_rows_alone_is_caught(monkeypatch):
    """Planted: what stands beside the rows is left out."""
    monkeypatch.setattr(watched, "_entries", lambda *_: {})
    monkeypatch.setattr(replayed, "_moved", lambda *_: [])
    assert beside("weighted sum", "weights").clean and beside("mean of some", "where").clean


FORMS = {"dict": dict, "pandas": pd.DataFrame, "arrow": pa.table}
LOSS = {"epsilon": 1, "bounds": (0, 1), "weight_bounds": (0, 1)}
NAMED = {
    "sum": lambda t: dp.sum(t, weights="w", **LOSS),
    "covariance": lambda t: dp.covariance(t, bounds=[(0, 1)] * 2, epsilon=1),
    "blocks of people": lambda t: dp.sample_and_aggregate(
        t, "mean", blocks=5, bounds=[(0, 1)], ids="w", epsilon=1
    ),
}


@quick_rows(2)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMED)
def test_named_columns(name, form):
    def program(rows, others=False):
        w = of_others(rows["w"]) if others else rows["w"]
        return NAMED[name](FORMS[form]({**rows, "w": w}))

    w = np.arange(N + 1) if "people" in name else np.linspace(0, 0.25, N + 1)
    columns = {"v": np.linspace(0, 1, N + 1), "w": w}
    fewer = {name: column[:N] for name, column in columns.items()}
    assert dp.audit.replay(program, columns, fewer) == dp.audit.Replay((), 1)
    found = dp.audit.replay(lambda rows: program(rows, True), columns, fewer)
    assert not found.clean and any("differ" in leak for leak in found.leaks), found


@dataclass(frozen=True)
class Marked:
    """A count of rows with a mark, which is an argument that nobody has heard of."""

    marks: tuple[Any, ...]

    loss = dp.privacy.Pure(1)
    neighbors = "add-remove"
    name = "marked"

    def reduce(self, source: Any) -> int:
        return int(np.sum(np.asarray(self.marks[0])))

    def finish(self, summary: int, generator: Any) -> int:
        return dp.extend.integer_noise(self.loss, l1=1, l2=1).add([summary], generator)[0]


@pytest.mark.parametrize("held", [np.asarray, pd.Series, pa.array, dp.extend.release])
def test_an_argument_without_a_known_name(held):
    def marked(condition):
        def program(x):
            marks = condition(x)
            if held is dp.extend.release:  # in a function's closure, or bound to it
                marks = partial(np.asarray, marks)
                return dp.extend.release(x, Marked((np.asarray(marks()), marks)))
            return dp.extend.release(x, Marked((held(marks),)))

        return program

    x = np.arange(9.0)
    assert dp.audit.replay(marked(lambda x: x > 3), x, x[:-1]).leaks == ()
    found = dp.audit.replay(marked(lambda x: x > x.mean() - 0.6), x, x[:-1])
    assert any("rows differ" in leak for leak in found.leaks), found


def test_what_could_not_be_compared_is_not_clean():
    class Hidden:
        """A source whose rows nobody hands out."""

        dtype, nulls, length = np.dtype(np.float64), 0, None

        def reduce(self, summarise, merge):
            if watched._of_chunk is summarise:
                raise dp.errors.SourceError("not twice")
            return summarise(dp.extend.Chunk(np.ones(3), 0))

        def sample(self, count, words):
            return None

    found = dp.audit.replay(lambda x: dp.sum(x, bounds=(0, 1), epsilon=1), Hidden(), Hidden())
    assert found.unchecked == ("release 1 (sum)",) and not found.clean
