"""Audits of every statistic of dpfast's table, in each of its ways, made of the table itself.

The cases are those of the battery of tests (`tests.support.battery`): each statistic of
`dpfast.STATISTICS` with each thing that its function takes beside the rows, and by group. A new
statistic of the table is audited without a line here.

A case is audited by its *noise* (`recorded_noise`), for each loss and relation that it takes. Units
are tried that have values at the ends of what is public, beside the rows of the case, and beside
heaps of rows for what depends on ranks. The pair of neighbors that loses most is what is shown.
"""

from __future__ import annotations

import itertools
import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

import dpfast as dp
from dpfast.budget.release import WATCHER
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.shared import SharedNoise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.table import TABLE
from tests.support import battery, by_group, databases

from . import costs
from .recorded_noise import Pairs, Tuples, UnseenError, recording
from .ways import CELLS, fit

SEED = 2024
#: The most rows that are tried of one unit each, and the most heaps of rows beside them.
UNITS, HEAPS = 10, 16
#: Noise of integers that has a name of its own.
FIXED = IntegerNoise, BoxNoise, SharedNoise
#: Numbers of units that no data have.
NEW = 10**6


#: Cases whose draws depend on what keys or tests there are, with the mechanisms that audit these.
ELSEWHERE = {
    **{"private keys": "select_keys", "top keys": "selection.top_k"},
    **{f"ptr {word}": f"ptr.{word}" for word in ("mean", "quantile", "iqr", "release")},
    **{"ptr iqr without a scale": "ptr.iqr", "ptr mean of people": "ptr.mean"},
    "aggregate": "sample_and_aggregate (mean)",
}


@dataclass(frozen=True)
class Found:
    """What the worst pair of a case shows of a claim, over the claim."""

    ratio: float
    #: Whether the answers of neighbors are the same for the same noisy numbers.
    same: bool
    noises: tuple[str, ...]
    case: Any = None
    pair: Any = None


def cases(table=TABLE, written=None):
    """The cases of the battery that are statistics of the table."""
    if written is None:
        written = battery.WRITTEN
    every = written | dict(battery.made(table, written.values()))
    of_table = {entry.function for entry in table}
    for name, case in every.items():
        if name in ELSEWHERE:
            continue
        if case.call in of_table or getattr(case.call, "__module__", "") == by_group.__name__:
            yield name, case


def way_of(case):
    """What is special in a case."""
    if case.call.__module__ == by_group.__name__:
        return "by group"
    given = {"ids": "people", "axis": "columns", "weights": "weights"}
    for argument, way in given.items():
        if argument in case.kw:
            return way
    bounds = case.kw.get("bounds")
    if isinstance(bounds, str) or (bounds is None and case.form == "object"):
        return "drawn bounds"
    return "some rows" if "where" in case.kw else "rows"


def limits(case, name, values):
    """The public bounds of a column, or those of its values."""
    bounds = case.kw.get("bounds")
    if isinstance(bounds, dict):
        bounds = bounds.get(name)
    if isinstance(bounds, list):
        bounds = bounds[name if isinstance(name, int) else 0]
    if isinstance(bounds, tuple):
        return tuple(map(float, bounds))
    return float(np.nanmin(values)), float(np.nanmax(values))


def pool(case, name, values):
    """Values at the ends of what is public about a column, and between them."""
    values = np.asarray(values)
    if name == "who" and values.dtype.kind == "i":
        return [NEW, 0, 50]
    if values.dtype.kind not in "fi":
        known = [*dict.fromkeys(values.tolist()), "new"]
        return [*known[:: max(1, len(set(values)) // 3)], "new", "newer"]
    if values.dtype.kind == "i":
        return [*np.unique(values).tolist()[:6], int(values.max()) + 1]
    low, high = limits(case, name, values)
    found = [low, high, (low + high) / 2, (3 * low + high) / 4, 0.0, 1.0]
    return [*found, np.nan] if case.kw.get("nan") in ("only", "drop") else found


def columns(data):
    """The columns of data, by name or number."""
    if isinstance(data, dict):
        return data
    return {0: data} if data.ndim == 1 else dict(enumerate(data.T))


def rows_of(case, most=UNITS):
    """Rows that are worth a try, each a dict."""
    pools = {name: pool(case, name, values) for name, values in columns(case.data).items()}
    rows = [dict(zip(pools, row, strict=True)) for row in itertools.product(*pools.values())]
    ends = itertools.product(*(values[:2] for values in pools.values()))
    corners = [dict(zip(pools, row, strict=True)) for row in itertools.islice(ends, 16)]
    middle = {name: values[2 if name in ("x", "who") else 0] for name, values in pools.items()}
    corners.append(middle)
    step = max(1, len(rows) // most)
    while math.gcd(step, len(list(pools.values())[-1])) > 1 and step > 1:
        step += 1  # so that each value of the last column is there
    return [*corners, *rows[::step]]


def units(case, relation, of_people):
    """Units to add: each is a list of rows, with what goes beside them."""
    beside = {"where": True, "ids": NEW}
    beside |= {"weights": case.kw["weight_bounds"][1]} if "weights" in case.rows else {}
    rows = [{**row, **{name: beside[name] for name in case.rows}} for row in rows_of(case)]
    if of_people and "ids" not in rows[0]:
        rows = [row for row in rows if row.get("who", NEW) == NEW]
    if not of_people:
        found = [[row] for row in rows]
    else:
        many = case.kw.get("max_rows", 2)
        many = many if isinstance(many, int) else 4
        found = [[row] * many for row in rows] + [rows[:1], rows[-2:]]
        if "key" in rows[0]:  # in as many groups as a person may be
            every = [[{**row, "key": key} for key in (0, 3) for _ in range(many)] for row in rows]
            found += every
    if relation == "replace":
        for name, other in (("ids", NEW + 1), ("who", NEW + 1), ("where", False)):
            if name in rows[0]:
                found += [[{**row, name: other} for row in unit] for unit in found]
    return found


def with_unit(case, unit):
    """The data of a case with the rows of a unit, and its arguments."""
    data, kw = case.data, dict(case.kw)
    if not unit:
        return data, kw

    def longer(old, name):
        old = np.asarray(old)
        more = np.array([row[name] for row in unit])
        return np.concatenate([old, more if old.dtype.kind in "OUS" else more.astype(old.dtype)])

    every = {name: longer(old, name) for name, old in columns(data).items()}
    kw |= {name: longer(kw[name], name) for name in case.rows}
    if isinstance(data, dict):
        return every, kw
    return (every[0] if data.ndim == 1 else np.column_stack(list(every.values()))), kw


def heaped(case, sizes, middle):
    """A case with heaps of rows at the ends of bounds, and at a part of their distance."""
    data, n = case.data, sum(sizes)
    kw = dict(case.kw)

    def heap(name, old):
        old = np.asarray(old)
        if old.dtype.kind != "f":
            return np.full(n, 3) if name == "key" else old[np.arange(n) % len(old)]
        low, high = limits(case, name, old)
        return np.repeat(low + (high - low) * np.array([0.0, middle, 1.0]), sizes)

    made = {name: heap(name, old) for name, old in columns(data).items()}
    if "who" in made and made["who"].dtype.kind == "i":
        made["who"] = np.arange(n)
    beside = {"where": np.ones(n, bool), "ids": np.arange(n)}
    for name in case.rows:
        kw[name] = beside[name] if name in beside else np.asarray(kw[name])[:n]
    if isinstance(data, dict):
        data = made
    else:
        data = made[0] if data.ndim == 1 else np.column_stack(list(made.values()))
    return replace(case, data=data, kw=kw)


#: Heaps that are the worst of some statistic, and where the middle one lies.
KNOWN = (
    *(((20, 0, 0), 0.5), ((0, 0, 20), 0.5), ((10, 0, 10), 0.5)),
    *(((7, 2, 6), 0.998), ((2, 6, 8), 0.998), ((28, 4, 1), 0.998), ((25, 10, 5), 0.998)),
    *(((10, 10, 20), 0.998), ((17, 24, 4), 0.5), ((6, 9, 6), 0.5), ((3, 0, 2), 0.5)),
)


def heaps(case):
    """A case with heaps of many sizes."""
    random = np.random.default_rng(SEED)
    for sizes, middle in KNOWN:
        yield heaped(case, sizes, middle)
    for _ in range(HEAPS):
        n = int(random.integers(9, 60))
        first, last = np.sort(random.integers(0, n + 1, 2))
        middle = random.choice([0.998, 0.002, 0.5])
        yield heaped(case, (first, last - first, n - last), middle)


def run(case, given, loss, relation, first=None):
    """The answer of a release, the turns of its noise, and its mechanism."""
    (data, kw), made = given, []
    with recording(first, SEED) as recorder:
        token = WATCHER.set(lambda mechanism, _, answer: made.append(mechanism) or answer)
        try:
            kw = {"neighbors": relation} | kw
            answer = case.call(data, **kw, **loss, rng=InsecureGenerator(SEED))
        finally:
            WATCHER.reset(token)
    return answer, recorder.turns, made[-1]


def worst(case, loss, relation, hint=None):
    """The pair of neighbors of a case that loses most of a claim; a hint is rows to try beside."""
    found = pairs(case, loss, relation)
    is_float = any(np.asarray(x).dtype.kind == "f" for x in columns(case.data).values())
    enough = 0.5 if BOUNDS in found.noises else 0.95
    if found.ratio >= enough or not is_float:
        return found
    few = BOUNDS in found.noises or all(name in INTEGERS for name in found.noises)
    few = few or (hint is not None and all(name in PURE for name in found.noises))
    every = list(itertools.islice(heaps(case), 3 if few else None))
    every = every if hint is None else [hint, *every]
    for other in every:
        more = pairs(other, loss, relation)
        same = found.same and more.same
        found = replace(max(found, more, key=lambda one: one.ratio), same=same)
        if found.ratio >= 0.95 or not same:
            break
    return found


def claims(case):
    """The losses and relations that a case is audited for, with what is shown of each."""
    for relation in case.relations:
        first = None
        for loss in case.losses:
            found = first
            if first is None or not delta_is_left(case, first, loss, relation):
                found = worst(case, loss, relation, first and first.case)
            first = first or found
            note = "" if found.same and found.ratio >= 0.95 else why(case, loss, relation, found)
            yield loss, relation, found, note


def delta_is_left(case, first, loss, relation):
    """Whether a loss has a delta that the noise does not spend: it is that of the same epsilon."""
    if "delta" not in loss:
        return False
    again = () if first.pair is None else of_pair(case, first.pair, loss, relation).noises
    return again == first.noises


def pairs(case, loss, relation):
    """The worst of the pairs that differ in one of some units."""
    base, noises = with_unit(case, []), ()
    *_, made = run(case, base, loss, relation)
    every = [with_unit(case, unit) for unit in units(case, relation, made.ids is not None)]
    reference = base if relation == "add-remove" else every[0]  # of as many rows
    answer, turns, _ = run(case, reference, loss, relation)
    known, marks = [(reference, turns)], {tuple(marked(turn.exact) for turn in turns)}
    noises = tuple(dict.fromkeys(map(kind, turns)))
    every = every[:4] if BOUNDS in noises else every
    shown, pair, same = 0.0, None, True
    for data in every:
        try:
            again, others, _ = run(case, data, loss, relation, turns)
        except UnseenError:
            same = False
            break
        same = same and len(turns) == len(others) and battery.same(answer, again)
        if not same:
            break
        mark = tuple(marked(turn.exact) for turn in others)
        if mark in marks:  # rows that the release does not tell from others
            continue
        marks.add(mark)
        for before, firsts in known:
            spent = costs.Loss("rho" in loss)
            for turn, other in zip(firsts, others, strict=True):
                costs.add(spent, turn.noise, turn.exact, other.exact)
            more = spent.amount(loss)
            if more > shown:
                shown, pair = more, (before, data)
        if relation == "replace":
            known.append((data, others))
    return Found(shown / float(loss.get("rho", loss.get("epsilon"))), same, noises, case, pair)


def marked(exact):
    """Something with a hash that is the same for the same exact numbers."""
    if isinstance(exact, list):
        return tuple(map(marked, exact))
    if isinstance(exact, np.ndarray):
        return tuple(exact.ravel().tolist())
    if isinstance(exact, (Pairs, Tuples)):
        return tuple(x.tobytes() for x in vars(exact).values() if isinstance(x, np.ndarray))
    return getattr(exact, "mark", exact)


#: A draw of bounds, of which there are many thousands.
BOUNDS = "bounds"


def kind(turn):
    """The name of a noise."""
    noise, name = turn.noise, type(turn.noise).__name__
    if isinstance(turn.exact, Pairs):
        return BOUNDS
    return getattr(noise, "distribution", name) if isinstance(noise, FIXED) else name


#: Noise of integers.
INTEGERS = {"laplace", "gaussian", "rounded-gaussian", "staircase", "box", "JointStaircase"}
#: Draws whose loss in rho is that of any with the same range.
PURE = {"RankDraw", "Choice", BOUNDS}


def why(case, loss, relation, found):
    """Why less than .95 of a claim is shown; "" if nothing says so."""
    if not found.same:
        return ""
    if not found.noises:
        return PUBLIC
    if len(found.noises) > 1 or (BOUNDS in found.noises and "rho" not in loss):
        return PARTS
    if "rho" in loss and set(found.noises) <= PURE:
        return RANGE
    if relation == "replace" and ("ids" in case.kw or set(found.noises) <= INTEGERS):
        return TWO_STEPS
    return NORM if set(found.noises) <= INTEGERS else SEARCHED


PUBLIC = "the number of rows is public, so the answer needs no noise"
PARTS = "several draws share the loss, and no tested unit is the worst case of all draws at once"
RANGE = "rho covers the worst distribution of the same bounded range, and the draw is milder"
NORM = "no tested unit has features as large as the sensitivity"
SEARCHED = "no tested dataset with many equal values is the worst case of a draw by rank"
TWO_STEPS = (
    "a replacement is charged as a removal and an addition, and the tested ones change sums by less"
)


def drawn_as_said(turns, size=4_000):
    """The least p-value of chi-square of fresh integer noise; 1 without any."""
    found = [1.0]
    for noise in dict.fromkeys(
        turn.noise for turn in turns if isinstance(turn.noise, IntegerNoise)
    ):
        generator, scale = InsecureGenerator(SEED), float(noise.scale)
        z = np.array(noise.add([0] * size, generator), object) >> noise.shift
        z = z.astype(np.float64)
        if noise.staircase is not None:
            stairs = noise.staircase
            levels = np.maximum(0, np.ceil((np.abs(z) - stairs.core) / stairs.step)).astype(int)
            law = 2 * stairs.step * np.exp(-stairs.epsilon * np.arange(60.0))
            law[0] = 2 * stairs.core + 1
            found.append(fit(levels, law / law.sum()))
        elif noise.distribution == "laplace":
            k = np.arange(math.ceil(45 * scale)) if scale < 100 else None
            if k is None:
                far = -np.log1p(-np.arange(1, 64) / 64) * scale
                found.append(fit(np.searchsorted(far, np.abs(z)), np.full(64, 1 / 64)))
            else:
                law = np.where(k > 0, 2.0, 1.0) * np.exp(-k / scale)
                found.append(fit(np.abs(z).astype(int), law / law.sum()))
        elif scale > 100:
            found.append(fit(np.searchsorted(CELLS, z / scale), np.full(64, 1 / 64)))
        else:
            k = np.arange(-math.ceil(14 * scale), math.ceil(14 * scale) + 1.0)
            law = np.exp(-(k**2) / (2 * scale**2))
            if noise.distribution == "rounded-gaussian":
                law = special.ndtr((k + 0.5) / scale) - special.ndtr((k - 0.5) / scale)
            found.append(fit((z - k[0]).astype(int), law / law.sum()))
    return min(found)


def in_database(case, given):
    """The data of a case as a table of DuckDB, or a column of one."""
    data, kw = given
    kinds = {"f": "float64", "i": "int64"}
    every = {
        str(name): (kinds.get(np.asarray(x).dtype.kind, "string"), np.asarray(x).tolist())
        for name, x in columns(data).items()
    }
    made = databases.table(databases.connect("duckdb"), every)
    return (made if isinstance(data, dict) else made["0"]), kw


def has_sql(case):
    """Whether a case is of a column, or by group, so that a database can have its rows."""
    if case.rows or case.form == "words":
        return False
    return isinstance(case.data, dict) or np.asarray(case.data).ndim == 1


def audited(name, case):
    """The rows of the table of audits: of a case, and of the same in a database."""
    begun = time.process_time()
    rows, of_sql = {}, {}
    least = [1.0]
    for loss, relation, found, note in claims(case):
        words = f"{dp.privacy.loss(**loss)!r}, {relation}"
        rows[words] = shown(found, note)
        if found.pair is None or loss is case.losses[1 if len(case.losses) > 1 else 0]:
            continue
        least.append(drawn_as_said(run(case, found.pair[0], loss, relation)[1]))
        if has_sql(case):
            pair = [in_database(case, data) for data in found.pair]
            with suppress(dp.errors.ArgumentError):  # a method that is not for a database
                there = of_pair(case, pair, loss, relation)
                less = there.ratio < 0.95 or not there.same
                of_sql[words] = shown(there, why(case, loss, relation, there) if less else "")
    entry = {"statistic": statistic_of(case), "p_value": float(f"{min(least):.2g}")}
    yield name, {**entry, "way": way_of(case), "claims": rows,
        "seconds": round(time.process_time() - begun, 2)}  # fmt: skip
    if of_sql:
        way = "SQL by group" if way_of(case) == "by group" else "SQL"
        yield f"{name}, in SQL", {**entry, "way": way, "claims": of_sql, "seconds": 0.0}


def of_pair(case, pair, loss, relation):
    """What one pair shows of a claim."""
    before, after = pair
    answer, turns, _ = run(case, before, loss, relation)
    again, others, _ = run(case, after, loss, relation, turns)
    same = len(turns) == len(others) and battery.same(answer, again)
    spent = costs.Loss("rho" in loss)
    for turn, other in zip(turns, others, strict=same):
        costs.add(spent, turn.noise, turn.exact, other.exact)
    amount = spent.amount(loss) / float(loss.get("rho", loss.get("epsilon")))
    return Found(amount, same, tuple(dict.fromkeys(map(kind, turns))), case, pair)


def shown(found, note):
    """A claim as the file has it."""
    return {
        "ratio": round(float(found.ratio), 4),
        "noise": ", ".join(found.noises),
        "seen": found.same,
        "note": note,
    }


def statistic_of(case):
    """The name of a statistic."""
    return case.call.__name__.removesuffix("_of_each_group")
