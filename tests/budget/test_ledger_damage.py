"""A damaged ledger is refused or says the truth, and an old one is refused by who saw it later."""

import tempfile
from pathlib import Path

import pytest

from dpfast.budget.ledger import chain, file

from ..support.crashes import MEMORY
from ..support.ledger_damage import BYTES, FILES, battery, every_table, made, rollbacks, told
from ..support.pairwise import quick_rows

KINDS = [*BYTES, *FILES]
LONG = pytest.mark.slow


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        yield Path(place)


@pytest.mark.full
@pytest.mark.parametrize("count, seed", [(160, 1), pytest.param(10_000, 2, marks=LONG)])
def test_damage_is_refused_or_harmless(folder, count, seed):
    source = made(folder)
    found = battery(source, told(source), count, seed, KINDS)
    assert found["violations"] == [] and found["refused"] > count / 2


@pytest.mark.full
def test_each_table_and_each_column_is_sealed(folder):
    found = list(every_table(made(folder)))
    assert len(found) > 250
    assert [case for case, said in found if said != {"refused"}] == []


def unchecked(db, table, where="", *values):
    """Rows that belong to entries, whatever their seals are."""
    columns = ", ".join(f"{table}.{name}" for name in chain.OF_ENTRIES[table][1])
    rows = db.execute(f"SELECT line, seal, {columns} FROM {table} {where}", values)
    return [chain.OfEntry(line, seal, tuple(parts)) for line, seal, *parts in rows]


class Anything:
    """Equal to everything."""

    def __eq__(self, other):
        return True


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize(
    "of, name, value",
    [
        (chain, "rows_of", unchecked),
        (chain, "hidden", lambda *parts: Anything()),
        (chain, "whole", lambda *parts: None),
        (file, "UNREADABLE", ()),
        (file.text, "seal", lambda *parts: Anything()),
    ],
    ids=["answers", "secrets", "rows that may be lost", "errors of others", "entries"],
)
def test_a_planted_fault_is_found(folder, monkeypatch, of, name, value):
    source = made(folder)
    monkeypatch.setattr(of, name, value)
    assert any(said != {"refused"} for _, said in every_table(source))


@pytest.mark.full
def test_a_unit_that_is_not_sealed_is_found(folder, monkeypatch):
    monkeypatch.setattr(file.text, "of_people", lambda *parts: ())
    found = (case for case, said in every_table(made(folder)) if said != {"refused"})
    assert next(found).startswith("ledger: ('cell', 'ids'")


@pytest.mark.full
@pytest.mark.parametrize(
    "count, seeds", [(120, range(3)), pytest.param(1000, range(60), marks=LONG)]
)
def test_who_has_seen_more_is_refused_and_nobody_else(folder, count, seeds):
    for seed in seeds:
        found = rollbacks(folder / str(seed), count, seed)
        assert found["violations"] == [] and found["refused"]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["nothing", "a count"])
def test_a_planted_memory_is_found(folder, monkeypatch, fault):
    """Of nothing, or of how many rows there were."""

    def held(db, place):
        return fault == "nothing" or chain.last(db).number >= place.number

    monkeypatch.setattr(chain, "held", held)
    found = [rollbacks(folder / str(seed), 120, seed)["violations"] for seed in range(6)]
    assert any("went on" in each[0] for each in found if each)
