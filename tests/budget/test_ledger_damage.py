"""A damaged ledger is refused or says the truth, and an old one is refused by who saw it later."""

import tempfile
from pathlib import Path

import pytest

from dpfast.budget.ledger import chain, file

from ..support.crashes import MEMORY
from ..support.ledger_damage import BYTES, FILES, battery, made, rollbacks, told
from ..support.pairwise import quick_rows

KINDS = [*BYTES, *FILES]
LONG = pytest.mark.slow


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        yield Path(place)


@pytest.mark.parametrize("count, seed", [(160, 1), pytest.param(10_000, 2, marks=LONG)])
def test_damage_is_refused_or_harmless(folder, count, seed):
    source = made(folder)
    found = battery(source, told(source), count, seed, KINDS)
    assert found["violations"] == [] and found["refused"] > count / 2


class Anything:
    """Equal to everything."""

    def __eq__(self, other):
        return True


FAULTS = {
    "answers that are not sealed": (["rows"], lambda p: p.setattr(
        chain, "answered", lambda *parts: Anything())),
    "secrets that are not sealed": (["rows"], lambda p: p.setattr(
        chain, "hidden", lambda *parts: Anything())),
    "rows that may be lost": (["rows"], lambda p: (
        p.setattr(chain, "whole", lambda *parts: None),
        p.setattr(chain, "check", lambda *parts: None))),
    "errors of others": (["rows", "head_flips"], lambda p: p.setattr(file, "UNREADABLE", ())),
    "lines that are not sealed": (["rows"], lambda p: p.setattr(
        file.text, "seal", lambda *parts: Anything())),
}  # fmt: skip


@quick_rows(1)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(folder, monkeypatch, name):
    kinds, plant = FAULTS[name]
    found, seed, source = [], 0, made(folder)
    truth = told(source)
    while not found and seed < 50:
        with monkeypatch.context() as patch:
            plant(patch)
            found = battery(source, truth, 40, seed, kinds)["violations"]
        seed += 1
    assert found


@pytest.mark.parametrize(
    "count, seeds", [(120, range(3)), pytest.param(1000, range(60), marks=LONG)]
)
def test_who_has_seen_more_is_refused_and_nobody_else(folder, count, seeds):
    for seed in seeds:
        found = rollbacks(folder / str(seed), count, seed)
        assert found["violations"] == [] and found["refused"]


@quick_rows(1)
@pytest.mark.parametrize("fault", ["nothing", "a count"])
def test_a_planted_memory_is_found(folder, monkeypatch, fault):
    """Of nothing, or of how many rows there were."""

    def held(db, place):
        return fault == "nothing" or chain.last(db).number >= place.number

    monkeypatch.setattr(chain, "held", held)
    found = [rollbacks(folder / str(seed), 120, seed)["violations"] for seed in range(6)]
    assert any("went on" in each[0] for each in found if each)
