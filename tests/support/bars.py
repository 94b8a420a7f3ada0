"""How often error bars hold: those of every release of the battery, from many seeded answers. Rows
are summed once and finished again and again, which is how a release ends. Tables by group are laid
side by side with other keys, so that an answer is about many groups. What an answer is off by is
its distance from that of a loss of which noise is nothing beside the bar; ranks and scores are
counted in the rows. A number that two such answers disagree about, as the mean of no rows, has no
truth, and is left out."""

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np

import dpfast as dp
from dpfast._core.error_bars import COUNTS, SCORES
from dpfast.budget.mechanism import expected
from dpfast.groups.automatic_bounds import WithBounds
from dpfast.groups.marginals import MarginalTables
from dpfast.measurement.equal_parts import EqualParts
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.ends import Between
from dpfast.statistics.quantiles.joint import ExponentialRange
from dpfast.statistics.range_counts import RangeCounts

from . import by_group
from .battery import BOUNDS, CASES, GROUPED, WEIGHTS, Case, X
from .views import innermost, prepared

#: The confidence of all bars, and the most that one may hold in if it can be shorter.
SURE, MOST = 0.95, 0.995
#: Copies of a table by group.
COPIES = 250
#: A loss of which noise is nothing.
EXACT = 400
#: Releases that take no epsilon alone, and some that take long.
GAUSSIAN, LONG = (dp.workload, dp.marginals), (dp.covariance, dp.correlation)
#: What a number may be off by for rounding, as a part of its bar.
ROUNDED = 1e-6


@dataclass(frozen=True)
class Errors:
    """What answers are off by, and their bars: a row an answer, a column a number."""

    off: np.ndarray
    bar: np.ndarray
    note: str
    kind: str = "units"

    @property
    def held(self):
        """The share of answers within their bars, of the number that is least often."""
        return float(np.mean(self.off <= self.bar * (1 + ROUNDED), axis=0).min())

    @property
    def shorter(self):
        """The same for bars that are a step of their lattice shorter, or hardly shorter."""
        return float(np.mean(self.off < self.bar * (1 - ROUNDED), axis=0).min())

    def times(self, part):
        """The same answers with bars of another length."""
        return replace(self, bar=self.bar * part)


@cache
def fewest(runs, failure=1e-12):
    """The share of runs that a bar of `SURE` holds in but with a failure probability."""
    below = -math.inf
    for k in range(runs + 1):
        ways = math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
        below = np.logaddexp(below, ways + k * math.log(SURE) + (runs - k) * math.log1p(-SURE))
        if below > math.log(failure):
            return k / runs
    return 1.0


#: What only some arguments have bars of: weights that are never 0.
HEAVY = {"weights": WEIGHTS + 0.5, "weight_bounds": (0.5, 2)}


@dp.extend.releases
def limited(data, *, epsilon=None, delta=0.0, rho=None, neighbors=None, budget=None, rng=None,
    max_rows=2, rows_limit=4):  # fmt: skip
    """Release counts and sums of people of whom some rows are left out, and how many these are."""
    few = {"ids": "who", "max_rows": max_rows, "rows_limit": rows_limit, "max_groups": 3}
    groups = dp.group_by(data, "key", keys=by_group.KEYS, neighbors=neighbors, **few)
    asked = {"n": dp.stat.count(), "sum": dp.stat.sum("x", **BOUNDS)}
    loss = {"epsilon": epsilon, "delta": delta, "rho": rho}
    return dp.extend.prepare(groups.agg, asked, **loss, budget=budget, rng=rng)


@dp.extend.releases
def weighted(data, *, epsilon=None, delta=0.0, rho=None, neighbors=None, budget=None, rng=None):
    """Release means by group with weights."""
    groups = dp.group_by(data, "key", keys=by_group.KEYS, neighbors=neighbors)
    mean = dp.stat.mean("x", **BOUNDS, weights="w", weight_bounds=(0.5, 2))
    loss = {"epsilon": epsilon, "delta": delta, "rho": rho}
    return dp.extend.prepare(groups.agg, {"mean": mean}, **loss, budget=budget, rng=rng)


#: Four rows of a person, of which two count.
CROWD = {"key": np.repeat(by_group.KEYS, 80), "x": X[:320], "who": np.arange(320) // 4}
MORE = {
    "weighted mean of heavy rows": Case(dp.mean, X, {**BOUNDS, **HEAVY}, ("weights",)),
    "weighted mean of each group": Case(weighted,
        {**by_group.TABLE, "w": np.linspace(0.5, 2, by_group.SIZE)}, **GROUPED),
    "each group with a limit of rows": Case(limited, CROWD, **GROUPED),
    "median of a lattice": Case(dp.median, X, {**BOUNDS, "granularity": 0.25}),
    "median of a lattice of each group": Case(by_group.of("median",
        {"column": "x", **BOUNDS, "granularity": 0.25}), by_group.TABLE, **GROUPED),
}  # fmt: skip
#: Not of people: their quartiles are drawn inside of the measurement of all their rows.
BARS = {name: case for name, case in (CASES | MORE).items() if name != "iqr of people"}


def measured(case):
    """A case whose rows an answer is about, and the number of these that its bar is for."""
    if is_grouped(case):
        return side_by_side(case), None
    if isinstance(case.data, dict) or np.ndim(case.data) == 0:
        return case, None
    where = case.kw.get("where", np.ones(len(case.data), bool))
    if case.call is dp.proportion and case.form != "words":
        case = replace(case, data=case.data > 30)
    elif case.call is dp.correlation:
        x = np.linspace(0, 100, len(case.data))
        case = replace(case, data=np.stack([x, (x + 50) % 100], axis=1))
    elif case.call is dp.difference:
        key = np.arange(len(case.data)) // 2 % 2  # people are on one side
        case = replace(case, data=np.column_stack([case.data[:, 0], key]))
        return case, int(np.bincount(key[where]).min())  # of each group
    return case, int(where.sum())


def side_by_side(case):
    """The same for many groups: copies of a table with keys and people of their own."""
    if case.call in (by_group.top, by_group.of_private_keys):
        return case
    size = len(case.data["key"])
    copy = np.repeat(np.arange(COPIES), size)
    data = {name: np.tile(own, COPIES) for name, own in case.data.items()}
    data |= {"key": data["key"] + 10 * copy, "who": data["who"] + size * copy}
    kw = {name: np.tile(case.kw[name], COPIES) for name in case.rows if name != "ids"}
    kw |= {"ids": data["who"]} if "ids" in case.kw else {}
    return replace(case, data=data, kw=case.kw | kw)


def made(case, asked):
    """The mechanism of a case, and what it reads: by group, for as many as there are."""
    copies = 1
    if is_grouped(case):
        copies = int(case.data["key"].max()) // 10 + 1
    keys = [key + 10 * copy for copy in range(copies) for key in by_group.KEYS]
    with patch.object(by_group, "KEYS", keys):
        return prepared(case.call, case.data, **{**case.kw, **asked})


def series(case, runs):
    """How many answers are asked for: a tenth where rows are chosen for each, which takes long."""
    mechanism, source = made(case, case.losses[0])
    is_slow = case.call in LONG or mechanism.reduce(source) is source
    return runs // 10 if is_slow and not is_grouped(case) else runs


def is_grouped(case):
    """Whether its answer is by group."""
    return isinstance(case.data, dict) and "key" in case.data


def askings(case):
    """What a case is asked for: each loss under each relation."""
    relations = case.relations if "neighbors" in case.parameters else (None,)
    for loss, relation in product(case.losses, relations):
        yield loss if relation is None else {**loss, "neighbors": relation}


def answers_of(case, asked, runs, seed=3):
    """Seeded answers of a case, those of a test that gives none left out; of a range, both ends."""
    mechanism, source = made(case, asked)
    summary, rng = mechanism.reduce(source), InsecureGenerator(seed)
    if isinstance(innermost(mechanism), ExponentialRange):
        mechanism = innermost(mechanism).quartiles
    for _ in range(runs):
        answer = mechanism.finish(summary, rng)
        if answer is not dp.NO_ANSWER:
            yield answer


def errors(case, asked, rows, runs):
    """All errors of the answers of a case, with the bars that it gives; none if it gives none."""
    bar = expected(made(case, asked)[0], rows, SURE)
    if bar.half_width is not None and bar.note in (SCORES, COUNTS):
        return [chosen(case, runs, asked, bar)]
    if bar.ranks is not None and not isinstance(case.data, dict):
        return drawn(case, runs, asked, bar)
    if not is_grouped(case) and bar.half_width is None:
        return []
    kind = "rho" if "rho" in asked and case.call in GAUSSIAN else "epsilon"
    sure = {name: value for name, value in asked.items() if name != "rho"} | {kind: EXACT}
    if case.call is limited:  # whose bars hold bias, and are about all rows
        sure |= {"max_rows": 4, "rows_limit": None}
    truths = [next(answers_of(case, sure, 1, seed)) for seed in (1, 2)]
    if is_grouped(case):
        tables = runs // (COPIES if len(case.data["key"]) > by_group.SIZE else 5)
        return list(grouped(case, max(2, tables), asked, truths, bar.note))
    answers = list(answers_of(case, asked, runs))
    first, true = answers[0], truths[0]
    if isinstance(first, MarginalTables):
        off = [far([one.counts(*own) for one in answers], true.counts(*own)) for own in first]
        each = zip(off, first, strict=True)
        return [Errors(own, np.array(first.error(*names)), bar.note) for own, names in each]
    found = [Errors(far(map(numbers, answers), numbers(true)), flat(bar, numbers(true)), bar.note)]
    if isinstance(first, RangeCounts) and hasattr(first, "strategy"):
        off = far([one.answers for one in answers], true.answers)
        found.append(Errors(off, first.half_widths(), bar.note))
    elif isinstance(first, RangeCounts) and len(first.edges) > 3:
        lo, hi = first.edges[1], first.edges[-2]
        off = far([one.range(lo, hi) for one in answers], true.range(lo, hi))
        found.append(Errors(off, np.array(first.half_width(lo, hi)), bar.note))
    return found


def far(answers, true):
    """How far answers are from the truth, a row each."""
    every = np.array(list(answers), float)
    return np.abs(every - true).reshape(len(every), -1)


def flat(bar, shape):
    """Bars of all numbers of an answer."""
    return np.broadcast_to(bar.half_width, shape.shape).ravel()


def numbers(answer):
    """The numbers of an answer that is not by group: of a histogram its counts."""
    if isinstance(answer, RangeCounts):
        return np.asarray(answer.counts, float)
    return np.asarray(answer[0] if isinstance(answer, tuple) else answer, float)


def grouped(case, runs, asked, truths, note):
    """Errors of each column of an answer by group that has bars, of all groups and answers."""
    names = [name for name in ("word", "key") if name in truths[0]]
    places = [places_of(one, names) for one in truths]
    parts = {}
    mechanism = made(case, asked)[0]
    for answer in answers_of(case, asked, runs):
        shown = places_of(answer, names).items()
        own = {key: i for key, i in shown if all(key in place for place in places)}
        if not own:
            continue  # private keys, of which none is shown
        at, *others = ([place[key] for key in own] for place in (own, *places))
        for kind in ("error", "error in ranks"):
            for name in names_of(answer, kind):
                bar = np.asarray(answer[f"{name} {kind}"], float)[at]
                columns = [
                    one for one in answer
                    if (one == name or one.startswith(f"{name} ")) and not one.endswith(kind)
                ]  # fmt: skip
                for i, column in enumerate(columns):
                    value = np.asarray(answer[column], float)[at]
                    if kind != "error":
                        off, known = ranks_of(case, list(own), value, mechanism.statistics[name], i)
                    elif not all(column in one for one in truths):
                        continue  # of bins whose edges are drawn
                    else:
                        true, other = (np.asarray(one[column], float)[place]
                            for one, place in zip(truths, others, strict=True))  # fmt: skip
                        off, known = abs(value - true), abs(true - other) <= bar / 50
                    parts.setdefault((column, kind), []).append((off[known], bar[known]))
        for name in names_of(answer, "low"):
            rows = rows_by_key(case, len(names))
            some = [(i, rows[key]) for key, i in own.items() if key in rows]
            low, value, high = (np.array([answer[f"{name}{end}"][i] for i, _ in some])
                for end in (" low", "", " high"))  # fmt: skip
            of = mechanism.statistics[name]
            (q,) = (of.like if isinstance(of, WithBounds) else of).qs  # of one alone
            off = value - [np.quantile(one, float(q)) for _, one in some]
            bar = np.where(off > 0, value - low, high - value)
            parts.setdefault((name, "error"), []).append((np.abs(off), bar))
    for (_, kind), pairs in parts.items():
        off, bar = (np.concatenate(one)[:, None] for one in zip(*pairs, strict=True))
        yield Errors(off, bar, note, "units" if kind == "error" else "ranks")


def names_of(answer, kind):
    """The statistics of an answer by group that have bars of a kind."""
    return [name.removesuffix(f" {kind}") for name in answer if name.endswith(f" {kind}")]


def places_of(answer, names):
    """The places of the groups of an answer by their keys."""
    return {key: i for i, key in enumerate(zip(*(answer[name] for name in names), strict=True))}


def ranks_of(case, keys, values, statistic, i):
    """By how many ranks values are off, of the quantile number i of groups with these keys."""
    within = statistic if not isinstance(statistic, WithBounds) else statistic.like
    lo, hi = (-math.inf, math.inf) if within is not statistic else within.bounds
    rows = rows_by_key(case, len(keys[0]))
    none = np.empty(0)
    off = [ranks_off(value, np.clip(rows.get(key, none), lo, hi), float(within.qs[i]))
        for key, value in zip(keys, values, strict=True)]  # fmt: skip
    return np.array(off), np.ones(len(off), bool)


def rows_by_key(case, width):
    """The rows of each group, ascending."""
    table = case.data
    found = sorted_rows(table["key"].tobytes(), table["x"].tobytes())
    if width == 1:
        return found
    found = {}
    for word, key, x in zip(table["word"], table["key"], np.clip(table["x"], 0, 100), strict=True):
        found.setdefault((word, key), []).append(x)
    return {key: np.sort(rows) for key, rows in found.items()}


@cache
def sorted_rows(keys, x):
    """The numbers of rows by the keys of these, from their bytes."""
    every, values = np.frombuffer(keys, np.int64), np.frombuffer(x)
    order = np.lexsort((values, every))
    own, starts = np.unique(every[order], return_index=True)
    parts = np.split(values[order], starts[1:])
    return {(key,): part for key, part in zip(own.tolist(), parts, strict=True)}


def ranks_off(answers, rows, q):
    """How many of ascending rows lie between answers and the quantile: none in a gap beside it."""
    target = q * len(rows)
    less, most = (np.searchsorted(rows, answers, side) for side in ("left", "right"))
    return np.maximum(np.maximum(less - target, target - most), 0.0)


def drawn(case, runs, asked, bar):
    """Errors of quantiles in ranks."""
    mechanism = innermost(made(case, asked)[0])
    each = mechanism.columns if isinstance(mechanism, EqualParts) else (mechanism,)
    rows = case.data[case.kw.get("where", slice(None))].reshape(-1, len(each))
    answers = np.array([np.ravel(one) for one in answers_of(case, asked, runs)])
    answers = answers.reshape(len(answers), -1, len(each))
    bars = np.broadcast_to(np.reshape(bar.ranks, (-1, len(each))), answers.shape[1:])
    found = []
    for i, own in enumerate(each):
        of = innermost(own)
        if isinstance(of, Between):
            found += between(answers[:, :, i], rows[:, i], of, bar)
            continue
        of = of.quartiles if isinstance(of, ExponentialRange) else of
        column = np.sort(np.clip(rows[:, i].astype(float), of.lo, of.hi))
        qs = [of.q] if hasattr(of, "q") else of.qs
        off = [ranks_off(answers[:, j, i], column, float(q)) for j, q in enumerate(qs)]
        found.append(Errors(np.array(off).T, bars[:, i], bar.note, "ranks"))
    return found


def between(answers, rows, of, bar):
    """Errors of points that have two ends."""
    (ends,) = of.ends
    column = np.clip(rows.astype(float), ends.lo, ends.hi)
    off = answers[:, 1] - np.quantile(column, float(ends.q))
    bars = np.where(off > 0, answers[:, 1] - answers[:, 0], answers[:, 2] - answers[:, 1])
    return [Errors(np.abs(off)[:, None], bars[:, None], bar.note)]


def chosen(case, runs, asked, bar):
    """Errors of selections: how far what is drawn is below the best of those that are left."""
    answers = list(answers_of(case, asked, runs))
    if isinstance(case.data, dict):
        scores, answers = np.bincount(case.data["who"])[:8], [one["who"] for one in answers]
    else:
        scores = np.asarray(case.data, float)
    off = [[max(0.0, np.delete(scores, one).max() - scores[i]) for i in one]
        for one in map(np.ravel, answers)]  # fmt: skip
    return Errors(np.array(off), np.array(bar.half_width), bar.note, "scores")
