"""Noisy sums: exact totals, sensitivities by enumeration, calibration, the last question."""

import copy
import functools
import itertools
import math
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from unittest.mock import patch

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dpfast as dp
from dpfast._kernels.jit import RowLoop
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import (
    Attribute,
    NoisySums,
    RowSets,
    StatisticalQueryOracle,
    Term,
    row_functions,
    terms,
)
from dpfast.sulq import parts as round_parts
from dpfast.sulq import rounds as _rounds
from dpfast.tables import memory

from ..reference.sulq import noisy_sums as reference
from ..support.forked import error_in_a_fork
from ..support.lazy import norm
from ..support.pages import program
from ..support.pairwise import pairwise, quick_rows

RELATIONS = ["replace", "add-remove"]
LO, HI = -1.0, 2.5


@numba.njit
def tenth(x):
    return x / 10


@numba.njit
def coin(x):
    return np.random.random() < x  # noqa: NPY002 (what Numba knows)


@numba.njit
def wave(x):
    return math.sin(x), math.cos(x)


@numba.njit
def by_name(row):
    return row.a - row.b


@numba.njit
def fickle(x):
    if x == 1.0:
        raise ValueError
    return 0.5


class Recorder:
    """Stands in for the noise: what it is calibrated to, what that of `values` is, and these."""

    def __init__(self):
        self.asked, self.used, self.values = [], [], []

    def __call__(self, loss, sensitivity, distribution=None):
        recorder = self
        asked = sensitivity.l1, sensitivity.l2_squared, sensitivity.l0
        self.asked.append(asked)

        class Silent(IntegerNoise):
            def add(self, values, generator):
                recorder.used.append(asked)
                recorder.values.append(list(values))
                return list(values)

        return Silent("laplace", Fraction(1), 0, loss)

    def of_moves(self, loss, moves):
        """Joint noise, of which each number has what Laplace noise for all would be for."""
        many = len(moves.moving)
        each = [Sensitivity(max(1, many), many * m, many * m * m) for m in moves.sizes]
        silent = [self(loss, one) for one in each]

        class Silent(BoxNoise):
            def add(self, values, generator):
                return [noise.add([x], None)[0] for noise, x in zip(silent, values, strict=True)]

        return Silent("box", moves.sizes, loss, 1.0)


def recorded(data, ask, queries=1, **kw):
    """What one question is calibrated to, part by part, the integers, and the answer."""
    recorder = Recorder()
    joint = patch.object(round_parts, "choose_noise", recorder.of_moves)
    with patch.object(round_parts, "integer_noise", recorder), joint:
        found = ask(NoisySums(data, epsilon=1, queries=queries, **kw))
    return recorder.asked, recorder.values, found


VALUES = [-3.0, LO, -0.7, 0.0, 1e-300, 1.0, math.pi / 2, HI, 7.0, math.inf, -math.inf]


def test_named_sums_are_those_of_the_definition():
    cells = dp.summaries.cells.cells
    fine, coarse, third = (
        grid.grid for grid in (cells(LO, HI, width=3.5), cells(LO, HI, 30), cells(-5.0, 0.5, 30))
    )

    def clipped(row, grid, j=0):
        return reference.clipped(row[j], *[(LO, HI), (-5.0, 0.5)][j], grid)

    expected = {
        "count": (lambda row: Fraction(1), {}),
        "value": (lambda row: clipped(row, fine), {"bounds": (LO, HI), "column": 0}),
        "square": (lambda row: clipped(row, coarse) ** 2, {"bounds": (LO, HI), "column": 0}),
        "product": (
            lambda row: clipped(row, coarse) * clipped(row, third, 1),
            {"bounds": [(LO, HI), (-5.0, 0.5)], "column": (0, 1)},
        ),
    }
    data = np.stack([VALUES, VALUES[::-1]], axis=1)
    for name, (function, kw) in expected.items():
        for rows in (None, np.arange(len(data)) % 3 != 1):
            _, _, found = recorded(data, lambda s, n=name, r=rows, k=kw: s.sum(n, r, **k))
            assert found == float(reference.total(data.tolist(), function, rows)), name


DATA = np.random.default_rng(5).normal(0, 1, (20_001, 2))
SETS = RowSets.random(len(DATA), 20, InsecureGenerator(1))
POSITIVE = np.flatnonzero(DATA[:, 0] > 0)
TERMS = [
    "count", Term("value", (-1, 1), column="a"), Term("square", (-1, 1), column="b"),
    Term("product", (-1, 1), column=("a", "b")), Term(by_name, (-1, 1))
]  # fmt: skip
STORED = [*TERMS, Term(DATA, l2=1.0, size=2)]
CHUNKED = {
    "sums": lambda s: s.batch(TERMS),
    "a mask": lambda s: s.batch(TERMS, DATA[:, 0] > 0),
    "stored": lambda s: s.batch(STORED),
    "row numbers": lambda s: s.batch(STORED, np.random.default_rng(1).permutation(POSITIVE)),
    "contrasts": lambda s: s.contrasts(Attribute("a", low=0.3) ^ Attribute("b", high=-0.1), SETS),
}


@quick_rows(1)
@pytest.mark.parametrize(
    ("ask", "relation"),
    [
        (ask, relation)
        for ask in ("an oracle", *CHUNKED)
        for relation in RELATIONS
        if (ask, relation) != ("row numbers", "add-remove")  # these have none
    ],
)
def test_chunks_threads_layouts_and_files_do_not_change_a_bit(ask, relation, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")

    def integers(rows):
        if ask != "an oracle":
            return recorded(rows, CHUNKED[ask], neighbors=relation)[1]
        kw = {"tolerance": 0.1, "queries": 5, "epsilon": 500, "rows": 20_001, "bounds": (-1, 1)}
        oracle = StatisticalQueryOracle(rows, neighbors=relation, rng=InsecureGenerator(1), **kw)
        return oracle.batch(TERMS)

    table = pd.DataFrame(DATA, columns=["a", "b"])
    found = [integers(table)]
    for direct, threads in ((1 << 23, "1"), (16 * 1001, "1"), (16 * 1001, "3"), (16 * 64, "2")):
        monkeypatch.setattr(memory.MemoryRows, "DIRECT", direct)
        monkeypatch.setattr(memory.MemoryRows, "BUFFER", direct)
        monkeypatch.setattr(memory, "SLICE", 10_000)
        monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
        fortran = pd.DataFrame(np.asfortranarray(DATA), columns=["a", "b"])
        found += map(integers, (table.to_records(index=False), fortran))
    table.to_parquet(tmp_path / "t.parquet", row_group_size=3000)
    table.to_csv(tmp_path / "t.csv", index=False)
    files = [dp.scan(tmp_path / name, column=["a", "b"]) for name in ("t.parquet", "t.csv")]
    if ask not in ("stored", "row numbers"):  # which need to know how many rows there are
        found += map(integers, files)
    assert all(one == found[0] for one in found)
    kept = DATA[POSITIVE] if ask in ("a mask", "row numbers") else DATA
    if ask in CHUNKED and ask != "contrasts":
        cells = np.rint(np.clip(kept[:, 0], -1, 1) * 2**39).astype(int)
        assert dp.summaries.cells.cells(-1, 1).grid == 2.0**-39
        assert found[0][1] == [sum(cells.tolist())]


def test_sets_of_rows_must_be_as_long_as_a_file(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 10)
    for asked in (
        lambda sums, n: sums.sum("count", np.ones(n, bool)),
        lambda sums, n: sums.contrasts(Attribute("x"), RowSets.random(n, 2)),
    ):
        for length in 9, 11:
            sums = NoisySums(dp.scan(tmp_path / "t.csv", column=["x"]), rho=1, queries=1)
            with pytest.raises(DataError, match="one entry for each row"):
                asked(sums, length)
    with pytest.raises(ArgumentTypeError, match="length"):
        sums.sum(np.zeros(10))


@pytest.mark.parametrize(
    ("nan", "count"), [("lower", -1.0), ("upper", 2.5), (0.25, 0.25), (9.0, 2.5), ("drop", 0.0)]
)
def test_missing_values(nan, count):
    data = np.array([0.5, np.nan, 1.0, np.nan])
    for name, power in ("value", 1), ("square", 2):
        found = recorded(data, lambda s, n=name: s.sum(n, bounds=(LO, HI)), nan=nan)[2]
        assert found == 0.5**power + 1 + 2 * count**power
    product = {"bounds": (LO, HI), "column": (0, 1)}
    found = recorded(np.stack([data, data], 1), lambda s: s.sum("product", **product), nan=nan)[2]
    assert found == pytest.approx(1.25 + 2 * count**2)
    assert recorded(data, lambda s: s.sum("row", l2=2.0), nan=nan)[2] == [1.5]
    with pytest.raises(DataError, match="NaN"):
        NoisySums(data, rho=1, queries=1).sum("row", l2=1)


def test_values_computed_before_come_in_many_forms():
    data = np.arange(4.0)
    forms = [[1, 0, 1, 1], np.ones(4, bool) ^ (data == 1), pd.Series([1.0, 0, 1, 1])]
    forms += [np.array([[1], [0], [1], [1]]), np.array([9, 0, 7, 1], np.int8)]
    for form in forms:
        assert recorded(data, lambda s, f=form: s.sum(f))[2] == 3.0
    assert recorded(data, lambda s: s.sum(np.eye(4, dtype=int), l2=1))[2] == pytest.approx([1] * 4)


@pytest.mark.full
def test_what_a_function_does_not_give_is_missing_and_what_it_writes_is_its_own():
    for function in (fickle, np.array([0.5, np.nan, 0.5])):
        data = np.arange(3.0)
        assert recorded(data, lambda s, f=function: s.sum(f), nan=1.0)[2] == 2.0
        assert recorded(data, lambda s, f=function: s.sum(f), nan="drop")[2] == 1.0
        sums = NoisySums(data, epsilon=1, queries=2)
        with pytest.raises(DataError, match="NaN"):
            sums.sum(function)
        assert sums.remaining == 1  # it was an answer

    @numba.njit
    def spoil(row):
        row[0] += 1
        return row[0]

    data = np.zeros((10, 2))
    assert recorded(data, lambda s: s.sum(spoil))[2] == 10.0
    assert not data.any()


@numba.njit(fastmath=True)
def loose(x):
    return math.exp(-x) * x / 3 + x * 0.1 + x * x * 0.7


@pytest.mark.full
def test_a_row_has_one_value_wherever_it_stands():
    rows = np.random.default_rng(0).uniform(0, 1, 1003)
    loop = RowLoop(loose, rows.dtype, None)
    whole = loop.values(rows, 1)
    alone = np.concatenate([loop.values(rows[i : i + 1], 1) for i in range(len(rows))])
    assert whole.tobytes() == alone.tobytes()
    assert loop.values(np.roll(rows, 1), 1).tobytes() == np.roll(whole, 1, axis=0).tobytes()


SETS_OF_FOUR = {"sets": [[True, False, True, True]]}
LAMBDAS = {
    "text": numba.njit(lambda row: "text"),
    "nothing": numba.njit(lambda row: row.nothing),
    "row": numba.njit(lambda row: row),
    "pair": numba.njit(lambda row: (row[0], row[1])),
    "by name": "row",
}
#: A question, what is wrong with it, and the kind of error.
UNSUITABLE = [
    ("text", {}, ArgumentTypeError, "real number"), ("nothing", {}, ArgumentTypeError, "compile"),
    (lambda row: 0.5, {}, ArgumentTypeError, "numba.njit"), ("row", {}, ArgumentError, "size"),
    ("row", {"size": 2}, ArgumentError, "l2"),
    ("pair", {"size": 3, "l2": 1}, ArgumentError, "size"),
    ("median", {}, ArgumentError, "one of"),
    ("value", {"bounds": (0, 1)}, ArgumentTypeError, "column"),
    ("value", {"bounds": (0, 1), "column": 2}, ArgumentError, "column"),
    ("value", {"column": 0}, ArgumentError, "bounds"),
    ("product", {"bounds": (0, 1), "column": 0}, ArgumentError, "two columns"),
    ("count", {"bounds": (0, 1)}, ArgumentError, "left out"),
    *(("by name", {"l2": l2}, ArgumentError, "l2") for l2 in (None, 0.0, 1e300)),
    *(("count", {"rows": rows}, ArgumentTypeError, "mask") for rows in ([0, 1],
        np.zeros((2, 2), bool), np.ma.array([1, 0, 1, 1], bool, mask=[0, 1, 0, 0]))),
    ("count", SETS_OF_FOUR, ArgumentTypeError, "a condition"),
    (Attribute(2), SETS_OF_FOUR, ArgumentError, "column"),
    *((Attribute(own), SETS_OF_FOUR, ArgumentTypeError, "column") for own in (None, "a")),
    (Attribute(0), {"sets": [True]}, ArgumentTypeError, "booleans"),
    (np.zeros((4, 2)), SETS_OF_FOUR, ArgumentError, "one number for each row"),
    (Attribute(2), {}, ArgumentError, "column"),
    (Attribute(0), {"column": 0}, ArgumentError, "column"),
    (Attribute(0), {"size": 2}, ArgumentError, "size"),
]  # fmt: skip


@pytest.mark.full
def test_questions_that_do_not_suit_the_rows_are_not_used_up():
    sums = NoisySums(np.zeros((4, 2)), epsilon=1, queries=1)
    for f, kw, kind, words in UNSUITABLE:
        f = LAMBDAS.get(f, f) if isinstance(f, str) else f
        with pytest.raises(kind, match=words):
            (sums.contrasts if "sets" in kw else sums.sum)(f, **kw)
    for several, kw in ([], {}), ([Term("count", (0, 1))], {"l2": 1}), (["square"], {"l2": 1}):
        with pytest.raises(ArgumentError):
            sums.batch(several, **kw)
    known = NoisySums(np.zeros(4), epsilon=1, queries=1, neighbors="replace")
    for rows in ([4], [-1], [0, 0], [0.5]):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="rows"):
            known.sum("count", rows)
    assert sums.remaining == known.remaining == 1
    sums.contrasts(Attribute(0), **SETS_OF_FOUR)
    with pytest.raises(BudgetError, match="all 1 rounds"):
        sums.contrasts(Attribute(0), **SETS_OF_FOUR)


DOMAIN = (-2.0, -0.4, 0.0, 0.3, 3.0, math.nan)
FUNCTIONS = {
    "count": lambda s: s.sum("count"),
    "value": lambda s: s.sum("value", bounds=(LO, HI)),
    "value, far from 0": lambda s: s.sum("value", bounds=(0.1, 0.2)),
    "square": lambda s: s.sum("square", bounds=(LO, HI)),
    "square, far from 0": lambda s: s.sum("square", bounds=(0.1, 0.3)),
    "compiled": lambda s: s.sum(tenth, bounds=(-0.1, 0.2)),
    "vector": lambda s: s.sum(wave, l2=0.8),
    "row": lambda s: s.sum("row", l2=0.35),
    "batch": lambda s: s.batch(["count", Term("value", (LO, HI)), Term(wave, l2=1.0)]),
    "joint": lambda s: s.batch(["count", "value", wave], l2=1.5),
}


def worst_moves(integers, relation):
    """The largest l1 and l2 move over all neighbors, part by part, and what was claimed.

    `integers` returns both: what was claimed, and the integers of each part.
    """
    integers, worst = functools.cache(integers), {}
    for data in itertools.product(DOMAIN, repeat=2):
        claimed, before = integers(data)
        for other in reference.neighbors(list(data), DOMAIN, relation):
            for i, pair in enumerate(zip(before, integers(tuple(other))[1], strict=True)):
                moved = reference.moves(*pair)
                worst[i] = tuple(map(max, zip(worst.get(i, (0, 0, 0)), moved, strict=True)))
    return claimed, [worst[i] for i in range(len(worst))]


@quick_rows(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_no_neighbor_moves_a_sum_by_more_than_is_claimed(name, relation):
    nan = 0.3 if relation == "replace" else "drop"
    claimed, worst = worst_moves(
        lambda data: recorded(np.array(data), FUNCTIONS[name], neighbors=relation, nan=nan)[:2],
        relation,
    )
    parts = sum(1 for l1, _, _ in claimed if l1)
    for (l1, l2, moved), seen in zip(claimed, worst, strict=True):
        assert seen[0] * parts <= l1 and seen[1] * parts <= l2 and seen[2] * parts <= moved
        if l1 and name != "joint":  # and half of it would not do: the domain reaches the ends
            assert seen[1] * parts > l2 / 4


floats = st.floats(allow_nan=True, allow_infinity=True, width=64)


@pytest.mark.full
@given(
    st.lists(st.lists(floats, min_size=3, max_size=3), min_size=1, max_size=4),
    st.sampled_from([1.0, 0.3, 1e-200, 1e200, 2.0**-900]),
)
@example([[1e308, -1e308, 1e308]], 1.0)
@example([[5e-324, 5e-324, 5e-324]], 2.0**-900)
@example([[math.inf, 0.0, -math.inf]], 0.3)
@example([[math.nan, math.inf, 1.0]], 0.3)
def test_vectors_are_cut_to_the_ball(values, radius):
    made = terms.vector(row_functions.side_by_side([row_functions.ONES] * 3), radius, "raise")
    whole, missing = terms.in_cells(np.array(values), radius, float(made.unit))
    assert missing == sum(any(map(math.isnan, v)) for v in values)
    for row, cells in zip(values, whole.tolist(), strict=True):
        assert sum(c * c for c in cells) <= made.length**2
        if all(map(math.isfinite, row)):
            exact = [Fraction(x) for x in row]
            if sum(x * x for x in exact) <= Fraction(radius) ** 2 * (1 - Fraction(1, 2**40)):
                assert [
                    abs(c - x / made.unit) <= Fraction(1, 2)
                    for c, x in zip(cells, exact, strict=True)
                ]


@pytest.mark.parametrize("width", [1, 5])
def test_a_vector_is_cut_the_same_whatever_rows_are_beside_it(width):
    """Long and infinite ones, ones with a NaN, or short ones, of which no length is taken."""
    g, radius = np.random.default_rng(width), float(Fraction(3, 7))
    near = np.full((1, width), radius / width**0.5)
    parts = 1 - 2.0**-19, 1 - 2.0**-30, 1.0, 1 + 2.0**-30, 0.0, -1.0, *g.uniform(0, 1, 50)
    odd = g.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324, 0.0], (20, width))
    rows = np.concatenate([near * np.array(parts)[:, None], 9 * near, odd])
    cut, absent = row_functions.shortened(rows, radius)
    assert (absent == np.isnan(rows).any(axis=1)).all() and absent.any()
    assert np.linalg.norm(cut, axis=1).max() <= radius * (1 + 1e-15)
    for row, told, missing in zip(rows, cut, absent, strict=True):
        alone, none = row_functions.shortened(row[None], radius)
        assert alone.tobytes() == told[None].tobytes() and none[0] == missing


LOSSES = [Pure(1), ZCDP(Fraction(1, 5)), Approx(1, Fraction(1, 10**6))]


def spent(loss, moves):
    """Whether rounds that move by so many deviations (l1 over scale, for Laplace) cost more."""
    if isinstance(loss, Pure):
        return sum(moves) / float(loss.epsilon)
    length = math.sqrt(sum(m * m for m in moves))
    if isinstance(loss, ZCDP):
        return length**2 / 2 / float(loss.rho)
    e = float(loss.epsilon)
    delta = norm.cdf(length / 2 - e / length) - math.exp(e) * norm.cdf(-length / 2 - e / length)
    return delta / float(loss.delta)


@pairwise
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("rounds", [1, 7, 1000])
@pytest.mark.parametrize("shares", [(1,), (Fraction(1, 3), Fraction(2, 3))])
def test_all_rounds_cost_the_loss_and_one_more_would_cost_too_much(loss, rounds, shares):
    made = _rounds.Rounds(
        None, loss=loss, neighbors="replace", rounds=rounds, name="", budget=None,
        rng=InsecureGenerator(1),
    )  # fmt: skip
    noises = [made.noise(round_parts.Part(1, 1 << 20, 1 << 40, 1, Fraction(a))) for a in shares]
    moves = [2.0**20 / math.ldexp(float(n.scale), n.shift) for n in noises]
    assert 0.999 < spent(loss, moves * rounds) <= 1 + 1e-9
    assert spent(loss, moves * (rounds + 1)) > 1  # the planted fault: one round too many


def test_noise_that_is_not_gaussian_has_no_price_of_gaussian_noise():
    kw = {"neighbors": "replace", "name": "", "budget": None, "rng": InsecureGenerator(1)}
    matrix, loss = round_parts.Matrix(2, 1), Approx(1, 1e-6)
    late = _rounds.Rounds(None, loss=loss, rounds=1, **kw)
    assert late.loss.rho and late.noise(round_parts.Part(1, 1, 1, 1))
    with pytest.raises(ArgumentError, match="parts must be given before the spend"):
        late.ask(lambda source: [0, 0, 0], [matrix])
    assert late.remaining == 1
    early = _rounds.Rounds(None, loss=loss, rounds=1, parts=[matrix], **kw)
    assert early.loss.rho is None and early.noise(matrix)


def test_the_deviation_and_the_original_one():
    for e, d, t, ratio in ((1, 1e-6, 1, 359), (1, 1e-6, 100, 479), (0.1, 1e-9, 1000, 751)):
        sums = NoisySums([], epsilon=e, delta=d, queries=t)
        assert program("published").sulq_variance(e, d, t) / sums.deviation**2 == pytest.approx(
            ratio, rel=0.01
        )
    assert NoisySums([], rho=0.5, queries=4).deviation == pytest.approx(2.0)


def test_one_entry_in_the_ledger_and_the_last_question():
    budget, data = dp.Budget(rho=1), np.zeros(10)
    sums = NoisySums(data, rho=0.25, queries=2, budget=budget)
    sums.sum("count"), sums.sum("count")
    with pytest.raises(BudgetError, match="all 2 rounds"):
        sums.sum("count")
    with pytest.raises(BudgetError, match="private noise"):
        NoisySums(data, rho=0.1, queries=1, budget=budget, rng=InsecureGenerator(1))
    assert [entry.what for entry in budget.history] == ["noisy sums"] and sums.remaining == 0


def test_threads_do_not_get_more_questions():
    sums = NoisySums(np.zeros(100), rho=1, queries=20)

    def ask(_):
        with suppress(BudgetError):
            return sums.sum("count")

    with ThreadPoolExecutor(4) as pool:
        found = [one for one in pool.map(ask, range(40)) if one is not None]
    assert len(found) == 20 and len(set(found)) > 1


ANSWERING = {
    "sums": lambda: NoisySums(np.zeros(1000), rho=1, queries=1),
    "oracle": lambda: StatisticalQueryOracle(
        np.zeros(1000), tolerance=0.2, queries=1, epsilon=500, neighbors="replace"
    ),
}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ANSWERING)
def test_there_is_one_of_each_and_a_forked_process_is_refused(kind):
    made = ANSWERING[kind]()
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            duplicate(made)
    assert "1 of 1 left" in repr(made)
    ask = made.sum if kind == "sums" else made.ask
    assert "forked" in error_in_a_fork(lambda: ask("count"))
    ask("count")


def test_a_set_of_rows_under_each_relation():
    data, known = np.arange(6.0), {"neighbors": "replace"}
    mask, value = data % 2 == 0, {"bounds": (0, 10)}
    assert recorded(data, lambda s: s.sum("value", mask, **value))[2] == 6
    assert recorded(data, lambda s: s.sum("value", [4, 0], **value), **known)[2] == 4
    assert recorded(data, lambda s: s.sum("count", []), **known)[2] == 0
    claimed, _, _ = recorded(data, lambda s: s.sum("count", mask), **known)
    assert claimed == [(0, 0, 1)]  # the set is public: how many rows it has is no secret
    # With rows that are replaced, the sum beside it has the noise that it has alone.
    for relation, times in (("replace", 1), ("add-remove", 2)):
        kw = {"neighbors": relation}
        (alone,), _, _ = recorded([0.5], lambda s: s.sum("value", bounds=(0, 1)), **kw)
        both = ["count", Term("value", bounds=(0, 1))]
        assert recorded([0.5], lambda s, b=both: s.batch(b), **kw)[0][1][1] == times * alone[1]


@quick_rows(1)
@pytest.mark.parametrize(
    "function",
    [coin, lambda x: coin(x), lambda x: random.gauss(x, 1.0)],
    ids=["its own", "a call", "Python's"],
)
def test_functions_that_draw_random_numbers_are_refused(function):
    """Rows share the generator: one that goes changes the values of all that come after it."""
    sums = NoisySums(np.zeros(5), rho=0.5, queries=1)
    drawing = function if function is coin else numba.njit(function)
    with pytest.raises(ArgumentTypeError, match="its row alone, without random numbers"):
        sums.sum(drawing)
    assert sums.remaining == 1
