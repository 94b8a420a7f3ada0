"""Indexes of pandas objects that are read side by side: alike, or an error after the spend. Every
public function that takes something with an entry for each row is found by its signature."""

import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import BudgetError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.tables import batches, intake, labels

from .support import by_group
from .support.attacks import OwnCount
from .support.battery import CASES, MASKED, WEIGHTED, WHERE, X, everything, same
from .support.pairwise import every_value
from .test_lengths import LEARNERS, TABLES

N = len(X)
RNG = np.random.default_rng(5)
INDEX = pd.Index(RNG.permutation(N) * 3 + 1)
ORDER = RNG.permutation(N)
HALVES = np.arange(2.0 * N).reshape(N, 2) % 2
SIDES = np.arange(N) % 2
LOSS, PURE = {"epsilon": 2.0}, dp.privacy.Pure(2)
HUNDRED = {"bounds": (0, 100), **LOSS}
SAID = "pandas objects must have equal indexes, but these differ: sort them in the same way, or"


def on(index, order=slice(None)):
    def made(rows):
        if isinstance(rows, dict):
            rows = {name: np.asarray(x) for name, x in rows.items()}
            return pd.DataFrame(rows, index).iloc[order]
        if np.ndim(rows) == 2:
            return pd.DataFrame(rows, index, ["a", "b"]).iloc[order]
        return pd.Series(rows, index).iloc[order]

    return made


# Routes: ``call(first, second, **pay)``, where `first` and `second` make two things of one call.


def of_case(case, row):
    def call(first, second, **pay):
        kw = {**case.kw, **case.losses[0], row: second(case.kw[row])}
        return case.call(first(case.data), **kw, **pay)

    return call


#: Entries for each row, for releases of which no case has them.
MORE = {"where": MASKED, "weights": WEIGHTED, "ids": {"ids": np.arange(N) // 2, "max_rows": 2}}


def of_signatures():
    """A route for each argument with entries beside the rows that no case has."""
    tried = {(case.call, row) for case in CASES.values() for row in case.rows}
    for name, case in CASES.items():
        for row in sorted(MORE.keys() & set(case.parameters)):
            is_own = case.call.__module__.startswith("dpfast.") and name != "aggregate"
            if is_own and (case.call, row) not in tried:
                tried.add((case.call, row))
                yield f"{name}-{row}", of_case(replace(case, kw={**case.kw, **MORE[row]}), row)


def of_learner(kind, kw, weighted):
    def call(first, second, **pay):
        made = kind(**kw, **({"weight_bounds": (0, 2)} if weighted else {}), **LOSS)
        more = {"sample_weight": second(np.ones(N))} if weighted else {}
        made.fit(first(HALVES), np.ones(N) if weighted else second(np.ones(N)), **more, **pay)

    return call


def of_people(ask):
    """Ids beside rows, of a fit, of a score and of both."""

    def call(first, second, **pay):
        made = dp.learn.KMeans(2, bounds=(0, 1), **LOSS)
        return ask(made, first(HALVES), {"ids": second(np.arange(N) // 2), "max_rows": 2, **pay})

    return call


def scored(made, rows, given):
    made.fit(np.asarray(rows), rng=InsecureGenerator(1))
    return made.score(rows, **LOSS, **given)


def of_unlabeled(kind, method, **kw):
    def call(first, second, **pay):
        made = kind(bounds=(0, 1), **kw, **LOSS, weight_bounds=(0, 2))
        getattr(made, method)(first(HALVES), sample_weight=second(np.ones(N)), **pay)

    return call


def of_sums(ask):
    def call(first, second, **pay):
        own = {"queries": 2, "neighbors": "replace", **LOSS, **pay}
        return ask(dp.sulq.NoisySums(first(HALVES), **own), second)

    return call


def of_oracle(first, second, **pay):
    own = {"tolerance": 0.4, "queries": 1, "rho": 0.5, "neighbors": "replace", **pay}
    asked = dp.sulq.StatisticalQueryOracle(first(HALVES), **own)
    asked.ask(second(np.ones(N)), bounds=(0, 1))


def of_parts(first, second, budget=None):
    with (budget or dp.Budget(epsilon=2)).parallel(second(SIDES), [0, 1]) as parts:
        parts[1](dp.sum, first(X), bounds=(0, 100), epsilon=2)


def of_dates(kind):
    days = pd.Series(pd.date_range("2020-01-01", periods=N, tz="UTC" if "UTC" in kind else None))
    days = days.astype(kind)
    ends = [pd.Timestamp(one, tz=days.dt.tz) for one in ("2019-01-01", "2022-01-01")]
    return lambda first, second, **pay: dp.median(
        first(days.array), bounds=tuple(ends), where=second(WHERE), **LOSS, **pay
    )


def of_kind(kind):
    return lambda first, second, **pay: dp.sum(
        first(pd.array(X, kind)), where=second(pd.array(WHERE, "boolean")), **HUNDRED, **pay
    )


def of_table(ask):
    return lambda first, second, **pay: ask(
        {"a": first(HALVES[:, 0]), "b": second(HALVES[:, 1])}, **LOSS, **{"budget": None, **pay}
    )


def of_words(first, second, **pay):
    data = {"a": first(HALVES[:, 0]), "b": second(np.array(["x", "y"])[SIDES])}
    given = {"bins": [2, None], "bounds": [(0, 1), None], "categories": [None, ["x"]]}
    return dp.histogram(data, **given, **LOSS, **pay)


def of_groups(ask):
    def call(first, second, **pay):
        data = {name: first(x) for name, x in by_group.TABLE.items()}
        return ask({**data, "x": second(by_group.TABLE["x"])}, **LOSS, **pay)

    return call


def of_method(name, kw):
    def call(first, second, **pay):
        groups = dp.group_by(first(by_group.TABLE), "key", keys=by_group.KEYS)
        return getattr(groups, name)(**kw, **LOSS, where=second(WHERE), **pay)

    return call


B = {"column": "x", "bounds": (0, 100)}
PAIR = {"column": "x", "other": "who", "bounds": [(0, 100), (0, 200)]}
METHODS = {
    "agg": {"statistics": {"n": dp.stat.count()}}, "count": {}, "count_nonzero": {"column": "x"},
    "histogram": {**B, "bins": 3}, "percentile": {**B, "q": 40}, "correlation": PAIR,
    "proportion": {"column": "x", "equal": 40}, "ratio": PAIR, "quantile": {**B, "q": 0.4},
    "quantiles": {**B, "qs": [0.2, 0.7]}, "quantile_interval": {**B, "q": 0.4}, "top_k": {"k": 2},
    **dict.fromkeys(["maximum", "mean", "median", "minimum", "std", "sum", "variance"], B),
}  # fmt: skip
ROUTES = {
    **{f"{name}-{row}": of_case(case, row) for name, case in CASES.items() for row in case.rows},
    **dict(of_signatures()),
    "two beside an array": lambda first, second, **pay: dp.mean(
        X, ids=first(np.arange(N)), max_rows=1, where=second(WHERE), **HUNDRED, **pay),
    **{f"{name}-y": of_learner(kind, kw, False) for name, (kind, kw) in LEARNERS.items()},
    **{f"{name}-sample_weight": of_learner(kind, kw, True) for name,
        (kind, kw) in LEARNERS.items() if name != "tree"},
    "clusters of people": of_people(lambda made, rows,
        given: made.fit(rows, **given).cluster_centers_),
    "score of people": of_people(scored),
    "folds of people": of_people(lambda made, rows,
        given: dp.learn.cross_validate(made, rows, **LOSS, **given).scores),
    "clusters of rows": of_unlabeled(dp.learn.KMeans, "fit_predict", n_clusters=2),
    "distances": of_unlabeled(dp.learn.KMeans, "fit_transform", n_clusters=2),
    "clusters": of_unlabeled(dp.learn.KMeans, "fit", n_clusters=2),
    **{f"{kind.__name__}.{name}": of_unlabeled(kind, name)
        for kind in (dp.learn.StandardScaler, dp.learn.PCA, dp.learn.TruncatedSVD)
        for name in ("fit", "fit_transform")},
    "rows": of_sums(lambda sums, second: sums.sum("count", rows=second(WHERE))),
    "for several columns": of_sums(lambda sums, second: sums.batch(["count"], rows=second(WHERE))),
    "values": of_sums(lambda sums, second: sums.sum(second(np.ones(N)), bounds=(0, 1))),
    "contrasts": of_sums(lambda sums,
        second: sums.contrasts(second(np.ones(N)), np.ones((1, N), bool))),
    "oracle": of_oracle,
    "parts": of_parts,
    "extending": lambda first, second, **pay: dp.extend.release(
        first(X), OwnCount(PURE, "add-remove"), where=second(WHERE), **pay),
    "blocks": lambda first, second, **pay: dp.sample_and_aggregate(
        first(X), "mean", blocks=20, ids=second(np.arange(N)), **HUNDRED, **pay),
    "dates": of_dates("datetime64[ns]"),
    "zoned dates": of_dates("datetime64[ns, UTC]"),
    "Arrow's dates": of_dates("timestamp[ns][pyarrow]"),
    "nullable": of_kind("Float64"),
    "of Arrow": of_kind("double[pyarrow]"),
    "objects": of_kind("object"),
    **{f"table-{name}": of_table(ask) for name, ask in TABLES.items() if name != "words"},
    "words of a table": of_words,
    "columns of groups": of_groups(lambda data, **kw: by_group.mean(data, bounds=(0, 9), **kw)),
    "values in columns": of_groups(lambda data,
        **kw: dp.count_distinct({**data, "x": data["x"].astype(int)}, **kw)),
    **{f"groups-{name}": of_method(name, kw) for name, kw in METHODS.items()},
}  # fmt: skip
BESIDE = {"where", "ids", "weights", "y", "sample_weight", "rows", "f"}
#: What has such an argument, and no entry a row in it, or gives it to another function.
NO_ROWS = {
    "dp.Budget": "a name", "dp.Budget.spend": "a name",
    "dp.group_by": "see `METHODS`, and the cases by group", "dp.audit.claims": "a number",
    "dp.audit.neighbors": "the data", "dp.expected_error": "a number",
    "dp.mechanism.expected_error": "a number", "dp.mechanism.prepare": "as a call of it",
    "dp.extend.DatabaseTable.data": "conditions", "dp.extend.Files.data": "conditions",
    "dp.scan": "conditions", "dp.extend.conditions": "conditions",
    "dp.extend.html.table": "of text", "dp.extend.Basis.moments": "a number",
    "dp.extend.IntegerNoise.weighted_half_width": "of noise",
    "dp.extend.Mechanism.error": "a number", "dp.extend.Moves": "of noise",
    "dp.online.MWEM.synthetic": "a number",
    "dp.online.PrivateMultiplicativeWeights.synthetic": "a number",
    "dp.sensitivity.TreeCost.global_sensitivity": "a number",
    "dp.sensitivity.Triangles.global_sensitivity": "a number",
    "dp.sensitivity.global_": "a number",
    "dp.extend.KnownSensitivity.global_sensitivity": "a number", "dp.stat.histogram": "a name",
    "dp.stat.proportion": "a name", "dp.sulq.Halfspace": "of a condition",
    "dp.sulq.ExactOracle.ask": "not private", "dp.sulq.RemoteSums.sum": "as NoisySums",
    "dp.Release": "a number", "dp.Release.error": "a number",
    "dp.Measurement.answered": "a number", "dp.extend.Mechanism.answered": "a number",
    "dp.sulq.RemoteSums.contrasts": "as NoisySums", "dp.sulq.StatisticalQueryOracle": "a number",
    "dp.sulq.oracle_cost": "a number", "dp.sulq.Term": "asked by sums",
}  # fmt: skip
TRIED = {
    "dp.sample_and_aggregate", "dp.extend.release", "dp.sulq.NoisySums.sum",
    "dp.sulq.NoisySums.batch", "dp.sulq.NoisySums.contrasts", "dp.sulq.StatisticalQueryOracle.ask",
    *(f"dp.learn.KMeans.{name}" for name in ("fit", "fit_predict", "fit_transform", "score")),
    "dp.learn.cross_validate",
    *(f"dp.learn.{kind}.{name}" for kind in ("StandardScaler", "PCA", "TruncatedSVD")
      for name in ("fit", "fit_transform")),
}  # fmt: skip


def public():
    for name, found in everything():
        yield name, found
        if inspect.isclass(found):
            methods = inspect.getmembers(found, inspect.isfunction)
            yield from ((f"{name}.{m}", f) for m, f in methods if m[0] != "_")


#: Measured by the road that the functions of their names take.
CLASSES = [one for _, one in public() if inspect.isclass(one)]
VALUES = [one for one in CLASSES if issubclass(one, dp.Statistic)]
VALUES += [dp.Measurement, dp.Unit]


def test_every_function_with_entries_beside_rows_is_tried():
    cases = {(case.call, row) for case in CASES.values() for row in (*case.rows, *MORE)}
    learners = {kind for kind, _ in LEARNERS.values()}
    for name, found in public():
        try:
            beside = BESIDE.intersection(inspect.signature(found).parameters)
        except ValueError:  # an exception class, say
            continue
        if name in NO_ROWS or name in TRIED:
            continue
        own = name.rpartition(".")[2]
        if any(found is one or getattr(one, own, None) is found for one in VALUES):
            continue
        kind, _, method = name.removeprefix("dp.learn.").partition(".")
        if method in ("fit", "score", "fit_transform") and name.startswith("dp.learn."):
            known = any(one.__name__ == kind for one in learners)
            ignores = {"sample_weight"}.isdisjoint(beside)  # y is there for scikit-learn alone
            assert known or ignores or kind == "AdditiveBoostingClassifier", name
            continue
        for row in beside:
            assert (found, row) in cases, (name, row)
    groups = type(dp.group_by(by_group.TABLE, "key", keys=by_group.KEYS))
    methods = dict(inspect.getmembers(groups, inspect.isfunction))
    masked = {m for m, f in methods.items() if "where" in inspect.signature(f).parameters}
    assert {m for m in masked if m[0] != "_"} == {
        *METHODS,
        "count_distinct",
        "keys",
    }  # ids, a delta


def refused(route, first, second):
    """That a call is an error after the spend, which shows no label."""
    budget = dp.Budget(rho=0.5) if route is of_oracle else dp.Budget(epsilon=2, delta=1e-3)
    with pytest.raises(DataError, match=SAID) as error:
        route(first, second, budget=budget)
    assert len(budget.history) == 1 and error.value.__context__ is None


@pytest.mark.parametrize("name", ROUTES)
def test_another_order_is_an_error_after_the_spend(name):
    refused(ROUTES[name], on(INDEX), on(INDEX, ORDER))


@every_value(drop=True)
@pytest.mark.parametrize("second", ["views", "equal", "positions"])
@pytest.mark.parametrize("name", ROUTES)
def test_labels_that_are_alike_are_answered(name, second):
    alike = {"views": on(INDEX), "equal": on(INDEX.astype(float)), "positions": by_position}[second]
    if name in ("parts", "table-label"):  # which take no generator
        ROUTES[name](on(INDEX), alike)
        return
    found = ROUTES[name](on(INDEX), alike, rng=InsecureGenerator(7))
    plain = ROUTES[name](on(None), on(None), rng=InsecureGenerator(7))
    assert same(found, plain) or (name == "zoned dates" and found == plain)


def by_position(rows):
    return rows if isinstance(rows, pd.api.extensions.ExtensionArray) else np.asarray(rows)


@pytest.mark.parametrize("plant", ["nowhere", "in views", "in batches"])
def test_a_route_that_ignores_indexes_is_caught(plant, monkeypatch):
    faults = {"nowhere": [(labels, "_indexes")], "in views": [(intake, "labels_of")],
        "in batches": [(batches, "labels_of")]}  # fmt: skip
    for where, name in faults[plant]:
        monkeypatch.setattr(where, name, lambda *data: [])
    some = {"nowhere": list(ROUTES)[::5],
        "in views": ["mean of some-where", "weighted sum-weights", "parts"],
        "in batches": ["keys of people-ids", "groups-mean", "columns of groups"]}  # fmt: skip
    for name in some[plant]:
        with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
            refused(ROUTES[name], on(INDEX), on(INDEX, ORDER))


class Loud:
    """A label that tells what it is compared with."""

    def __init__(self, secret):
        self.secret = secret

    def __eq__(self, other):
        raise ValueError(f"{self.secret} is not {other}")

    def __hash__(self):
        return 1


def twin(first, second):
    """Two columns whose indexes are compared."""
    budget = dp.Budget(epsilon=2)
    mask = pd.Series(WHERE, second)
    own = {"where": mask, "bounds": (0, 100), "budget": budget}
    return budget, lambda: dp.mean(pd.Series(X, first), **own, **LOSS)


EACH = np.arange(N)
LEVELS = [EACH // 9, EACH % 9]
#: Two ways to make an index, or one to make it twice, and whether pandas finds them equal.
ODD = {
    "duplicates": (lambda: pd.Index(EACH // 2), None, True),
    "other duplicates": (lambda: pd.Index(EACH // 2), lambda: pd.Index((EACH + 1) // 2), False),
    "missing labels": (lambda: pd.Index([np.nan] * N), None, True),
    "other types": (lambda: pd.RangeIndex(N), lambda: pd.Index(EACH.astype(float)), True),
    "texts and numbers": (lambda: pd.RangeIndex(N), lambda: pd.Index(EACH.astype(str)), False),
    "levels": (lambda: pd.MultiIndex.from_arrays(LEVELS), None, True),
    "levels and none": (lambda: pd.MultiIndex.from_arrays(LEVELS), lambda: pd.Index(EACH), False),
    "equal ranges": (lambda: pd.RangeIndex(N), None, True),
    "another range": (lambda: pd.RangeIndex(N), lambda: pd.RangeIndex(1, N + 1), False),
    "dates": (lambda: pd.date_range("2020", periods=N),
        lambda: pd.date_range("2020", periods=N, tz="UTC"), False),
    "that raise": (lambda: pd.Index([Loud("7654321") for _ in EACH], object), None, False),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_indexes_are_equal_as_pandas_has_it(name):
    first, second, alike = ODD[name]
    budget, call = twin(first(), (second or first)())
    if alike:
        call()
    else:
        with pytest.raises(DataError, match=SAID) as error:
            call()
        assert error.value.__context__ is None and "7654321" not in str(error.value)
    assert len(budget.history) == 1


def test_nothing_is_compared_before_the_spend(monkeypatch):
    def compare(_):
        raise AssertionError("compared")

    for module in (labels, batches):
        monkeypatch.setattr(module, "compare", compare)
    for name in ("mean of some-where", "median of some-where", "count of some-where", "parts",
                 "groups-mean", "keys of people-ids", "aggregate", "perceptron-y"):  # fmt: skip
        budget = dp.Budget(epsilon=1e-3, delta=1e-9)
        route = ROUTES["blocks" if name == "aggregate" else name]
        with pytest.raises(BudgetError):
            route(on(INDEX), on(INDEX, ORDER), budget=budget)
        assert not budget.history
    series = on(INDEX)(X), on(INDEX, ORDER)(WHERE)
    dp.expected_error(dp.mean, series[0], where=series[1], bounds=(0, 1), epsilon=1)


def test_a_count_of_rows_makes_no_pass_and_is_refused_all_the_same():
    data, where = on(INDEX)({"a": X, "b": X}), on(INDEX, ORDER)(WHERE)
    for neighbors in ("add-remove", "replace"):
        budget = dp.Budget(epsilon=1, neighbors=neighbors)
        with pytest.raises(DataError, match=SAID):
            dp.count(data, where=where, epsilon=1, budget=budget)
        assert len(budget.history) == 1
