"""Randomized response: kernels beside their twin, exact distributions, estimators, arguments."""

from __future__ import annotations

import itertools
import json
import math
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpfast as dp
from dpfast import response
from dpfast._kernels import statistics as native
from dpfast._kernels.noise import Script
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.response import Coin, leading_slowly

from ..reference.statistics import response as plain
from ..support.hostile import Hostile
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.paths import on_every_path

ROOT = Path(__file__).parents[2]
SIZES = [0, 1, 7, 63, 64, 65, 200, plain.BLOCK - 1, plain.BLOCK, plain.BLOCK + 77]
EPSILONS = [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(7), Fraction(40)]


def rng(seed=1):
    return InsecureGenerator(seed)


def words(seed):
    return InsecureGenerator(seed).stream()


def truth(n, k, seed=0):
    return np.random.default_rng(seed).integers(0, k, n)


# ---------------------------------------------------------------- beside the twin


@every_value
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_binary_beside_the_twin(n, epsilon):
    bits = truth(n, 2).astype(bool)
    assert dp.response.binary(bits, epsilon=epsilon, rng=rng()).tolist() == plain.binary(
        bits, epsilon, words(1)
    )


@pairwise
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [2, 3, 10, 256])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_kary_beside_the_twin(n, k, epsilon):
    values = truth(n, k + 2) - 1  # some outside
    got = dp.response.kary(values, categories=k, epsilon=epsilon, default=1, rng=rng())
    assert got.tolist() == plain.kary(values, k, epsilon, words(1), default=1)


@pairwise
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300])
@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_unary_beside_the_twin(n, k, epsilon):
    values = truth(n, k + 2) - 1
    got = dp.response.unary(values, categories=k, epsilon=epsilon, rng=rng())
    assert got.shape == (n, k) and got.dtype == bool
    assert got.tolist() == plain.unary(values, k, epsilon, words(1))


@pytest.mark.parametrize("make", ["binary", "kary", pytest.param("unary", marks=pytest.mark.full)])
def test_large_arrays_are_done_in_parts(make, monkeypatch):
    """A part that is a multiple of the kernel's block uses the same bits of coins."""
    values = truth(3 * plain.BLOCK + 5, 2)
    arguments = {} if make == "binary" else {"categories": 2}
    function = getattr(dp.response, make)
    monkeypatch.setattr(response, "PART", 2 * plain.BLOCK)
    got = function(values, epsilon=1, rng=rng(), **arguments)
    stream = words(1)
    size = 2 * plain.BLOCK // (2 if make == "unary" else 1)
    parts = [values[at : at + size] for at in range(0, len(values), size)]
    if make == "binary":
        expected = [plain.binary(p, Fraction(1), stream) for p in parts]
    else:
        expected = [getattr(plain, make)(p, 2, Fraction(1), stream) for p in parts]
    assert got.tolist() == list(itertools.chain.from_iterable(expected))


PROBE = """
import hashlib, json
import numpy as np
import dpfast as dp
from dpfast.rng import InsecureGenerator
n = 20_011
values = np.random.default_rng(0).integers(-1, 12, n)
found = {}
for name, answers in {
    "binary": dp.response.binary(values > 5, epsilon=0.5, rng=InsecureGenerator(1)),
    "unary": dp.response.unary(values, categories=11, epsilon=2, rng=InsecureGenerator(1)),
    **{f"kary {kind}": dp.response.kary(values.astype(kind), categories=11, epsilon=1,
                                        rng=InsecureGenerator(1)).astype(np.int64)
       for kind in ("i1", "u2", "i4", "i8")},
    "kary many": dp.response.kary(values, categories=2**31, epsilon=1, rng=InsecureGenerator(1)),
}.items():
    found[name] = hashlib.sha256(answers.tobytes()).hexdigest()
print(json.dumps(found))
"""


@pytest.mark.full
def test_every_instruction_set_gives_the_same_answers():
    found = json.loads(on_every_path(PROBE))
    assert len({found[f"kary {kind}"] for kind in ("i1", "i4", "i8")}) == 1


# ---------------------------------------------------------------- exact distributions


@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=300, max_denominator=10**9),
    st.integers(1, 2**31),
)
@settings(max_examples=60)
def test_the_bits_of_the_probability(epsilon, others):
    got = Coin(epsilon, others)
    assert got.first << 64 | got.second == plain.leading(epsilon, others, 72)
    assert got.first << 64 | got.second == leading_slowly(epsilon, others)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**300), Fraction(10**4), Fraction(10**300)])
def test_the_bits_of_extreme_probabilities(epsilon):
    got = Coin(epsilon, 1)
    leading = got.first << 64 | got.second
    assert leading == (2**71 - 1 if epsilon < 1 else 0)


def probability_of_heads(coin):
    """Enumerates the kernel: every first byte, and the words about the second threshold."""
    edges = {0, coin.second - 1, coin.second, coin.second + 1, 2**64 - 1}
    edges = sorted(w for w in edges if 0 <= w < 2**64)
    total = Fraction(0)
    for byte in range(256):
        verdicts = []
        for word in edges:
            bits = np.zeros(1, np.uint8)
            script = Script([byte, word])
            still = native.flip(coin.first, coin.second, bits, script)
            assert script.used == 1 + (byte == coin.first)
            verdicts.append(int(bits[0]))
            assert still == (bits[0] == native.OPEN)
        if byte != coin.first:
            assert len(set(verdicts)) == 1
            total += Fraction(verdicts[0], 256)
            continue
        # Heads below the threshold, open at it, tails above.
        expected = [1 if w < coin.second else 2 if w == coin.second else 0 for w in edges]
        assert verdicts == expected
        total += Fraction(coin.second, 2**72)
    return total


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("others", [1, 4])
def test_the_kernel_by_enumeration(epsilon, others):
    """The probability of heads, summed over all bits, is within 2**-72 of the exact one; what is
    left is the open coin's."""
    got = probability_of_heads(Coin(epsilon, others))
    with mpmath.workdps(60):
        exact = others / (mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) + others)
        low = mpmath.mpf(got.numerator) / got.denominator
        assert low <= exact <= low + mpmath.mpf(2) ** -72


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_an_open_coin_is_decided_by_more_bits(epsilon):
    coin = Coin(epsilon, 1)
    more = plain.leading(epsilon, 1, 136) & (1 << 64) - 1
    last = plain.leading(epsilon, 1, 200) & (1 << 64) - 1
    for extra, heads in (
        ([more - 1], 1),
        ([more + 1], 0),
        ([more, last - 1], 1),
        ([more, last + 1], 0),
    ):
        for before in (0, 1):
            bits = np.full(3, before, np.uint8)
            # The middle of three rows is open; its words come after all others.
            first = coin.first << 8 | 255 | 255 << 16
            script = Script([first, coin.second, *extra])
            coin.flip(bits, script)
            assert bits.tolist() == [before, before ^ heads, before]
            assert script.used == 2 + len(extra)


def test_a_coin_next_to_never():
    coin = Coin(Fraction(10**300), 1)
    bits = np.zeros(1, np.uint8)
    script = Script([0, 0, 0, 0, 1])
    coin.flip(bits, script)
    assert bits[0] == 0 and script.used == 5


@pytest.mark.parametrize("others", [1, 2, 3, 5, 255, 2**31 - 1])
def test_uniform_ranks_by_counting(others):
    """Every rank has the same number of accepted 32-bit halves: counted at the ends of its run."""
    refused = (1 << 32) % others
    for rank in {0, 1 % others, others // 2, others - 1}:
        first = -(-(rank << 32) // others)
        last = ((rank + 1 << 32) - 1) // others
        accepted = [
            h for h in range(first, min(last, first + 3) + 1) if h * others & 0xFFFFFFFF >= refused
        ]
        assert len(accepted) >= 1
        dropped = sum(
            h * others & 0xFFFFFFFF < refused for h in range(first, min(last, first + 3) + 1)
        )
        assert last - first + 1 - dropped == (1 << 32) // others
        for half in (accepted[0], last):
            out = np.zeros(1, np.uint32)
            # Value 0: the other categories are 1, 2, ...
            native.others(
                others + 1, 0, np.zeros(1, np.uint32), np.ones(1, np.uint8), out, Script([half])
            )
            assert out[0] == rank + 1
    if refused:  # 0 is refused, and the low half of the next word taken
        out, script = np.zeros(1, np.uint32), Script([0, 0xFFFFFFFF])
        native.others(others + 1, 0, np.zeros(1, np.uint32), np.ones(1, np.uint8), out, script)
        assert out[0] == others and script.used == 2


@quick_rows(3)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_loss_by_enumeration(epsilon, k):
    """All answers of all mechanisms for all values: the largest ratio is exp(epsilon), attained."""

    def ratio(pmfs):
        return max(a / b for one in pmfs for other in pmfs for a, b in zip(one, other, strict=True))

    with mpmath.workdps(50):
        grown = mpmath.exp(mpmath.mpf(str(epsilon)))
        q = [
            mpmath.mpf(c.first << 64 | c.second) / 2**72
            for c in (
                Coin(Fraction(str(epsilon)), k - 1),
                Coin(Fraction(str(epsilon)), 1),
            )
        ]
        told = [[1 - q[0] if j == v else q[0] / (k - 1) for j in range(k)] for v in range(k)]
        assert abs(ratio(told) / grown - 1) < mpmath.mpf(10) ** -15
        bits = []
        for value in range(-1, k):  # -1: no category
            ones = [mpmath.mpf(0.5) if j == value else q[1] for j in range(k)]
            bits.append(
                [
                    mpmath.fprod(p if b else 1 - p for p, b in zip(ones, answer, strict=True))
                    for answer in itertools.product((0, 1), repeat=k)
                ]
            )
        assert abs(ratio(bits[1:]) / grown - 1) < mpmath.mpf(10) ** -15
        assert ratio(bits) <= grown * (1 + mpmath.mpf(10) ** -15)


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"]
)
def test_dtypes(kind):
    values = truth(300, 2).astype(kind)
    expected = dp.response.binary(values.astype(bool), epsilon=1, rng=rng())
    got = dp.response.binary(values, epsilon=1, rng=rng())
    assert got.dtype == values.dtype and (got.astype(bool) == expected).all()
    told = dp.response.kary(values, categories=2, epsilon=1, rng=rng())
    assert told.dtype == values.dtype and set(told.tolist()) == {0, 1}
    many = dp.response.kary(values, categories=1000, epsilon=0.1, rng=rng())
    holds = values.dtype.kind != "b" and np.iinfo(values.dtype).max >= 999
    assert many.dtype == (values.dtype if holds else np.int64) and many.max() > 900
    assert dp.response.unary(values, categories=2, epsilon=1, rng=rng()).shape == (300, 2)


def test_shapes_and_layouts():
    values = truth(24, 3).reshape(2, 3, 4)
    flat = dp.response.kary(values.ravel(), categories=3, epsilon=1, rng=rng())
    assert (
        dp.response.kary(values, categories=3, epsilon=1, rng=rng()) == flat.reshape(2, 3, 4)
    ).all()
    objects = dp.response.kary(values.astype(object), categories=3, epsilon=1, rng=rng())
    assert (objects == flat.reshape(2, 3, 4)).all()
    assert dp.response.unary(values, categories=3, epsilon=1).shape == (2, 3, 4, 3)
    assert dp.response.unary(1, categories=3, epsilon=1).shape == (3,)
    assert dp.response.binary(values, epsilon=1).shape == (2, 3, 4)
    assert isinstance(dp.response.binary(True, epsilon=1), np.bool_)
    assert isinstance(dp.response.kary(1, categories=3, epsilon=1), np.integer)
    for empty in ([], np.empty((0, 3), np.int32)):
        assert dp.response.binary(empty, epsilon=1).shape == np.shape(empty)
        assert dp.response.unary(empty, categories=4, epsilon=1).shape == (*np.shape(empty), 4)


@every_value
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "i8", "u8"])
@pytest.mark.parametrize("k", [1, 2, 3, 127, 128, 129, 200, 256, 257, 40_000])
def test_values_that_are_no_category(kind, k):
    """They are the default, whatever the type that holds them; at a large epsilon it shows."""
    info = np.iinfo(kind)
    odd = [v for v in (info.min, -1, k, info.max) if info.min <= v <= info.max and not 0 <= v < k]
    values = np.array([0, *odd], kind)
    got = dp.response.kary(values, categories=k, epsilon=500, default=k - 1)
    assert got.tolist() == [0, *[k - 1] * len(odd)]
    bits = dp.response.unary(np.array(odd, kind), categories=min(k, 5), epsilon=500)
    if k <= 5:
        assert not bits.any()
    assert dp.response.binary(
        np.array([info.min or 2, info.max, 0], kind), epsilon=500
    ).tolist() == [1, 1, 0]


def test_labels():
    labels = ["tea", "coffee", "water"]
    column = pd.Series(["water", "tea", None, "gin", "coffee"])
    expected = ["water", "tea", "coffee", "coffee", "coffee"]
    for data in (
        column,
        column.to_numpy(),
        column.fillna("?").to_numpy().astype(str),
        list(column.fillna("?")),
    ):
        got = dp.response.kary(data, categories=labels, epsilon=500, default="coffee")
        assert got.tolist() == expected
    assert dp.response.kary("water", categories=labels, epsilon=500) == "water"
    bits = dp.response.unary(column, categories=labels, epsilon=500)
    assert not bits[:, [0, 1]][[0, 2, 3]].any()
    numbers = np.array([30, -10, 2**63 - 1])
    for data, place in (
        (np.array([-10, 30, 7]), [1, 0, 0]),
        (np.array([2**63, 30], np.uint64), [0, 0]),
    ):
        got = dp.response.kary(data, categories=numbers, epsilon=500)
        assert got.tolist() == numbers[place].tolist()
    assert dp.response.kary([b"a", b"c"], categories=[b"c", b"a"], epsilon=500).tolist() == [
        b"a",
        b"c",
    ]
    found = dp.response.estimate_kary(["tea", "tea", "water"], categories=labels, epsilon=500)
    assert np.allclose(found.value, [2 / 3, 0, 1 / 3])


@pytest.mark.parametrize(
    "bad",
    [np.array([1.0]), np.array(["2020"], "M8[Y]"), np.array([1j]), pa.array([0.5]), "yes", 1j, {}],
)
def test_data_of_the_wrong_kind(bad):
    budget = dp.Budget(epsilon=1)
    for call in (
        lambda: dp.response.binary(bad, epsilon=1, budget=budget),
        lambda: dp.response.kary(bad, categories=3, epsilon=1, budget=budget),
        lambda: dp.response.unary(bad, categories=3, epsilon=1, budget=budget),
        lambda: dp.response.kary(np.ones(1), categories=["a", "b"], epsilon=1, budget=budget),
    ):
        with pytest.raises(ArgumentTypeError, match="must be an array of"):
            call()
    assert not budget.history


#: Rows without a dtype: what each says by itself.
ROWS = [
    (True, True, 1), (1, True, 1), (2, True, 2), (0, False, 0), (1.0, True, 1), (0.5, True, None),
    (Fraction(2), True, 2), (Decimal(1), True, 1), (np.int8(2), True, 2), (-1, True, None),
    (2**80, True, None), (10**400, True, None), (math.inf, True, None), (math.nan, False, None),
    (None, False, None), ("1", False, None), ([1], False, None), (np.timedelta64(1), False, None),
    (Decimal("sNaN"), False, None), (pd.NA, False, None), (1j, False, None),
    (Hostile(), False, None),
]  # fmt: skip


@pytest.mark.parametrize("form", [list, tuple, deque, UserList, pd.Series])
def test_rows_without_a_dtype_are_read_one_by_one(form):
    """Nothing else in the list decides how one is read, or the dtype of the answers."""
    rows = [row for row, _, _ in ROWS]
    data = form(rows) if form is not pd.Series else pd.Series(rows, dtype=object)
    sure = dp.response.binary(data, epsilon=500)
    assert sure.dtype == bool and sure.tolist() == [yes for _, yes, _ in ROWS]
    for own, default in ({"categories": 3}, 0), ({"categories": [5, 1, 2, 0]}, 5):
        sure = dp.response.kary(data, epsilon=500, **own)
        assert sure.dtype == np.int64
        assert sure.tolist() == [default if k is None else k for _, _, k in ROWS]
        bits = dp.response.unary(data, epsilon=500, **own)
        assert bits.dtype == bool and bits.shape == (len(rows), own_count(own))
    words = dp.response.kary(form(["5", 5, None, b"5"]), categories=["0", "5"], epsilon=500)
    assert words.tolist() == ["5", "0", "0", "5"]  # bytes are a word if they are its UTF-8


def own_count(own):
    return own["categories"] if isinstance(own["categories"], int) else len(own["categories"])


@pytest.mark.parametrize(
    "make",
    [
        pa.array,
        lambda rows: pa.chunked_array([rows[:1], rows[1:]]),
        lambda rows: pd.Series(rows, dtype="Int64"),
        lambda rows: pd.array(rows, dtype="Int64"),
        lambda rows: np.ma.array([one or 0 for one in rows], mask=[one is None for one in rows]),
    ],
)
def test_a_null_is_no_and_no_category(make):
    for rows in ([2, 1, 0, None], [2, 1, 0, 0]):
        data = make(rows)
        assert dp.response.binary(data, epsilon=500).tolist() == [1, 1, 0, 0]
        got = dp.response.kary(data, categories=3, default=1, epsilon=500)
        assert got.tolist() == [2, 1, 0, 1 if None in rows else 0] and got.dtype == np.int64
    for rows in ([True, None], [True, False]):
        for kind in (pa.array, lambda rows: pd.array(rows, dtype="boolean")):
            found = dp.response.binary(kind(rows), epsilon=500)
            assert found.dtype == bool and found.tolist() == [True, False]
    words = pa.array(["tea", None]).dictionary_encode()
    found = dp.response.kary(words, categories=["ale", "tea"], epsilon=500)
    assert found.tolist() == ["tea", "ale"]


@pytest.mark.parametrize(
    "categories", [0, -1, 2**31 + 1, [], ["a", "a"], [["a"]], 2.5, None, True, [2**63]]
)
def test_bad_categories(categories):
    for function in (dp.response.kary, dp.response.unary):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="categories must be"):
            function([1], categories=categories, epsilon=1)


def test_a_bad_default():
    for default, categories in ((3, 3), (-1, 3), ("gin", ["tea"]), ([0], 3)):
        with pytest.raises(ArgumentError, match="default must be one of the categories"):
            dp.response.kary(
                ["tea"] if categories == ["tea"] else [1],
                categories=categories,
                epsilon=1,
                default=default,
            )


# ---------------------------------------------------------------- the ledger


def test_a_budget_is_charged_the_loss_of_a_row():
    budget = dp.Budget(epsilon=10)
    dp.response.binary([1, 0, 1], epsilon=1, budget=budget)
    dp.response.kary(np.zeros((5, 3), int), categories=4, epsilon=0.5, budget=budget)
    dp.response.unary(np.zeros((2, 2, 2), int), categories=4, epsilon=0.25, budget=budget)
    assert [line.loss for line in budget.history] == [
        Pure(1),
        Draws(1.5, 3, categories=4),
        Draws(1, 4, categories=4),  # of unary encoding: floor(exp(0.25)) + 3
    ]
    assert budget.neighbors == "replace"
    assert budget.cost(dp.response.binary, [1, 0], epsilon=0.5) == Pure(0.5)
    with pytest.raises(BudgetError, match="no meaning"):
        dp.response.binary([1], epsilon=1, budget=dp.Budget(epsilon=1, neighbors="add-remove"))
    rho = dp.Budget(rho=1)
    dp.response.binary(np.zeros((9, 4), bool), epsilon=0.1, budget=rho)
    assert rho.spent["rho"] == 4 * ZCDP.of_pure(Pure(0.1)).rho
    assert dp.response.binary(np.zeros((3, 0), bool), epsilon=0.1, budget=rho).shape == (3, 0)


# ---------------------------------------------------------------- estimates


def every_answer(values, k, epsilon, how):
    """All answers to a small dataset with their probabilities."""
    e = math.exp(epsilon)
    if how == "unary":
        q = 1 / (e + 1)
        ones = np.full((len(values), k), q)
        ones[np.arange(len(values)), values] = 0.5
        for bits in itertools.product((0, 1), repeat=ones.size):
            answer = np.array(bits).reshape(ones.shape)
            yield answer, np.where(answer, ones, 1 - ones).prod()
        return
    for answer in itertools.product(range(k), repeat=len(values)):
        kept = sum(a == v for a, v in zip(answer, values, strict=True))
        yield np.array(answer), e**kept / (e + k - 1) ** len(values)


def estimate(answer, k, epsilon, how, of="data", **kw):
    more = {"categories": k} if how == "kary" else {}
    return getattr(dp.response, f"estimate_{how}")(answer, epsilon=epsilon, of=of, **more, **kw)


@pytest.mark.parametrize("how", ["binary", "kary", "unary"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_estimates_by_enumeration(how, epsilon):
    """Mean and variance over every answer: unbiased, and so is the variance that is told."""
    k = 2 if how == "binary" else 3
    values = [0, 1, 1, 1] if how != "unary" else [0, 1, 1]
    true = np.bincount(values, minlength=k) / len(values)
    true = true[1] if how == "binary" else true
    total, mean, square, told = 0.0, 0.0, 0.0, 0.0
    for answer, weight in every_answer(values, k, epsilon, how):
        found = estimate(answer, k, epsilon, how)
        total += weight
        mean += weight * np.asarray(found.value)
        square += weight * (np.asarray(found.value) - true) ** 2
        told += weight * np.asarray(found.variance)
        assert np.all(np.asarray(found.variance) > 0)
    assert abs(total - 1) < 1e-12
    assert np.allclose(mean, true, atol=1e-10)
    assert np.allclose(told, square, rtol=1e-9)
    if how == "binary":
        e = math.exp(epsilon)
        assert np.isclose(square, e / (len(values) * (e - 1) ** 2))


@pytest.mark.parametrize("how", ["binary", "kary"])
def test_estimates_of_a_population_by_enumeration(how):
    """The records are random too."""
    k, n, epsilon = (2 if how == "binary" else 3), 3, 1.0
    pmf = np.array([0.3, 0.7]) if k == 2 else np.array([0.2, 0.3, 0.5])
    mean, square, told = 0.0, 0.0, 0.0
    true = pmf[1] if how == "binary" else pmf
    for values in itertools.product(range(k), repeat=n):
        for answer, weight in every_answer(values, k, epsilon, how):
            weight *= pmf[list(values)].prod()
            found = estimate(answer, k, epsilon, how, "population")
            mean += weight * np.asarray(found.value)
            square += weight * (np.asarray(found.value) - true) ** 2
            told += weight * np.asarray(found.variance)
    assert np.allclose(mean, true) and np.allclose(told, square)


def covered(how, of, spoilt=1.0):
    """How often of 600 the interval holds the truth."""
    k, n, epsilon, generator = 4, 400, 1.5, np.random.default_rng(5)
    hits = 0
    bits = InsecureGenerator(11)
    pmf = np.array([0.4, 0.3, 0.2, 0.1])
    fixed = generator.permutation(np.repeat(np.arange(k), (pmf * n).astype(int)))
    for _ in range(600):
        values = fixed if of == "data" else generator.choice(k, n, p=pmf)
        rows, more = (values == 0, {}) if how == "binary" else (values, {"categories": k})
        answer = getattr(dp.response, how)(rows, epsilon=epsilon, rng=bits, **more)
        found = estimate(answer, k, epsilon * spoilt, how, of, confidence=0.9)
        hits += np.ravel(found.low)[0] <= 0.4 <= np.ravel(found.high)[0]
    return hits / 600


@quick_rows(2)
@pytest.mark.parametrize("how", ["binary", "kary", "unary"])
@pytest.mark.parametrize("of", ["data", "population"])
def test_intervals_cover(how, of):
    assert 0.84 < covered(how, of) < 0.95  # five standard errors about 0.9


@pytest.mark.parametrize("rare", [0, 1, 2, 4, 20])
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 8.0])
def test_intervals_cover_a_rare_category(epsilon, rare):
    """Over every count of its bit, by their probabilities."""
    n = 400
    own, others = (stats.binom(rare, 0.5), stats.binom(n - rare, 1 / (math.exp(epsilon) + 1)))
    pmf = np.convolve(own.pmf(range(rare + 1)), others.pmf(range(n - rare + 1)))
    held = 0.0
    for count in np.flatnonzero(pmf > 1e-6):
        answers = (np.arange(n) < count)[:, None]
        found = dp.response.estimate_unary(answers, epsilon=epsilon)
        held += pmf[count] * (found.low[0] <= rare / n <= found.high[0])
    assert held > 0.87


def test_the_cover_test_catches_a_wrong_epsilon():
    assert covered("kary", "data", spoilt=1.4) < 0.84


def test_estimates_along_axes():
    answers = truth(60, 3, 7).reshape(5, 4, 3)
    whole = dp.response.estimate_kary(answers, categories=3, epsilon=1)
    assert whole.value.shape == (3,) and np.isclose(whole.value.sum(), 1)
    along = dp.response.estimate_kary(answers, categories=3, epsilon=1, axis=1)
    assert along.value.shape == (5, 3, 3)
    one = dp.response.estimate_kary(answers[2, :, 1], categories=3, epsilon=1)
    for name in ("value", "variance", "low", "high"):
        assert np.allclose(getattr(along, name)[2, 1], getattr(one, name))
    bits = answers > 1
    assert dp.response.estimate_binary(bits, epsilon=1, axis=0).value.shape == (4, 3)
    assert isinstance(dp.response.estimate_binary(bits, epsilon=1).value, float)
    assert dp.response.estimate_unary(bits, epsilon=1).value.shape == (3,)
    some = dp.response.estimate_unary(bits, epsilon=1, axis=0)
    assert some.value.shape == (4, 3)
    assert np.allclose(some.value[1], dp.response.estimate_unary(bits[:, 1], epsilon=1).value)


def test_an_immense_epsilon_is_the_truth():
    found = dp.response.estimate_binary([1, 0, 0, 0], epsilon=1e6)
    assert found.value == 0.25 and found.variance == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dp.response.estimate_binary([], epsilon=1), "at least 1"),
        (lambda: dp.response.estimate_binary([1], epsilon=1, of="population"), "at least 2"),
        (lambda: dp.response.estimate_binary([1], epsilon=0), "epsilon must be"),
        (lambda: dp.response.estimate_binary([2], epsilon=1), "0 or 1"),
        (lambda: dp.response.estimate_binary([1], epsilon=1, confidence=1), "confidence"),
        (lambda: dp.response.estimate_binary([1], epsilon=1, of="rows"), "of must be"),
        (lambda: dp.response.estimate_binary([1], epsilon=1, axis=1), "axis"),
        (lambda: dp.response.estimate_binary([1], epsilon=1, axis=True), "axis"),
        (lambda: dp.response.estimate_kary([3], categories=3, epsilon=1), "among"),
        (lambda: dp.response.estimate_kary([0], categories=1, epsilon=1), "at least 2"),
        (lambda: dp.response.estimate_unary([1], epsilon=1), "two axes"),
        (lambda: dp.response.estimate_unary([[1]], epsilon=1, axis=1), "axis"),
        (lambda: dp.response.estimate_unary([[3]], epsilon=1), "0 or 1"),
    ],
)
def test_bad_arguments_of_estimates(call, message):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        call()


def test_the_published_crossover():
    """Unary encoding is better than k-ary from about 3 exp(epsilon) + 2 categories on."""
    epsilon, n = 1.0, 100_000
    for k, better in ((5, "kary"), (100, "unary")):
        one = np.zeros(n, int)  # as many answers as a category has that nobody is in
        one[: round(n / (math.e + k - 1))] = 1
        kary = dp.response.estimate_kary(one, categories=k, epsilon=epsilon)
        bits = np.zeros((n, 2), bool)
        bits[: round(n / (math.e + 1)), 1] = True
        unary = dp.response.estimate_unary(bits, epsilon=epsilon)
        assert np.isclose(unary.variance[1], 4 * math.e / (n * (math.e - 1) ** 2), rtol=1e-3)
        assert (kary.variance[1] < unary.variance[1]) == (better == "kary")


def test_kernels_check_their_buffers():
    stream, one = words(1), np.zeros(1, np.uint8)
    for bad in (
        lambda: native.others(1, 0, one, one, one, stream),
        lambda: native.others(257, 0, one, one, one, stream),
        lambda: native.others(3, 3, one, one, one, stream),
        lambda: native.others(3, 0, one, np.zeros(2, np.uint8), one, stream),
        lambda: native.own(np.zeros(2, np.int64), np.zeros((1, 1), np.uint8), stream),
    ):
        with pytest.raises(ValueError, match="must"):
            bad()
    with pytest.raises(EOFError):
        native.flip(0, 0, one, Script([]))
    with pytest.raises(TypeError, match="stream"):
        native.flip(0, 0, one, None)


@pytest.mark.parametrize("count, n", [(0, 2), (1, 3), (7, 40), (39, 40)])
def test_the_interval_of_a_population_is_the_score_interval(count, n):
    """By its definition: the fractions p of answers with (said - p)^2 <= z^2 p (1 - p) / n."""
    epsilon, z = 3.0, 1.959963984540054
    answers = np.arange(n) < count
    found = response.estimate_binary(answers, epsilon=epsilon, of="population")
    stray = 1 / (1 + math.exp(epsilon))
    gap, said = math.tanh(epsilon / 2), count / n
    for end, way in (found.low, -1), (found.high, 1):
        p = stray + gap * end
        if 0 < end < 1:
            assert (said - p) ** 2 == pytest.approx(z * z * p * (1 - p) / n, rel=1e-9)
        else:  # cut off there: the limit itself is within
            assert (said - p) ** 2 <= z * z * p * (1 - p) / n * (1 + 1e-9)
        assert (p - said) * way >= 0 or end in (0, 1)
