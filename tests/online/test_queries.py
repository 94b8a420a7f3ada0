"""What streams of linear queries take: histograms, data, universes and queries of all kinds."""

from __future__ import annotations

import copy
import math
import os
import pickle

import numba
import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, StreamError
from dpfast.rng import InsecureGenerator

from ..support.names import shown
from ..support.pairwise import every_value, quick_rows

HISTOGRAM = [7000, 2000, 1000]
HOMES = ["Peru", "China", "Kenya"]
LINEAR = [dp.online.MedianMechanism, dp.online.PrivateMultiplicativeWeights]


def mwem(*histogram, queries=None, accuracy=None, **given):
    """With the arguments of the others, as far as it has them."""
    return dp.online.MWEM(*histogram, queries=np.eye(3), rounds=3, **given)


EVERY = pytest.mark.parametrize("open_", [*LINEAR, mwem], ids=lambda f: f.__name__)
BOTH = pytest.mark.parametrize("open_", LINEAR, ids=lambda f: f.__name__)
GIVEN = {"epsilon": 20, "queries": 10, "accuracy": 0.15}


class Broken:
    def __array__(self, *args, **kw):
        raise RuntimeError("no array")


# --- data -----------------------------------------------------------------------------------------


def homes():
    every = np.repeat(HOMES, HISTOGRAM)
    np.random.default_rng(1).shuffle(every)
    return every


KINDS = {
    "array": lambda rows: rows,
    "objects": lambda rows: rows.astype(object),
    "list": lambda rows: rows.tolist(),
    "Arrow": lambda rows: pa.chunked_array([rows[:999].tolist(), rows[999:].tolist()]),
    "dictionary": lambda rows: pa.array(rows.tolist()).dictionary_encode(),
}


@EVERY
@pytest.mark.parametrize("kind", KINDS)
def test_rows_may_be_texts(open_, kind):
    made = [
        open_(data=KINDS[kind](homes()), universe=HOMES, rng=InsecureGenerator(2), **GIVEN),
        open_(HISTOGRAM, universe=np.array(HOMES, object), rng=InsecureGenerator(2), **GIVEN),
        open_(HISTOGRAM, rng=InsecureGenerator(2), **GIVEN),
    ]
    a, b, c = (
        stream.answer(query)
        for stream, query in zip(
            made, (lambda home: home == "Peru", lambda home: home == "Peru", [1, 0, 0]), strict=True
        )
    )
    assert a == b == c and abs(a - 0.7) <= 0.15


@pytest.mark.full
@BOTH
@pytest.mark.parametrize("column", [{"home": homes()}, pa.table({"home": homes().tolist()})])
def test_a_table_of_one_column_of_texts(open_, column):
    stream = open_(data=column, universe=HOMES, **GIVEN)
    assert stream._counts.tolist() == HISTOGRAM


@pytest.mark.full
def test_a_compiled_query_of_texts():
    stream = dp.online.MedianMechanism(HISTOGRAM, universe=HOMES, **GIVEN)
    assert stream._universe.values(numba.njit(lambda home: home == "China")).tolist() == [0, 1, 0]


def test_rows_made_up_of_texts_are_texts():
    stream = dp.online.PrivateMultiplicativeWeights(HISTOGRAM, universe=HOMES, **GIVEN)
    assert stream.synthetic(3).tolist() == HOMES


@EVERY
@pytest.mark.parametrize("stranger", ["Chile", "peru", "", None])
def test_a_text_outside_of_the_universe_is_an_answer(open_, stranger):
    budget = dp.Budget(epsilon=20)
    with pytest.raises(DataError) as caught:
        open_(data=[*homes().tolist(), stranger], universe=HOMES, budget=budget, **GIVEN)
    assert repr(stranger) not in str(caught.value) and budget.remaining["epsilon"] == 0


@EVERY
def test_a_missing_number_is_no_element(open_):
    data = pa.array([*np.repeat([1, 2, 3], HISTOGRAM).tolist(), None])
    with pytest.raises(DataError, match="elements of the universe"):
        open_(data=data, universe=[1, 2, 3], **GIVEN)


@EVERY
@pytest.mark.parametrize(
    ("data", "universe", "error"),
    [
        (np.ones(10_000), HOMES, ArgumentTypeError),
        (homes(), [1, 2, 3], ArgumentTypeError),
        ({"a": homes(), "b": homes()}, HOMES, ArgumentError),
    ],
    ids=["numbers", "texts", "two columns"],
)
def test_data_of_another_kind_than_the_universe_spend_nothing(open_, data, universe, error):
    budget = dp.Budget(epsilon=20)
    with pytest.raises(error):
        open_(data=data, universe=universe, budget=budget, **GIVEN)
    assert not budget.history


@quick_rows(1)
@pytest.mark.parametrize("dtype", [">i4", "<u2", "f2", "f4", ">f8", np.longdouble])
def test_elements_of_every_type_of_number(dtype):
    universe = np.array([1, 2, 3], dtype)
    stream = dp.online.MedianMechanism(HISTOGRAM, universe=universe, **GIVEN)
    for query in (lambda x: x == 2, numba.njit(lambda x: x == 2)):
        assert stream._universe.values(query).tolist() == [0, 1, 0]
    other = dp.online.MedianMechanism(HISTOGRAM, universe=universe.copy(), **GIVEN)
    assert stream._universe.facts == other._universe.facts


# --- bad arguments --------------------------------------------------------------------------------

MASKED = np.ma.array(HISTOGRAM, mask=[True, False, False])
BAD = [
    ({"histogram": [[1], [2, 3]]}, ArgumentTypeError, "histogram"),
    ({"histogram": Broken()}, ArgumentTypeError, "histogram"),
    ({"histogram": Broken(), "universe": [1, 2]}, ArgumentTypeError, "histogram"),
    ({"histogram": "abc", "universe": [1, 2, 3]}, ArgumentTypeError, "histogram"),
    ({"histogram": MASKED}, ArgumentTypeError, "histogram"),
    ({"histogram": []}, ArgumentTypeError, "histogram"),
    ({"histogram": None}, ArgumentError, "histogram"),
    ({"histogram": [0, 0]}, ArgumentError, "histogram"),
    ({"histogram": [-1, 5]}, ArgumentTypeError, "histogram"),
    ({"histogram": [0.5, 1]}, ArgumentTypeError, "histogram"),
    ({"histogram": [[1, 2]]}, ArgumentTypeError, "histogram"),
    ({"histogram": [2**60, 5]}, ArgumentError, "histogram"),
    ({"histogram": [2**35, 2**35]}, ArgumentError, "histogram"),
    ({"histogram": [2**51] * 8192 + [10**6]}, ArgumentError, "histogram"),
    ({"data": [1, 2]}, ArgumentError, "histogram"),
    ({"histogram": None, "data": [1, 2]}, ArgumentError, "universe"),
    ({"histogram": None, "data": [], "universe": [1, 2]}, ArgumentError, "data"),
    ({"epsilon": None}, ArgumentError, "epsilon"),
    ({"rho": 1}, ArgumentError, "rho"),
    ({"rng": 1}, ArgumentTypeError, "rng"),
    ({"universe": [1, 2]}, ArgumentError, "universe"),
    ({"universe": [1, 2, 2]}, ArgumentError, "universe"),
    ({"universe": [1, 2, math.nan]}, ArgumentError, "universe"),
    # A sum of 64 bits would begin again at 0.
    ({"histogram": [*[2**52 - 1] * 4096, 9096]}, ArgumentError, "histogram"),
    ({"histogram": np.full(3, 2**63, np.uint64)}, ArgumentError, "histogram"),
    ({"universe": ["a", "b", "a"]}, ArgumentError, "universe"),
    ({"universe": ["a", "b", "a\0"]}, ArgumentError, "universe"),
    ({"universe": ["a", "b", "\ud800"]}, ArgumentError, "universe"),
    ({"universe": ["a", "b", 1]}, ArgumentTypeError, "universe"),
    ({"universe": ["a", "b", None]}, ArgumentTypeError, "universe"),
    ({"universe": [b"a", b"b", b"c"]}, ArgumentTypeError, "universe"),
    ({"universe": Broken()}, ArgumentTypeError, "universe"),
    ({"universe": np.ma.array([1, 2, 3], mask=[0, 1, 0])}, ArgumentTypeError, "universe"),
]
STREAMED = [
    ({"queries": 10**400}, ArgumentError, "queries"),
    ({"queries": 2**62 + 1}, ArgumentError, "queries"),
    ({"queries": 0}, ArgumentError, "queries"),
    ({"accuracy": 0}, ArgumentError, "accuracy"),
    ({"accuracy": 1.1}, ArgumentError, "accuracy"),
    ({"accuracy": 1e-12}, ArgumentError, "accuracy"),
    ({"failure": 1}, ArgumentError, "failure"),
]
CANDIDATES = [
    ({"histogram": [1000]}, ArgumentError, "universe"),
    ({"histogram": np.ones(100, int) * 1000, "size": 9}, ArgumentError, "size"),
    ({"size": 0}, ArgumentError, "size"),
    ({"size": 256}, ArgumentError, "size"),
    ({"candidates": 1}, ArgumentError, "candidates"),
    ({"candidates": 2**40}, ArgumentError, "size"),
    ({"epsilon": 1e-12}, ArgumentError, "epsilon"),
    ({"accuracy": 1e-300, "test": "closeness"}, ArgumentError, "accuracy"),
]


def refused(open_, wrong, error, word):
    budget = dp.Budget(epsilon=20)
    with pytest.raises(error, match=f"^{word} must be"):
        given = {"histogram": HISTOGRAM, **GIVEN, **wrong}
        open_(given.pop("histogram"), budget=budget, **given)
    assert not budget.history


@every_value
@EVERY
@pytest.mark.parametrize(("wrong", "error", "word"), BAD, ids=shown)
def test_bad_arguments_spend_nothing(open_, wrong, error, word):
    refused(open_, wrong, error, word)


@BOTH
@pytest.mark.parametrize(("wrong", "error", "word"), STREAMED, ids=shown)
def test_bad_arguments_of_streams_spend_nothing(open_, wrong, error, word):
    refused(open_, wrong, error, word)


@pytest.mark.parametrize(("wrong", "error", "word"), CANDIDATES, ids=shown)
def test_bad_arguments_of_the_median_mechanism_spend_nothing(wrong, error, word):
    refused(dp.online.MedianMechanism, wrong, error, word)


@pytest.mark.full
@BOTH
@pytest.mark.parametrize(
    ("histogram", "loss"), [([5000, 3000, 2000], {"epsilon": 1}), ([9000, 1000], {"rho": 0.5})]
)
def test_the_accuracy_that_is_offered_is_taken_and_no_less(open_, histogram, loss):
    given = {"queries": 50, **loss}
    with pytest.raises(ArgumentError, match="accuracy must be at least") as caught:
        open_(histogram, accuracy=1e-3, **given)
    least = float(str(caught.value).split("least ")[1].split(" with")[0])
    open_(histogram, accuracy=least, **given)
    with pytest.raises(ArgumentError, match="accuracy must be at least"):
        open_(histogram, accuracy=0.98 * least, **given)


@BOTH
def test_a_failure_of_the_smallest_number_is_one(open_):
    given = {**GIVEN, "accuracy": 0.3, "failure": 5e-324, "queries": 2**62}
    assert abs(open_(np.array(HISTOGRAM) * 1000, **given).answer([0, 1, 1]) - 0.3) <= 0.3


def test_a_grid_too_fine_for_the_samplers_is_refused():
    with pytest.raises(ArgumentError, match="sensitivity must be"):
        dp.online.SparseVector(positives=1, epsilon=1, granularity=2.0**-1000)


def test_the_least_numbers_are_rounded_down_as_one_by_one():
    stream = dp.online.SparseVector(positives=1, epsilon=1, granularity=2.0**10)
    values = [-5e-324, 5e-324, -0.0, 0.0, -1024.0, -1024.1, 1e308, -1e308]
    cells = [stream._cell(value) for value in values]
    assert stream._floors(np.array(values)).tolist() == cells
    assert cells[:6] == [-1, 0, 0, 0, -1, -2]


def test_no_values_have_no_thresholds():
    stream = dp.online.SparseVector(positives=1, epsilon=1)
    assert len(stream.answer_many([], []).above) == 0


# --- bad queries ----------------------------------------------------------------------------------

BAD_QUERIES = [
    [1, 0],
    [1, 0, 0, 0],
    [1, 0, 1 + 1e-15],
    [0, -5e-324, 0],
    [math.nan, 0, 0],
    [math.inf, 0, 0],
    ["a"] * 3,
    [[1, 0, 0]],
    [[1], [2, 3]],
    "abc",
    3,
    None,
    Broken(),
    np.array([1, 0, 0], object),
    np.ma.array([1, 0, 0], mask=[1, 0, 0]),
    lambda: 1,
    lambda x: [1, 0],
    lambda x: 2,
    lambda x: "0.5",
    lambda x: 1j,
    lambda x: math.nan,
    lambda x: 1 / 0,
    numba.njit(lambda x: x + 1.5),
    numba.njit(lambda x: 1 / (x - 1)),
    numba.njit(lambda x: (x, 1)),
]


def left_of(stream):
    public = (getattr(stream, name, None) for name in ("left", "remaining", "alive"))
    shares = getattr(stream, "distribution", np.zeros(0)).tolist()
    secret = {**vars(stream._comparison)} if hasattr(stream, "_comparison") else None
    return *public, secret, shares


@pytest.mark.full
@every_value
@EVERY
@pytest.mark.parametrize("query", BAD_QUERIES, ids=shown)
def test_a_bad_query_leaves_the_state_as_it_was(open_, query):
    stream, other = (open_(HISTOGRAM, rng=InsecureGenerator(3), **GIVEN) for _ in range(2))
    before = left_of(stream)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^query must be"):
        stream.answer(query)
    assert left_of(stream) == before
    for good in np.eye(3):
        a, b = stream.answer(good), other.answer(good)
        assert (a, a.hard, a.remaining) == (b, b.hard, b.remaining)


# --- copies -----------------------------------------------------------------------------------

ONE_OF_EACH = {
    "sparse": lambda: (dp.online.AboveThreshold(epsilon=1), -(10**6)),
    "linear": lambda: (dp.online.MedianMechanism(HISTOGRAM, **GIVEN), [1, 0, 0]),
}


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_no_copy_answers(kind):
    stream, _ = ONE_OF_EACH[kind]()
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="both copies"):
            copied(stream)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_forked_child_is_refused(kind):
    stream, question = ONE_OF_EACH[kind]()
    child = os.fork()
    if not child:
        try:
            stream.answer(question)
        except StreamError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    stream.answer(question)
