"""Randomized response: kernels beside their twin, exact distributions, estimators, arguments."""

import itertools
import math
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from ..support.lazy import stats
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.refused import refused

SIZES = [0, 1, 7, 63, 64, 65, 200, plain.BLOCK - 1, plain.BLOCK, plain.BLOCK + 77]
EPSILONS = [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(7), Fraction(40)]


def rng(seed=1):
    return InsecureGenerator(seed)


def words(seed):
    return InsecureGenerator(seed).stream()


def truth(n, k, seed=0):
    return np.random.default_rng(seed).integers(0, k, n)


@pytest.mark.full
@pytest.mark.parametrize("make", ["binary", "kary", "unary"])
def test_large_arrays_are_done_in_parts(make, monkeypatch):
    """A part that is a multiple of the kernel's block uses the same bits of coins."""
    values, own = truth(3 * plain.BLOCK + 5, 2), () if make == "binary" else (2,)
    monkeypatch.setattr(response, "PART", 2 * plain.BLOCK)
    got = getattr(response, make)(
        values, epsilon=1, rng=rng(), **({"categories": 2} if own else {})
    )
    stream, size = words(1), 2 * plain.BLOCK // (2 if make == "unary" else 1)
    parts = (values[at : at + size] for at in range(0, len(values), size))
    due = [getattr(plain, make)(part, *own, Fraction(1), stream) for part in parts]
    assert got.tolist() == list(itertools.chain.from_iterable(due))


@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=300, max_denominator=10**9),
    st.integers(1, 2**31),
)
@settings(max_examples=20)
def test_the_bits_of_the_probability(epsilon, others):
    got = Coin(epsilon, others)
    assert got.first << 64 | got.second == plain.leading(epsilon, others, 72)
    assert got.first << 64 | got.second == leading_slowly(epsilon, others)
    for extreme, bits in ((Fraction(1, 10**300), 2**71 - 1), (Fraction(10**300), 0)):
        got = Coin(extreme, 1)
        assert got.first << 64 | got.second == bits


def probability_of_heads(coin):
    """Enumerates the kernel: every first byte, and the words about the second threshold."""
    # Heads below the threshold, open at it, tails above.
    near = [(coin.second - 1, 1), (coin.second, native.OPEN), (coin.second + 1, 0)]
    edges = dict([(0, 1 if coin.second else native.OPEN), *near, (2**64 - 1, 0)])
    total = Fraction(coin.second, 2**72)
    for byte in range(256):
        verdicts = {}
        for word in (w for w in edges if 0 <= w < 2**64):
            bits, script = np.zeros(1, np.uint8), Script([byte, word])
            still = native.flip(coin.first, coin.second, bits, script)
            assert script.used == 1 + (byte == coin.first)
            verdicts[word] = int(bits[0])
            assert still == (bits[0] == native.OPEN)
        if byte == coin.first:
            assert verdicts == {word: edges[word] for word in verdicts}
        else:
            (verdict,) = set(verdicts.values())
            total += Fraction(verdict, 256)
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
    more, last = (plain.leading(epsilon, 1, bits) & (1 << 64) - 1 for bits in (136, 200))
    tries = ([more - 1], 1), ([more + 1], 0), ([more, last - 1], 1), ([more, last + 1], 0)
    for (extra, heads), before in itertools.product(tries, (0, 1)):
        bits = np.full(3, before, np.uint8)
        # The middle of three rows is open; its words come after all others.
        script = Script([coin.first << 8 | 255 | 255 << 16, coin.second, *extra])
        coin.flip(bits, script)
        assert bits.tolist() == [before, before ^ heads, before]
        assert script.used == 2 + len(extra)


@pytest.mark.parametrize("others", [1, 2, 3, 5, 255, 2**31 - 1])
def test_uniform_ranks_by_counting(others):
    """Every rank has the same number of accepted 32-bit halves: counted at the ends of its run."""
    refused = (1 << 32) % others

    def rank_of(*halves):
        out, script = np.zeros(1, np.uint32), Script(halves)
        value, tails = np.zeros(1, np.uint32), np.ones(1, np.uint8)
        native.others(others + 1, 0, value, tails, out, script)  # the others are 1, 2, ...
        return out[0] - 1, script.used

    for rank in {0, 1 % others, others // 2, others - 1}:
        first, last = -(-(rank << 32) // others), ((rank + 1 << 32) - 1) // others
        near = range(first, min(last, first + 3) + 1)
        accepted = [half for half in near if half * others & 0xFFFFFFFF >= refused]
        assert last - first + 1 - (len(near) - len(accepted)) == (1 << 32) // others
        assert {rank_of(half)[0] for half in (accepted[0], last)} == {rank}
    if refused:  # 0 is refused, and the low half of the next word taken
        assert rank_of(0, 0xFFFFFFFF) == (others - 1, 2)


@quick_rows(3)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_loss_by_enumeration(epsilon, k):
    def ratio(pmfs):
        return max(a / b for one in pmfs for other in pmfs for a, b in zip(one, other, strict=True))

    with mpmath.workdps(50):
        grown = mpmath.exp(mpmath.mpf(str(epsilon)))
        coins = [Coin(Fraction(str(epsilon)), others) for others in (k - 1, 1)]
        q = [mpmath.mpf(c.first << 64 | c.second) / 2**72 for c in coins]
        told = [[1 - q[0] if j == v else q[0] / (k - 1) for j in range(k)] for v in range(k)]
        assert abs(ratio(told) / grown - 1) < mpmath.mpf(10) ** -15
        bits = []
        for value in range(-1, k):  # -1: no category
            ones = [mpmath.mpf(0.5) if j == value else q[1] for j in range(k)]
            answers = itertools.product((0, 1), repeat=k)
            chances = ([p if b else 1 - p for p, b in zip(ones, a, strict=True)] for a in answers)
            bits.append(list(map(mpmath.fprod, chances)))
        assert abs(ratio(bits[1:]) / grown - 1) < mpmath.mpf(10) ** -15
        assert ratio(bits) <= grown * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize(
    "kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"]
)
def test_dtypes_and_shapes(kind):
    binary, kary, unary = (
        partial(getattr(response, how), epsilon=1) for how in ("binary", "kary", "unary")
    )
    values = truth(300, 2).astype(kind)
    got, due = (binary(v, rng=rng()) for v in (values, values.astype(bool)))
    assert got.dtype == values.dtype and (got.astype(bool) == due).all()
    told = kary(values, categories=2, rng=rng())
    assert told.dtype == values.dtype and set(told.tolist()) == {0, 1}
    many = response.kary(values, categories=1000, epsilon=0.1, rng=rng())
    holds = values.dtype.kind != "b" and np.iinfo(values.dtype).max >= 999
    assert many.dtype == (values.dtype if holds else np.int64) and many.max() > 900
    cube, empty = values[:24].reshape(2, 3, 4), np.empty((0, 3), kind)
    flat = kary(cube.ravel(), categories=3, rng=rng()).reshape(2, 3, 4)
    for x in (cube, cube.astype(object)):
        assert (kary(x, categories=3, rng=rng()) == flat).all()
    for x in (cube, empty):
        assert binary(x).shape == x.shape and unary(x, categories=4).shape == (*x.shape, 4)
    assert isinstance(binary(True), np.bool_) and isinstance(kary(1, categories=3), np.integer)


@every_value
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "i8", "u8"])
@pytest.mark.parametrize("k", [1, 2, 3, 127, 128, 129, 200, 256, 257, 40_000])
def test_values_that_are_no_category(kind, k):
    info = np.iinfo(kind)
    odd = [v for v in (info.min, -1, k, info.max) if info.min <= v <= info.max and not 0 <= v < k]
    got = response.kary(np.array([0, *odd], kind), categories=k, epsilon=500, default=k - 1)
    assert got.tolist() == [0, *[k - 1] * len(odd)]
    bits = response.unary(np.array(odd, kind), categories=min(k, 5), epsilon=500)
    assert k > 5 or not bits.any()
    some = np.array([info.min or 2, info.max, 0], kind)
    assert response.binary(some, epsilon=500).tolist() == [1, 1, 0]


def test_labels():
    labels, kary = ["tea", "coffee", "water"], response.kary
    column = pd.Series(["water", "tea", None, "gin", "coffee"])
    for data in (column, column.to_numpy(), column.fillna("?").to_numpy().astype(str),
                 list(column.fillna("?"))):  # fmt: skip
        got = kary(data, categories=labels, epsilon=500, default="coffee")
        assert got.tolist() == ["water", "tea", "coffee", "coffee", "coffee"]
    assert kary("water", categories=labels, epsilon=500) == "water"
    bits = response.unary(column, categories=labels, epsilon=500)
    assert not bits[:, [0, 1]][[0, 2, 3]].any()
    numbers = np.array([30, -10, 2**63 - 1])
    for data, due in (
        (np.array([-10, 30, 7]), [-10, 30, 30]),
        (np.array([2**63, 30], "u8"), [30] * 2),
    ):
        assert kary(data, categories=numbers, epsilon=500).tolist() == due
    assert kary([b"a", b"c"], categories=[b"c", b"a"], epsilon=500).tolist() == [b"a", b"c"]
    found = response.estimate_kary(["tea", "tea", "water"], categories=labels, epsilon=500)
    assert np.allclose(found.value, [2 / 3, 0, 1 / 3])


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
    sure = response.binary(data, epsilon=500)
    assert sure.dtype == bool and sure.tolist() == [yes for _, yes, _ in ROWS]
    for categories, default, count in (3, 0, 3), ([5, 1, 2, 0], 5, 4):
        sure = response.kary(data, epsilon=500, categories=categories)
        assert sure.dtype == np.int64
        assert sure.tolist() == [default if k is None else k for _, _, k in ROWS]
        bits = response.unary(data, epsilon=500, categories=categories)
        assert bits.dtype == bool and bits.shape == (len(rows), count)
    words = response.kary(form(["5", 5, None, b"5"]), categories=["0", "5"], epsilon=500)
    assert words.tolist() == ["5", "0", "0", "5"]  # bytes are a word if they are its UTF-8


def test_bad_data_categories_and_defaults():
    three = {"categories": 3}
    bad = (np.ones(1), np.array(["2020"], "M8[Y]"), np.array([1j]), pa.array([0.5]), "yes", 1j, {})
    ways = (response.binary, {}), (response.kary, three), (response.unary, three)
    calls = [(how, row, own, "must be an array of") for row in bad for how, own in ways]
    calls.append((response.kary, np.ones(1), {"categories": ["a", "b"]}, "must be an array of"))
    for own in (0, -1, 2**31 + 1, [], ["a", "a"], [["a"]], 2.5, None, True, [2**63]):
        kw = {"categories": own}
        calls += [(how, [1], kw, "categories must be") for how in (response.kary, response.unary)]
    for default, own in ((3, 3), (-1, 3), ("gin", ["tea"]), ([0], 3)):
        kw = {"categories": own, "default": default}
        row = ["tea" if own == ["tea"] else 1]
        calls.append((response.kary, row, kw, "default must be one of the categories"))
    for how, rows, kw, words in calls:
        refused(partial(how, rows), words, **kw, epsilon=1)


@pytest.mark.parametrize("make", [
    pa.array, lambda rows: pa.chunked_array([rows[:1], rows[1:]]),
    lambda rows: pd.Series(rows, dtype="Int64"),
    lambda rows: np.ma.array([one or 0 for one in rows], mask=[one is None for one in rows]),
])  # fmt: skip
def test_a_null_is_no_and_no_category(make):
    for rows, due in (([2, 1, 0, None], [2, 1, 0, 1]), ([2, 1, 0, 0], [2, 1, 0, 0])):
        assert response.binary(make(rows), epsilon=500).tolist() == [1, 1, 0, 0]
        got = response.kary(make(rows), categories=3, default=1, epsilon=500)
        assert got.tolist() == due and got.dtype == np.int64
    for rows in (pa.array([True, None]), pd.array([True, None], dtype="boolean")):
        found = response.binary(rows, epsilon=500)
        assert found.dtype == bool and found.tolist() == [True, False]
    words = pa.array(["tea", None]).dictionary_encode()
    found = response.kary(words, categories=["ale", "tea"], epsilon=500)
    assert found.tolist() == ["tea", "ale"]


def test_a_budget_is_charged_the_loss_of_a_row():
    budget, zeros = dp.Budget(epsilon=10), np.zeros
    response.binary([1, 0, 1], epsilon=1, budget=budget)
    response.kary(zeros((5, 3), int), categories=4, epsilon=0.5, budget=budget)
    response.unary(zeros((2, 2, 2), int), categories=4, epsilon=0.25, budget=budget)
    # Of unary encoding: floor(exp(0.25)) + 3 categories.
    due = [Pure(1), Draws(1.5, 3, categories=4), Draws(1, 4, categories=4)]
    assert [line.loss for line in budget.history] == due and budget.neighbors == "replace"
    assert budget.cost(response.binary, [1, 0], epsilon=0.5) == Pure(0.5)
    with pytest.raises(BudgetError, match="says nothing about"):
        response.binary([1], epsilon=1, budget=dp.Budget(epsilon=1, neighbors="add-remove"))
    rho = dp.Budget(rho=1)
    response.binary(zeros((9, 4), bool), epsilon=0.1, budget=rho)
    assert rho.spent["rho"] == 4 * ZCDP.of_pure(Pure(0.1)).rho
    assert response.binary(zeros((3, 0), bool), epsilon=0.1, budget=rho).shape == (3, 0)


def every_answer(values, k, epsilon, how):
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
    return getattr(response, f"estimate_{how}")(answer, epsilon=epsilon, of=of, **more, **kw)


@pytest.mark.parametrize("how", ["binary", "kary", "unary"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("of", ["data", "population"])
def test_estimates_by_enumeration(how, epsilon, of):
    """Mean and variance over every answer (and all records): both are estimated without bias."""
    k = 2 if how == "binary" else 3
    if of == "population":
        true, size = (
            np.array([0.3, 0.7, 0][:k] if k == 2 else [0.2, 0.3, 0.5]),
            3 - (how == "unary"),
        )
        data = [(v, true[[*v]].prod()) for v in itertools.product(range(k), repeat=size)]
    else:
        data = [((0, 1, 1, 1)[: 4 - (how == "unary")], 1.0)]
        true = np.bincount(data[0][0], minlength=k) / len(data[0][0])
    true, total, mean, square, told = true[1] if how == "binary" else true, 0.0, 0.0, 0.0, 0.0
    for values, chance in data:
        for answer, weight in every_answer(values, k, epsilon, how):
            weight, found = weight * chance, estimate(answer, k, epsilon, how, of)
            total += weight
            mean += weight * np.asarray(found.value)
            square += weight * (np.asarray(found.value) - true) ** 2
            told += weight * np.asarray(found.variance)
    assert abs(total - 1) < 1e-12 and np.allclose(mean, true, atol=1e-10)
    assert np.allclose(told, square, rtol=1e-9) and np.all(np.asarray(told) > 0)


@quick_rows(2)
@pytest.mark.parametrize("how", ["binary", "kary", "unary"])
@pytest.mark.parametrize("of", ["data", "population"])
def test_intervals_cover_and_those_of_a_wrong_epsilon_are_caught(how, of):
    k, n, epsilon, runs = 4, 400, 1.5, 600
    pmf, more = np.array([0.4, 0.3, 0.2, 0.1]), {"categories": k}

    def covered(spoilt=1.0):
        generator, bits, hits = np.random.default_rng(5), InsecureGenerator(11), 0
        fixed = generator.permutation(np.repeat(np.arange(k), (pmf * n).astype(int)))
        for _ in range(runs):
            values = fixed if of == "data" else generator.choice(k, n, p=pmf)
            given = (values == 0,) if how == "binary" else (values,)
            own = {} if how == "binary" else more
            answer = getattr(response, how)(*given, epsilon=epsilon, rng=bits, **own)
            found = estimate(answer, k, epsilon * spoilt, how, of, confidence=0.9)
            hits += np.ravel(found.low)[0] <= 0.4 <= np.ravel(found.high)[0]
        return hits / runs

    assert 0.84 < covered() < 0.95  # five standard errors about 0.9
    assert (how, of) != ("kary", "data") or covered(spoilt=1.4) < 0.84


@pytest.mark.parametrize("rare", [0, 1, 2, 4, 20])
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 8.0])
def test_intervals_cover_a_rare_category(epsilon, rare):
    n = 400
    own, others = (stats.binom(rare, 0.5), stats.binom(n - rare, 1 / (math.exp(epsilon) + 1)))
    pmf = np.convolve(own.pmf(range(rare + 1)), others.pmf(range(n - rare + 1)))
    held = 0.0
    for count in np.flatnonzero(pmf > 1e-6):
        answers = (np.arange(n) < count)[:, None]
        found = response.estimate_unary(answers, epsilon=epsilon)
        held += pmf[count] * (found.low[0] <= rare / n <= found.high[0])
    assert held > 0.87


def test_estimates_along_axes():
    binary, kary, unary = (
        partial(getattr(response, f"estimate_{how}"), epsilon=1, **own)
        for how, own in (("binary", {}), ("kary", {"categories": 3}), ("unary", {}))
    )
    answers = truth(60, 3, 7).reshape(5, 4, 3)
    whole, along, one = kary(answers), kary(answers, axis=1), kary(answers[2, :, 1])
    assert whole.value.shape == (3,) and np.isclose(whole.value.sum(), 1)
    assert along.value.shape == (5, 3, 3)
    for name in ("value", "variance", "low", "high"):
        assert np.allclose(getattr(along, name)[2, 1], getattr(one, name))
    bits = answers > 1
    assert binary(bits, axis=0).value.shape == (4, 3) and isinstance(binary(bits).value, float)
    some = unary(bits, axis=0)
    assert some.value.shape == (4, 3) and np.allclose(some.value[1], unary(bits[:, 1]).value)
    sure = response.estimate_binary([1, 0, 0, 0], epsilon=1e6)
    assert sure.value == 0.25 and sure.variance == 0


@pytest.mark.parametrize(("how", "rows", "kw", "message"), [
    ("binary", [], {}, "at least 1"), ("binary", [1], {"of": "population"}, "at least 2"),
    ("binary", [1], {"epsilon": 0}, "epsilon must be"), ("binary", [2], {}, "0 or 1"),
    ("binary", [1], {"confidence": 1}, "confidence"), ("binary", [1], {"of": "rows"}, "of must be"),
    ("binary", [1], {"axis": 1}, "axis"), ("binary", [1], {"axis": True}, "axis"),
    ("kary", [3], {"categories": 3}, "among"), ("kary", [0], {"categories": 1}, "at least 2"),
    ("unary", [1], {}, "2 or more axes"), ("unary", [[1]], {"axis": 1}, "axis"),
    ("unary", [[3]], {}, "0 or 1"),
])  # fmt: skip
def test_bad_arguments_of_estimates(how, rows, kw, message):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        getattr(response, f"estimate_{how}")(rows, **{"epsilon": 1, **kw})


def test_kernels_check_their_buffers():
    stream, one, two = words(1), np.zeros(1, np.uint8), np.zeros(2, np.uint8)
    for args in ((1, 0, one, one, one), (257, 0, one, one, one), (3, 3, one, one, one),
                 (3, 0, one, two, one)):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            native.others(*args, stream)
    with pytest.raises(ValueError, match="must"):
        native.own(np.zeros(2, np.int64), np.zeros((1, 1), np.uint8), stream)
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


@pairwise(drop=True)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("how, k", [("binary", 2), *(("kary", k) for k in (2, 3, 10, 256)),
                                    *(("unary", k) for k in (1, 2, 5, 40))])  # fmt: skip
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_answers_beside_the_twin(n, how, k, epsilon):
    n = n if how != "unary" else min(n, 300)
    values = truth(n, 2).astype(bool) if how == "binary" else truth(n, k + 2) - 1  # some outside
    more = {"default": k - 1} if how == "kary" else {}
    own, given = ({}, ()) if how == "binary" else ({"categories": k}, (k,))
    got = getattr(response, how)(values, epsilon=epsilon, rng=rng(), **own, **more)
    assert got.tolist() == getattr(plain, how)(values, *given, epsilon, words(1), **more)
    assert how != "unary" or (got.shape == (n, k) and got.dtype == bool)
