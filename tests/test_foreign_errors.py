"""Whatever is passed to whatever argument: an answer, or one error of this package, of one line."""

import inspect
import random
import warnings

import pytest

import dpfast as dp
from dpfast._core import checks
from dpfast.errors import ArgumentError, SlowWarning
from dpfast.tables import forms

from .support.battery import everything
from .support.surface import CALLS, LOSSES, TOLD, VALUES, unclear

#: What a function of the caller's raises is passed on as it is, so what can be called is none of
#: these; nor is what is handed to it.
FUNCTIONS = {
    "answer", "convert", "distance", "function", "local_at_distance", "mechanism", "progress",
    "rank", "rank_rule", "run", "scores", "smooth_sensitivity", "statistic",
}  # fmt: skip
CALLABLE = {"class", "function", "broken __call__"}
HANDED_ON = {("ptr release", "data")}
#: As many rounds as are asked for take as long as they take.
ENDLESS = {("dp.learn.KMeans", "max_iter", value) for value in ("2**63", "uint64")}


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a ledger may be anywhere


def pairs(names=CALLS):
    return [(name, parameter, value) for name in names for parameter in CALLS[name].parameters
        for value in VALUES if not (parameter in FUNCTIONS and value in CALLABLE)
        and (name, parameter) not in HANDED_ON
        and (name, parameter, value) not in ENDLESS]  # fmt: skip


def objection(pair):
    name, parameter, value = pair
    call = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowWarning)
        return unclear(call.function, {**call.make(), parameter: VALUES[value]()})


def objections(some):
    found = ((pair, objection(pair)) for pair in some)
    return [f"{'; '.join(pair)}: the error {what}" for pair, what in found if what is not None]


def test_nothing_public_is_left_out():
    tried = {call.of for call in CALLS.values()}
    tried |= {getattr(dp.privacy, name.split()[0].split(".")[2]) for name in LOSSES}
    away = ("dp.errors.", "dp.job.", "dp.extend.checks.")
    every = [(name, found) for name, found in everything() if not name.startswith(away)]
    assert [name for name, found in every if found not in tried and found not in TOLD] == []


@pytest.mark.parametrize("name", CALLS)
def test_the_right_arguments_are_right(name):
    call = CALLS[name]
    assert set(call.make()) <= set(inspect.signature(call.of).parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowWarning)
        call.function(**call.make())


@pytest.mark.full
def test_some_pairs():
    """One of each argument of each thing, and some more."""
    every = pairs()
    random.Random(0).shuffle(every)
    once = {(name, parameter): (name, parameter, value) for name, parameter, value in every}
    assert objections([*once.values(), *every[: len(every) // 80]]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_all_pairs(name):
    assert objections(pairs([name])) == []


def test_a_foreign_error_is_caught(monkeypatch):
    """Planted: a number is taken for one if Python can make one of it."""
    monkeypatch.setattr(checks, "number", lambda name, value, rule="": float(value))
    every = [pair for pair in pairs(["sum"]) if pair[1] == "nan"]
    assert any("is TypeError" in one for one in objections(every))
    monkeypatch.undo()
    assert objections(every) == []


class Lines(ArgumentError):
    """An error that does not escape its line breaks."""

    __str__ = Exception.__str__


@pytest.mark.parametrize("fault", ["lines", "context"])
def test_an_error_of_several_lines_or_with_another_behind_it_is_caught(fault, monkeypatch):
    def fail(name, rule, value):
        if fault == "lines":
            raise Lines(f"{name}\nmust be {rule}")
        try:
            raise KeyError("a row")
        except KeyError:
            raise ArgumentError(f"{name} must be {rule}")  # noqa: B904

    monkeypatch.setattr(checks, "fail", fail)
    words = "is no line" if fault == "lines" else "shows another error"
    assert words in (objection(("sum", "neighbors", "'x'")) or "")


def test_an_attribute_that_raises_is_caught(monkeypatch):
    """Planted: what data are is asked of them without a guard."""
    every = [pair for pair in pairs(["sum"]) if pair[2] == "broken __getattr__"]
    assert objections(every) == []
    monkeypatch.setattr(forms, "attribute", lambda value, name, default=None: getattr(value, name))
    assert any("of two" in one for one in objections(every))


def test_a_length_that_is_believed_is_caught(monkeypatch):
    """Planted: a list says how many entries it has, and is given the room for them."""
    calls = [("categories", "categories", "liar"), ("dp.suggest_blocks", "spread", "liar")]
    every = [pair for pair in pairs(["categories", "dp.suggest_blocks"]) if pair in calls]
    assert len(every) == 2 and objections(every) == []
    monkeypatch.setattr(checks, "items", list)
    assert ["is MemoryError" in one for one in objections(every)] == [True, True]
