"""Selection as its callers meet it; distributions are tested in tests/statistical."""

import math
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast import selection
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.privacy import ZCDP, Draws, Pure, laplace_within, pure_within, range_within
from dpfast.selection import arguments
from dpfast.selection import exponential_race as _race
from dpfast.selection.exponential_race import Race, Top, block_length
from dpfast.selection.scores.stored import REACH, Stored, TiltedScores

from ..reference.selection import exponential as twin
from ..support.memory import peak
from ..support.noise import p_value
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.refused import refused

INF, NAN = math.inf, math.nan
DRAWS = [selection.exponential, selection.permute_and_flip, selection.noisy_max]


def top_2(scores, **options):
    return selection.top_k(scores, 2, **options)


ALL = [*DRAWS, top_2]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">f8", ">i4", ">u8"]


def seeded(seed=1):
    return dp.rng.InsecureGenerator(seed)


#: Scores that are refused, with an error that repeats none of them.
NO_VALUE = {
    "no candidates": [],
    "no rows": np.empty((0, 3)),
    "rows of no candidates": np.empty((3, 0)),
    "NaN": [1.0, NAN, 123.25],
    "NaN in a row": np.array([[1.0, 2.0], [NAN, 1.0]]),
    "NaN in a later block": np.where(np.arange(9000) == 8999, NAN, 0.0),
    "plus infinity": [123.25, INF],
    "all excluded": [-INF, -INF],
    "all of a row excluded": np.array([[1.0, 2.0], [-INF, -INF]]),
    "NaN among fractions": [Fraction(1), NAN],
    "null": pa.array([1, None, 3]),
}


NO_TYPE = {
    "text": ["123.25", "b"],
    "text among numbers": [123.25, "x"],
    "complex": [1j, 2j],
    "dates": np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    "objects": np.array([Fraction(1), "2"], object),
    "a null among objects": np.array([1, None], object),
    "a Decimal": [Decimal("123.25"), 2],
    "time differences": [np.timedelta64(1), 2],
    "time differences among fractions": [np.timedelta64(1), Fraction(2)],
    "long doubles": [np.longdouble(1), 2],
    "large long doubles": [np.longdouble(2) ** 60, 2],
    "ragged": [[123.25], [1, 2]],
    "masked": np.ma.masked_equal([123.25, 2], 2),
}


BAD = {
    **{name: (scores, {}, ArgumentError) for name, scores in NO_VALUE.items()},
    **{name: (scores, {}, ArgumentTypeError) for name, scores in NO_TYPE.items()},
    "wrong axis": ([1, 2], {"axis": 1}, ArgumentError),
    "wrong negative axis": ([1, 2], {"axis": -2}, ArgumentError),
    "sensitivity of several lines": ([1, 2], {"sensitivity": np.eye(2)}, ArgumentTypeError),
    "sensitivity beyond float64": ([1, 2], {"sensitivity": 1e300}, ArgumentError),
    "sensitivity below float64": ([1, 2], {"sensitivity": 1e-300}, ArgumentError),
}


def check_refusal(call, error, words=None):
    """In one line that repeats no score."""
    told = refused(call, words, error, epsilon=1)
    assert "123.25" not in f"{told} {told.__context__}"


@every_value
@pytest.mark.parametrize("draw", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BAD)
def test_a_bad_argument_is_refused_before_the_spend(draw, case):
    scores, options, error = BAD[case]
    check_refusal(partial(draw, scores, **{"sensitivity": 1, **options}), error)


ONLY = [
    *({"size": size} for size in (0, (2, -1), 10**30, (2**30, 2**30), 2.0)),
    *({"base": [*base]} for base in ([], [0, NAN], [0, INF], [0, 2.0**41], [0, -(2.0**41)])),
    *({"base": base} for base in ([-INF, -INF], [0, 0, 0], ["a", "b"], 1.0)),
    *({"data": [1]}, {"candidates": 2}),  # without a function
]


@pytest.mark.parametrize("options", ONLY, ids=str)
def test_exponential_refuses_its_own_arguments_before_the_spend(options):
    words = rf"^(scores and )?{next(iter(options))} must be"
    call = partial(selection.exponential, [1, 2], sensitivity=1, **options)
    check_refusal(call, (ArgumentError, ArgumentTypeError), words)


@pytest.mark.parametrize("n", [5, 20_000])
def test_top_k_counts_the_candidates_that_are_not_excluded(n):
    scores = np.full(n, -INF)
    scores[[1, 3, n - 1]] = 0.0, 0.0, 7.0
    call = partial(selection.top_k, scores, sensitivity=1)
    words = "at most the number of candidates not excluded, 3"
    check_refusal(partial(call, k=4), ArgumentError, words)
    assert set(call(k=3, epsilon=1)) == {1, 3, n - 1}


def test_shapes():
    def draw(scores, **options):
        return selection.exponential(scores, sensitivity=1, epsilon=1, **options)

    table = np.zeros((4, 5, 6))
    for scores, more, shape in (
        ([1, 2], {"size": 3}, (3,)), ([1, 2], {"size": (2, 3)}, (2, 3)), (table, {}, (4, 5)),
        (table, {"axis": 0}, (5, 6)), (table, {"axis": 1, "size": (2, 3)}, (2, 3, 4, 6)),
        (np.zeros((1, 1)), {}, (1,)),
    ):  # fmt: skip
        assert draw(scores, **more).shape == shape
    assert type(draw([1, 2])) is int
    assert draw(table).dtype == np.int64
    assert draw(np.array([0.0, 1e3], object)) == 1


@every_value(drop=True)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("layout", [
    np.asarray, np.asfortranarray, lambda x: x[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    lambda x: np.repeat(x, 2, axis=1)[:, ::2],
], ids=["C", "F", "reversed", "strided"])  # fmt: skip
def test_each_row_has_its_own_draw(dtype, axis, layout):
    rng, shape = np.random.default_rng(0), (4, 5, 6)
    scores = rng.integers(0, 20, shape)
    best = rng.integers(0, shape[axis], np.delete(shape, axis))
    np.put_along_axis(scores, np.expand_dims(best, axis), 120, axis)
    scores = layout(scores.astype(dtype))
    for draw in DRAWS:
        assert (draw(scores, sensitivity=1, epsilon=2, axis=axis) == best).all()
    top = selection.top_k(scores, 2, sensitivity=1, epsilon=4, axis=axis)
    first, second = np.moveaxis(top, axis, 0)
    assert (first == best).all() and (second != best).all()


#: What has no dtype of its own.
UNTYPED = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "objects": lambda scores: np.array(scores, object),
    "NumPy scalars": lambda scores: [
        np.int64(x) if isinstance(x, int) and abs(x) < 2**63 else x for x in scores
    ],
    "frame": lambda scores: pd.DataFrame([[x] for x in scores], dtype=object)[0],
}
#: Two candidates of which one is better by 2, and others that are never drawn.
MIXED = {
    "a float": [2**60 + 1, 2**60 + 3, 0.5],
    "floats": [2.0**60, 2**60 + 2, 7.0, -INF],
    "a fraction": [2**60 + Fraction(1, 3), 2**60 + Fraction(7, 3), 2.5],
    "signed and unsigned": [2**64 - 3, 2**64 - 1, -1],
    "beyond 64 bits": [10**30 + 1, 10**30 + 3, 0],
    "beyond float64": [10**400 + 1, 10**400 + 3, 0.5, -(10**400)],
    "only floats": [1.0, 3.0, -2e9],
    "truth values": [2**53 + 1, 2**53 + 3, True, 0.5],
}


def shares(draw, scores):
    """How often each of the first two is drawn, of 2,000."""
    found = draw(scores, sensitivity=1, epsilon=1, monotone=True, size=2000, rng=seeded())
    return np.bincount(found, minlength=2)[:2] / 2000


@quick_rows(10)
@pairwise(drop=True)
@pytest.mark.parametrize("draw", [selection.exponential, selection.permute_and_flip])
@pytest.mark.parametrize("kind", UNTYPED)
@pytest.mark.parametrize("mixed", MIXED)
def test_scores_without_a_dtype_are_the_numbers_that_they_are(mixed, kind, draw):
    """Every draw is that of integers of one type, which are exact."""
    scores = MIXED[mixed]
    plain = np.array([-2, 0, *[-(2**62)] * (len(scores) - 2)])
    assert (shares(draw, UNTYPED[kind](scores)) == shares(draw, plain)).all()
    better = 1 / (1 + math.exp(-2)) if draw is selection.exponential else 1 - math.exp(-2) / 2
    assert abs(shares(draw, plain)[1] - better) < 0.03
    if mixed in ("a float", "beyond 64 bits", "signed and unsigned"):  # planted: read by NumPy
        assert abs(shares(draw, np.array(scores, np.float64))[1] - better) > 0.3
    table = [scores, scores[1::-1] + scores[2:]]
    best = selection.top_k(table, 2, sensitivity=1, epsilon=200, monotone=True)
    assert best.tolist() == [[1, 0], [0, 1]]


def test_monotone_scores_are_so_when_rows_come_and_go():
    """What holds then is not inherited as if it held for a replaced row."""
    for draw in ALL:
        for monotone in (False, True):
            budget = dp.Budget(epsilon=1)
            draw([1, 2], sensitivity=1, epsilon=1, monotone=monotone, budget=budget)
            assert budget.neighbors == "add-remove"
        budget = dp.Budget(epsilon=2, neighbors="replace")
        asked = {"scores": [1, 2], "sensitivity": 1, "epsilon": 0.5, "budget": budget}
        with pytest.raises(ArgumentError, match="'add-remove' or 'replace'"):
            draw(monotone=True, **asked)
        draw(**asked)
        draw(monotone=True, neighbors="add-remove", **asked)
        counted = [float(line.counted.epsilon) for line in budget.history]
        assert counted == [0.5, 1]  # twice as much for a replaced row


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_the_largest_epsilon_within_a_rho(rho):
    for within, loss in (
        (range_within, lambda epsilon: Draws(epsilon, 1, True)),
        (pure_within, Pure),
        (lambda rho: laplace_within(rho, 3, 5), lambda epsilon: Draws(epsilon, 3, cells=5)),
        (lambda rho: laplace_within(rho, 1, 0), lambda epsilon: Draws(epsilon, 1, cells=0)),
    ):
        found = within(rho)
        assert ZCDP.of_pure(loss(found)).rho <= rho
        assert ZCDP.of_pure(loss(found * (1 + Fraction(1, 2**40)))).rho > rho


numbers = st.floats(-1e6, 1e6) | st.floats(-1e300, 1e300) | st.just(-INF)
logs = st.floats(-50, 50) | st.floats(-REACH, REACH) | st.just(-INF)


@given(st.lists(st.tuples(numbers, logs), min_size=1, max_size=9), st.floats(1e-9, 1e9))
def test_tilted_distances_are_within_their_slack(pairs, c):
    scores, base = map(np.array, zip(*pairs, strict=True))
    if not np.isfinite(scores + base).any():
        with pytest.raises(ArgumentError):
            TiltedScores(Stored(scores), base, c).peaks(2)
        return
    based = TiltedScores(Stored(scores), base, c)
    peaks = based.peaks(2)
    found = based.distance(np.arange(len(scores)))
    whole = [
        None if b == -INF or s == -INF else Fraction(c) * Fraction(s) + Fraction(b)
        for s, b in zip(scores, base, strict=True)
    ]
    best = max(x for x in whole if x is not None)
    gaps = [None if x is None else best - x for x in whole]
    shift = {based.exact(j) - gap for j, gap in enumerate(gaps) if gap is not None}
    assert len(shift) == 1 and 0 <= shift.pop() <= 3 * Fraction(based.slack)
    for j, gap in enumerate(gaps):
        assert (found[j] < 0) == (gap is None)
        if gap is not None and found[j] < 2.0**999:
            error = abs(based.exact(j) - Fraction(found[j]))
            assert error <= based.exact(j) / 2**50 + Fraction(based.slack)
    for b, top in enumerate(peaks):
        near = [x for x in found[2 * b : 2 * b + 2] if x >= 0]
        assert top == min(near, default=-1.0)


def test_a_base_moves_as_scores_do():
    """exp(c score + base) with c = 1: a base of 40 is worth 40 points."""
    scores, rows = np.zeros((6, 5)), np.array([[1, -INF], [2, 3]] * 40)
    base = np.array([0, 0, 40, 0, 0])
    each, places, long = np.zeros((6, 5), np.float32), [0, 1, 2, 3, 4, 0], np.zeros(9000, np.int16)
    each[np.arange(6), places], long[8111] = 40, 50
    for some, own, axis, due in (
        (scores, base, -1, 2), (scores.T, base, 0, 2), (scores[0], base.tolist(), -1, 2),
        (scores, each, -1, places), (np.zeros(9000), long, -1, 8111),
    ):  # fmt: skip
        found = selection.exponential(some, base=own, axis=axis, sensitivity=1, epsilon=2)
        assert np.all(found == due)
    for some in ([1, -INF], rows, rows[:2]):  # a base may not exclude all that is left
        with pytest.raises(ArgumentError, match=r"^scores and base must be above minus infinity"):
            selection.exponential(some, base=[-INF, 0], sensitivity=1, epsilon=1)


@given(
    st.lists(st.integers(0, 9).map(float) | st.just(-INF), min_size=2, max_size=60),
    st.integers(1, 9),
    st.data(),
)
def test_candidates_taken_away(values, block, data):
    """Peaks and distances are those of scores in which what is gone is excluded."""
    scores = np.array(values)
    real = np.flatnonzero(scores > -INF).tolist()
    if len(real) < 2:
        return
    gone = data.draw(st.sets(st.sampled_from(real), min_size=1, max_size=len(real) - 1))
    gone, stored, left = np.array(sorted(gone)), Stored(scores), scores.copy()
    left[gone] = -INF
    fresh = Stored(left)
    stored.peaks(block)
    assert (stored.without(gone) == fresh.peaks(block)).all()
    kept = np.setdiff1d(np.arange(len(scores)), gone)
    assert (stored.distance(kept) == fresh.distance(kept)).all()
    assert stored.best == fresh.best


@pytest.mark.parametrize("scores", [[3], [0, 0], [1, 2, 2, 4], [0.5, -60, 3, 2.5, -INF, 3]])
def test_probabilities_and_expected_errors(scores):
    scores = np.array(scores, float)
    kept = scores > -INF
    for mechanism, exact in (
        ("permute-and-flip", [float(p) for p in twin.permute_and_flip_by_orders(scores, 0.5)]),
        ("exponential", np.exp(0.5 * scores) / np.exp(0.5 * scores).sum()),
    ):
        given = {"sensitivity": 2, "epsilon": 2, "mechanism": mechanism}
        found = selection.probabilities(scores, **given)
        assert found == pytest.approx(exact, rel=1e-12, abs=0)
        error = selection.expected_error(scores, **given)
        assert type(error) is float
        assert error == pytest.approx(scores.max() - found[kept] @ scores[kept])
        both = selection.expected_error(np.array([scores, scores]), **given)
        assert both.tolist() == [error, error]


def test_probabilities_of_rows_with_a_base():
    scores, base = np.array([[1, 5, 3], [2, 2, 0]]), np.log([1, 2, 3])
    weight = np.exp(0.5 * scores + base)
    found = selection.probabilities(scores, sensitivity=1, epsilon=1, base=base)
    assert found == pytest.approx(weight / weight.sum(axis=1, keepdims=True), rel=1e-13)
    turned = selection.probabilities(scores.T, sensitivity=1, epsilon=1, base=base, axis=0)
    assert (turned == found.T).all()
    far = selection.probabilities([0, -200], sensitivity=1, epsilon=2)
    assert far[1] == pytest.approx(math.exp(-200), rel=1e-13)


def test_utility_bound_of_the_lecture():
    def bound(candidates=4, **more):
        return selection.utility_bound(candidates, sensitivity=1, epsilon=0.5, **more)

    gap = bound(t=3)
    assert gap == pytest.approx(2 * (math.log(4) + 3) / 0.5, rel=1e-12)
    assert gap >= 2 * (math.log(4) + 3) / 0.5
    for same in (2 * bound(t=3, monotone=True), bound(beta=math.exp(-3)), bound(8, optimal=2, t=3)):
        assert same == pytest.approx(gap)
    assert 1 <= bound(10**400, t=3) / (4 * (400 * math.log(10) + 3)) < 1 + 1e-9


@pytest.mark.parametrize("mechanism", ["exponential", "permute-and-flip"])
def test_the_utility_bound_holds(mechanism):
    """In its worst case, one good candidate and all others just beyond the gap, and elsewhere."""
    n, t = 50, 2.0
    options = {"sensitivity": 1, "epsilon": 1}
    gap = selection.utility_bound(n, t=t, **options)
    worst = 0.0
    for depth in (gap, 1.5 * gap, 0.5 * gap):
        scores = np.full(n, -depth)
        scores[0] = 0
        p = selection.probabilities(scores, mechanism=mechanism, **options)
        failing = p[scores <= -gap].sum()
        assert failing <= math.exp(-t)
        worst = max(worst, failing)
    assert worst > (0.5 if mechanism == "exponential" else 0.2) * math.exp(-t)  # and is no joke


BOUND = {"candidates": 4, "sensitivity": 1, "epsilon": 1, "t": 1}
FLIP = {"mechanism": "permute-and-flip"}
LAW = {"scores": [1, 2], "sensitivity": 1, "epsilon": 1}
FORECASTS = [
    *(BOUND | {"candidates": bad} for bad in (0, 2.5)),
    *(BOUND | bad for bad in ({"optimal": 0}, {"optimal": 5}, {"sensitivity": 0})),
    *(BOUND | {"t": t} for t in (None, -1, NAN)),
    *(BOUND | {"t": t, "beta": b} for t, b in ((1, 0.1), (None, 1), (None, 0))),
    *(LAW | {"scores": bad} for bad in ([NAN, 1], [], max)),
    *(LAW | bad for bad in ({"mechanism": "laplace"}, {"axis": 1}, {"sensitivity": -1})),
    *(LAW | FLIP | bad for bad in ({"base": [0, 0]}, {"scores": np.zeros(1001)})),
]


@pytest.mark.parametrize("options", FORECASTS, ids=str)
def test_what_to_expect_refuses(options):
    first = "scores" if "scores" in options else "candidates"
    functions = selection.probabilities, selection.expected_error
    for function in functions if first == "scores" else [selection.utility_bound]:
        given = dict(options)
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            function(given.pop(first), **given)


@pytest.mark.parametrize("draws", [1, 100, 10**6])
@pytest.mark.parametrize("n", [1, 4096, 4097, 10**7, 10**10, 10**12])
def test_blocks_are_few_and_short(n, draws):
    length = block_length(n, draws)
    assert length & (length - 1) == 0 and n / length <= 2**22
    assert length == 1 if n <= 4096 else length >= 16
    assert length <= 256 or n / length > 2**21


def test_blocks_are_opened_and_candidates_taken_away_on_the_way():
    """Whatever happened to the rates, each run stands for candidates of its own."""
    n = 30_000
    scores = np.random.default_rng(3).normal(size=n) * 10
    race = Top(Stored(scores), 1.0, 3000)
    order = race.first(seeded().stream())
    assert len(set(order.tolist())) == 3000
    assert len(race._opened) and len(race._gone)
    assert (race.peaks[race._opened] == -1).all()
    single = race._single
    assert len(np.unique(single)) == len(single) and not np.isin(single, race._gone).any()
    assert np.isin(single // race.block, race._opened).all()
    opened = np.flatnonzero(np.isin(np.arange(n) // race.block, race._opened))
    assert (np.sort(single) == np.setdiff1d(opened, race._gone)).all()
    # Those that were drawn are about the best.
    assert np.mean(scores[order[:300]] >= np.sort(scores)[-3000]) > 0.9


def surprise(race, scores, c, k, runs):
    bits = seeded(11).stream()
    counts, chances = np.zeros((2, k, len(scores)))
    for _ in range(runs):
        counts[range(k), race().first(bits)] += 1
    for order, p in twin.peeling(scores, c, k).items():
        chances[range(k), order] += float(p)
    return min(map(p_value, counts, chances))


@pytest.mark.full
def test_rates_that_change_on_the_way_leave_the_distribution_alone(monkeypatch):
    """Small blocks, opened as soon as anything is in vain; others than those drawn run alone."""
    limits = {"SMALL": 0, "LONGEST": 2, "SHORTEST": 2, "PATIENCE": 1000, "FIRST": 4}
    for name, limit in limits.items():
        monkeypatch.setattr(_race, name, limit)
    scores = np.array([0.0, 4.5, 1.0, -2.0, 3.0, 3.0, 0.5, 9.0, 2.0, 4.0])

    def race():
        return Top(Stored(scores), 0.5, 3)

    opened = []
    real = Race._open
    monkeypatch.setattr(Race, "_open", lambda self: (real(self), opened.append(self._opened))[0])
    assert surprise(race, scores, 0.5, 3, 6000) > 1e-6
    assert sum(map(len, opened)) > 1000

    # Negative control: an opened block goes on running as a whole too.
    def twice(self):
        before = self.peaks.copy()
        real(self)
        self.peaks = before
        self._weigh()

    monkeypatch.setattr(Race, "_open", twice)
    assert surprise(race, scores, 0.5, 3, 6000) < 1e-6


@pytest.mark.parametrize("sensitivity", [0.1, np.float32(0.1), 0.3, np.float16(0.7)])
def test_a_sensitivity_is_no_smaller_than_its_binary_number(sensitivity):
    """Scores in floats move by the stored number, which may be above the decimal that it shows."""
    plan = arguments.selection("x", sensitivity, 1, None, False, "add-remove", 1)
    stored, written = Fraction(float(sensitivity)), Fraction(str(sensitivity))
    assert Fraction(plan.c) * 2 * max(stored, written) <= 1


LOSS = {"sensitivity": 1, "epsilon": 1.0}
LAYOUTS = {
    "float64": lambda x: x,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "integers": lambda x: (x * 1000).astype(np.int64),
    "half excluded": lambda x: np.where(x > 0, x, -np.inf),
}
#: Calls, and the part of the scores that may be held. Top-k has shorter blocks, so more of them.
CALLS = {draw.__name__: (lambda x, draw=draw: draw(x, **LOSS), 1 / 8) for draw in DRAWS}
CALLS["top_k"] = (lambda x: selection.top_k(x, 100, **LOSS), 1 / 2)
CALLS["column"] = (lambda x: selection.exponential(x[:, None], axis=0, **LOSS), 1 / 8)
CALLS["a copy"] = (lambda x: int(np.argmax(x + 1)), None)  # planted: a plain argmax with noise


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).standard_normal(4_000_000) * 10


@every_value
@pytest.mark.parametrize("form", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_memory_is_a_small_part_of_the_scores(scores, form, name):
    made, (call, share) = LAYOUTS[form](scores), CALLS[name]
    call(made[:10_000])  # what is loaded or remembered once is not counted
    held = peak(lambda: call(made))[0]
    assert held < made.nbytes * share if share else held > made.nbytes / 8


def test_the_noise_of_noisy_max_is_chosen_by_the_loss():
    """Exponential noise is permute-and-flip, Gumbel noise the exponential mechanism."""
    scores, same = np.arange(200) % 7, {"sensitivity": 1, "size": 400}

    def drawn(call, **options):
        return call(scores, **same, **options, rng=seeded(5)).tolist()

    by_epsilon = {
        "auto": selection.permute_and_flip,
        "exponential": selection.permute_and_flip,
        "gumbel": selection.exponential,
    }
    for noise, due in by_epsilon.items():
        assert drawn(selection.noisy_max, epsilon=1, noise=noise) == drawn(due, epsilon=1)
    by_rho = {**by_epsilon, "auto": selection.exponential}
    for noise, due in by_rho.items():
        assert drawn(selection.noisy_max, rho=0.1, noise=noise) == drawn(due, rho=0.1)
    assert drawn(selection.exponential, rho=0.1) != drawn(selection.permute_and_flip, rho=0.1)
