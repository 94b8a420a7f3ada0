"""Conditions, public row sets, contrasts over them: by definition, bit by bit, moved by rows."""

import functools
import itertools
import json
import math

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.sulq import Attribute, NoisySums, RowSets
from dpfast.sulq import parts as round_parts
from dpfast.sulq.conditions import Condition, read

from ..reference.sulq import implication as reference
from ..reference.sulq.noisy_sums import moves
from ..support.names import shown
from .test_noisy_sums import recorded as recorded_parts

YES = Attribute()


def recorded(data, ask, **kw):
    """What a question is calibrated to, the integers, and the answer."""
    (asked,), (values,), found = recorded_parts(data, ask, **kw)
    return asked, values, found


leaves = st.builds(
    Attribute,
    column=st.sampled_from(["a", "b", "c"]),
    low=st.sampled_from([None, -1.0, 0.5]),
    high=st.sampled_from([None, 0.5, 1]),
)
conditions = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda x: ~x, inner)
        | st.builds(lambda x, y: x & y, inner, inner)
        | st.builds(lambda x, y: x | y, inner, inner)
        | st.builds(lambda x, y: x ^ y, inner, inner)
    ),
    max_leaves=8,
)
GRID = list(itertools.product([-2.0, 0.0, 0.5, 3.0], repeat=3))
TABLE = {
    name: np.array(column) for name, column in zip("abc", zip(*GRID, strict=True), strict=True)
}


@given(conditions)
def test_every_combination_holds_where_it_should(condition):
    written = json.loads(json.dumps(condition.written()))
    assert read(written) == condition
    expected = [reference.holds(written, dict(zip("abc", row, strict=True))) for row in GRID]
    assert condition.holds(TABLE.__getitem__).tolist() == expected
    _, _, found = recorded(TABLE, lambda s: s.sum(condition))
    assert found == sum(expected)


def test_a_condition_is_used_with_operators_and_not_with_words():
    with pytest.raises(TypeError, match="combine with &"):
        assert YES and YES
    with pytest.raises(ArgumentTypeError, match="combined with another"):
        YES & True
    with pytest.raises(TypeError, match="abstract"):
        Condition()
    assert Attribute(np.int8(3)).written() == {"column": 3}


DEEP: dict = functools.reduce(lambda inner, _: {"not": inner}, range(100), {})
#: What makes a condition or sets of rows, and of what it makes none.
NONE = {
    (lambda kw: Attribute(**kw)): [{"column": 1.5}, {"column": True}, {"low": "x"},
        {"high": math.nan}, {"low": 2, "high": 1}],
    read: [None, 3, [], {"and": []}, {"and": [{}]}, {"and": 3}, {"or": [{}, {}, {}]},
        {"nor": [{}, {}]}, {"column": [1]}, {"f": "count"}, {"not": {}, "column": 1}, {"not": 3},
        {"low": "1"}, {"not": DEEP}],
    RowSets: [[True], [[0, 1]], "x", object(), [[True], [True, False]], np.zeros((1, 1, 1), bool),
        np.ma.array([[True]], mask=[[True]])],
}  # fmt: skip


@pytest.mark.parametrize(
    ("make", "odd"), [(make, odd) for make, some in NONE.items() for odd in some], ids=shown
)
def test_what_is_no_condition_and_no_mask_is_refused(make, odd):
    words = "booleans" if make is RowSets else None
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
        make(odd)
    assert isinstance(read(DEEP), Condition)


def test_a_row_with_a_nan_has_no_value():
    data = {"a": [1.0, math.nan, 0.0, 2.0], "b": [math.nan, 1.0, 1.0, 1.0]}
    condition = ~Attribute("a") | Attribute("b")
    for ask in (lambda s: s.sum(condition), lambda s: s.contrasts(condition, [[True] * 4])[0]):
        for nan, count in (("lower", 2), ("upper", 4), ("drop", 2), (0.0, 2), (1, 4)):
            assert recorded(data, ask, nan=nan)[2] == count
        sums = NoisySums(data, epsilon=1, queries=1)
        with pytest.raises(DataError, match="NaN"):
            ask(sums)
        assert sums.remaining == 0
    assert recorded(data, lambda s: s.sum(Attribute("b", high=2)), nan="drop")[2] == 3
    sums = NoisySums(data, epsilon=1, queries=1, nan=0.25)
    with pytest.raises(ArgumentError, match="nan must be 0, 1"):
        sums.contrasts(condition, [[True] * 4])
    assert sums.remaining == 1


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 63, 64, 65, 200])
def test_row_sets_are_the_masks_that_they_were_made_of(rows):
    masks = np.random.default_rng(rows).random((5, rows)) < 0.3
    made = RowSets(masks)
    assert len(made) == 5 and made.rows == rows
    assert [made.mask(i).tolist() for i in range(5)] == masks.tolist()
    assert made.sizes.tolist() == masks.sum(axis=1).tolist()
    bits = made.to_bytes()
    assert len(bits) == 5 * -(-rows // 8)
    again = RowSets.from_bytes(bits, rows, 5)
    assert again.to_bytes() == bits and again.sizes.tolist() == made.sizes.tolist()
    ones = RowSets.from_bytes(b"\xff" * len(bits), rows, 5)
    assert ones.sizes.tolist() == [rows] * 5  # and nothing after the last row
    assert RowSets.random(rows, 3).sizes.max(initial=0) <= rows


@given(st.integers(0, 300), st.integers(0, 200), st.integers(0, 4), st.integers(0, 2**32))
def test_counts_at_any_place(start, length, sets, seed):
    g = np.random.default_rng(seed)
    masks, holds = g.random((sets, start + length + 5)) < 0.5, g.random(length) < 0.5
    expected = (masks[:, start : start + length] & holds).sum(axis=1)
    assert RowSets(masks).counts(holds, start).tolist() == expected.tolist()


def far(masks):
    """By how many deviations, at most, rows, sets and pairs of rows are off from fair coins."""
    signs = 2.0 * masks - 1.0
    r, n = signs.shape
    product = signs.T @ signs / math.sqrt(r)
    pairs = product[np.triu_indices(n, 1)]
    return max(abs(signs.sum(0)).max() / math.sqrt(r), abs(signs.sum(1)).max() / math.sqrt(n),
               abs(pairs).max() - 1.0)  # fmt: skip


def test_random_sets_are_fair_coins_and_biased_ones_are_caught():
    sets = RowSets.random(150, 4000, InsecureGenerator(3))
    masks = np.array([sets.mask(i) for i in range(len(sets))])
    assert far(masks) < 4.5
    biased = masks.copy()
    biased[: 4000 // 12, 77] = True
    assert far(biased) > 4.5
    linked = masks.copy()
    linked[: 4000 // 8, 5] = linked[: 4000 // 8, 140]
    assert far(linked) > 4.5
    again = RowSets.random(150, 4000, InsecureGenerator(3))
    assert again.to_bytes() == sets.to_bytes() != RowSets.random(150, 4000).to_bytes()


def test_sets_of_another_length():
    with pytest.raises(DataError, match="one entry for each row"):
        RowSets.random(10, 2).counts(np.ones(7, bool), 4)
    with pytest.raises(ArgumentError, match="6 bytes for 3 sets of 9 rows"):
        RowSets.from_bytes(b"12345", 9, 3)
    with pytest.raises(ArgumentTypeError, match="rng"):
        RowSets.random(3, 3, 7)


@numba.njit
def odd(x):
    return x % 2


def test_contrasts_are_those_of_the_definition():
    g = np.random.default_rng(0)
    data, masks = g.integers(0, 5, 333).astype(float), g.random((9, 333)) < 0.5
    for f, bits in ((YES, data != 0), (odd, data % 2 == 1), (data > 2, data > 2)):
        _, integers, (total, found) = recorded(data, lambda s, f=f: s.contrasts(f, masks))
        count, halves = reference.contrasts(bits, masks)
        assert total == count and found.tolist() == [float(h) for h in halves]
        assert integers == [count, *(2 * h for h in halves)]
    for form in (pd.DataFrame({"x": data}), data.astype(np.int8)[:, None], data.astype(">f4")):
        column = "x" if isinstance(form, pd.DataFrame) else 0 if form.ndim == 2 else None
        ask = recorded(form, lambda s, c=column: s.contrasts(Attribute(c), masks))
        assert ask[1] == recorded(data, lambda s: s.contrasts(YES, masks))[1]


def pairs(relation, n=4, r=3):
    g = np.random.default_rng(1)
    for _ in range(12):
        bits, masks = g.random(n) < 0.5, g.random((r, n)) < 0.5
        for i in range(n):
            if relation == "replace":
                other = bits.copy()
                other[i] = not bits[i]
                yield bits, masks, other, masks
            else:
                yield bits, masks, np.delete(bits, i), np.delete(masks, i, axis=1)


def broken(relation):
    """Whether some neighbor moves the integers by more than the noise was asked for."""
    for *one, bits, sets in pairs(relation):
        (claimed, before, _), (_, after, _) = (
            recorded(b, lambda s, m=m: s.contrasts(YES, m)) for b, m in (one, (bits, sets))
        )
        if any(a > b for a, b in zip(moves(before, after), claimed, strict=True)):
            return True
    return False


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_no_neighbor_moves_contrasts_by_more_than_is_claimed(relation, monkeypatch):
    assert not broken(relation)

    def without_the_total(sets):
        return round_parts.Part(sets + 1, sets, sets, sets)

    monkeypatch.setattr(dp.sulq.noisy_sums, "contrast_part", without_the_total)
    assert broken(relation)


@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("sets", [0, 1, 100])
def test_all_questions_together_cost_what_was_said(queries, sets):
    made = NoisySums([], rho=0.5, queries=queries)
    assert queries * (sets + 1) / 4 / (2 * made.contrast_deviation(sets) ** 2) == pytest.approx(0.5)
    pure = NoisySums([], epsilon=0.5, queries=queries)
    scale = pure.contrast_deviation(sets) / math.sqrt(2)
    assert queries * (sets + 1) / 2 / scale == pytest.approx(0.5, rel=0.02)
    both = NoisySums([], epsilon=1, delta=1e-6, queries=queries)
    wide = both.deviation / both.contrast_deviation(sets)  # of a sum, which moves by 1
    assert wide == pytest.approx(2 / math.sqrt(sets + 1), rel=0.01)
