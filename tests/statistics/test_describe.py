"""`describe`: what is charged, its parts by definition, one row alone, types, planted faults."""

import itertools
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.privacy import ZCDP, Approx, Pure, compose
from dpfast.rng import InsecureGenerator
from dpfast.selection.key_coins import PartitionSelection
from dpfast.selection.key_selection import choose_rule
from dpfast.summaries.cell_counts import CellCounts, cell_counts
from dpfast.summaries.cells import Cells

from ..support.pairwise import every_value
from ..support.refused import refused
from .test_exponential_quantiles import near_pairs

pa = pytest.importorskip("pyarrow")
dp.describe  # noqa: B018  loads its module
room = sys.modules["dpfast.statistics.describe"]
RANDOM = np.random.default_rng(11)
N = 400
TABLE = {
    "pay": RANDOM.lognormal(3, 1, N), "age": RANDOM.integers(18, 91, N),
    "late": np.where(RANDOM.random(N) < 0.3, np.nan, RANDOM.normal(5, 30, N)),
    "is_new": RANDOM.random(N) < 0.3, "town": RANDOM.choice(["Ulm", "Bonn", "Zell"], N),
    "day": np.datetime64("2024-01-01", "ms") + RANDOM.integers(0, 90, N).astype("m8[D]"),
    "took": RANDOM.integers(1, 60, N).astype("m8[ms]"),
}  # fmt: skip
DAYS = (np.datetime64("2024-01-01"), np.datetime64("2024-12-31"))
PUBLIC = {"pay": (0, 200), "age": (0, 120), "late": (-100, 100), "day": DAYS}
PUBLIC["took"] = (np.timedelta64(0, "ms"), np.timedelta64(60, "ms"))
WORDS = {"town": ["Bonn", "Ulm"]}
LOSSES = [{"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}, {"rho": Fraction(1, 3)}]


def prepared(data=TABLE, **call):
    call = call if {"epsilon", "rho"} & call.keys() else {"epsilon": 2, **call}
    return dp.extend.prepare(dp.describe, data, **call)


@every_value
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("given", [{}, {"bounds": PUBLIC}, {"categories": WORDS}])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_what_is_charged_is_the_sum_of_the_parts(loss, given, relation):
    mechanism = prepared(**loss, **given, neighbors=relation).mechanism
    whole, charged, rule = mechanism.spent, mechanism.loss, mechanism.rule
    assert (rule is not None) == ("delta" in loss and "categories" not in given)
    if isinstance(whole, ZCDP) and "delta" in loss:
        assert charged == Approx(2, 1e-6)
        epsilon, delta = (0, 0) if rule is None else (rule.loss.epsilon, rule.loss.delta)
        assert whole.to_approx(charged.delta - delta).epsilon + epsilon <= charged.epsilon
    else:
        assert charged == (whole if rule is None else compose(whole, rule.loss))
    check_parts(mechanism)


def check_parts(mechanism):
    """No part spends more than its own, which is seen of what it is made of."""
    whole = compose(*mechanism.parts.values())
    assert whole == mechanism.spent
    limits = [one.limits or (0.0, 50.0) for one in mechanism.columns]
    grids = [one.cells(pair) for one, pair in zip(mechanism.columns, limits, strict=True)]
    of_numbers = [i for i, one in enumerate(mechanism.columns) if one.has_numbers]
    quartiles = [mechanism.quartiles(grids[i]).loss for i in of_numbers]
    spent = {"rows": mechanism.rows.loss, "sums": mechanism.sums(grids).loss}
    spent["quartiles"] = compose(*quartiles)
    for name in room.BOUNDS if mechanism.unknown else ():
        spent[name] = mechanism.bounds(name).loss
    if any(one.words != () for one in mechanism.columns):
        spent["words"] = mechanism.words.loss
    assert spent.keys() == mechanism.parts.keys()
    for name, own in spent.items():
        assert amount(own) <= amount(mechanism.parts[name]), name


def amount(loss):
    return loss.rho if isinstance(loss, ZCDP) else loss.epsilon


def test_parts_are_those_of_the_same_measurements_on_the_same_bits():
    """With public bounds: the quartiles, the number of rows, and the vector of sums, in turn."""
    data, bounds = {"x": TABLE["late"]}, {"x": (-64.0, 64.0)}
    mechanism = prepared(data, bounds=bounds).mechanism
    answer = dp.describe(data, bounds=bounds, epsilon=2, rng=InsecureGenerator(3))
    rng = InsecureGenerator(3)
    x = TABLE["late"]
    held = np.clip(x[~np.isnan(x)], -64, 64)
    cells = mechanism.columns[0].cells((-64.0, 64.0))
    step = Fraction(cells.grid)
    share = mechanism.parts["quartiles"].epsilon
    quartiles = dp.quantiles(
        held, [0.25, 0.5, 0.75], bounds=bounds["x"], granularity=step, epsilon=share,
        method="recursive", rng=rng,
    )  # fmt: skip
    assert [answer[name][0] for name in ("25%", "50%", "75%")] == quartiles.tolist()
    rows = dp.count(x, epsilon=mechanism.parts["rows"].epsilon, rng=rng)
    assert answer["missing"][0] == min(max(1 - answer["count"][0] / rows, 0), 1)
    noise = mechanism.sums([cells]).plan().noise
    u = np.rint(held / cells.grid).astype(int) - cells.first
    s = cells.span
    w = 2 * u - s
    n, first, second = noise.add([len(u), int(w.sum()), int((2 * w**2 - s**2).sum())], rng)
    mean, square = first / n, (second / n + s**2) / 2
    assert answer["count"][0] == n
    assert answer["mean"][0] == pytest.approx((mean + s) / 2 * cells.grid - 64)
    assert answer["std"][0] == pytest.approx(np.sqrt(square - mean**2) / 2 * cells.grid)


def test_totals_and_narrower_bounds_by_definition():
    held = RANDOM.integers(0, 1 << 40, 21)
    counts = CellCounts(Cells(0.5, -10, 20), held, 7)
    u = [int(i) for i in range(21)]
    assert counts.totals[:4] == (
        sum(map(int, held)), 7, sum(c * i for c, i in zip(held.tolist(), u, strict=True)),
        sum(c * i * i for c, i in zip(held.tolist(), u, strict=True)),
    )  # fmt: skip
    some = counts.clamped(-1.2, 2)
    assert (some.cells.first, some.cells.last, some.missing) == (-3, 4, 7)
    assert some.held.tolist() == [held[:8].sum(), *held[8:14].tolist(), held[14:].sum()]
    assert counts.clamped(90, 99).held.tolist() == [held.sum()]


def test_a_row_decides_about_no_other():
    """Types, columns and what rows count as do not change with a row; it moves its own cells."""
    plain = prepared(epsilon=2, categories=WORDS).mechanism
    for name, value in (("late", np.nan), ("late", 1e308), ("pay", -np.inf), ("town", "Trier")):
        other = {key: column.copy() for key, column in TABLE.items()}
        other[name][7] = value
        assert prepared(other, epsilon=2, categories=WORDS).mechanism == plain
        place = list(TABLE).index(name)
        grids = [one.cells(one.limits or (-100.0, 100.0)) for one in plain.columns]
        before, after = (
            cell_counts(prepared(data, epsilon=2, categories=WORDS).source.source, None, grids)
            for data in (TABLE, other)
        )
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            moved = np.abs(a.held - b.held).sum() + abs(a.missing - b.missing)
            assert moved <= 2 * (i == place)


def unpaid(self, part):
    """A draw of bounds that has the whole loss, as if that of each column were free."""
    return room.drawn_bounds(self.spent, len(self.unknown), self.neighbors, "drop")


def undivided(self, cells, honest=room.Description.quartiles):
    """Quartiles whose share is not divided among the columns."""
    found = honest(self, cells)
    return replace(found, loss=Pure(len(self.columns) * found.loss.epsilon))


@pytest.mark.parametrize(("part", "planted"), [("bounds", unpaid), ("quartiles", undivided)])
def test_a_part_that_spends_more_than_is_charged_is_found(part, planted, monkeypatch):
    mechanism = prepared().mechanism
    check_parts(mechanism)
    monkeypatch.setattr(room.Description, part, planted)
    with pytest.raises(AssertionError, match=part):
        check_parts(mechanism)


FORMS = {
    "mapping": lambda: TABLE,
    "pandas": lambda: pd.DataFrame(TABLE),
    "arrow": lambda: pa.table({k: pa.array(v, from_pandas=True) for k, v in TABLE.items()}),
}


@pytest.mark.parametrize("words", [{"categories": WORDS}, {"delta": 1e-3}])
@pytest.mark.parametrize("form", [*FORMS, "parquet", "batches"])
def test_every_form_of_a_table_has_the_same_answer(form, words, tmp_path):
    given = {"bounds": PUBLIC, "epsilon": 50, **words}
    data = FORMS.get(form, FORMS["arrow"])()
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(data, tmp_path / "t.parquet")
        data = dp.scan(tmp_path / "t.parquet", list(TABLE))
    if form == "batches":
        data = dp.stream(lambda: iter(FORMS["arrow"]().to_batches(max_chunksize=50)), list(TABLE))
    expected, answer = (
        dp.describe(table, rng=InsecureGenerator(1), **given) for table in (TABLE, data)
    )
    assert list(answer) == list(expected)
    for name, column in expected.items():
        assert list(map(str, answer[name])) == list(map(str, column)), name


def test_words_in_objects_and_dictionaries_are_told_from_what_is_missing():
    rows, answers = ["Ulm", None, "Trier", "Bonn", "Ulm"] * 40, []
    for column in (pd.Series(rows, dtype=object), pd.Series(rows, dtype="category"),
                   pa.array(rows), pa.array(rows).dictionary_encode()):  # fmt: skip
        asked = {"categories": WORDS, "epsilon": 9, "rng": InsecureGenerator(5)}
        answer = dp.describe({"town": column}, **asked)
        answers.append({name: values.tolist() for name, values in answer.items()})
    assert answers == [answers[0]] * 4
    assert abs(answer["count"][0] - 160) < 20 and answer["top"][0] == "Ulm"


def test_an_answer_is_near_the_truth_and_a_table_of_pandas():
    answer = dp.describe(TABLE, bounds=PUBLIC, categories=WORDS, epsilon=500)
    frame, truth = pd.DataFrame(answer).set_index("column"), pd.DataFrame(TABLE).describe()
    for name in ("pay", "age", "late"):
        wide = (PUBLIC[name][1] - PUBLIC[name][0]) / 20
        for statistic in ("mean", "25%", "50%", "75%"):
            assert abs(frame.loc[name, statistic] - truth.loc[statistic, name]) < wide
    most = max(WORDS["town"], key=lambda word: (TABLE["town"] == word).sum())
    assert frame.loc["town", "top"] == most and DAYS[0] <= frame.loc["day", "50%"] <= DAYS[1]
    assert "(7 columns)" in repr(answer) and "<p>7 columns</p>" in answer._repr_html_()
    # Dates without bounds and other text have a count alone.
    answer = dp.describe({"day": TABLE["day"], "town": TABLE["town"]}, epsilon=100)
    assert list(answer) == ["column", "type", "count", "missing"]
    assert np.abs(answer["count"] - N).max() < 20
    # Durations above a lower bound that is not 0.
    ends = np.timedelta64(10, "ms"), np.timedelta64(60, "ms")
    answer = dp.describe({"took": TABLE["took"]}, bounds={"took": ends}, epsilon=200)
    mean = np.clip(TABLE["took"].astype(int), 10, 60).mean()
    assert abs(answer["mean"][0].astype(int) - mean) < 3
    assert (answer["lower"][0], answer["upper"][0]) == ends


TEXTS = {"a": np.array(["x", "y"]), "b": np.array(["u", "v"])}
ROWS = [(i, j) for i in range(2) for j in range(2)]


def texts(rows):
    return {name: some[[row[j] for row in rows]] for j, (name, some) in enumerate(TEXTS.items())}


def words_law(rows, rule):
    counts = [Counter(column.tolist()) for column in texts(rows).values()]
    coins = {word: rule.probability(n) for one in counts for word, n in one.items()}
    law = {frozenset(): 1.0}
    for word, p in coins.items():
        with_it = {shown | {word}: q * p for shown, q in law.items()}
        law = {shown: q * (1 - p) for shown, q in law.items()} | with_it
    return law, [[n for _, n in sorted(one.items())] for one in counts]


def check_words(relation, monkeypatch, planted=lambda rule: rule):
    """What decides about words is their numbers of rows, and its loss is what is charged."""
    handed, keep = [], PartitionSelection.keep

    def watched(self, n, stream):
        handed.append(n.tolist())
        return keep(self, n, stream)

    monkeypatch.setattr(PartitionSelection, "keep", watched)
    laws = {}
    for rows in (r for n in range(3) for r in itertools.combinations_with_replacement(ROWS, n)):
        call = prepared(texts(rows), epsilon=8, delta=0.4, neighbors=relation)
        handed.clear()
        call.mechanism.finish(call.mechanism.reduce(call.source), InsecureGenerator(1))
        laws[rows], counts = words_law(rows, planted(call.mechanism.rule))
        assert handed == counts
    assert call.mechanism.rule.loss == Approx(1, Fraction("0.05"))
    for pair in near_pairs(laws, relation, ROWS):
        for p, q in itertools.permutations([laws[rows] for rows in pair]):
            beyond = sum(max(p[shown] - np.exp(1) * q.get(shown, 0), 0) for shown in p)
            assert beyond <= 0.05 + 1e-12, pair


class OneMore:
    """A threshold that is off by one."""

    def __init__(self, rule):
        self.probability = lambda n: rule.probability(n + 1)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_loss_of_private_words_over_all_small_neighbors(relation, monkeypatch):
    """Planted: words that are shown too soon."""
    check_words(relation, monkeypatch)
    for planted in (OneMore, lambda rule: choose_rule(rule.loss, 1, "add-remove")):
        with pytest.raises(AssertionError, match=" <= "):
            check_words(relation, monkeypatch, planted)


def test_private_words_by_definition_and_by_the_rule_of_private_keys():
    """Of the same bits: keys that are shown, and the largest of their counts with noise."""
    data = {"town": np.repeat(["Zell", "Ulm", "Bonn", "Trier"], [17, 15, 16, 1])}
    loss = {"epsilon": Fraction(4), "delta": Fraction(1, 1000)}
    mechanism = prepared(data, **loss).mechanism
    part = {name: one / 8 for name, one in loss.items()}
    keys = dp.extend.prepare(dp.select_keys, data["town"], max_groups=1, ids=np.arange(49), **part)
    assert mechanism.rule == keys.mechanism.rule and mechanism.rule.probability(1) <= 0.001 / 8
    noise, tops = mechanism.words, Counter()
    for seed in range(20):
        rng = InsecureGenerator(seed)
        answer = dp.describe(data, **loss, rng=InsecureGenerator(seed))
        held = np.array([16, 1, 15, 17])
        mechanism.rows.finish([totals_of(49)], rng)
        grid = mechanism.columns[0].cells((0.0, 0.0))
        mechanism.sums([grid]).finish([totals_of(49)], rng)
        kept = np.flatnonzero(mechanism.rule.keep(held, rng.stream()))
        noisy = np.maximum((held[kept] >> noise.shift) + noise.draw(len(kept), rng), 0)
        if len(kept):
            most = int(np.argmax(noisy))
            word = ["Bonn", "Trier", "Ulm", "Zell"][kept[most]]
            assert (answer["top"][0], answer["freq"][0]) == (word, noisy[most] << noise.shift)
        else:
            assert answer["top"][0] == "" and np.isnan(answer["freq"][0])
        tops[answer["top"][0]] += 1
    assert len(tops) > 1 and "Trier" not in tops


def totals_of(rows):
    return CellCounts(Cells(1.0, 0, 0), np.array([rows]), 0).totals


def test_what_is_no_text_is_no_word_and_rows_that_are_left_out_have_none():
    rows = ["Ulm", b"Ulm", None, 3, "\udc80", b"\xff"] * 200
    for data in (pd.Series(rows, dtype=object), pa.array([b"Ulm", b"Ulm", None, b"\xff"] * 300)):
        answer = dp.describe({"a": data}, epsilon=9, delta=1e-6, rng=InsecureGenerator(5))
        assert answer["top"][0] == "Ulm" and answer["freq"][0] > 300
    where = np.arange(1200) % 6 > 1
    some = {"a": pd.Series(rows, dtype=object)}
    answer = dp.describe(some, where=where, epsilon=9, delta=1e-6)
    assert answer["top"][0] == ""


@pytest.mark.parametrize(("given", "error", "says"), [
    ({"data": TABLE["pay"]}, ArgumentTypeError, "a table"),
    ({"bounds": {"x": (0, 1)}}, ArgumentError, "the table has: pay, age"),
    ({"bounds": {"pay": (1, 0)}}, ArgumentError, "bounds"),
    ({"bounds": (0, 1)}, ArgumentTypeError, "mapping"),
    ({"bounds": {"pay": 2}}, ArgumentTypeError, "bounds must be a pair"),
    *(({"categories": {"town": bad}}, ArgumentTypeError, "categories must be a list")
      for bad in (2, "abc")),
    ({"bounds": {"town": (0, 1)}}, ArgumentError, "text"),
    ({"bounds": {"day": (0, 1)}}, ArgumentTypeError, "bounds"),
    ({"categories": {"is_new": ["a"]}}, ArgumentError, "text"),
    ({"epsilon": 1e-9}, ArgumentError, "epsilon"),
])  # fmt: skip
def test_bad_arguments_are_refused_before_the_spend(given, error, says):
    refused(dp.describe, says, error, **({"data": TABLE, "epsilon": 1} | given))
    budget = dp.Budget(epsilon=9)
    with pytest.raises(DataError):  # columns of different lengths, which is an answer
        dp.describe({"a": np.zeros(5), "b": np.zeros(6)}, epsilon=1, budget=budget)
    assert len(budget.history) == 1
