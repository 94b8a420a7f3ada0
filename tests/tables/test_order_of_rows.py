"""Rows that come in another order when they are read again: no answer hangs on that."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast._kernels.tables import Key
from dpfast.errors import DataError
from dpfast.rng import InsecureGenerator
from dpfast.tables.batch_reader import StreamReader
from dpfast.tables.digest import digest

from ..support.battery import CASES, same
from ..support.pairwise import quick_rows

ORDER = "same order in each pass"
FED = {name: case for name, case in CASES.items() if case.form in ("column", "table")}
OF_PEOPLE = [name for name, case in FED.items() if "ids" in case.rows]
#: Those of which no row is chosen; a mask stands at the rows, by their numbers.
IN_ONE_READ = (
    *(dp.count, dp.count_nonzero, dp.sum, dp.mean, dp.variance, dp.std, dp.covariance),
    *(dp.proportion, dp.ratio, dp.correlation, dp.histogram, dp.tree_histogram, dp.workload),
)
MASKED = [name for name, case in FED.items() if "where" in case.rows and "ids" not in case.rows]


def stream(table, order):
    """A table as a stream, its rows in the order that ``order(read, rows)`` gives in each read."""
    reads = itertools.count()
    return lambda: table.take(pa.array(order(next(reads), len(table))))


def in_order(_read, rows):
    return np.arange(rows)


def shuffled(read, rows):
    return np.random.default_rng(read).permutation(rows)


def answer(case, order, ids, budget=None, where=None):
    """The answer of a case about a stream; its ids are a column of it, or stand at its rows."""
    numbers = np.asarray(case.data).reshape(len(case.data), -1)
    names = [f"x{j}" for j in range(numbers.shape[1])]
    columns = {name: numbers[:, j] for j, name in enumerate(names)}
    if "ids" in case.rows:
        columns["id"] = case.kw["ids"]
    data = dp.stream(stream(pa.table(columns), order), names if len(names) > 1 else names[0])
    more = {"ids": case.kw["ids"] if ids is None else ids} if "ids" in case.rows else {}
    rng = None if budget is not None else InsecureGenerator(3)
    return case(data, case.losses[0], **more, budget=budget, rng=rng)


def is_caught(case, order, ids):
    """Whether an answer that may be wrong is an error, after the spend."""
    budget = dp.Budget(epsilon=100, delta=0.5)
    try:
        answer(case, order, ids, budget)
    except DataError as error:
        return ORDER in str(error) and len(budget.history) == 1
    return False


@quick_rows(7)
@pytest.mark.parametrize("name", OF_PEOPLE)
def test_rows_of_people(name):
    """Sums are made in one read, in whatever order, unless a bound is drawn in another.

    Ranks are those of rows that were chosen.
    """
    case = CASES[name]
    plain = case(case.data, case.losses[0], rng=InsecureGenerator(3))
    assert same(answer(case, in_order, "id"), plain)
    drawn = any(isinstance(value, str) and value == "auto" for value in case.kw.values())
    if case.call in IN_ONE_READ and "where" not in case.rows and not drawn:
        assert same(answer(case, shuffled, "id"), plain)
    else:
        assert is_caught(case, shuffled, "id")
    assert is_caught(case, shuffled, None)  # ids that stand at the rows, by their numbers


@quick_rows(6)
@pytest.mark.parametrize("name", MASKED)
def test_rows_of_a_mask(name):
    case = CASES[name]
    assert same(
        answer(case, in_order, None), case(case.data, case.losses[0], rng=InsecureGenerator(3))
    )
    assert is_caught(case, shuffled, None)


def test_a_reader_that_compares_nothing_is_caught(monkeypatch):
    monkeypatch.setattr(StreamReader, "in_order", True)
    assert not any(is_caught(CASES[name], shuffled, "id") for name in OF_PEOPLE[::6])
    assert not any(is_caught(CASES[name], shuffled, None) for name in MASKED[::6])


def test_a_pass_of_values_that_does_not_read_the_ids_is_caught(monkeypatch):
    """What the ids say of rows is compared in the pass over the values, or nowhere."""
    monkeypatch.setattr(StreamReader, "tie", lambda *_: None)
    case = CASES["bounds of people"]
    missed = type(case)(case.call, case.data, case.kw, ("ids",))
    assert not is_caught(missed, shuffled, "id")
    monkeypatch.undo()
    assert is_caught(missed, shuffled, "id")


ROWS = pa.table({"a": np.arange(300) / 300, "b": np.arange(300)[::-1] / 300})
LABELS = np.arange(300) % 2
FITTED = {"bounds": [(0, 1)] * 2, "epsilon": 1.0}
#: What stands at the rows of a learner, of sums or of blocks, by their numbers.
SOME = {"column": "a", "bounds": (0, 1), "rows": LABELS > 0}
BLOCKS = {"blocks": 5, "ids": np.arange(300), "bounds": (0, 1), "epsilon": 1}
SCALER = dp.learn.StandardScaler(weight_bounds=(0, 1), **FITTED)
BESIDE_ROWS = [
    lambda X: dp.learn.NaiveBayes(classes=[0, 1], **FITTED).fit(X, LABELS),
    lambda X: dp.learn.LinearRegression(y_bounds=(0, 1), **FITTED).fit(X, LABELS),
    lambda X: SCALER.fit(X, sample_weight=LABELS),
    lambda X: dp.sulq.NoisySums(X, epsilon=1, queries=1).sum("value", **SOME),
    lambda X: dp.sample_and_aggregate(X, lambda rows: rows["a"].mean(), **BLOCKS),
]


def test_what_stands_at_the_rows_of_a_stream():
    for release in BESIDE_ROWS:
        release(dp.stream(stream(ROWS, in_order), ["a", "b"]))
        with pytest.raises(DataError, match=ORDER):
            release(dp.stream(stream(ROWS, shuffled), ["a", "b"]))


N = 3_000
#: Half of the rows of one shop are one person's.
PERSON, PAID = np.r_[np.zeros(N, int), np.arange(1, N + 1)], np.arange(2.0 * N)
TABLE = pa.table({"person": PERSON, "shop": ["x"] * N + ["y"] * N, "pay": PAID})
PAY = {"column": "pay", "bounds": (0, 9)}
METHODS = {"count": {}, "count_distinct": {}, "mean": PAY, "median": PAY}
METHODS["histogram"] = {**PAY, "bins": 3}


def of_groups(data, method, budget=None):
    most = {"max_groups": 1, "max_rows": None if method == "count_distinct" else 1}
    groups = dp.group_by(data, "shop", keys=["x", "y"], ids="person", **most)
    return getattr(groups, method)(**METHODS[method], epsilon=50, delta=1e-3, budget=budget)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_people_by_group(method):
    plain, mixed = (dp.stream(stream(TABLE, order), ["pay"]) for order in (in_order, shuffled))
    found, budget = of_groups(plain, method), dp.Budget(epsilon=50, delta=0.5)
    assert list(found["shop"]) == ["x", "y"]
    if method == "median":
        with pytest.raises(DataError, match=ORDER):
            of_groups(mixed, method, budget)
    else:
        again = of_groups(mixed, method, budget)
        name = "histogram 0" if method == "histogram" else method
        if method != "mean":  # of one row in a group
            assert abs(again[name] - found[name]).max() < 20
    assert budget.spent["epsilon"] == 50


KEY = Key(bytes(range(32)))
NUMBERS = [1, 2, None, 4, 0, 5]
COLUMNS = {
    "double": pa.array([1.0, 2.0, None, 4.0, -0.0, 5.0]),
    "int8": pa.array(NUMBERS, pa.int8()),
    "bool": pa.array([True, False, None, True, True, False]),
    "text": pa.array(["a", "b", None, "", "a text of many letters", "b"]),
    "view": pa.array(["a", "b", None, "", "a text of many letters", "b"], pa.string_view()),
    "bytes": pa.array([b"a", b"\xe9", None, b"", b"\xe8", b"b"], pa.binary()),
    "words": pa.array(["a", "b", None, "a", "c", "b"]).dictionary_encode(),
    "codes": pa.array([1.5, 2.5, None, 1.5, 3.5, 2.5]).dictionary_encode(),
    "day": pa.array(NUMBERS, pa.int32()).cast(pa.date32()),
    "time": pa.array(NUMBERS, pa.int64()).cast(pa.timestamp("us", "UTC")),
    "decimal": pa.array(NUMBERS).cast(pa.decimal128(22, 2)),
    "nothing": pa.nulls(6),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_digest_is_of_rows_at_their_places_however_they_are_cut(name):
    column = COLUMNS[name]
    rows, whole = column.to_pylist(), digest(KEY, column, 5)
    for cut in range(7):
        parts = digest(KEY, column[:cut], 5) + digest(KEY, column[cut:], 5 + cut)
        assert parts % 2**64 == whole
    assert digest(KEY, pa.concat_arrays([column[:0], column]), 5) == whole
    for i, j in itertools.combinations(range(6), 2):
        places = np.arange(6)
        places[[i, j]] = j, i
        changed = digest(KEY, pa.array([rows[k] for k in places], column.type), 5) != whole
        assert changed == (rows[i] != rows[j])
    assert (digest(KEY, column, 6) != whole) and digest(Key(bytes(32)), column, 5) != whole
