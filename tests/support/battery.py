"""Every public release with typical arguments, and the same data in all their forms. A statistic of
the table has its cases made for it: plain, and with each thing that its function takes (`made`).
Any other release takes one entry in `WRITTEN` (`test_conformance.py` fails without it), and a new
argument one in `BAD`, or in `FREE` if nothing can be wrong with it; where a statistic cannot do
without it, also one in `TYPICAL`."""

import contextlib
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.groups.api import GroupBy
from dpfast.measurement.statistic import Automatic
from dpfast.statistics.table import STATISTICS, TABLE

from . import by_group

EPSILON = {"epsilon": 2.0}
DELTA = {"epsilon": 2.0, "delta": 1e-6}
FEW = {"epsilon": 2.0, "delta": 1e-3}
RHO = {"rho": 0.5}


def everything(module=dp, name="dp"):
    """Every public function and class of the package."""
    for own in module.__all__:
        found = getattr(module, own)
        if isinstance(found, types.ModuleType):
            yield from everything(found, f"{name}.{own}")
        elif callable(found):
            yield f"{name}.{own}", found


def public():
    """Those that take an epsilon or a budget."""
    for name, found in everything():
        with contextlib.suppress(ValueError):  # an exception class, say
            if {"budget", "epsilon"} & inspect.signature(found).parameters.keys():
                yield name, found


@dataclass(frozen=True)
class Case:
    """One way to call a release. The first argument holds the data."""

    call: Callable[..., Any]
    data: Any
    kw: dict[str, Any] = field(default_factory=dict)
    #: Arguments with one entry a row, besides the data.
    rows: tuple[str, ...] = ()
    losses: tuple[dict[str, Any], ...] = (EPSILON, DELTA, RHO)
    #: What else the data may be: "column", "table", "array", "number", or "object" for none.
    form: str = "column"
    #: Whether the answer is the same for rows in another order.
    unordered: bool = True
    #: The fewest rows there can be; None where there is nothing like a row.
    least: int | None = 0
    #: Arguments that make the pass over the data fail, where a failing source does not do.
    fails: dict[str, Any] | None = None
    relations: tuple[str, ...] = ("replace", "add-remove")
    #: Arguments of which a bad value means something else beside the others here.
    apart: tuple[str, ...] = ()

    @property
    def parameters(self):
        return list(inspect.signature(self.call).parameters)

    @property
    def says_columns(self):
        """Whether its arguments tell how many columns there are, which a list does not."""
        given = [self.kw.get(one) for one in ("bounds", "bins")]
        return any(isinstance(one, list) and isinstance(one[0], (tuple, int)) for one in given)

    def __call__(self, data, loss, **kw):
        return self.call(data, **{**self.kw, **loss, **kw})


def fails(*_):
    raise ZeroDivisionError


RNG = np.random.default_rng(20)
#: Quarters, which every form of a column can hold, text too.
X = np.round(4 * RNG.normal(40, 20, 331)) / 4
XY = np.stack([X, np.round(4 * RNG.normal(30, 10, len(X))) / 4], axis=1)
WHOLE = RNG.integers(0, 5, len(X))
WHERE = RNG.random(len(X)) < 0.7
WEIGHTS = RNG.integers(0, 9, len(X)) / 4
BOUNDS = {"bounds": (0, 100)}
AUTO = {"bounds": "auto"}
WEIGHTED = {"weights": WEIGHTS, "weight_bounds": (0, 2)}
PROPOSED = {**BOUNDS, "proposed": 6.0}
SCORED = {"form": "array", "unordered": False, "least": 1, "losses": (EPSILON, RHO)}
LOCAL = {"form": "array", "unordered": False, "losses": (EPSILON,), "relations": ("replace",)}
MASKED = {"where": WHERE}
GROUPED = {"form": "object", "least": None}
OF_TABLE = {**GROUPED, "losses": (DELTA, RHO)}
#: A table, and what is public of two of its columns.
MARKED = {"x": X, "whole": WHOLE}
ATTRIBUTES = {"categories": {"whole": [0, 1, 4]}, "bins": {"x": 3}, "bounds": {"x": (0, 100)}}
#: Nobody has more rows than count, so what is read is no matter of chance.
PEOPLE = {"ids": np.arange(len(X)) // 2, "max_rows": 2}
AXIS = {"axis": 0}
WORDS_OF_ROWS = np.array(["tea", "ale", "rye"])[RNG.integers(0, 3, len(X))]
RARE_WORDS = np.array([f"w{i}" for i in np.sort(np.abs(X).astype(int) % 60)])

#: Cases that show more than one that is made.
WRITTEN = {
    "count": Case(dp.count, X),
    "count of some": Case(dp.count, X, {**MASKED, "nan": "drop"}, ("where",)),
    "count of missing": Case(dp.count, X, {**MASKED, "nan": "only"}, ("where",)),
    "count of nonzero": Case(dp.count_nonzero, X),
    "sum": Case(dp.sum, X, BOUNDS),
    "sum of some": Case(dp.sum, X, {**BOUNDS, **MASKED}, ("where",)),
    "weighted sum": Case(dp.sum, X, {**BOUNDS, **WEIGHTED}, ("weights",)),
    "mean": Case(dp.mean, X, BOUNDS),
    "mean of some": Case(dp.mean, X, {**BOUNDS, **MASKED}, ("where",)),
    "variance": Case(dp.variance, X, BOUNDS),
    "variance of some": Case(dp.variance, X, {**BOUNDS, **MASKED, "ddof": 1}, ("where",)),
    "std": Case(dp.std, X, BOUNDS),
    "bounds": Case(dp.bounds, X),
    "mean within bounds of its own": Case(dp.mean, X, AUTO),
    "median within bounds of its own": Case(dp.median, X, AUTO),
    "describe": Case(dp.describe, {"a": XY[:, 0], "b": XY[:, 1], "who": WORDS_OF_ROWS},
        {"bounds": {"b": (0, 60)}, "categories": {"who": ["tea", "rye"]}}, **GROUPED),
    "describe some people": Case(dp.describe, {"a": X}, {**MASKED, **PEOPLE}, ("where", "ids"),
        **GROUPED),
    "covariance": Case(dp.covariance, XY, {"bounds": [(0, 100), (0, 60)]}, form="table"),
    "proportion of some words": Case(dp.proportion, WORDS_OF_ROWS, {"equal": "tea", **MASKED},
        ("where",), form="words"),
    "histogram": Case(dp.histogram, X, {**BOUNDS, "bins": 7}),
    "histogram of some": Case(dp.histogram, X, {"bins": [0, 9.5, 50], **MASKED}, ("where",)),
    "categories": Case(dp.histogram, WHOLE, {"categories": [0, 1, 4]}),
    "weighted histogram": Case(dp.histogram, X, {**BOUNDS, **WEIGHTED, "bins": 7}, ("weights",)),
    "weighted histogram of some people": Case(dp.histogram, X,
        {**BOUNDS, **WEIGHTED, **MASKED, **PEOPLE, "bins": 7}, ("weights", "where", "ids")),
    "weighted histogram of two": Case(dp.histogram, XY,
        {"bounds": [(0, 100), (0, 60)], "bins": [3, 4], **WEIGHTED}, ("weights",), form="table",
        apart=("bounds", "bins")),
    "tree": Case(dp.tree_histogram, X, {**BOUNDS, "bins": 9, "fan_out": 3}),
    "tree of categories": Case(dp.tree_histogram, WHOLE, {"categories": [0, 1, 4]}),
    "tree of words": Case(dp.tree_histogram, WORDS_OF_ROWS, {"categories": ["ale", "tea"]},
        form="words", apart=("categories",)),
    "histogram of two": Case(dp.histogram, XY, {"bounds": [(0, 100), (0, 60)], "bins": [3, 4]},
        form="table", apart=("bounds", "bins")),
    "marginals": Case(dp.marginals, MARKED, ATTRIBUTES, **OF_TABLE),
    "marginals of some": Case(dp.marginals, MARKED, {**ATTRIBUTES, **MASKED}, ("where",),
        **OF_TABLE),
    "marginals of people": Case(dp.marginals, MARKED, {**ATTRIBUTES, **PEOPLE}, ("ids",),
        **OF_TABLE),
    "sums of columns": Case(dp.sum, XY, {**AXIS, "bounds": [(0, 100), (0, 60)]}, form="table"),
    "means of columns": Case(dp.mean, XY, {**AXIS, "bounds": [(0, 100), (0, 60)]}, form="table"),
    "weighted means of columns": Case(dp.mean, XY, {**AXIS, **BOUNDS, **WEIGHTED, **MASKED},
        ("weights", "where"), form="table"),
    "histogram of words": Case(dp.histogram, WORDS_OF_ROWS, {"categories": ["ale", "tea"]},
        form="words", apart=("categories",)),
    "median": Case(dp.median, X, BOUNDS),
    "quantile": Case(dp.quantile, X, {**BOUNDS, "q": 0.3, "method": "smooth"}),
    "quantile by rank": Case(dp.quantile, X, {**BOUNDS, "q": 0.3, "method": "exponential"}),
    "quantiles": Case(dp.quantiles, X, {**BOUNDS, "qs": [0.2, 0.7]}, losses=(EPSILON, RHO)),
    "percentile": Case(dp.percentile, X, {**BOUNDS, "q": 99.9}),
    "interval of a quantile": Case(dp.quantile_interval, X, {**BOUNDS, "q": 0.4}),
    "joint quantiles": Case(dp.quantiles, X, {**BOUNDS, "qs": [0.2, 0.7], "method": "joint"},
        losses=(EPSILON, RHO)),
    "medians of columns": Case(dp.median, XY, {**AXIS, "bounds": [(0, 100), (0, 60)]},
        form="table"),
    "median of some": Case(dp.median, X, {**BOUNDS, **MASKED}, ("where",)),
    "minimum": Case(dp.minimum, X, {**BOUNDS, "method": "exponential"}),
    "maximum": Case(dp.maximum, X, {**BOUNDS, "method": "exponential"}),
    "trimmed mean": Case(dp.trimmed_mean, X, BOUNDS),
    "winsorized mean": Case(dp.winsorized_mean, X, BOUNDS),
    "iqr": Case(dp.iqr, X, {**BOUNDS, "method": "smooth"}),
    "joint iqr": Case(dp.iqr, X, {**BOUNDS, "method": "joint"}),
    "count of people": Case(dp.count, X, {**PEOPLE, "nan": "drop"}, ("ids",)),
    "sum of people within a found bound": Case(dp.sum, X,
        {**BOUNDS, "ids": PEOPLE["ids"], "max_rows": "auto"}, ("ids",)),
    "sum of totals of people within found limits": Case(dp.sum, X,
        {**BOUNDS, "ids": PEOPLE["ids"], "per_unit": "auto"}, ("ids",)),
    "workload of categories": Case(dp.workload, WHOLE,
        {"queries": "prefix", "categories": [0, 1, 4]}, losses=(DELTA, RHO)),
    "people kept whole": Case(dp.kept_whole, X, {**PEOPLE, **MASKED}, ("where", "ids")),
    "sum of totals of people": Case(dp.sum, X,
        {**BOUNDS, "ids": PEOPLE["ids"], "per_unit": (0, 150)}, ("ids",)),
    "count of totals of people": Case(dp.count, X,
        {"ids": PEOPLE["ids"], "per_unit": (0, 1), "nan": "drop"}, ("ids",)),
    "sum of people": Case(dp.sum, X, {**BOUNDS, **MASKED, **PEOPLE}, ("where", "ids")),
    "mean of people": Case(dp.mean, X, {**BOUNDS, **PEOPLE}, ("ids",)),
    "variances of columns of people": Case(dp.variance, XY, {**AXIS, **BOUNDS, **PEOPLE}, ("ids",),
        form="table"),
    "median of people": Case(dp.median, X, {**BOUNDS, **PEOPLE}, ("ids",)),
    "ptr mean of people": Case(dp.ptr.mean, X, {**PROPOSED, **PEOPLE}, ("ids",), losses=(DELTA,)),
    "aggregate": Case(dp.sample_and_aggregate, X, {**BOUNDS, "estimator": "mean", "blocks": 20},
        unordered=False, least=20),
    "ptr mean": Case(dp.ptr.mean, X, PROPOSED, losses=(DELTA,)),
    "ptr quantile": Case(dp.ptr.quantile, X, {**PROPOSED, "q": 0.5}, losses=(DELTA,)),
    "ptr iqr": Case(dp.ptr.iqr, X, PROPOSED, losses=(DELTA,)),
    "ptr iqr without a scale": Case(dp.ptr.iqr, X,
        {**BOUNDS, "ratio": 1.5, "neighbors": "replace"}, losses=(DELTA,), relations=("replace",)),
    "ptr release": Case(dp.ptr.release, X,
        {**PROPOSED, "statistic": len, "distance": lambda data, proposed: len(data)},
        losses=(DELTA,), form="object", fails={"statistic": fails}),
    "smooth release": Case(dp.smooth_release, 12.5,
        {**BOUNDS, "smooth_sensitivity": lambda beta: 1.0}, form="number", least=None,
        fails={"smooth_sensitivity": fails}),
    "smooth release of a bound": Case(dp.smooth_release, 12.5,
        {**BOUNDS, "smooth_sensitivity": 0.5, "beta": 0.001}, losses=(EPSILON,), form="number",
        least=None),
    "additive release": Case(dp.additive_release, 12.5, {"sensitivity": 0.5}, form="number",
        least=None),
    "additive release of an array": Case(dp.additive_release, X[:40],
        {"sensitivity": 2, "norm": "l2"}, form="array", least=None, unordered=False),
    "additive release of whole numbers": Case(dp.additive_release, WHOLE[:40],
        {"sensitivity": 2, "whole": True}, form="array", least=None, unordered=False),
    "bounded release": Case(dp.bounded_release, 12.5, {**BOUNDS, "sensitivity": 0.5},
        form="number", least=None),
    "truncated release": Case(dp.bounded_release, 12.5,
        {**BOUNDS, "sensitivity": 0.5, "method": "truncated"}, form="number", least=None),
    "folded release": Case(dp.bounded_release, 12.5,
        {**BOUNDS, "sensitivity": 0.5, "method": "folded"}, form="number", least=None),
    "exponential": Case(dp.selection.exponential, WHOLE, {"sensitivity": 1}, **SCORED),
    "permute and flip": Case(dp.selection.permute_and_flip, WHOLE, {"sensitivity": 1}, **SCORED),
    "noisy max": Case(dp.selection.noisy_max, WHOLE, {"sensitivity": 1}, **SCORED),
    "keys": Case(dp.select_keys, RARE_WORDS, losses=(FEW,), form="words"),
    "keys of people": Case(dp.select_keys, RARE_WORDS,
        {"ids": WHOLE * 70 + np.arange(len(X)) % 70, "max_groups": 2}, ("ids",), losses=(FEW,),
        form="words"),
    "distinct values": Case(dp.count_distinct, RARE_WORDS, form="words"),
    "distinct values of some people": Case(dp.count_distinct, RARE_WORDS,
        {"ids": WHOLE * 70 + np.arange(len(X)) % 70, "max_groups": 2, **MASKED}, ("ids", "where"),
        form="words"),
    "count by group": Case(by_group.count, by_group.TABLE, MASKED, ("where",), **GROUPED),
    "mean by group": Case(by_group.mean, by_group.TABLE, BOUNDS, **GROUPED),
    "quantiles by group": Case(by_group.quantiles, by_group.TABLE, {**BOUNDS, "qs": [0.2, 0.7]},
        **GROUPED),
    "several by group of people": Case(by_group.several_of_people, by_group.TABLE,
        {**PEOPLE, "max_groups": 2, "weights": {"sum": 3}, **MASKED}, ("where", "ids"), **GROUPED),
    "top keys": Case(by_group.top, by_group.TABLE, {"k": 3},
        **{**GROUPED, "losses": (EPSILON, RHO)}),
    "private keys": Case(by_group.of_private_keys, by_group.TABLE, **{**GROUPED, "losses": (FEW,)}),
    "top 3": Case(dp.selection.top_k, WHOLE, {"sensitivity": 1, "k": 3}, **{**SCORED, "least": 3}),
    "binary": Case(dp.response.binary, WHOLE > 2, {}, **LOCAL),
    "k-ary": Case(dp.response.kary, WHOLE, {"categories": 5}, **LOCAL),
    "unary": Case(dp.response.unary, WHOLE, {"categories": [4, 0, 2]}, **LOCAL),
}  # fmt: skip

#: What a statistic is given that cannot do without it.
TYPICAL = {
    **{**BOUNDS, "q": 0.3, "qs": [0.2, 0.7], "bins": 7},
    **{"column": "x", "queries": "ranges", "other": "who", "of": dp.Mean(bounds=(0, 100))},
}
#: What refuses a pure loss.
GAUSSIAN = {"workload"}
#: What is beside the rows, or instead of them.
BESIDE = {"": ({}, ()), " of some rows": (MASKED, ("where",)), " of people": (PEOPLE, ("ids",)),
    " of columns": (AXIS, ()), " of weighted rows": (WEIGHTED, ("weights",)),
    " within found bounds": (AUTO, ())}  # fmt: skip
DATA = {"column": (X, "column"), "columns": (XY, "table"), "words": (WORDS_OF_ROWS, "words"),
    "groups": (XY, "table")}  # fmt: skip


def made(table, written):
    """Cases of statistics: with each thing beside the rows of which none is written, by group."""
    tried = [(case.call, case.kw) for case in written]
    for entry in table:
        if entry.kind is None or entry.word.startswith("ptr."):
            continue  # which have cases of their own
        takes, known = inspect.signature(entry.function).parameters, entry.function
        is_auto = inspect.isclass(entry.kind) and issubclass(entry.kind, Automatic)
        is_auto = is_auto and "bounds" in takes and takes["bounds"].annotation != "Bounds"
        for words, (kw, rows) in BESIDE.items():
            shown = any(call is known and has(given, kw) for call, given in tried)
            if shown or not takes.keys() >= kw.keys() or (kw is AUTO and not is_auto):
                continue
            data, form = DATA["columns" if kw is AXIS else entry.data]
            losses = [one for one in (EPSILON, DELTA, RHO) if one.keys() <= takes.keys()]
            losses = losses[1:] if entry.word in GAUSSIAN else losses
            own = typical(takes, entry.data)
            own |= {"q": 30} if entry.word == "percentile" else {}
            given = {"rows": rows, "losses": tuple(losses), "form": form}
            yield entry.word + words, Case(entry.function, data, own | kw, **given)
        if entry.by_group:
            yield f"{entry.word} of each group", of_groups(entry)
        if entry.by_group and is_auto and "bounds" in takes:
            yield f"{entry.word} of each group within drawn bounds", of_groups(entry, AUTO)


def typical(takes, data):
    """What a function is given that cannot do without it; of bins it says which."""
    needed = {one.name for one in takes.values() if one.default is one.empty}
    needed |= {"bins", "bounds"} if "bins" in takes else set()
    own = {name: TYPICAL[name] for name in takes if name in needed - {"self", "data"}}
    if data == "columns" and "bounds" in own:
        own["bounds"] = [own["bounds"]] * 2
    return own


def of_groups(entry, more=None):
    """A case of the method of `GroupBy`."""
    own = typical(inspect.signature(getattr(GroupBy, entry.name)).parameters, entry.data)
    own |= more or {}
    people = {"ids": "who", "max_groups": 2} if entry.data == "words" else {}
    return Case(by_group.of(entry.name, own, **people), by_group.TABLE, **GROUPED)


def has(given, kw):
    """Whether arguments have all that others have; of bounds the word counts."""
    return given.keys() >= kw.keys() and (kw is not AUTO or given["bounds"] == "auto")


MADE = dict(made(TABLE, WRITTEN.values()))
CASES = WRITTEN | MADE


#: By day a call is tried in one case, and what is made with anything beside the rows not at all.
FIRST = {case.call: name for name, case in reversed(CASES.items())}
LATER = {n for n in MADE if n not in STATISTICS} | CASES.keys() - set(FIRST.values())


def each(names, step=1):
    """Some cases as parameters: of those that are not quick every so-many-th is full."""
    names = list(names)
    later = [name for name in names if name in LATER]
    tiers = dict.fromkeys(later, pytest.mark.slow) | dict.fromkeys(later[::step], pytest.mark.full)
    every = [pytest.param(name, marks=tiers.get(name, ())) for name in names]
    return pytest.mark.parametrize("name", every)


EVERY = each(CASES)

#: What has an epsilon and is no release: limits, losses, and what is computed from public numbers
#: or from private answers. What is made of noisy sums are objects that are asked or fitted later,
#: held to the same rules in `tests/learn` and `tests/sulq`.
NO_RELEASES = {
    "dp.Budget",
    # tests of claims, which say an epsilon and spend none
    *(f"dp.audit.{name}" for name in ("Audit", "claims", "measure", "measure_answers", "one_run")),
    "dp.audit.measure_pairs", "dp.audit.support", "dp.audit.recovery_bound", "dp.extend.Prepared",
    "dp.extend.release", "dp.extend.relation_of", "dp.noise.gaussian_scale", "dp.noise.staircase",
    "dp.privacy.Approx", "dp.privacy.Draws", "dp.privacy.Pure", "dp.privacy.loss",
    "dp.privacy.optimal_composition", "dp.response.estimate_binary", "dp.response.estimate_kary",
    "dp.response.estimate_unary", "dp.selection.best_of", "dp.selection.expected_error",
    "dp.selection.probabilities", "dp.selection.utility_bound", "dp.session", "dp.smooth_beta",
    "dp.suggest_blocks", "dp.learn.AdditiveBoostingClassifier",
    "dp.learn.AdditiveBoostingRegressor", "dp.learn.ID3Classifier", "dp.learn.KMeans",
    "dp.learn.LinearRegression", "dp.learn.LogisticRegression", "dp.learn.NaiveBayes",
    "dp.sulq.NoisySums", "dp.learn.PCA", "dp.learn.Perceptron", "dp.learn.RandomForestClassifier",
    "dp.learn.StandardScaler", "dp.sulq.StatisticalQueryOracle", "dp.learn.TruncatedSVD",
    "dp.learn.cross_validate",
    # Streams: what is released comes later, from their methods. See `test_doctest.STREAMS`, and
    # the tests of each for bad input, spending and the state after an error.
    "dp.online.AboveThreshold", "dp.online.MWEM", "dp.online.MedianMechanism",
    "dp.online.PrivateMultiplicativeWeights", "dp.online.RunningCount", "dp.online.SparseVector",
}  # fmt: skip


WORD = object()
FLAG = ["yes", 1, None]
NAN = float("nan")
#: What has no hash, so that nothing that remembers its arguments can be asked with it.
UNHASHABLE = [[1], {1: 2}, np.array(1.0), np.array(["laplace"])]
WORDS = ["sideways", "", 3, WORD, *UNHASHABLE]
SIZES = [0, -1, NAN, float("inf"), "1", None, True, Decimal("sNaN"), 1j, *UNHASHABLE]

BAD = {
    "epsilon": SIZES,
    "delta": [-1, 1, NAN, "x", None, True, *UNHASHABLE],
    "rho": [0, -1, NAN, "x", True, *UNHASHABLE],
    "bounds": [None, (2, 1), (NAN, 1), (0, float("inf")), (-1e308, 1e308), "01", 7, (1,), {1, 2}],
    "neighbors": WORDS,
    "where": [np.ones(len(X)), np.ones((len(X), 1), bool), WORD, "x"],
    "weights": [np.ones(331, complex), np.array(["x"] * 331), WORD],
    "weight_bounds": [(2, 1), (NAN, 1), 3],
    "per_unit": [(2, 1), (NAN, 1), 3, "x"],
    "ways": [0, -1, 3, 2.5, "x", None, True, [], [("x", "x")], [("z",)], [3]],
    "importance": [3, {"x": 1}, {("x", "whole"): 0}, {("x", "whole"): NAN}, {3: 1}, {("x",): "x"}],
    "nan": ["sideways", NAN, WORD],
    "proportion": [0.5, -0.1, 1, NAN, "x", None],
    "ddof": [-1, 0.5, "x", None, True],
    "bins": [0, -1, 2.5, "x", [1], [2, 1], [0, NAN], [0, 0], WORD],
    "equal": [None, NAN, [1], 1j, b"x"],
    "of": [None, 3, dp.Mean(bounds="auto"), {"statistic": "x"}, dp.Mean],
    "keys": [None, 3, (1,), (1, 1), ("a", 1), (NAN, 1), "ab"],
    "queries": [None, "x", WORD, [1] * 7, [["x"] * 7], [[1] * 6], [[NAN] * 7], [[0] * 7],
        [[1], [1, 2]]],
    "fan_out": [0, 1, -2, 2.5, "x", True],
    "categories": [WORD, "x", [[1], [2, 3]], [NAN], []],
    "q": [-0.1, 100.1, NAN, "x", None],
    "coverage": [0, 1, NAN, "x", None, True],
    "qs": [[], [2], ["x"], 0.5, "05", None],
    "noise": WORDS,
    "method": WORDS,
    "assume_sorted": FLAG,
    "nonnegative": FLAG,
    "granularity": [0, -1, NAN, "x", True, Decimal("sNaN"), 1e-300, *UNHASHABLE],
    "estimator": ["sideways", 3, None],
    "blocks": [0, -1, 2.5, "x", None, 10**9],
    "aggregator": WORDS,
    "partition": WORDS,
    "default": [WORD, 10**9],
    "workers": [0, 2.5, "x"],
    "progress": ["x", 3],
    "ids": [np.ones(331), WORD],
    "max_groups": [0, -1, 2.5, "x", True],
    "max_rows": [0, -1, 2.5, "x", True],
    "executor": WORDS,
    "time_limit": [0, -1, NAN, "x"],
    "centres": [WORD, "x"],
    "spill": [3, "/no/such/place"],
    "proposed": [0, -1, NAN, "x", True, 1e300],
    "ratio": [1, 0, NAN, "x"],
    "test_share": [0, 1, -1, NAN, "x", None],
    "statistic": [3, None],
    "distance": [3, None],
    "beta": [0, -1, NAN, "x", 1e300],
    "sensitivity": SIZES,
    "monotone": FLAG,
    "norm": WORDS,
    "whole": FLAG,
    "base": [["x"], WORD],
    "size": [-1, 2.5, "x"],
    "axis": [7, 0.5, "x", True],
    "candidates": [0, -1, WORD],
    "k": [0, -1, 2.5, "x", None, 10**9],
    "budget": [3, "x", EPSILON],
    "rng": [3, "x", np.random.default_rng(1)],
}  # fmt: skip

#: Arguments that may be left out, but go with others or instead of them where they are given.
PAIRED = {"weights", "weight_bounds", "bins", "bounds", "categories", "proposed", "ratio", "beta"}

#: Arguments in which nothing can be wrong by itself.
FREE = {
    "bounds of describe",  # mappings: see `test_describe`
    "categories of describe",
    "data of release",
    "data of exponential",
    "value of smooth_release",  # what these are, is an answer
    "value of bounded_release",
    "values of additive_release",
    "smooth_sensitivity of smooth_release",
}

SECRET = "7654321"
#: What is no column of numbers, and no message may quote.
BAD_DATA = {"column": [SECRET, np.array([SECRET] * 3), None, WORD, np.full(3, 7654321j),
    np.ones(())], "table": [SECRET, np.array([[SECRET] * 2] * 3), None, WORD,
    np.full((3, 2), 7654321j)],
    "array": [SECRET, np.array([SECRET] * 3), None, WORD, np.full(3, 7654321j)],
    "words": [SECRET, np.full(3, 7654321.0), None, WORD, np.full(3, 7654321j)], "number": [],
    "object": []}  # fmt: skip


def same(a, b):
    """Whether two answers are the same bits of the same type."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(x, b[name]) for name, x in a.items())
    if is_dataclass(a):
        names = [field.name for field in fields(a)]
        same_fields = (same(getattr(a, name), getattr(b, name, None)) for name in names)
        return type(a) is type(b) and (a == b or all(same_fields))
    if isinstance(a, np.ndarray) and a.dtype.kind == "O":
        return a.dtype == b.dtype and a.tolist() == b.tolist()
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def layouts(base, folder):
    """The ways that an array can lie in memory."""
    yield "list", base.tolist()
    yield "strided", np.repeat(base, 3, axis=0)[::3]
    yield "backwards", base[::-1].copy()[::-1]
    yield "fortran", np.asfortranarray(np.stack([base, base], axis=-1))[..., 1]
    yield "byte-swapped", base.astype(base.dtype.newbyteorder())
    odd = np.zeros(base.nbytes + 1, np.uint8)[1:].view(base.dtype).reshape(base.shape)
    odd[...] = base
    yield "not aligned", odd
    locked = base.copy()
    locked.flags.writeable = False
    yield "read-only", locked
    np.save(folder / "map.npy", base)
    yield "memmap", np.load(folder / "map.npy", mmap_mode="r")


def off_by_one(column):
    """An Arrow column whose numbers lie where no kernel could read them."""
    buffer = pa.py_buffer(b"." + column.tobytes() + b".").slice(1)
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, buffer])


def of_dask(parts):
    """A collection of Dask: an empty partition, then these, of which each may lie as it likes."""
    dask, frames = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    empty = parts[0].iloc[:0]
    made = [dask.delayed(part) for part in (empty, *parts)]
    return frames.from_delayed(made, meta=empty, verify_meta=False)


def stored(words):
    """Arrow's text of words, of which one is bytes that are no UTF-8, and no public word."""
    raw = [b"\xff" if word == "rye" else word.encode() for word in words]
    return pa.array(raw, pa.binary()).view(pa.string())


def forms(case, folder):
    """The data of a case in every form that its release reads."""
    base = case.data
    if case.form == "number":
        yield from (("Fraction", Fraction(base)), ("Decimal", Decimal(base)))
        yield from (("float32", np.float32(base)), ("float64", np.float64(base)))
    if case.form in ("number", "object"):
        return
    if case.form == "words":
        yield from (("list", base.tolist()), ("objects", base.astype(object)))
        yield from (("pandas", pd.Series(base.tolist())), ("Arrow", pa.array(base.tolist())))
        yield "dictionary", pa.array(base.tolist()).dictionary_encode()
        yield "strided", np.repeat(base, 3)[::3]
        table = pa.table({"a": base.tolist()})
        pq.write_table(table, folder / "x.parquet", row_group_size=100)
        yield "Parquet", dp.scan(folder / "x.parquet", "a")
        text = stored(base.tolist())
        yield from (("no UTF-8", text), ("dictionary, no UTF-8", text.dictionary_encode()))
        pq.write_table(pa.table({"a": text}), folder / "raw.parquet")
        yield "Parquet, no UTF-8", dp.scan(folder / "raw.parquet", "a")
        if not case.rows:
            parts = [text[:99], text[99:].dictionary_encode(), pa.nulls(7, pa.string())]
            series = [pd.Series(pd.arrays.ArrowExtensionArray(part)) for part in parts]
            yield "Dask, with a dictionary and nothing", of_dask(series)
        return
    for form, data in layouts(base, folder):
        if form != "list" or case.form != "table" or case.says_columns:
            yield form, data
    yield "pandas", pd.Series(base) if base.ndim == 1 else pd.DataFrame(base, columns=["a", "b"])
    if case.form == "column":
        if base.dtype.kind == "f":
            yield "float32", base.astype(np.float32)
        yield "masked", np.ma.array(base, mask=np.zeros(len(base), bool))
        yield "Arrow", pa.array(base)
        yield "chunks", pa.chunked_array([base[:1], base[1:1], base[1:57], base[57:]])
        yield "Arrow, not aligned", off_by_one(base)
        table = pa.table({"a": base})
        columns = "a"
    elif case.form == "table":
        names = ["a", "b"]
        table = pa.table(dict(zip(names, base.T, strict=True)))
        yield "mapping", dict(zip(names, base.T, strict=True))
        yield "Arrow", table
        yield "Arrow, not aligned", pa.table([off_by_one(c) for c in base.T], names=names)
        chunks = pa.chunked_array([base[:57, 0], base[57:, 0]])
        yield "chunks", pa.table({"a": chunks, "b": base[:, 1]})
        yield "batch", pa.RecordBatch.from_arrays([pa.array(c) for c in base.T], names=names)
        yield "masked", np.ma.array(base, mask=False)
        if base.dtype.kind == "f":
            yield "float32", np.asfortranarray(base.astype(np.float32))
            yield "mixed", pd.DataFrame({"a": base[:, 0], "b": base[:, 1].astype(np.float32)})
        yield "records", np.rec.fromarrays(base.T, names=names)
        columns = names
    if case.form in ("column", "table") and case.unordered and not case.rows:
        frame = table.to_pandas()
        parts = [frame[:57], frame[57:].astype("Float64" if base.dtype.kind == "f" else "Int64")]
        yield "Dask, with nullable numbers", of_dask([part[columns] for part in parts])
    if case.form not in ("column", "table") or "weights" in case.rows:
        return  # beside weights a column is in memory
    pq.write_table(table, folder / "x.parquet", row_group_size=100)
    yield "Parquet", dp.scan(folder / "x.parquet", columns)
    pa.csv.write_csv(table, folder / "x.csv")
    yield "CSV", dp.scan(folder / "x.csv", columns)
    with pa.ipc.new_file(folder / "x.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=64)
    yield "IPC", dp.scan(folder / "x.arrow", columns)
    np.save(folder / "x.npy", base)
    yield "npy", dp.scan(folder / "x.npy", 0 if columns == "a" else [0, 1])
