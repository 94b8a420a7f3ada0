"""Statistical queries: what is promised holds for the worst noise, and costs what it must."""

import dataclasses
import importlib
import itertools
import math
from contextlib import suppress
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, BudgetError, DataError
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import Pure
from dpfast.sulq import (
    ExactOracle,
    NoisySums,
    StatisticalQueryOracle,
    Term,
    oracle_cost,
    rounds,
    terms,
)
from dpfast.sulq import parts as round_parts
from dpfast.sulq.row_functions import split

from ..support.lazy import norm
from ..support.names import shown
from ..support.pairwise import pairwise, quick_rows
from ..support.refused import refused
from .test_noisy_sums import HI, LO, RELATIONS, spent, tenth, wave, worst_moves

cost_module = importlib.import_module("dpfast.sulq.oracle_cost")  # whose name a function has
LOSSES = [{"rho": 50}, {"epsilon": 50, "delta": 1e-6}, {"epsilon": 50}]
#: So probable that no test ever fails by chance.
SURE = 1 - 1e-9


def made(data, neighbors="replace", **kw):
    kw = {"tolerance": 0.2, "queries": 3, "neighbors": neighbors, **kw}
    if "rho" not in kw:
        kw.setdefault("epsilon", 500)
    if neighbors == "add-remove":
        kw.setdefault("rows", 1000)
    return StatisticalQueryOracle(data, **kw)


@quick_rows(1)
@pytest.mark.parametrize("tolerances", [[0.01] * 7, [0.01, 0.02, 0.02, 0.3]])
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (2, 2.5)])
def test_the_cost_is_that_of_the_formula(tolerances, bounds):
    n, q, b = 50_000, len(tolerances), 0.1
    z = norm.isf(b / q / 2)
    least = z**2 / (2 * n**2) * sum(((bounds[1] - bounds[0]) / t) ** 2 for t in tolerances)
    kw = {"tolerance": tolerances, "bounds": bounds, "confidence": 1 - b, "neighbors": "replace"}
    found = float(oracle_cost(n, **kw).rho)
    assert 1 - 1e-4 < found / least < 1.002
    width = bounds[1] - bounds[0]
    stated = math.log(2 * q / b) / n**2 * sum((width / t) ** 2 for t in tolerances)
    assert found < stated  # of the published bound, which is that of the normal tail
    assert oracle_cost(2 * n, **kw).rho == pytest.approx(found / 4, rel=2e-3)


@quick_rows(2)
@pytest.mark.parametrize(("power", "kind"), [(2, "rho"), (1, "epsilon")])
@pytest.mark.parametrize(
    "tolerances", [[1] + [3] * 1000, [1] + [1.5] * 10, [1], np.logspace(0, 12, 300)], ids=len
)
def test_no_other_count_is_cheaper_for_several_tolerances(tolerances, power, kind):
    """All splits between the count and the questions, from the formula of a normal number."""
    n, b, t = 10**7, 1e-9, 1e-4 * np.array(tolerances)
    failure = b / (len(t) + 1)
    z = norm.isf(failure / 2) if power == 2 else math.log(1 / failure)
    off = t[0] / (t[0] + 0.5) * np.linspace(0.0005, 0.9995, 2000)[:, None]
    size = t * (1 - off) - off / 2
    total = ((0.5 / size) ** power).sum(axis=1) + off[:, 0] ** -float(power)
    least = (z / n) ** power * total.min() / power
    kw = {"tolerance": list(t), "confidence": 1 - b, "loss": kind}
    found = float(getattr(oracle_cost(n, **kw), kind))
    assert 0.999 < found / least < 1.003


@quick_rows(4)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kw", LOSSES, ids=shown)
@pytest.mark.parametrize("tolerance", [[0.1] * 9, [0.1, 0.2, 0.05, 0.2, 0.9]])
def test_all_questions_and_the_count_cost_what_is_said(relation, kw, tolerance):
    oracle = made(np.zeros(2000), relation, tolerance=tolerance, queries=None, **kw)
    mean = oracle._questions.reference
    plan, part = oracle._plan, mean.sensitivity(relation)
    noises = [
        (part, plan.asking(mean, i).noise(oracle.cost, plan.rounds)) for i in range(len(tolerance))
    ]
    if relation == "add-remove":
        count = plan.counting
        noises.append((count, count.noise(oracle.cost, plan.rounds)))
    pure = isinstance(oracle.cost, Pure)
    moves = [
        (p.l1 if pure else math.sqrt(p.l2_squared)) / math.ldexp(float(n.scale), n.shift)
        for p, n in noises
    ]
    assert 0.999 < spent(oracle.cost, moves) <= 1 + 1e-9
    assert spent(oracle.cost, [*moves, moves[0]]) > 1  # the planted fault: one question too many


@quick_rows(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kw", [{"rho": 500}, {"epsilon": 500}, {"epsilon": 500, "delta": 1e-9}])
def test_tolerances_may_differ_by_twelve_orders_of_magnitude(relation, kw):
    """What hardly counts costs hardly anything, and its noise can be drawn."""
    (kind, _), *delta = kw.items()
    given = {"loss": kind, "neighbors": relation, "confidence": 1 - 1e-9, **dict(delta)}
    wide = [10.0**k for k in range(-6, 7)]
    found = [getattr(oracle_cost(10**8, tolerance=t, **given), kind) for t in (wide, [1e-6])]
    assert 1 < found[0] / found[1] < 1.8
    asked = {"tolerance": [0.2, 2e5, 2e11], "queries": None, "rows": 10, "confidence": 1 - 1e-9}
    oracle = made(np.zeros(10), relation, **asked, **kw)
    assert abs(oracle.ask("value", bounds=(0, 1))) < 2
    assert all(map(math.isfinite, oracle.batch([np.zeros(10)] * 2)))


#: Equal ones, and for a longer run many that differ, where shares are rounded.
DIFFERENT = 10 ** np.random.default_rng(5).uniform(-4, 3, (25, 30))


@quick_rows(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", [{"rho": 1e-3}, {"epsilon": 0.1}, {"epsilon": 0.1, "delta": 1e-7}])
@pytest.mark.parametrize("several", [[[0.05] * 3], DIFFERENT], ids=len)
def test_too_few_rows_and_how_many_would_do(several, loss, relation):
    """They are enough for every tolerance, not for the narrowest and the widest alone."""
    for tolerances in several:

        def ask(n, tolerances=tolerances):
            rows = np.broadcast_to(0.0, n) if relation == "replace" else []
            kw = {"rows": n, "neighbors": relation, **loss}
            with suppress(*[DataError] * (relation == "add-remove")):  # none are there
                StatisticalQueryOracle(rows, tolerance=tolerances, **kw)

        with pytest.raises(ArgumentError, match="rows must be at least") as error:
            ask(1)
        enough = int(str(error.value).split("at least ")[1].split()[0])
        ask(enough)
        with pytest.raises(ArgumentError, match=f"at least {enough} for"):
            ask(enough - 1)


class Loud(IntegerNoise):
    """Noise at the limit that the promise is about."""

    failure, signs, scale = 0.0, None, 1.0

    def add(self, values, generator):
        size = IntegerNoise.half_width(self, Loud.failure / len(values))
        return [v + next(Loud.signs) * math.floor(Loud.scale * size) for v in values]


def asked_loudly(data, ask, signs, monkeypatch, scale=1.0, **kw):
    real = round_parts.integer_noise

    def integer_noise(*args):
        found = real(*args)
        return Loud(found.distribution, found.scale, found.shift, found.loss)

    monkeypatch.setattr(round_parts, "integer_noise", integer_noise)
    b = Fraction(1, 20)
    Loud.failure = float(b) / (kw.get("queries", 3) + (kw["neighbors"] == "add-remove"))
    Loud.signs, Loud.scale = itertools.cycle(signs), scale
    return ask(made(data, **kw))


QUESTIONS = {
    "value": (lambda o: o.ask("value", bounds=(LO, HI)), {}),
    "narrower": (lambda o: o.ask(tenth, bounds=(0, 0.25)), {}),
    "compiled": (lambda o: o.ask(tenth, bounds=(-1, 2.5)), {}),
    "square": (lambda o: o.ask("square", bounds=(-0.5, 1.8)), {}),
    "count": (lambda o: o.ask("count"), {}),
    "vector": (lambda o: o.ask(wave, l2=1.0), {"bounds": None, "l2": 1.0, "size": 2}),
}
EXACT = {
    "value": lambda x: np.clip(x, LO, HI),
    "narrower": lambda x: np.clip(x / 10, 0, 0.25),
    "compiled": lambda x: np.clip(x / 10, -1, 2.5),
    "square": lambda x: np.clip(x, -0.5, 1.8) ** 2,
    "count": np.ones_like,
    "vector": lambda x: np.stack([np.sin(x), np.cos(x)]),
}
#: Of the noise of the count, if there is one, and then of the answer.
SIGNS = {"replace": [(1, 1), (-1, -1)], "add-remove": [(a, b, b) for a in (-1, 1) for b in (-1, 1)]}


@pytest.mark.full
@pairwise
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kw", LOSSES, ids=shown)
@pytest.mark.parametrize("name", list(QUESTIONS))
def test_answers_are_within_the_tolerance_with_the_worst_noise(relation, kw, name, monkeypatch):
    ask, more = QUESTIONS[name]
    kw = {"bounds": (LO, HI), "neighbors": relation, **kw, **more}
    worst = {1.0: 0.0, 1.25: 0.0}
    rows = 1003 if relation == "replace" else 1000
    names = ("tolerance", "queries", "confidence", "bounds", "l2", "size", "neighbors")
    given = {"tolerance": 0.2, "queries": 3} | {name: kw[name] for name in names if name in kw}
    loss = "rho" if "rho" in kw else "epsilon"
    cost = oracle_cost(rows, loss=loss, delta=kw.get("delta", 0), **given)
    monkeypatch.setattr(cost_module, "least_loss", lambda *args: cost)
    for data in (np.full(1003, -9.0), np.full(1003, 9.0), np.linspace(-3, 3, 1003)):
        kw["rows"] = rows
        exact = EXACT[name](data).mean(axis=-1)
        for scale, signs in itertools.product(worst, SIGNS[relation]):
            try:
                found = asked_loudly(data, ask, signs, monkeypatch, scale, **kw)
            except DataError:  # there seem to be too few rows
                found = math.inf
            worst[scale] = max(worst[scale], float(abs(found - exact).max()))
    assert worst[1.0] <= 0.2 * (1 + 1e-6)
    if name in ("value", "compiled", "vector"):  # what it was made for: no noise is wasted,
        assert worst[1.0] > 0.19 and worst[1.25] > 0.2  # and the planted fault is seen


def integers(data, ask, relation, **kw):
    seen = []

    def record(self, total, parts, uses=1):
        seen.append((list(parts), total(self._source)))
        return seen[-1][1]

    with (
        patch.object(rounds.Rounds, "ask", record),
        patch.object(StatisticalQueryOracle, "_counted", lambda self, least: Fraction(1000)),
        patch.object(cost_module, "least_loss", lambda plan, mean, offered: offered),
    ):
        ask(made(np.array(data, np.float64), relation, **{"bounds": (LO, HI), **kw}))
    return seen


def moves_of(ask, relation, **kw):
    def of(data):
        rows = 1000 if relation == "add-remove" else len(data)
        ((parts, sums),) = integers(data, ask, relation, nan=0.3, rows=rows, **kw)
        return parts, [moved for _, moved in split(sums, parts)]

    return worst_moves(of, relation)


MOVING = {
    **{name: ask for name, (ask, _) in QUESTIONS.items()},
    "square, far from 0": lambda o: o.ask("square", bounds=(0.1, 0.3)),
    "value, far from 0": lambda o: o.ask("value", bounds=(0.1, 0.3)),
    "batch": lambda o: o.batch(["count", Term("value", (LO, HI)), Term(wave, l2=0.9)]),
}


@quick_rows(2)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", list(MOVING))
def test_no_neighbor_moves_a_question_by_more_than_is_claimed(name, relation):
    kw = {"tolerance": 0.9, "bounds": None, "l2": 5.0, "size": 2}
    parts, worst = moves_of(MOVING[name], relation, **kw)
    for part, (l1, l2, moved) in zip(parts, worst, strict=True):
        assert l1 <= part.l1 and l2 <= part.l2_squared and moved <= part.l0
        if part.l1 and name != "compiled":  # and half would not do: the domain reaches the ends
            assert l2 > part.l2_squared / 4


def test_a_function_that_is_centered_wrongly_is_caught():
    real = terms.Exact.centered

    def wrong(function):
        right = real(function)

        def tally(piece):
            (total,), missing = right.tally(piece)
            return [total - 2**38 * piece.count], missing

        return dataclasses.replace(right, tally=tally)

    with patch.object(terms.Exact, "centered", wrong):
        parts, worst = moves_of(MOVING["value"], "add-remove", tolerance=0.9)
    assert worst[0][0] > parts[0].l1


@pytest.mark.full
def test_exact_answers():
    data = np.array([-3.0, 0.25, 0.5, 9.0])
    oracle = ExactOracle(data, tolerance=0.1, queries=9, bounds=(-1, 1))
    assert oracle.ask("value", bounds=(0, 1)) == (0 + 0.25 + 0.5 + 1) / 4
    assert oracle.ask(data) == (-1 + 0.25 + 0.5 + 1) / 4  # bounds of the oracle
    assert oracle.ask("square", bounds=(-2, 2)) == (4 + 0.0625 + 0.25 + 4) / 4
    assert oracle.ask(wave, l2=1) == pytest.approx([np.sin(data).mean(), np.cos(data).mean()])
    assert oracle.ask("count") == 1 and oracle.remaining == 4 and oracle.tolerance == 0.1
    with pytest.raises(DataError, match="of no rows"):
        ExactOracle([], tolerance=0.1, queries=1).ask("count")
    assert "not private" in repr(oracle)


#: Values of an argument that are wrong of noisy sums, too, and what stands beside them.
BAD = {
    "queries": [0, 2.5], "neighbors": ["friends"], "epsilon": [None, 501], "rho": [1],
    "nan": ["drop"], "data": ["text"], "rng": [7]
}  # fmt: skip
#: The argument that is told, and those of an oracle.
BAD_OF_AN_ORACLE = [
    *(("tolerance", {"tolerance": value}) for value in (0, math.nan, "1", 1e-10)),
    ("tolerance must be at least", {"tolerance": 1e-3, "bounds": (0, 1e9)}),
    *(("tolerance", {"tolerance": x, "queries": None}) for x in ([], 0.1, [0.1, -1])),
    *(("confidence", {"confidence": value}) for value in (0, 1)),
    *(("bounds", {"bounds": pair}) for pair in ((1, 1), (2, 1))),
    ("bounds", {"l2": 1, "bounds": (0, 1)}),
    ("size", {"size": 3}),
    ("l2", {"l2": -1}),
    ("nan", {"nan": "drop", "neighbors": "add-remove"}),
    *(("rows", {"rows": rows}) for rows in (999, 0)),
    ("lower bound", {"neighbors": "add-remove", "rows": None}),
]


def sums(data, **kw):
    return NoisySums(data, **{"epsilon": 1, "queries": 1, "neighbors": "replace", **kw})


@pytest.mark.parametrize(("make", "word", "kw"), [
    *((make, name, {name: x}) for make in (made, sums) for name in BAD for x in BAD[name]),
    *((made, *bad) for bad in BAD_OF_AN_ORACLE)
], ids=shown)  # fmt: skip
def test_bad_arguments_spend_nothing(make, word, kw):
    relation = "add-remove" if "add-remove" in kw.values() else "replace"
    budget = dp.Budget(epsilon=1000, neighbors=relation)
    refused(make, word, budget=budget, **{"data": np.zeros(1000), "epsilon": 1, **kw})


@pytest.mark.full
@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_larger_than_what_was_paid_for_is_refused_and_not_used(relation):
    oracle = made(np.zeros(1000), relation, bounds=(-1, 1), confidence=SURE)
    larger = [
        ("value", {"bounds": (-1, 1.01)}),
        ("square", {"bounds": (-1, 2)}),
        (wave, {"l2": 1.1}),
    ]
    for f, kw in larger:
        with pytest.raises(ArgumentError, match="within the limits of the oracle"):
            oracle.ask(f, **kw)
    for batch, words in (
        (["count", Term("value", (0, 3))], "within the limits"),
        ([], "at least one"),
    ):
        with pytest.raises(ArgumentError, match=words):
            oracle.batch(batch)
    with pytest.raises(ArgumentError, match="bounds must be given"):
        oracle.ask("value")
    assert oracle.remaining == 3
    oracle.ask("value", bounds=(5, 7)), oracle.ask("square", bounds=(-1, 1))
    assert oracle.remaining == 1


@quick_rows(2)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kw", LOSSES, ids=shown)
def test_the_last_question_and_the_ledger(relation, kw):
    total = {name: 2 * value for name, value in kw.items()}
    budget = dp.Budget(**total, neighbors=relation)
    oracle = made(np.zeros(2000), relation, **kw, budget=budget)
    assert [oracle.queries, oracle.remaining, oracle.columns] == [3, 3, (0,)]
    with pytest.raises(BudgetError, match="3 of 3 queries are left, not 4"):
        oracle.batch(["count"] * 4)
    oracle.batch(["count"] * 2)
    assert oracle.remaining == oracle._rounds.remaining == 1
    with pytest.raises(BudgetError, match="rounds are left, not 2"):
        oracle._rounds.ask(lambda source: [0], [round_parts.Part(1, 1, 1, 1)], 2)
    oracle.batch(["count"])
    with pytest.raises(BudgetError, match="0 of 3"):
        oracle.ask("count")
    (entry,) = budget.history
    assert entry.loss == oracle.cost and entry.what == "statistical queries"


def test_rows_that_are_not_as_many_as_was_said(tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "0.5\n" * 1000)
    scan, value = dp.scan(tmp_path / "t.csv", column=["a"]), {"bounds": (0, 1), "column": "a"}
    with pytest.raises(ArgumentError, match="rows must be given"):
        made(scan)
    assert abs(made(scan, rows=1000, confidence=SURE).ask("value", **value) - 0.5) < 0.2
    with pytest.raises(DataError, match="number of rows of the data, got 1001"):
        made(scan, rows=1001).ask("value", **value)
    budget = dp.Budget(epsilon=500)
    with pytest.raises(DataError, match="fewer rows"):
        made(np.zeros(10), "add-remove", budget=budget)
    assert len(budget.history) == 1


@pytest.mark.full
def test_very_many_questions_are_priced_at_once_or_refused():
    few = {"tolerance": 0.05, "rows": 20_000, "rho": 1e-6}
    with pytest.raises(ArgumentError, match=r"rows must be at least 116[23][0-9]{4} for"):
        StatisticalQueryOracle([], queries=10**5, **few)
    for queries in (2**20 + 1, 10**12):
        with pytest.raises(ArgumentError, match="queries must be at most 1048576"):
            StatisticalQueryOracle([], queries=queries, **few)
