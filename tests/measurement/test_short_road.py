"""A plain column takes a short road, with the same bits, errors and prices as the long one."""

import cProfile
import gc
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast import privacy
from dpfast._core.once import PLAIN, forget
from dpfast._kernels.calls import public_part
from dpfast._kernels.noise import BLOCK
from dpfast.measurement import linear, statistic
from dpfast.measurement.choice import choose_noise
from dpfast.noise.distributions.discrete import FewLaplace, laplace_noise
from dpfast.rng import InsecureGenerator

from ..support.battery import CASES, EPSILON
from ..support.pairwise import every_value, quick_rows

ROWS = np.arange(1, 41)
BOUNDS = {"bounds": (0, 50)}
LOSS = statistic.offer(1, 0.0, None, "add-remove", None, None)


def measured(kind):
    def call(data, *, epsilon, rng, **public):
        return kind(**public).measure(epsilon=epsilon)(data, rng=rng)

    return call


#: Cases of the battery about a column alone, and what the battery does not ask.
CALLS = {
    name: (case.call, case.kw)
    for name, case in CASES.items()
    if case.form == "column" and not case.rows and EPSILON in case.losses
} | {
    "count of numbers": (dp.count, {"nan": "drop"}),
    "proportion": (measured(dp.Proportion), {"equal": 7}),
    "proportion of a word": (measured(dp.Proportion), {"equal": "7"}),
    "mean, measured": (measured(dp.Mean), BOUNDS),
    "mean of rows that are known": (dp.mean, BOUNDS | {"neighbors": "replace"}),
    "dropped": (dp.mean, BOUNDS | {"nan": "drop"}),
    "replaced": (dp.variance, BOUNDS | {"nan": 3.0}),
    "minimum, filled": (dp.minimum, BOUNDS | {"nan": "upper"}),
    "categories that are few": (dp.histogram, {"categories": (1.0, 2.0, 3.0)}),
}
KINDS = {
    "doubles": ROWS.astype(float),
    "a missing number": np.where(ROWS == 7, np.nan, ROWS),
    **{letter: ROWS.astype(letter) for letter in ("f4", "f2", "i8", "i2", "u1", ">f8", ">i4", "?")},
    "a stride": np.repeat(ROWS, 2)[::2],
    "backwards": ROWS[::-1],
    "not aligned": np.frombuffer(b"x" + ROWS.astype(float).tobytes(), "u1")[1:].view("f8"),
    "read only": np.frombuffer(ROWS.astype(float).tobytes()),
    "a mask": np.ma.array(ROWS.astype(float), mask=ROWS == 3),
    "a subclass": ROWS.astype(float).view(np.recarray),
    "no rows": np.zeros(0),
    "a matrix": np.ones((3, 2)),
    "no dimension": np.array(1.0),
    "long doubles": ROWS.astype(np.longdouble),
    "complex numbers": ROWS.astype(complex),
    "text": ROWS.astype(str),
    "days": ROWS.astype("m8[D]"),
    "a list": ROWS.tolist(),
    "nothing": None,
}


def outcome(function, data, call):
    try:
        return repr(function(data, epsilon=1, rng=InsecureGenerator(3), **call))
    except dp.errors.DpfastError as error:
        return type(error), str(error)


@every_value(full=300)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_both_roads_have_the_same_bits_and_errors(name, kind, monkeypatch):
    function, call = CALLS[name]
    short = [outcome(function, KINDS[kind], call) for _ in range(2)]
    monkeypatch.setattr(statistic, "plain", lambda data: None)
    monkeypatch.setattr(statistic, "public_part", lambda *given: None)
    assert short == [outcome(function, KINDS[kind], call)] * 2


def test_a_column_where_it_lies_takes_the_short_road(monkeypatch):
    monkeypatch.setattr(dp.Mean, "read", None)
    assert dp.mean(KINDS["doubles"], **BOUNDS, epsilon=1) >= 0
    with pytest.raises(TypeError):
        dp.mean(KINDS["a stride"], **BOUNDS, epsilon=1)


def test_what_equals_plain_arguments_is_still_checked():
    data, plain = KINDS["doubles"], {"bounds": (0, 1), "epsilon": 1}
    dp.mean(data, **BOUNDS, epsilon=1)
    dp.mean(data, **plain, nan=1.0)
    for name, bad in (
        *(("bounds", (0, True)), ("bounds", ("0", 50))),
        *(("nan", True), ("epsilon", True), ("delta", None)),
    ):
        with pytest.raises(dp.errors.DpfastError):
            dp.mean(data, **plain | {name: bad})


def test_no_rows_are_in_what_is_remembered():
    rest = statistic.PAID, PLAIN
    public = public_part((KINDS["doubles"], 2), {"where": None, "rng": object()}, *rest)
    assert public == ((2,), ("where",), (None,), (int, type(None)))
    for given in ({"where": KINDS["doubles"]}, {"bounds": (0, [1])}, {"q": np.float64(1)}):
        assert public_part((None,), given, *rest) is None


@every_value
@pytest.mark.parametrize("scale", [Fraction(10**6, 7), Fraction(2**41 - 1, 2)], ids=str)
@pytest.mark.parametrize("size", [0, 1, 3, BLOCK])
def test_a_few_numbers_are_those_of_many(size, scale):
    few, out = FewLaplace(scale), np.empty(size, np.int64)
    a, b = InsecureGenerator(5).stream(), InsecureGenerator(5).stream()
    for _ in range(8):  # of the large ones some are undecided
        laplace_noise(out, scale, b)
        assert few.draw(size, a).tolist() == out.tolist()
    assert a.word() == b.word()


def same(word):
    lies = {"__eq__": lambda *_: True, "__ne__": lambda *_: False, "__hash__": lambda _: 1}
    return type("Same", (type(word),), lies)(word)


UNIT, PROPORTION = {"bounds": (0, 1)}, lambda value: dp.Proportion(equal=value)


@pytest.mark.parametrize("make, values", [
    (PROPORTION, [0.0, 1.0, 2.0]), (PROPORTION, [0, 1, 2]), (PROPORTION, ["a", "b", "c"]),
    (lambda value: dp.Histogram(categories=[value]), ["a", "b", "c"]),
    (lambda value: dp.Mean(**UNIT, nan=value), ["lower", "upper", "drop"]),
    (lambda value: dp.Mean(**UNIT, nan=value), [0.25, 0.5]),
    (lambda value: dp.Count(nan=value), ["keep", "drop", "only"]),
    (lambda value: dp.Median(**UNIT, method=value), ["exponential", "smooth"]),
    (lambda value: dp.TrimmedMean(**UNIT, noise=value), ["auto", "cauchy"]),
    (lambda value: dp.Median(**UNIT, method="smooth", noise=value), ["auto", "cauchy"]),
])  # fmt: skip
def test_public_values_that_call_all_others_equal_are_told_apart(make, values):
    statistics = [make(same(value)) for value in values]
    assert statistics == [make(value) for value in values]
    made = [statistic.mechanism_of(one, LOSS, statistic.ONE_ANSWER) for one in statistics]
    assert len({*map(id, made)}) == len(values)


class NoHash:
    def __eq__(self, other):
        raise ValueError

    def __hash__(self):
        raise ValueError


@dataclass(frozen=True, kw_only=True)
class OfValue(dp.Mean):
    value: Any = None


@quick_rows(1)
@pytest.mark.parametrize("value", [[1], np.ones(2), NoHash()])
def test_a_value_without_a_hash_is_planned_anew(value):
    mine = OfValue(**BOUNDS, value=value).measure(epsilon=400)
    assert mine(ROWS) == pytest.approx(ROWS.mean(), abs=1e-6)
    assert mine.error(40, 0.95) == dp.Mean(**BOUNDS).measure(epsilon=400).error(40, 0.95)
    groups = dp.group_by({"key": ROWS % 2, "x": ROWS}, "key", keys=[0, 1])
    means = groups.agg({"m": OfValue("x", **BOUNDS, value=value)}, epsilon=400)["m"]
    assert means.tolist() == pytest.approx([ROWS[1::2].mean(), ROWS[::2].mean()], abs=0.1)


def test_nobody_writes_into_what_is_remembered():
    for ask in ({"bins": 5, **BOUNDS}, {"categories": (1.0, 2.0)}, {"categories": ("a", "b")}):
        for bins in dp.Histogram(**ask).measure(epsilon=1).inner.statistic.axes:
            with pytest.raises(ValueError, match="read-only"):
                bins.edges[:] = bins.edges[0]
    ratio = dp.Ratio(bounds=[(0, 1)] * 2).measure(epsilon=1).inner
    with pytest.raises(ValueError, match="read-only"):
        ratio.usual_widths[:] = 1e9


def test_bars_of_quotients_are_of_their_own_noise():
    """The fault: they were remembered by equality, which says nothing of how noise was chosen."""

    def half_the_loss(loss, moves):
        return choose_noise(privacy.Pure(loss.epsilon / 2), moves)

    def widths():
        return dp.Ratio(bounds=[(0, 1)] * 2).measure(epsilon=1).inner.usual_widths

    before = widths()
    statistic.mechanism_of.cache_clear(), linear.plan.cache_clear()
    with patch.object(linear, "choose_noise", half_the_loss):
        assert (widths() > 1.5 * before).all()
    statistic.mechanism_of.cache_clear(), linear.plan.cache_clear()


# ---- What a release of few rows may call. ----

FEW = np.random.default_rng(1).uniform(0, 100, 100)
KEYS = np.arange(100) % 4
CHOICE = {"bounds": (0, 120), "epsilon": 1}
MEASURED = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
MOST_CALLS = {
    "count": (42, lambda: dp.count(FEW, epsilon=1)),
    "sum": (54, lambda: dp.sum(FEW, **CHOICE)),
    "mean": (64, lambda: dp.mean(FEW, **CHOICE)),
    "measurement": (55, lambda: MEASURED(FEW)),
    "variance": (68, lambda: dp.variance(FEW, **CHOICE)),
    "histogram": (49, lambda: dp.histogram(FEW, bins=10, **CHOICE)),
    "median": (74, lambda: dp.median(FEW, **CHOICE)),
    "mean after a count": (
        124,
        lambda: (dp.count(FEW, epsilon=1), dp.mean(FEW, **CHOICE)),
    ),
    "mean by group": (
        312,
        lambda: dp.group_by({"k": KEYS, "x": FEW}, "k", keys=[0, 1, 2, 3]).mean("x", **CHOICE),
    ),
}


def profiled(call):
    profile = cProfile.Profile()
    gc.disable()  # a collection calls whoever asked to be told of it
    try:
        profile.runcall(call)
    finally:
        gc.enable()
    return profile.getstats()


def calls(call):
    return sum(entry.callcount for entry in profiled(call))


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_small_release_makes_few_calls(name, pytestconfig):
    if pytestconfig.getoption("--repeat-noise") > 1:
        pytest.skip("draws are counted there, by a call more")
    most, call = MOST_CALLS[name]
    forget()  # what equal calls of other tests have left
    call()  # what is remembered is made now
    fewest = min(calls(call) for _ in range(5))
    assert fewest <= most, "\n".join(f"{entry.callcount} {entry.code}" for entry in profiled(call))
