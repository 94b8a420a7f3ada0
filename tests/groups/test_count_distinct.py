"""The number of distinct values: exact for every form of keys, and what a step can change."""

import datetime
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.groups import distinct
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import Pure

from ..support.views import quoted, replaced

RNG = np.random.default_rng(5)
NUMBERS = RNG.integers(-40, 40, 3000)
WORDS = np.array([f"word {k} " + "x" * (k % 40) for k in range(60)])[RNG.integers(0, 60, 3000)]
DAYS = np.datetime64("2020-01-01") + RNG.integers(0, 90, 3000)


def exact(data, **kw):
    class Silent:
        scale, loss = 1, Pure(1)

        def add(self, values, generator):
            return list(values)

    with replaced(distinct, "integer_noise", lambda loss, sensitivity: Silent()):
        return dp.count_distinct(data, epsilon=1, **kw)


MANY = len(set(WORDS.tolist()))
FORMS = {
    "integers": (NUMBERS, len(set(NUMBERS.tolist()))),
    "beyond int64": (np.array([2**63, 2**64 - 1, 2**63], np.uint64), 2),
    "truths": (NUMBERS > 0, 2),
    "text": (WORDS, MANY),
    "bytes": (WORDS.astype("S"), MANY),
    "categories": (pd.Series(WORDS, dtype="category"), MANY),
    "dictionary": (pa.array(WORDS.tolist()).dictionary_encode(), MANY),
    "dates": ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 4, 2),
    "of several kinds": ([1, "1", b"1", 1, "1", None, True, np.int8(1)], 3),
    "nulls": (pa.array([3, None, 3, None, 4]), 2),
    "none": (np.empty(0, np.int64), 0),
    "two columns": ({"a": pa.array([1, 1, None]), "b": [2, 2, 2]}, 1),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_it_is_the_number_of_distinct_values(form):
    data, number = FORMS[form]
    assert exact(data) == number


def test_only_rows_that_are_used():
    where = NUMBERS > 10
    assert exact(NUMBERS, where=where) == len(set(NUMBERS[where].tolist()))
    assert exact(NUMBERS, where=np.zeros(len(NUMBERS), bool)) == 0


def worst(relation):
    each, moved = ["a", "b", "c", None], 0
    count = {
        rows: exact(list(rows)) for n in range(4) for rows in itertools.product(each, repeat=n)
    }
    for rows in count:
        if not rows:
            continue
        others = [rows[1:]] if relation == "add-remove" else [(o, *rows[1:]) for o in each]
        moved = max(moved, *(abs(count[rows] - count[other]) for other in others))
    return moved


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_row_moves_it_by_one(relation):
    noise = quoted(dp.count_distinct, [1], epsilon=1, neighbors=relation).integer_noise
    assert noise == integer_noise(Pure(1), Sensitivity.of_one(worst(relation)))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_person_moves_it_by_what_may_count(relation, limit):
    others, own, new = ["p", "q"], list("abcdab"), list("pqrstu")

    def with_person(values):
        ids = [7, 8, *[1] * len(values)]
        given = {"ids": ids, "max_groups": limit, "neighbors": relation}
        return exact([*others, *values], **given)

    counts = [with_person(values) for values in ([], own, new, ["p"])]
    assert counts[0] == 2 and counts[1] == 2 + min(limit, 4)
    moves = {abs(a - b) for a, b in itertools.combinations(counts, 2)}
    asked = {"ids": [1, 2], "max_groups": limit, "epsilon": 1, "neighbors": relation}
    noise = quoted(dp.count_distinct, ["a", "b"], **asked).integer_noise
    assert max(moves) <= limit and (limit > 4 or max(moves) == limit)
    assert noise == integer_noise(Pure(1), Sensitivity.of_one(limit))
    # Planted: the noise of a row is too little for a person of two values.
    assert limit == 1 or max(moves) > 1


def test_what_is_refused():
    for data in ({"a": [1], "b": np.ones(1)}, {"a": np.ones(1)}):
        with pytest.raises(ArgumentTypeError, match=r"^data must be|^column"):
            dp.count_distinct(data, epsilon=1)
    with pytest.raises(ArgumentError, match="max_groups"):
        dp.count_distinct([1, 2], ids=[1, 2], epsilon=1)
    with pytest.raises(ArgumentError, match="ids must be one of several columns"):
        dp.count_distinct({"a": [1]}, ids="a", max_groups=1, epsilon=1)
    with pytest.raises(ArgumentError, match="max_groups"):
        dp.count_distinct([1, 2], max_groups=2, epsilon=1)
