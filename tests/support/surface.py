"""What nobody would pass on purpose, and every public thing that it can be passed to. A new public
function needs no entry if it is in `battery.CASES`; any other takes one in `CALLS`
(`test_foreign_errors.py` fails without it)."""

import datetime
import inspect
import numbers
import pathlib
import types
from collections import UserList, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

import dpfast as dp

from . import by_group
from .battery import CASES, X


class Foreign(Exception):
    """What an object of somebody else raises."""


def _raises(*_, **__):
    raise Foreign("of two\nlines")


def broken(*names, base=object):
    """An object some of whose methods raise."""
    kind = types.new_class(
        "Broken", (base,), {}, lambda own: own.update(dict.fromkeys(names, _raises))
    )
    return kind.__new__(kind, 1.0) if base is float else kind.__new__(kind)


class Sized:
    """Says that it is long, and has nothing."""

    def __len__(self):
        return 3


class Endless:
    """A sequence whose entries are itself."""

    def __len__(self):
        return 1

    def __getitem__(self, i):
        if i:
            raise IndexError
        return self


class Liar(list[Any]):
    """A list that says that it is longer than any memory."""

    def __len__(self):
        return 1 << 60


class Equal:
    """Can be hashed, and compared with nothing."""

    __hash__ = object.__hash__
    __eq__ = _raises


class Arrays:
    """Answers with no array."""

    def __array__(self, *_, **__):
        return "x"


@numbers.Real.register
class Real:
    """Is called a number, and is none."""


@numbers.Integral.register
class Integral:
    """The same."""


def circular():
    found = []
    found.append(found)
    return found


#: Fresh at each call, since some can be used once.
VALUES = {
    "None": lambda: None, "True": lambda: True, "np.True_": lambda: np.True_, "0": lambda: 0,
    "-1": lambda: -1, "2": lambda: 2, "0.5": lambda: 0.5, "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"), "-inf": lambda: float("-inf"), "-0.0": lambda: -0.0,
    "5e-324": lambda: 5e-324, "1e308": lambda: 1e308, "-1e308": lambda: -1e308,
    "10**400": lambda: 10**400, "-10**5000": lambda: -(10**5000), "2**63": lambda: 2**63,
    "sNaN": lambda: Decimal("sNaN"), "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal inf": lambda: Decimal("-Infinity"), "1E+999999": lambda: Decimal("1E+999999"),
    "1E-999999": lambda: Decimal("1E-999999"), "1/3": lambda: Fraction(1, 3),
    "Fraction(10**400)": lambda: Fraction(10**400, 3),
    "Fraction(1, 10**400)": lambda: Fraction(1, 10**400), "1j": lambda: 1j, "''": lambda: "",
    "'x'": lambda: "x", "surrogate": lambda: "\ud800\n", "b'x'": lambda: b"x",
    "memoryview": lambda: memoryview(b"abc"), "[]": lambda: [], "[1.0]": lambda: [1.0],
    "[[1.0]]": lambda: [[1.0]], "ragged": lambda: [[1.0], [2.0, 3.0]], "[None]": lambda: [None],
    "['x']": lambda: ["x"], "[NaN, inf]": lambda: [float("nan"), float("inf")],
    "[10**400]": lambda: [10**400, 1], "[sNaN]": lambda: [Decimal("sNaN"), Decimal(1)],
    "[object]": lambda: [object()],
    "[timedelta64]": lambda: [np.timedelta64(1), np.timedelta64(2, "s")], "circular": circular,
    "()": lambda: (), "(0, 1)": lambda: (0, 1), "(1, 0)": lambda: (1, 0),
    "(sNaN, 1)": lambda: (Decimal("sNaN"), 1), "deque": lambda: deque([1.0, 2.0]),
    "UserList": lambda: UserList([1, 2]), "range": lambda: range(3), "set": lambda: {1, 2},
    "{}": lambda: {}, "{'a': ...}": lambda: {"a": [1.0, 2.0]}, "{1: 2}": lambda: {1: 2},
    "iterator": lambda: iter([1.0]), "object": object, "class": lambda: int,
    "function": lambda: len, "float32": lambda: np.float32(0.5),
    "uint64": lambda: np.uint64(2**64 - 1), "longdouble": lambda: np.longdouble(1),
    "0-d": lambda: np.array(1.0), "0-d None": lambda: np.array(None),
    "empty array": lambda: np.zeros(0), "3-d": lambda: np.zeros((2, 1, 1)),
    "no columns": lambda: np.zeros((3, 0)), "objects": lambda: np.array([1, None, "x"], object),
    "text array": lambda: np.array(["x", "y"]), "dates": lambda: np.array(["2020-01-01"], "M8[D]"),
    "timedelta64": lambda: np.timedelta64(1), "timedelta64 s": lambda: np.timedelta64(1, "s"),
    "NaT": lambda: np.datetime64("NaT"), "timedelta": lambda: datetime.timedelta(1),
    "masked": lambda: np.ma.masked,
    "masked array": lambda: np.ma.array([1.0, 2.0], mask=[False, True]),
    "records": lambda: np.zeros(3, [("a", "f8"), ("b", "M8[s]")]), "pd.NA": lambda: pd.NA,
    "Series": lambda: pd.Series([1, None], dtype="Int64"),
    "DataFrame": lambda: pd.DataFrame({"a": [1.0], "b": ["x"]}),
    "Arrow": lambda: pa.array([1, None]), "Arrow scalar": lambda: pa.scalar(1),
    "Arrow text": lambda: pa.table({"a": ["x"]}), "Pure": lambda: dp.privacy.Pure(1),
    "ZCDP": lambda: dp.privacy.ZCDP(1), "Approx": lambda: dp.privacy.Approx(1, 0.1),
    "path": lambda: pathlib.Path("no/such\0file"), "slice": lambda: slice(None),
    "Ellipsis": lambda: ..., "sized": Sized, "endless": Endless, "liar": lambda: Liar([1.0, 2.0]),
    "arrays": Arrays, "equal": Equal, "Real": Real, "Integral": Integral,
    **{f"broken {name}": lambda name=name: broken(name) for name in ("__float__", "__int__",
        "__index__", "__len__", "__iter__", "__array__", "__repr__", "__bool__", "__hash__",
        "__eq__", "__str__", "__array_interface__", "__call__", "__arrow_c_stream__",
        "__arrow_c_array__", "__dlpack__", "__fspath__", "__getattr__")},
    "broken float": lambda: broken("__float__", "__repr__", "__str__", base=float),
    "broken all": lambda: broken("__float__", "__int__", "__len__", "__iter__", "__getitem__",
        "__array__", "__repr__", "__bool__", "__eq__", "__hash__", "__lt__", "__gt__"),
}  # fmt: skip


ROWS = np.linspace(0, 1, 60).reshape(30, 2)
LABELS = np.where(ROWS[:, 0] > 0.5, 1, -1)
WEIGHTS = np.linspace(0, 2, 30)
RNG = dp.rng.InsecureGenerator(1)
GRAPH = np.ones((4, 4)) - np.eye(4)
EDGES, LENGTHS = [(0, 1), (1, 2), (0, 2)], [1.0, 2.0, 3.0]
COUNTS, EVENS = np.array([300, 0, 500]), np.array([1.0, 0.0, 1.0])
LEARNERS = {
    dp.learn.KMeans: {"n_clusters": 2, "bounds": (0, 1), "max_iter": 2},
    dp.learn.PCA: {"n_components": 1, "bounds": (0, 1)},
    dp.learn.TruncatedSVD: {"n_components": 1, "bounds": (0, 1)},
    dp.learn.Perceptron: {"bounds": (0, 1), "max_iter": 2},
    dp.learn.LinearRegression: {"bounds": (0, 1), "y_bounds": (-1, 1)},
    dp.learn.ID3Classifier: {"bins": 2, "bounds": (0, 1), "classes": [-1, 1]},
    dp.learn.LogisticRegression: {"bounds": (0, 1), "classes": [-1, 1], "max_iter": 2},
    dp.learn.AdditiveBoostingClassifier: {"bins": 2, "bounds": (0, 1), "classes": [-1, 1],
        "max_iter": 2},
    dp.learn.AdditiveBoostingRegressor: {"bins": 2, "bounds": (0, 1), "y_bounds": (-1, 1),
        "max_iter": 2},
    dp.learn.StandardScaler: {"bounds": (0, 1)},
    dp.learn.RandomForestClassifier: {"bounds": (0, 1), "classes": [-1, 1], "n_estimators": 2,
        "max_depth": 2},
    dp.learn.NaiveBayes: {"bounds": (0, 1), "classes": [-1, 1]},
}  # fmt: skip


def sums():
    return dp.sulq.NoisySums(ROWS, rho=50, queries=99, rng=RNG)


def exact():
    return dp.sulq.ExactOracle(ROWS, tolerance=0.1, queries=9, bounds=(0, 1))


def party():
    return dp.sulq.NoisySums(np.arange(64) % 2.0, rho=50, queries=999, neighbors="replace", rng=RNG)


def unfitted(kind):
    return kind(**LEARNERS[kind], rho=50)


def fitted(kind):
    return unfitted(kind).fit(ROWS, LABELS, rng=RNG)


class Call(NamedTuple):
    """A public thing, or a method of one, and how it is called."""

    function: Callable[..., Any]
    make: Callable[[], dict[str, Any]]
    of: Any

    @property
    def parameters(self):
        found = inspect.signature(self.of).parameters.values()
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [one.name for one in found if one.kind not in several]


def unclear(function, given):
    """What is wrong with how a call ends: with an answer, or with one clear error of dpfast."""
    try:
        function(**given)
    except dp.errors.DpfastError as error:
        text = str(error)
        if "\n" in text or len(text) > 1000:
            return f"is no line: {text[:200]!r}"
        if error.__context__ is not None and not error.__suppress_context__:
            return f"shows another error before it: {error.__context__!r}"
    except Exception as error:
        return f"is {type(error).__name__}: {error}"
    return None


CALLS = {}


def add(name, function=None, make=None, /, of=None, **kw):
    """One more, with arguments that are right; `make` makes them anew for each call."""
    function = function or reduce(getattr, name.split()[0].split(".")[1:], dp)
    CALLS[name] = Call(function, make or (lambda: dict(kw)), of or function)


def method(name, make, **kw):
    """A method of an object that is made anew for each call."""
    own = name.split()[0].rpartition(".")[2]

    def call(**given):
        return getattr(make(), own)(**given)

    is_fitted = getattr(make, "func", None) is fitted  # the method is the same before a fit
    add(name, call, of=getattr(unfitted(*make.args) if is_fitted else make(), own), **kw)


for _name, _case in CASES.items():
    _first = {_case.parameters[0]: _case.data}
    add(_name, _case.call, partial(dict, {**_first, **_case.kw, **_case.losses[0]}))

add("dp.session", budget=dp.Budget(epsilon=1), confidence=0.9, version="June")


def learner(name, kind, **kw):
    """Bad arguments of an estimator are told by `fit`."""

    def call(**own):
        weights = {"sample_weight": WEIGHTS} if "weight_bounds" in own else {}
        return kind(**own).fit(ROWS, LABELS, **weights, rng=RNG)

    add(name, call, of=kind, **kw, rho=50)


for _kind, _kw in LEARNERS.items():
    _own = f"dp.learn.{_kind.__name__}"
    learner(_own, _kind, **_kw)
    _weighed = {}
    if "sample_weight" in inspect.signature(_kind.fit).parameters:
        _kw, _weighed = {**_kw, "weight_bounds": (0, 2)}, {"sample_weight": WEIGHTS}
    method(f"{_own}.fit", partial(_kind, **_kw, rho=50), X=ROWS, y=LABELS, rng=RNG, **_weighed)
    for _name in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(_kind, _name):
            method(f"{_own}.{_name}", partial(fitted, _kind), X=ROWS)
    if hasattr(_kind, "score"):
        method(f"{_own}.score", partial(fitted, _kind), X=ROWS, y=LABELS)
PEOPLE = {"ids": np.arange(30) // 3, "max_rows": 2}
method(
    "dp.learn.LinearRegression.conf_int", lambda: fitted(dp.learn.LinearRegression), confidence=0.9
)
for _kind in (dp.learn.KMeans, dp.learn.LinearRegression, dp.learn.NaiveBayes):
    _own = f"dp.learn.{_kind.__name__}"
    _made = partial(_kind, **LEARNERS[_kind], rho=50)
    method(f"{_own}.fit of people", _made, X=ROWS, y=LABELS, rng=RNG, **PEOPLE)
    _scored = {"X": ROWS, "y": LABELS, "rho": 1, "rng": RNG, **PEOPLE}
    method(f"{_own}.score for a loss", partial(fitted, _kind), **_scored)
    add(f"dp.learn.cross_validate of {_own}", dp.learn.cross_validate, estimator=_made(), **_scored)
_CODED = {"categories": [[0, 1], [0, 1]], "classes": [-1, 1]}
learner("dp.learn.ID3Classifier of categories", dp.learn.ID3Classifier, **_CODED,
    criterion="entropy", most_rows=40)  # fmt: skip
learner("dp.learn.NaiveBayes of categories", dp.learn.NaiveBayes, **_CODED)
add("dp.sulq.NoisySums", data=ROWS, rho=50, queries=3)
method("dp.sulq.NoisySums.sum", sums, f="value", bounds=(0, 1), column=0)
method("dp.sulq.NoisySums.sum of a row", sums, f="row", l2=1.0)
method("dp.sulq.NoisySums.batch", sums, terms=["count"])
_SETS = np.ones((2, 30), bool)
method("dp.sulq.NoisySums.contrasts", sums, f=dp.sulq.Attribute(0), sets=_SETS)
method("dp.sulq.NoisySums.contrast_deviation", sums, sets=2)
add("dp.sulq.RowSets", masks=np.ones((2, 3), bool))
add("dp.sulq.RowSets.random", rows=3, sets=2)
add("dp.sulq.RowSets.from_bytes", bits=b"xx", rows=3, sets=2)
_ATTRIBUTE = {"column": 0, "low": 0.0, "high": 1.0}
add("dp.sulq.Attribute", lambda **kw: sums().sum(dp.sulq.Attribute(**kw)), of=dp.sulq.Attribute,
    **_ATTRIBUTE)  # fmt: skip
_TERM = {"f": "value", "bounds": (0, 1), "column": 0}
add("dp.sulq.Term", lambda **kw: sums().batch([dp.sulq.Term(**kw)]), of=dp.sulq.Term, **_TERM)
_ORACLE = {"data": ROWS, "queries": 3, "bounds": (0, 1)}
add("dp.sulq.ExactOracle", tolerance=0.1, **_ORACLE)
method("dp.sulq.ExactOracle.ask", exact, f=LABELS, bounds=(0, 1))
method("dp.sulq.ExactOracle.batch", exact, terms=[LABELS])
add("dp.sulq.StatisticalQueryOracle", tolerance=0.4, rho=50, rows=20, **_ORACLE)
add("dp.sulq.oracle_cost", rows=30, tolerance=0.4, queries=3, bounds=(0, 1))
add("dp.sulq.conjunction_needs", columns=2, error=0.1)
add("dp.sulq.halfspace_needs", columns=2, error=0.1, margin=0.1)
add("dp.sulq.learn_conjunction", None, lambda: {"oracle": exact()})
_MARGIN = {"margin": 0.1, "radius": 1.0, "rounds": 3}
add("dp.sulq.learn_halfspace", None, lambda: {"oracle": exact(), **_MARGIN})


def _parties():
    yes = dp.sulq.Attribute()
    return {"a": party(), "alpha": yes, "b": party(), "beta": yes}


add("dp.sulq.implication_test", None, lambda: {**_parties(), "strength": 0.5, "trials": 8})
add("dp.sulq.implication_strength", None, lambda: {**_parties(), "sets": 8})


for _kind, _kw in (
    (dp.online.MedianMechanism, {"size": 3}),
    (dp.online.PrivateMultiplicativeWeights, {}),
):
    _own = f"dp.online.{_kind.__name__}"
    _asked = {"rho": 50, "queries": 9, "accuracy": 0.99, "rng": RNG, **_kw}
    add(_own, histogram=COUNTS, **_asked)
    add(f"{_own} of data", data=[1, 2, 2] * 99, universe=[1, 2, 3], **_asked)
    _new = partial(_kind, COUNTS, **_asked)
    for _name, _given in ("answer", {"query": EVENS}), ("synthetic", {"rows": 3}):
        if hasattr(_kind, _name):
            method(f"{_own}.{_name}", _new, **_given)
add("dp.online.MWEM", histogram=COUNTS, queries=[EVENS], rounds=2, rho=50, rng=RNG)
for _kind, _kw in (dp.online.AboveThreshold, {}), (dp.online.SparseVector, {"positives": 2}):
    _own, _asked = f"dp.online.{_kind.__name__}", {"rho": 50, "rng": RNG, **_kw}
    add(_own, **_asked)
    _new = partial(_kind, **_asked)
    for _name, _given in ("answer", {"value": 3}), ("answer_many", {"values": [1, 2]}):
        method(f"{_own}.{_name}", _new, **_given)
    _grid = partial(_kind, granularity=0.5, **_asked)
    method(f"{_own}.answer of floats", _grid, value=3.5)
_asked = {"steps": 9, "rho": 50, "rng": RNG}
add("dp.online.RunningCount", **_asked)
method("dp.online.RunningCount.add", partial(dp.online.RunningCount, **_asked), value=3)
method("dp.online.RunningCount.half_width", partial(dp.online.RunningCount, **_asked), step=3)


_TABLE = by_group.TABLE
_GROUPS = {"data": _TABLE, "by": "key", "keys": by_group.KEYS}
_PEOPLE = {"ids": "who", "max_groups": 2, "max_rows": 3}
_WEIGHED = {"weights": "key", "weight_bounds": (0, 5)}


def _counted(**kw):
    """Arguments of groups are told by `group_by`, or by what is asked of them."""
    return dp.group_by(**kw).count(epsilon=1, rng=RNG)


def stat(name, **kw):
    """A statistic, and the method of its name."""
    own = getattr(dp.stat, name.split()[0])

    def call(**given):
        return dp.group_by(**_GROUPS, **_PEOPLE).agg({"a": own(**given)}, epsilon=1, rng=RNG)

    add(f"dp.stat.{name}", call, of=own, **kw)
    groups = partial(dp.group_by, **_GROUPS, **_PEOPLE)
    method(f"group_by.{name}", groups, **kw, epsilon=1, where=[True] * by_group.SIZE, rng=RNG)


add("dp.group_by", _counted, of=dp.group_by, **_GROUPS)
add("dp.group_by of people", _counted, of=dp.group_by, **_GROUPS, **_PEOPLE)
add("dp.group_by of two", _counted, of=dp.group_by, data=_TABLE, by=["key", "who"], keys=[[1], [2]])
method("group_by.agg", partial(dp.group_by, **_GROUPS),
    statistics={"a": dp.stat.count(), "b": dp.stat.median("x", bounds=(0, 1))}, weights={"a": 2},
    epsilon=1, rng=RNG)  # fmt: skip
method("group_by.top_k", partial(dp.group_by, **_GROUPS), k=2, epsilon=1, rng=RNG)
stat("count")
stat("count_distinct")
stat("count of missing", column="x", nan="only")
stat("count_nonzero", column="x", nan="drop")
for _name in ("sum", "mean", "variance", "std", "median", "minimum", "maximum"):
    stat(_name, column="x", bounds=(0, 100))
for _name in ("sum", "mean"):
    stat(f"{_name} of weighted", column="x", bounds=(0, 100), **_WEIGHED)
stat("proportion", column="word", equal="w0")
stat("proportion of weighted", column="x", equal=4, **_WEIGHED)
for _name in ("ratio", "correlation"):
    stat(_name, column="x", other="who", bounds=[(0, 100)] * 2, nan="raise")
stat("quantile", column="x", bounds=(0, 100), q=0.5)
stat("quantiles", column="x", bounds=(0, 100), qs=[0.5, 0.9])
stat("percentile", column="x", bounds=(0, 100), q=50)
stat("percentile of several", column="x", bounds=(0, 100), q=[50, 90])
stat("histogram", column="x", bounds=(0, 100), bins=3)
stat("histogram of weighted", column="x", bounds=(0, 100), bins=3, **_WEIGHED)
stat("histogram of words", column="word", categories=["w0", "w1"])


def _mechanism(loss, neighbors, name):
    """The mechanism of a number that everybody knows."""
    own = {"loss": loss, "neighbors": neighbors, "name": name}
    return types.SimpleNamespace(**own, reduce=lambda source: 3, finish=lambda three, rng: three)


_OWN = {"loss": dp.privacy.Pure(1), "neighbors": "replace", "name": "three"}
add("dp.extend.release", data=X, mechanism=_mechanism(**_OWN), rng=RNG)
add("dp.extend.release of parts", lambda **kw: dp.extend.release(X, _mechanism(**kw), rng=RNG),
    of=_mechanism, **_OWN)  # fmt: skip
add("dp.extend.integer_noise", loss=dp.privacy.Pure(1), l1=5, l2=3, l0=4, linf=3)
add("dp.extend.key_rule", loss=dp.privacy.Approx(1, 1e-3), max_groups=2, neighbors="replace")
add("dp.extend.relation_of", neighbors=None, budget=None)
add("dp.extend.prepare", lambda function: dp.extend.prepare(function, 0, sensitivity=1, epsilon=1),
    of=dp.extend.prepare, function=dp.additive_release)  # fmt: skip


add("dp.get_include")
add("dp.show_config", mode="dicts")

_PAIR = {"mechanism": lambda data: 0.5, "x": [1.0, 2.0], "x2": [1.0, 3.0], "samples": 1024}
add("dp.audit.measure", **_PAIR, epsilon=1.0)
add("dp.audit.measure_answers", answers=[0, 1] * 200, answers2=[1, 0] * 200, epsilon=1.0)
add("dp.audit.measure_pairs", mechanism=_PAIR["mechanism"], pairs=[("one", [1.0], [2.0])],
    epsilon=1.0)  # fmt: skip
add("dp.audit.support", **_PAIR)
add("dp.audit.claims", epsilon=1.0, pairs=[("one", [1.0], [2.0])])
add("dp.audit.neighbors", schema=(0.0, 1.0), rows=2)
add("dp.audit.replay", function=lambda data: 0.5, x=[1.0, 2.0], x2=[1.0])
add("dp.audit.one_run", run=lambda included: 1.0 * included, canaries=9, epsilon=1.0, rng=RNG)
add("dp.audit.expected_recovery", n=9, queries=99, deviation=1.0)
add("dp.audit.recovery_bound", epsilon=1.0)
add("dp.audit.exact_epsilon", p=[0.7, 0.3], q=[0.3, 0.7], delta=0.1)
add("dp.audit.exact_rho", p=[0.7, 0.3], q=[0.3, 0.7])
_BITS = {"answer": [1.0, 0.0], "n": 2, "queries": np.eye(2, dtype=bool)}
for _name in ("lp", "lp-max", "least-squares"):
    add(f"dp.audit.reconstruct by {_name}", method=_name, **_BITS)
add("dp.audit.reconstruct by questions", answer=np.sum, n=4, queries=8, rng=RNG)
add("dp.order.Ranks", lambda **kw: dp.order.Ranks(**kw).window(lambda n: 1, 1), of=dp.order.Ranks,
    data=X)  # fmt: skip
add("dp.order.Ranks.window", dp.order.Ranks(X).window, rank_rule=lambda n: 3, width=2)
add("dp.order.window", data=X, rank=3, width=2)


def estimator(kind, bounds, data, **kw):
    def call(**own):
        return dp.sample_and_aggregate(data, kind(**own), blocks=3, bounds=bounds, rho=50)

    add(f"dp.estimators.{kind.__name__}", call, of=kind, **kw)


for _name in dp.estimators.__all__:
    _kind = getattr(dp.estimators, _name)
    if _name in ("LeastSquares", "LogisticRegression"):
        estimator(_kind, [(0, 1)] * 2, ROWS)
    elif _name == "Correlation":
        estimator(_kind, (0, 1), ROWS)
    else:
        estimator(_kind, (0, 1), ROWS[:, 0], **({"q": 0.5} if _name == "Quantile" else {}))
add("dp.rng.InsecureGenerator", seed=1)
add("dp.rng.check", rng=None)
add("dp.smooth_beta", epsilon=1.0)
add("dp.consistent", parts=[1, 2, 3], totals=[7], variances=[1, 1], decimals=0)
add("dp.suggest_blocks", n=1000, bounds=(0, 1), epsilon=1.0)
add("dp.expected_error", lambda function=dp.count, **kw: dp.expected_error(function, X, epsilon=1,
    **kw), of=dp.expected_error, confidence=0.9, rows=5)  # fmt: skip
add("dp.mechanism", lambda function=dp.mean, **kw: dp.mechanism(function, axis=0, bounds=(0, 1),
    epsilon=1, **kw), of=dp.mechanism, columns=3, dtype="float32")  # fmt: skip
_MEAN = dp.mechanism(dp.mean, bounds=(0, 1), epsilon=1)
add("dp.mechanism.from_dict", written=_MEAN.to_dict())
add("dp.mechanism.expected_error", _MEAN.expected_error, rows=9, confidence=0.9)
add("dp.mechanism.__call__", lambda **kw: _MEAN(**kw), of=_MEAN, data=X, rng=RNG)
add("dp.Budget", epsilon=1.0)
_KNOWN = {
    "data": X, "bounds": (0, 100), "sigma": 1.0, "gamma": 4, "shape": 3.0, "df": 3.0,
    "rng": RNG, "neighbors": "replace", "epsilon": 1.0,
}  # fmt: skip


def known(module, name, **kw):
    function = getattr(module, name)
    own = inspect.signature(function).parameters
    some = {key: value for key, value in _KNOWN.items() if key in own}
    add(f"dp.{module.__name__.removeprefix('dpfast.')}.{name}", **some, **kw)


def _smooth(statistic, data=X, **kw):
    return dp.sensitivity.smooth(statistic, data, **kw)


_DISTANCES = {"statistic": lambda k, data: 1.0, "beta": 0.5, "stop": 3, "most": 2.0}
add("dp.sensitivity.smooth", _smooth, of=dp.sensitivity.smooth, **_DISTANCES)
add("dp.sensitivity.TreeCost", edges=EDGES, bounds=(0, 100))
add("dp.sensitivity.Triangles", nodes=4)
#: Statistics of known sensitivity, with their data and their number of rows.
_KINDS = {"sum": (dp.Sum(bounds=(0, 100)), X, 9), "mean": (dp.Mean(bounds=(0, 100)), X, 9),
    "variance": (dp.Variance(bounds=(0, 100)), X, 9), "std": (dp.Std(bounds=(0, 100)), X, 9),
    "quantile": (dp.Quantile(q=0.5, bounds=(0, 100)), X, None),
    "median": (dp.Median(bounds=(0, 100)), X, None),
    "minimum": (dp.Minimum(bounds=(0, 100)), X, None),
    "maximum": (dp.Maximum(bounds=(0, 100)), X, None), "iqr": (dp.Iqr(bounds=(0, 100)), X, None),
    "trimmed_mean": (dp.TrimmedMean(bounds=(0, 100)), X, 9),
    "winsorized_mean": (dp.WinsorizedMean(bounds=(0, 100)), X, 9),
    "tree_cost": (dp.sensitivity.TreeCost(EDGES, bounds=(0, 100)), LENGTHS, None),
    "triangles": (dp.sensitivity.Triangles(), GRAPH, None)}  # fmt: skip
for _name, (_kind, _rows, _count) in _KINDS.items():
    _given = {"statistic": _kind, "neighbors": "replace"}
    if _name == "triangles":
        _given["neighbors"] = "add-remove"
    add(f"dp.sensitivity.local {_name}", **_given, data=_rows)
    add(f"dp.sensitivity.smooth {_name}", _smooth, of=dp.sensitivity.smooth, **_given, data=_rows,
        beta=0.5)  # fmt: skip
    if _name == "triangles":
        _given["statistic"] = dp.sensitivity.Triangles(4)
    add(f"dp.sensitivity.global_ {_name}", **_given, rows=_count)
for _name in dp.noise.__all__:
    if _name != "generator" and not _name.startswith("draw"):
        known(dp.noise, _name, **({"delta": 1e-6} if _name == "gaussian_scale" else {}))
        if "granularity" in inspect.signature(getattr(dp.noise, _name)).parameters:
            _wide = {"sensitivity" if _name == "staircase" else "scale": [1.0, 2.0]}
            known(dp.noise, _name, **_wide, granularity=[0.5, 0.25], size=(3, 2))
            CALLS[f"dp.noise.{_name} of two scales"] = CALLS[f"dp.noise.{_name}"]
            known(dp.noise, _name)
add("dp.noise.generator", granularity=0.5, rng=RNG)
_DRAWN = {"normal": {"loc": 3.0, "scale": 2.0, "size": 2},
    "standard_normal": {"size": 2, "dtype": "float32", "out": None},
    "laplace": {"loc": [3.0, 4.0], "scale": 2.0, "size": (3, 2)},
    "logistic": {"loc": 3.0, "scale": 2.0, "size": 2},
    "gumbel": {"loc": [3.0, 4.0], "scale": 2.0, "size": (3, 2)},
    "exponential": {"scale": 2.0, "size": 2},
    "standard_exponential": {"size": 2, "dtype": "f8", "method": "inv", "out": None},
    "geometric": {"p": 0.25, "size": 2}, "uniform": {"low": 1.0, "high": 2.0, "size": 2},
    "random": {"size": 2, "dtype": "float32", "out": None},
    "integers": {"low": 1, "high": 5, "size": 2, "dtype": "int8", "endpoint": True},
    "choice": {"a": 2, "size": 2, "replace": False, "p": [0.5, 0.5], "axis": 0, "shuffle": True},
    "permutation": {"x": 3, "axis": 0}, "permuted": {"x": [[1, 2]], "axis": 1, "out": None},
    "bytes": {"length": 3}, "spawn": {"n_children": 2}}  # fmt: skip
for _name, _kw in _DRAWN.items():
    method(f"dp.noise.generator.{_name}", partial(dp.noise.generator, rng=RNG), **_kw)
_SAMPLER = dp.noise.generator(rng=RNG)
add("dp.noise.generator.shuffle", _SAMPLER.shuffle, lambda: {"x": [1, 2, 3], "axis": 0})
for _name in ("probabilities", "expected_error"):
    known(dp.selection, _name, scores=[1, 2], sensitivity=1)
_CANDIDATES = {"candidates": 3, "sensitivity": 1, "epsilon": 1.0}
add("dp.selection.utility_bound", t=1.0, **_CANDIDATES)
_BEST = {"run": lambda: (0, 0), "run_loss": dp.privacy.Pure(1), "gamma": 0.5, "eta": 1}
add("dp.selection.best_of", **_BEST, neighbors="replace")
_SCORES = {"scores": lambda data, j: j, "data": None}
add("dp.selection.exponential of a function", **_SCORES, **_CANDIDATES)
add("dp.response.estimate_binary", responses=ROWS[:, 0] > 2, epsilon=1)
add("dp.response.estimate_kary", responses=np.zeros(9, int), epsilon=1, categories=3)
add("dp.response.estimate_unary", responses=ROWS > 2, epsilon=1)

add("dp.Count", nan="drop")
add("dp.CountNonzero", nan="drop")
add("dp.CountDistinct")
add("dp.KeptWhole")
add("dp.Sum", bounds=(0, 1), nan="raise", weight_bounds=(0, 1))
add("dp.Mean", bounds=(0, 1), nan="raise", weight_bounds=(0, 1))
add("dp.Variance", bounds=(0, 1), nan="raise", ddof=1)
add("dp.Std", bounds=(0, 1), nan="raise", ddof=1)
OF_RANKS = {"bounds": (0, 1), "nan": "lower", "granularity": 0.5, "noise": "cauchy"}
for _name, _more in {
    "Quantile": {"q": 0.5, "assume_sorted": True},
    "Percentile": {"q": 50, "assume_sorted": True},
    "Median": {"assume_sorted": True},
    "Minimum": {},
    "Maximum": {},
    "Iqr": {},
}.items():
    add(f"dp.{_name}", **OF_RANKS, method="smooth", **_more)
add(
    "dp.Quantiles", qs=[0.5], bounds=(0, 1), nan="lower", granularity=0.5, method="joint",
    assume_sorted=True,
)  # fmt: skip
add("dp.QuantileInterval", q=0.5, bounds=(0, 1), coverage=0.9, nan="lower")
add("dp.TrimmedMean", bounds=(0, 1), nan="lower", proportion=0.2, noise="cauchy")
add("dp.WinsorizedMean", bounds=(0, 1), nan="lower", proportion=0.2, noise="cauchy")
add("dp.Covariance", bounds=[(0, 1), (0, 1)], nan="raise", ddof=1)
add("dp.Proportion", equal="tea", weight_bounds=(0, 1))
add("dp.Difference", None, lambda: {"of": dp.Mean(bounds=(0, 1)), "keys": ("a", "b")})
add("dp.Ratio", bounds=[(0, 1), (1, 2)], nan="raise")
add("dp.Correlation", bounds=[(0, 1), (1, 2)], nan="raise")
add("dp.OuterBounds", q=0.1, nan="raise")
add("dp.Describe", bounds={"a": (0, 1)}, categories={"b": ["x", "y"]})
add(
    "dp.Marginals", ways=1, categories={"a": [1, 2]}, bins={"b": 4}, bounds={"b": (0, 1)},
    importance={"a": 2.0},
)  # fmt: skip
add("dp.TreeHistogram", bins=4, bounds=(0, 1), fan_out=2)
add("dp.Workload", queries=[[1, 0, 0, 1]], bins=4, bounds=(0, 1))
add("dp.ptr.Mean", bounds=(0, 1), nan="raise", proposed=0.1, test_share=0.5)
add("dp.ptr.Iqr", bounds=(0, 1), nan="raise", proposed=0.1, test_share=0.5, assume_sorted=True)
add(
    "dp.ptr.Quantile", q=0.5, bounds=(0, 1), nan="raise", proposed=0.1, test_share=0.5,
    assume_sorted=True,
)  # fmt: skip
add("dp.Unit", neighbors="replace", ids="who", max_rows=3)
add(
    "dp.Mean.measure", dp.Mean(bounds=(0, 1)).measure, epsilon=1, delta=0.0, unit="replace",
    columns=2, where=True, rows=9, dtype="f8",
)  # fmt: skip

PURE, P = dp.privacy.Pure(1), dp.privacy
#: Losses, and what is computed of them.
LOSSES = {
    "dp.privacy.Pure": (P.Pure, {"epsilon": 1}),
    "dp.privacy.Approx": (P.Approx, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.ZCDP": (P.ZCDP, {"rho": 1}),
    "dp.privacy.ZCDP.of_pure": (P.ZCDP.of_pure, {"pure": PURE}),
    "dp.privacy.ZCDP.largest": (P.ZCDP.largest, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.ZCDP.to_approx": (P.ZCDP(1).to_approx, {"delta": 0.1}),
    "dp.privacy.ZCDP.to_approx_delta": (P.ZCDP(1).to_approx_delta, {"epsilon": 9}),
    "dp.privacy.Pure.to_approx": (PURE.to_approx, {"delta": 0.1}),
    "dp.privacy.Draws": (P.Draws, {"epsilon": 1, "draws": 2, "bounded_range": False, "cells": 3}),
    "dp.privacy.Draws of answers": (P.Draws, {"epsilon": 1, "categories": 3}),
    "dp.privacy.loss": (P.loss, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.loss of rho": (P.loss, {"rho": 0.1}),
    "dp.privacy.float_down": (P.float_down, {"amount": 0.1}),
    "dp.privacy.repeated_selection": (
        P.repeated_selection, {"run_loss": PURE, "gamma": 0.1, "eta": 1, "delta": 0.1}
    ),
    "dp.privacy.range_within": (P.range_within, {"rho": 0.1}),
    "dp.privacy.pure_within": (P.pure_within, {"rho": 0.1}),
    "dp.privacy.laplace_within": (P.laplace_within, {"rho": 0.1, "draws": 1, "cells": 0}),
    "dp.privacy.compose": (lambda one: P.compose(one, PURE), {"one": PURE}),
    "dp.privacy.parallel": (
        lambda one, neighbors, parts, staying: P.parallel(
            one, neighbors=neighbors, parts=parts, staying=staying
        ),
        {"one": PURE, "neighbors": "replace", "parts": "content", "staying": [PURE]},
    ),
    "dp.privacy.group": (P.group, {"loss": PURE, "size": 2}),
    "dp.privacy.group_within": (P.group_within, {"loss": PURE, "size": 2}),
    "dp.privacy.convert": (
        P.convert,
        {"loss": PURE, "relation": "add-remove", "wanted": "replace"},
    ),
    "dp.privacy.post_processing": (P.post_processing, {"loss": PURE}),
    "dp.privacy.advanced_composition": (
        lambda one, delta: P.advanced_composition(one, delta=delta),
        {"one": PURE, "delta": 0.1},
    ),
    "dp.privacy.optimal_composition": (
        P.optimal_composition,
        {"loss": PURE, "times": 3, "delta": 0.1},
    ),
    "dp.privacy.optimal_composition for epsilon": (
        P.optimal_composition,
        {"loss": PURE, "times": 3, "epsilon": 2},
    ),
    "dp.privacy.Filter": (P.Filter, {"limit": PURE}),
    "dp.privacy.Filter.spend": (lambda loss: P.Filter(PURE).spend(loss), {"loss": PURE}),
}  # fmt: skip
for _name, (_function, _given) in LOSSES.items():
    add(_name, _function, **_given)

#: What is no function of a caller's: what is answered with, and what is only to be subclassed.
TOLD = {
    dp.Measurement, dp.PrivacyAdvice, dp.Release, dp.Statistic, dp.extend.KnownSensitivity,
    dp.sulq.Condition, dp.sulq.Conjunction, dp.learn.CrossValidation, dp.sulq.Halfspace,
    dp.sulq.Implication, dp.sulq.ImplicationTest, dp.learn.NotFittedError, dp.online.Answer,
    dp.online.Finding,
    dp.online.Findings, dp.online.Total, dp.order.Window, dp.response.Estimate, dp.rng.Generator,
    dp.rng.SecureGenerator, dp.rng.SecureBitGenerator, dp.rng.default_generator, dp.ptr.NoAnswer,
    # the functions by which mechanisms draw, whose distributions have no public name
    dp.noise.draw, dp.noise.draw_array,
    # whose other end is another party; see `tests/sulq/test_remote_sums.py`
    dp.sulq.RemoteSums, dp.sulq.serve,
    # what is made by dpfast, or by others for it; see `tests/docs/test_extending.py`
    dp.extend.Chunk, dp.extend.ErrorBar, dp.extend.IntegerNoise, dp.extend.Mechanism,
    dp.extend.Prepared, dp.extend.Source, dp.extend.releases,
    # what a package of its own makes statistics and noise of; see `tests/usage`
    dp.extend.Feature, dp.extend.Basis, dp.extend.Linear, dp.extend.MechanismLike, dp.extend.Moves,
    dp.extend.NoiseCandidate, dp.extend.Preparing, dp.extend.SumNoise, dp.extend.add_noise_family,
    dp.extend.measures,
    # texts alone; see `tests/app/test_terminal.py`
    dp.errors.printable, dp.extend.exact, dp.extend.fact_text, dp.extend.hide_error,
    dp.extend.html.facts, dp.extend.html.table,
    # files and what is read of them; see `tests/app` and `tests/tables`
    dp.extend.DatabaseTable, dp.extend.Files, dp.extend.SharedPasses, dp.extend.conditions,
    dp.extend.instruction_sets,
    # types of arguments, and what a package of its own asks for a library by
    dp.extend.Neighbors, dp.extend.extra,
    # context managers; see `tests/audit` and `tests/budget/test_record.py`
    dp.extend.data_version, dp.extend.watched,
    # an adapter with a library behind it
    dp.privacy.LossDistribution,
    # files, streams and engines; see `tests/tables`
    dp.scan, dp.stream, dp.spark,
    dp.audit.Audit, dp.audit.Pair, dp.audit.Replay, dp.audit.Support,
    # no data; see `tests/_core/test_threads`
    dp.threads,
}  # fmt: skip
