"""What is remembered: equal public values alone, and no more bytes than are allowed."""

import gc
import sys
from unittest.mock import Mock

import numpy as np
import pytest

import dpfast as dp
from dpfast._core import once
from dpfast._core.once import bytes_of, remembered

EDGES = 3_000


@pytest.fixture(autouse=True)
def forgotten():
    once.forget()
    yield
    once.forget()


def test_what_is_remembered_is_bounded_by_bytes(monkeypatch):
    """The bytes that are kept, counted anew, of calls that each have edges of their own."""
    most = 1 << 19
    for limit in (most, sys.maxsize):  # the planted fault: no bound
        monkeypatch.setattr(once, "MOST_BYTES", limit)
        for i in range(4):
            edges = [i + j / EDGES for j in range(EDGES)]
            dp.histogram([1.0, 2.0], bins=edges, epsilon=1)
        kept = bytes_of(once._kept.entries)
        assert kept < 1.1 * most if limit == most else kept > 1.5 * most


def test_what_is_too_large_is_made_again(monkeypatch):
    calls = []
    double = remembered(lambda value: calls.append(value) or 2 * value)
    monkeypatch.setattr(once, "MOST_BYTES", 1 << 12)
    assert [double("a"), double("a"), len(calls)] == ["aa", "aa", 1]
    long = "a" * (1 << 12)
    assert len({double(long), double(long)}) == 1 and len(calls) == 3


def test_plain_values_are_told_apart_by_their_types():
    typed = once.once(lambda value: type(value))
    assert [typed(value) for value in (1, True, 1.0, np.float64(1))] == [
        int, bool, float, np.float64
    ]  # fmt: skip


def test_an_error_is_not_remembered():
    failing = remembered(fails := Mock(side_effect=KeyError))
    for _ in range(2):
        with pytest.raises(KeyError) as error:
            failing(1)
        assert error.value.__context__ is None
    assert fails.call_count == 2


def test_bytes_are_those_of_all_that_an_object_holds():
    array = np.zeros(1000)
    assert bytes_of([array, array]) < 1.2 * array.nbytes
    assert bytes_of({"a": [array, np.zeros(1000)]}) > 2 * array.nbytes
    assert bytes_of(dp.Mean(bounds=(0, 1))) > sys.getsizeof((0.0, 1.0))
    assert bytes_of([array] * 3, 100) >= 100
    assert bytes_of([pytest, dp.mean]) < 1000


def rows_kept(array):
    """Tell whether anything that is remembered holds some rows."""
    seen, left = set(), list(once._kept.entries)
    while left:
        some = left.pop()
        if some is array or getattr(some, "base", None) is array:
            return True
        for one in gc.get_referents(some):
            if id(one) not in seen and not isinstance(one, once._SHARED):
                seen.add(id(one))
                left.append(one)
    return False


def test_no_rows_are_remembered():
    rows, words = np.arange(50.0), np.array(["a", "b"] * 25)
    table = {"x": rows, "k": words}
    dp.mean(rows, bounds=(0, 50), epsilon=1)
    dp.median(rows, bounds=(0, 50), epsilon=1)
    groups = dp.group_by(table, "k", keys=["a", "b"], ids=np.arange(50), max_rows=1)
    groups.mean("x", bounds=(0, 50), epsilon=1)
    dp.group_by(table, "k").count(epsilon=1, delta=1e-6)
    assert not rows_kept(rows) and not rows_kept(words)
    hold = remembered(lambda value: rows)  # the planted fault
    hold(1)
    assert rows_kept(rows)


def test_a_value_with_a_name_reaches_the_function():
    power = remembered(lambda value, exponent=2: value**exponent)
    assert [power(3), power(3, exponent=3), power(3)] == [9, 27, 9]
