"""What streams of linear queries take: histograms, data, universes and queries of all kinds."""

import copy
import math
import pickle

import numba
import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator

from ..support.forked import error_in_a_fork
from ..support.names import shown
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused

HISTOGRAM = [7000, 2000, 1000]
HOMES = ["Peru", "China", "Kenya"]
LINEAR = [dp.online.MedianMechanism, dp.online.PrivateMultiplicativeWeights]


def mwem(*histogram, queries=None, accuracy=None, **given):
    """With the arguments of the others, as far as it has them."""
    queries = np.eye(3) if isinstance(queries, int) else queries
    return dp.online.MWEM(*histogram, **{"queries": queries, "rounds": 3, **given})


def sparse(histogram, *, queries, accuracy, **given):
    return dp.online.SparseVector(**{"positives": 1, **given})


def running(histogram, *, queries, accuracy, **given):
    return dp.online.RunningCount(**{"steps": 4, **given})


EVERY = pytest.mark.parametrize("open_", [*LINEAR, mwem], ids=lambda f: f.__name__)
BOTH = pytest.mark.parametrize("open_", LINEAR, ids=lambda f: f.__name__)
GIVEN = {"epsilon": 20, "queries": 10, "accuracy": 0.15}


class Broken:
    def __array__(self, *args, **kw):
        raise RuntimeError("no array")


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
    "table": lambda rows: {"home": rows},
    "Arrow table": lambda rows: pa.table({"home": rows.tolist()}),
}


@EVERY
@pytest.mark.parametrize("kind", KINDS)
def test_rows_may_be_texts(open_, kind):
    def given():
        return {"rng": InsecureGenerator(2), **GIVEN}

    def is_peru(home):
        return home == "Peru"

    answers = [
        open_(data=KINDS[kind](homes()), universe=HOMES, **given()).answer(is_peru),
        open_(HISTOGRAM, universe=np.array(HOMES, object), **given()).answer(is_peru),
        open_(HISTOGRAM, **given()).answer([1, 0, 0]),
    ]
    assert len(set(answers)) == 1 and abs(answers[0] - 0.7) <= 0.15


@EVERY
@pytest.mark.parametrize("stranger", ["Chile", "peru", "", None, 4.0, math.nan, -1e300])
def test_a_row_outside_of_the_universe_is_an_answer(open_, stranger):
    budget, rows, universe = dp.Budget(epsilon=20), homes().tolist(), HOMES
    if isinstance(stranger, float):
        rows, universe = np.repeat([1.0, 2.0, 3.0], HISTOGRAM).tolist(), [1, 2, 3]
    with pytest.raises(DataError, match="elements of the universe") as caught:
        open_(data=[*rows, stranger], universe=universe, budget=budget, **GIVEN)
    assert repr(stranger) not in str(caught.value) and budget.remaining["epsilon"] == 0
    with pytest.raises(DataError, match="elements of the universe"):
        open_(data=pa.array([*[1, 2, 3] * 3000, None]), universe=[1, 2, 3], **GIVEN)


@EVERY
@pytest.mark.parametrize(("data", "universe", "error"), [
    (np.ones(10_000), HOMES, ArgumentTypeError), (homes(), [1, 2, 3], ArgumentTypeError),
    ({"a": homes(), "b": homes()}, HOMES, ArgumentError)], ids=["numbers", "texts", "two columns"
])  # fmt: skip
def test_data_of_another_kind_than_the_universe_spend_nothing(open_, data, universe, error):
    refused(open_, None, error, dp.Budget(epsilon=20), data=data, universe=universe, **GIVEN)


@quick_rows(1)
@pytest.mark.parametrize("dtype", [">i4", "<u2", "f2", "f4", ">f8", np.longdouble, "U5"])
def test_elements_of_every_type(dtype):
    universe = np.array([1, 2, 3], dtype)
    stream, other = (
        dp.online.MedianMechanism(HISTOGRAM, universe=of, **GIVEN)
        for of in (universe, universe.copy())
    )
    two = "2" if dtype == "U5" else 2
    for query in (lambda x: x == two, numba.njit(lambda x: x == two)):
        assert stream._universe.values(query).tolist() == [0, 1, 0]
    assert stream._universe.facts == other._universe.facts
    weights = dp.online.PrivateMultiplicativeWeights(HISTOGRAM, universe=universe, **GIVEN)
    assert weights.synthetic(3).tolist() == universe.tolist()


MASKED = np.ma.array(HISTOGRAM, mask=[True, False, False])
WRAPS = np.full(3, 2**63, np.uint64)
#: An argument, bad values of it, and those whose type is bad.
WRONG = {
    "histogram": (
        # Of the last two a sum of 64 bits would begin again at 0.
        [None, [0, 0], [2**60, 5], [2**35, 2**35], [*[2**52 - 1] * 4096, 9096], WRAPS],
        [[[1], [2, 3]], Broken(), MASKED, [], [-1, 5], [0.5, 1], [[1, 2]]],
    ),
    "universe": (
        [[1, 2], [1, 2, 2], [1, 2, math.nan], ["a", "b", "a"], ["a", "b", "a\0"]],
        [["a", "b", 1], ["a", "b", None], [b"a", b"b", b"c"]],
    ),
    "epsilon": ([None], []),
    "rho": ([1], []),
    "rng": ([], [1]),
}
BAD = [
    ({name: value}, error, name)
    for name, values in WRONG.items()
    for error, some in zip((ArgumentError, ArgumentTypeError), values, strict=True)
    for value in some
]
BAD += [
    ({"data": [1, 2]}, ArgumentError, "histogram"),
    ({"histogram": None, "data": [1, 2]}, ArgumentError, "universe"),
    ({"histogram": None, "data": [], "universe": [1, 2]}, ArgumentError, "data"),
]
STREAMED = {"queries": [10**400, 2**62 + 1, 0], "accuracy": [0, 1.1, 1e-12], "failure": [1]}
CANDIDATES = [
    ({"histogram": [1000]}, "universe"),
    ({"histogram": np.ones(100, int) * 1000, "size": 9}, "size"), ({"size": 0}, "size"),
    ({"size": 256}, "size"), ({"candidates": 1}, "candidates"), ({"candidates": 2**40}, "size"),
    ({"epsilon": 1e-12}, "epsilon"), ({"accuracy": 1e-300, "test": "closeness"}, "accuracy")
]  # fmt: skip
CASES = [(open_, *case) for open_ in (*LINEAR, mwem) for case in BAD]
CASES += [
    (open_, {name: value}, ArgumentError, name)
    for open_ in LINEAR
    for name, values in STREAMED.items()
    for value in values
]
CASES += [(LINEAR[0], wrong, ArgumentError, word) for wrong, word in CANDIDATES]
#: Of other streams, each an argument with bad values, and those whose type is bad.
ONES = np.ones((2, 3))
OTHERS = {
    mwem: [("queries", [ONES[:, :2], ONES[:0], 2 * ONES, ONES * math.nan],
        [None, ONES[0], [["a"] * 3]]), ("rounds", [0, 2**20], []), ("replays", [0], []),
        ("average", [], [1])],
    sparse: [("positives", [0, 2**31], []), ("sensitivity", [0, 0.5, math.nan, 2**50], []),
        ("threshold", [0.5, math.nan], []), ("epsilon", [None, 0, 501], []), ("rho", [1], []),
        ("monotone", [], [1]), ("answers", [2], []), ("granularity", [0.3], []),
        ("neighbors", ["both"], []), ("rng", [], [5])],
    running: [("steps", [0, 2**41], []), ("sensitivity", [0, 2**61], []), ("fan_out", [1], [])],
}  # fmt: skip
CASES += [
    (open_, {name: value}, error, name)
    for open_, wrong in OTHERS.items()
    for name, *both in wrong
    for error, values in zip((ArgumentError, ArgumentTypeError), both, strict=True)
    for value in values
]
CASES.append((sparse, {"threshold": math.nan, "granularity": 0.5}, ArgumentError, "threshold"))


@pytest.mark.parametrize(("open_", "wrong", "error", "word"), CASES, ids=shown)
def test_bad_arguments_spend_nothing(open_, wrong, error, word):
    given = {"histogram": HISTOGRAM, **GIVEN, **wrong}
    refused(open_, f"^{word} must be", error, dp.Budget(epsilon=20), **given)


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


BAD_QUERIES = [
    *[[1, 0], [1, 0, 0, 0], [1, 0, 1 + 1e-15], [0, -5e-324, 0], [math.nan, 0, 0], [math.inf, 0, 0]],
    *[["a"] * 3, [[1, 0, 0]], [[1], [2, 3]], 3, Broken(), np.array([1, 0, 0], object)],
    np.ma.array([1, 0, 0], mask=[1, 0, 0]),
    *[lambda: 1, lambda x: [1, 0], lambda x: 2, lambda x: "0.5", lambda x: math.nan],
    *[lambda x: 1 / 0, numba.njit(lambda x: x + 1.5), numba.njit(lambda x: 1 / (x - 1))],
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_forked_child_is_refused(kind):
    stream, question = ONE_OF_EACH[kind]()
    assert "fork" in error_in_a_fork(lambda: stream.answer(question))
    stream.answer(question)
