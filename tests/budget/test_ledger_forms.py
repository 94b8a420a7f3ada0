"""Ledgers that an earlier dpfast wrote: they open, and the next that writes to one seals it."""

import base64
import contextlib
import json
import lzma
import os
import sqlite3
import stat
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.ledger import chain, file
from dpfast.errors import LedgerError
from dpfast.privacy import Pure

from ..support.pairwise import quick_rows

VECTORS = Path(__file__).parents[1] / "reference" / "vectors"
#: By form and name, such as "1 plain".
OLD = {
    f"{form} {name}": ledger
    for form in (1, 2, 3, 4)
    for name, ledger in json.loads(
        (VECTORS / f"ledgers_form_{form}.json").read_text("utf-8")
    ).items()
}
FORMS = pytest.mark.parametrize("form", [1, 2, 3, 4])
HISTOGRAM = [130_000, 40_000, 20_000, 10_000]
EYE = np.eye(4)[:3]
RECORD = {"statistic": "mean", "parameters": {"bounds": [0, 1.5], "nan": None}}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(file.File, "identity", "here")


@quick_rows(5)
@pytest.mark.parametrize("name", OLD)
def test_it_is_read_as_it_was_and_left_alone_until_the_next_spend_seals_it(name, tmp_path):
    path, lines = unpacked(name, tmp_path), OLD[name]["export"]["lines"]
    before = path.read_bytes()
    assert said(path) == OLD[name]["export"] | {"path": None}
    assert path.read_bytes() == before and stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == [path.name]
    spend(path)
    found = said(path)["lines"]
    assert found[:-1] == lines and found[-1]["what"] == "later"
    assert [line.record for line in dp.Budget(path=path).history] == [None] * len(lines) + [RECORD]
    ((form,),), ((steps,),) = sql(path, "PRAGMA user_version", "SELECT count(*) FROM steps")
    assert form == chain.VERSION == 5 and steps > len(found)
    spend(path)
    assert len(said(path)["lines"]) == len(lines) + 2


def unpacked(name, folder):
    path = folder / f"{name}.db"
    folder.mkdir(exist_ok=True)
    path.write_bytes(lzma.decompress(base64.b64decode(OLD[name]["file"])))
    path.chmod(0o644)  # as it was made
    return path


def sql(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db:
        found = [db.execute(statement).fetchall() for statement in statements]
        db.commit()
    return found


def said(path):
    return json.loads(dp.Budget(path=path).export()) | {"path": None}


def spend(path, amount=0.125):
    dp.Budget(path=path).spend(Pure(amount), neighbors="replace", what="later", record=RECORD)


@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX")
def test_the_next_spend_closes_it_to_those_who_can_only_read(tmp_path):
    left = {0o644: 0o600, 0o600: 0o600, 0o664: 0o660, 0o640: 0o600, 0o666: 0o666, 0o755: 0o700}
    for before, after in left.items():
        path = unpacked("1 plain", tmp_path / oct(before))
        path.chmod(before)
        spend(path)
        assert stat.S_IMODE(path.stat().st_mode) == after
    path.chmod(0o640)  # what is decided later stays
    spend(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@quick_rows(2)
@FORMS
def test_unit_answers_and_keys_go_on(tmp_path, form):
    """What was spent before was of rows, as far as the file knows; of an empty one nothing was."""
    budget = dp.Budget(path=unpacked(f"{form} plain", tmp_path))
    assert budget.unit == "rows"
    with pytest.raises(dp.errors.BudgetError, match=r"budget for rows \(the unit of its first"):
        budget.spend(Pure(0.125), neighbors="replace", ids="who")
    budget = dp.Budget(path=unpacked(f"{form} empty", tmp_path))
    assert budget.unit is None
    budget.spend(Pure(0.125), neighbors="replace", ids="who")
    again = dp.Budget(path=budget.path, ids="who")
    assert (again.unit, again.max_rows, again.history[0].ids) == ("people", None, "who")
    path = unpacked(f"{form} keyed", tmp_path)
    budget, told = dp.Budget(path=path), OLD[f"{form} keyed"]["found"]
    assert {key: list(budget.entry(key)) for key in ("first", "second")} == told
    for key, kept in (("first", {"value": [3.5, 2]}), ("second", {"value": 7}), ("third", 1)):
        with budget.once(key):
            budget.spend(Pure(0.25), neighbors="replace", what="mean")
        assert budget.settle({"value": 7} if key == "second" else 1) == kept
    again = dp.Budget(path=path)
    assert [line.answer for line in again.history] == [{"value": [3.5, 2]}, {"value": 7}, 1]
    assert again.remaining["epsilon"] == Pure(0.25).epsilon


def opened(path, told):
    budget, online = dp.Budget(path=path), dp.online
    own = {"epsilon": 1, "budget": budget}
    sparse = {"threshold": 500, **own}
    alarms = online.SparseVector(positives=2, answers=True, name="alarms", **sparse)
    shares = online.MedianMechanism(HISTOGRAM, queries=12, accuracy=0.15, name="shares", **own)
    fit = online.MWEM(HISTOGRAM, EYE, rounds=3, name="fit", **own)
    assert [[a.above, a.value] for a in alarms.past[:3]] == told["alarms"]
    assert [float(a) for a in shares.past[:3]] == told["shares"]
    assert fit.distribution.tolist() == told["fit"]
    assert [alarms._comparison.rho, shares._comparison.rho] == told["noise"]
    over = online.SparseVector(positives=1, name="over", **sparse)
    with pytest.raises(dp.errors.StreamError, match="all its positives"):
        over.answer(1)
    assert len(budget.history) == 4
    return alarms, shares


@quick_rows(2)
@FORMS
def test_streams_go_on_with_their_secrets(tmp_path, form):
    path, told = unpacked(f"{form} streams", tmp_path), OLD[f"{form} streams"]
    alarms, shares = opened(path, told)
    assert alarms.answer(3, number=3).above is False and len(shares.past) == 3
    assert shares.answer([0, 0, 0, 1], number=3) == shares.past[3]
    alarms, shares = opened(path, told)
    assert len(alarms.past) == len(shares.past) == 4
    one = "SELECT count(*) FROM secrets WHERE length(seal) = 64"
    assert sql(path, one) == [[(2,)]]


@FORMS
def test_a_damaged_one_and_a_refused_spend_seal_nothing(tmp_path, form):
    path = unpacked(f"{form} empty", tmp_path)
    with pytest.raises(dp.errors.BudgetError):
        spend(path, 2)
    assert sql(path, "PRAGMA user_version") == [[(form,)]]
    path = unpacked(f"{form} plain", tmp_path)
    budget = dp.Budget(path=path)
    sql(path, "DROP TRIGGER no_UPDATE_lines", "UPDATE lines SET note = 'another' WHERE line = 2")
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="entry 2 was changed or damaged"):
        budget.spend(Pure(0.1), neighbors="replace")
    assert path.read_bytes() == before


def test_an_old_one_that_was_put_back_and_grew_is_noticed(tmp_path, monkeypatch):
    """Also where what was seen had no steps yet."""
    path = unpacked("1 plain", tmp_path)
    budget = dp.Budget(path=path)
    place = budget._file.last_row
    assert (place.table, place.number) == ("lines", 4)
    monkeypatch.setitem(
        file._seen, (budget.path, budget._file.header.seal), place._replace(seal="")
    )
    for ask in (lambda: budget.spent, lambda: spend(path), lambda: budget.record(1)):
        with pytest.raises((LedgerError, dp.errors.ArgumentError), match=r"put back|after a spend"):
            ask()
    monkeypatch.setitem(file._seen, (budget.path, budget._file.header.seal), place)
    spend(path)  # sealed now, and what was seen without seals is still there
    assert budget._file.last_row.table == "steps"


def test_an_older_dpfast_cannot_write_to_it(tmp_path):
    """It asks for the form before a spend; an answer it would add as three fields, unasked."""
    path = tmp_path / "study.db"
    dp.Budget(epsilon=1, path=path)
    spend(path)
    assert sql(path, "PRAGMA user_version") == [[(5,)]]
    with pytest.raises(sqlite3.OperationalError, match="has 4 columns but 3 values"):
        sql(path, "INSERT INTO answers VALUES (1, '', '3.5')")
