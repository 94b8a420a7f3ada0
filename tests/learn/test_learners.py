"""What every learner holds: forms of rows, missing values, columns, what is kept, refused, paid."""

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast import learn
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, DpfastError
from dpfast.learn import NotFittedError, estimator
from dpfast.learn.id3 import MOST_CHOICES
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.tables import memory

from ..support import surface
from ..support.memory import peak
from ..support.names import shown
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused

RELATIONS = ["replace", "add-remove"]
BOUNDS: dict[str, Any] = {"bounds": (0, 8)}
CLASSES: dict[str, Any] = {"classes": [-1, 1]}
DIGITS: dict[str, Any] = {"categories": range(9)}
TARGET: dict[str, Any] = {"y_bounds": (-1, 1)}
MIXED: dict[str, Any] = {"bounds": [(0, 8), None, (0, 8)], "categories": [None, range(9), None]}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "k-means": (learn.KMeans, {"n_clusters": 3, **BOUNDS}),
    "components": (learn.PCA, BOUNDS),
    "singular vectors": (learn.TruncatedSVD, BOUNDS),
    "scaling": (learn.StandardScaler, BOUNDS),
    "perceptron": (learn.Perceptron, BOUNDS),
    "perceptron in a ball": (learn.Perceptron, {"radius": 9.5}),
    "regression": (learn.LinearRegression, {**TARGET, **BOUNDS}),
    "regression through 0": (learn.LinearRegression, {**TARGET, **BOUNDS, "fit_intercept": False}),
    "bayes": (learn.NaiveBayes, {**BOUNDS, **CLASSES}),
    "bayes of both": (learn.NaiveBayes, {**MIXED, **CLASSES}),
    "logistic": (learn.LogisticRegression, {**BOUNDS, **CLASSES}),
    "logistic of both": (learn.LogisticRegression, {**MIXED, **CLASSES}),
    "boosting tree": (learn.AdditiveBoostingClassifier, {**DIGITS, **CLASSES}),
    "boosting tree of numbers": (learn.AdditiveBoostingRegressor, {**DIGITS, **TARGET}),
    "forest of trees": (learn.RandomForestClassifier, {**BOUNDS, **CLASSES, "n_estimators": 9}),
    "forest of both trees": (learn.RandomForestClassifier, {**MIXED, **CLASSES, "n_estimators": 9}),
    "tree": (learn.ID3Classifier, {**DIGITS, **CLASSES}),
    "tree by counts": (learn.ID3Classifier, {**DIGITS, **CLASSES, "splits": "counts"}),
}
#: Learners whose columns have bins, and for which a NaN is in none of them.
BINNED = [learn.ID3Classifier, learn.AdditiveBoostingClassifier, learn.AdditiveBoostingRegressor]
EVERY = pytest.mark.parametrize("name", list(CASES))
#: The ledger entry of each, and what it learned beside `n_features_in_` and `loss_`.
KEPT = {
    getattr(learn, kind): (what, set(learned.split()))
    for kind, what, learned in (
        line.split(": ")
        for line in """
KMeans: k-means: cluster_centers_ cluster_counts_ n_iter_
PCA: principal components: components_ covariance_ explained_variance_ explained_variance_ratio_ \
mean_ n_components_ n_rows_
TruncatedSVD: singular vectors: components_ singular_values_
Perceptron: perceptron: coef_ intercept_ classes_ mistakes_ n_iter_
LinearRegression: linear regression: coef_ coef_standard_error_ intercept_ n_rows_
NaiveBayes: naive Bayes: class_count_ class_prior_ theta_ var_ category_log_prob_ classes_
ID3Classifier: ID3: tree_ classes_
StandardScaler: scaling: mean_ var_ scale_ n_rows_
RandomForestClassifier: random forest: leaf_counts_ leaf_proba_ classes_
LogisticRegression: logistic regression: coef_ intercept_ class_count_ classes_ n_iter_
AdditiveBoostingClassifier: additive boosting: term_scores_ bin_counts_ intercept_ class_count_ \
classes_ n_iter_
AdditiveBoostingRegressor: additive boosting: term_scores_ bin_counts_ intercept_ n_rows_ n_iter_
""".strip().split("\n")
    )
}
CALLS = ("predict", "predict_proba", "decision_function", "transform")


def table(n=3000, whole=True):
    """Rows between 0 and 8, on a grid that every dtype has, and labels that follow them."""
    g = np.random.default_rng(0)
    X = g.integers(0, 9, (n, 3)).astype(float) if whole else g.uniform(0, 8, (n, 3))
    return X, np.where(X[:, 0] + X[:, 1] / 2 + g.normal(0, 1, n) > 6, 1, -1)


def fitted(name, X, y, seed=1, **kw):
    kind, own = CASES[name]
    return kind(**{"rho": 1, **own, **kw}).fit(X, y, rng=InsecureGenerator(seed))


def learned(made):
    kept = {key: value for key, value in vars(made).items() if key.endswith("_")}
    kept.pop("feature_names_in_", None)
    return pickle.dumps(kept)


def calls(made):
    asked = [getattr(made, name) for name in CALLS if hasattr(made, name)]
    if hasattr(made, "score"):
        asked.append(lambda rows: made.score(rows, np.resize([1, -1], len(rows["a"]))))
    return asked


NAMES = ["a", "b", "c"]


def beside(X, y):
    return {
        **{kind: (X.astype(kind), y.astype(float).tolist()) for kind in ("f4", "i8", ">f8", "u1")},
        "fortran": (np.asfortranarray(X), y.astype("i1")),
        "table": (pd.DataFrame(X, columns=NAMES), pd.Series(y)),
        "alone": (np.column_stack([X]).view([(name, "f8") for name in NAMES])[:, 0], y),
        "records": (np.array(list(map(tuple, X)), [("a", "f4"), ("b", "f8"), ("c", "i2")]), y),
    }


def within(X, y):
    columns = {"a": X[:, 0], "y": y, "b": X[:, 1], "c": X[:, 2]}
    rows = list(zip(*columns.values(), strict=True))
    whole = np.array(rows, [(name, "f8") for name in columns])
    packed = np.column_stack([X, y]).view([(name, "f8") for name in "abcy"])[:, 0]
    kinds = zip(columns, ["f8", "i4", "f4", "f8"], strict=True)
    forms = pd.DataFrame(columns), packed, whole[["a", "b", "y", "c"]], np.array(rows, list(kinds))
    return dict(zip(("named", "packed", "reordered", "mixed"), forms, strict=True))


@every_value
@EVERY
@quick_rows(6)
@pytest.mark.parametrize("form", [*beside(*table(1)), *within(*table(1))])
def test_every_form_of_data_leads_to_the_same(name, form):
    X, y = table()
    forms = beside(X, y) | {key: (rows, "y") for key, rows in within(X, y).items()}
    if form in within(X[:1], y[:1]) and not CASES[name][0]._supervised:
        forms[form] = (forms[form][0][NAMES], None)
    one, other = fitted(name, X, y), fitted(name, *forms[form])
    assert learned(one) == learned(other)
    if hasattr(one, "score"):
        assert one.score(X, y) == pytest.approx(other.score(*forms[form]), rel=1e-12)


@quick_rows(6)
@EVERY
def test_a_column_of_numbers_is_rows_of_one_number(name):
    X, y = table()
    kw = {"bounds": (0, 8), "categories": None} if "both" in name else {}
    assert learned(fitted(name, X[:, 0], y, **kw)) == learned(fitted(name, X[:, :1], y, **kw))


@pytest.mark.parametrize("kind", [learn.ID3Classifier, learn.NaiveBayes])
def test_text_leads_to_the_same_as_its_numbers(kind):
    X, y = table()
    words = [[f"{name}{v}" for v in range(9)] for name in NAMES]
    text = {n: np.array(w)[x.astype(int)] for n, w, x in zip(NAMES, words, X.T, strict=True)}
    one = kind(categories=range(9), classes=[-1, 1], rho=1).fit(X, y, rng=InsecureGenerator(1))
    other = kind(categories=words, classes=["no", "yes"], rho=1)
    told = np.where(y > 0, "yes", "no")
    other.fit(pd.DataFrame({**text, "y": told}), "y", rng=InsecureGenerator(1))
    assert other.score(text, told) == one.score(X, y) > 0.5
    assert (other.predict(text) == np.where(one.predict(X) > 0, "yes", "no")).all()
    other.classes_ = one.classes_
    assert learned(one) == learned(other)


@pytest.mark.full
@EVERY
def test_chunks_and_threads_do_not_change_a_bit(name, monkeypatch):
    X, y = table(3 << 17, whole="tree" in name or "both" in name)
    results = set()
    for threads, direct in ("1", 1 << 23), ("1", 160_016), ("3", 1 << 23):
        monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
        monkeypatch.setattr(memory.MemoryRows, "DIRECT", direct)
        made = fitted(name, X, y)
        results.add((learned(made), *(call(X).tobytes() for call in calls(made)[:1])))
    assert len(results) == 1


@quick_rows(3)
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0] not in BINNED])
def test_missing_values_and_rows_outside_the_bounds(name):
    X, y = table(900)
    holes = X.copy()
    holes[7, 2] = np.nan
    kind, kw = CASES[name]
    made, budget = kind(**kw, rho=1), dp.Budget(rho=1)
    with pytest.raises(DataError, match=r"NaN.* not refunded"):
        made.fit(holes, y, budget=budget)
    assert budget.remaining["rho"] == 0 and vars(made) == made.get_params()
    without = learned(fitted(name, np.delete(X, 7, axis=0), np.delete(y, 7)))
    assert learned(fitted(name, holes, y, nan="drop")) == without
    for nan, number in (0.25, 0.25), ("lower", 0.0), ("upper", 8.0), (1e308, 8.0):
        if name == "perceptron in a ball" and nan != 0.25:
            continue  # the bounds of a coordinate are the radius
        filled = learned(fitted(name, np.nan_to_num(holes, nan=number), y))
        assert learned(fitted(name, holes, y, nan=nan)) == filled
    wild, inside = X.copy(), X.copy()
    wild[:90, 2], wild[90:99, 0], wild[99:200, 0] = np.inf, -1e300, 99.0
    inside[:90, 2], inside[90:99, 0], inside[99:200, 0] = 8.0, 0.0, 8.0
    if name != "perceptron in a ball":
        assert learned(fitted(name, wild, y)) == learned(fitted(name, inside, y))


@pytest.mark.full
@EVERY
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rho", [1e-6, 1.0, 400.0])
def test_few_rows_are_no_error(name, relation, rho):
    for n in (0, 1, 5, 500):
        X, y = table(max(n, 1))
        X, y = (X[:n], y[:n]) if n < 500 else (np.full((500, 3), 3.0), y)
        if name == "k-means" and relation == "replace" and n < 3:
            continue  # fewer rows than centers, which is public
        made = fitted(name, X, y, rho=rho, neighbors=relation)
        for call in calls(made)[: 2 if hasattr(made, "classes_") else 1]:
            assert np.isfinite(call(np.ones((4, 3)))).all()
            assert call(np.ones((0, 3))).shape[0] == 0
        if hasattr(made, "score"):
            assert math.isnan(made.score(X[:0], y[:0]))


@EVERY
def test_nothing_exact_is_kept_and_the_rest_can_be_stored(name):
    X, y = table()
    made = fitted(name, X, y)
    kept = {"n_features_in_", "loss_", *KEPT[type(made)][1]}
    if name == "regression through 0":
        kept.remove("n_rows_")
    assert set(vars(made)) - set(made.get_params()) - {"_fitted_with"} == kept
    assert made._fitted_with == made.get_params()
    stored = pickle.dumps(made)
    assert len(stored) < (30_000 if "tree" in name else 3000)  # and no row has come along
    for call, other in zip(calls(made), calls(pickle.loads(stored)), strict=True):
        rows = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
        assert np.array_equal(call(rows), other(rows))


@quick_rows(18)
@EVERY
@pytest.mark.parametrize("loss", [Pure(0.5), Approx(0.5, 1e-6), ZCDP(0.1)], ids=str)
def test_one_entry_in_the_ledger(name, loss):
    (kind, kw), (X, y) = CASES[name], table(200)
    asked = {"rho": 0.1} if isinstance(loss, ZCDP) else {"epsilon": 0.5}
    if isinstance(loss, Approx):
        asked["delta"] = 1e-6
    budget = dp.Budget(rho=0.15) if isinstance(loss, ZCDP) else dp.Budget(epsilon=0.6, delta=1e-6)
    made = kind(**kw, **asked).fit(X, y, budget=budget)
    (entry,) = budget.history
    assert entry.loss == loss == made.loss_ and entry.what == KEPT[kind][0]
    with pytest.raises(BudgetError):
        made.fit(X, y, budget=budget)
    assert budget.cost(made.fit, X, y) == loss and len(budget.history) == 1


ROWS = np.random.default_rng(1).uniform(0, 1, (500, 2))
LABELS = np.where(ROWS[:, 0] > 0.5, 1, -1)
TABLE = {"a": ROWS[:, 0], "b": ROWS[:, 1]}
KINDS = pytest.mark.parametrize("kind", surface.LEARNERS, ids=lambda kind: kind.__name__)
SCORED = [kind for kind in surface.LEARNERS if kind._supervised]


def made_of(kind, **kw):
    return kind(**{**surface.LEARNERS[kind], "rho": 50, **kw})


def of_rows(kind, rows=TABLE, y=LABELS, **kw):
    return made_of(kind, **kw).fit(rows, y)


@KINDS
def test_not_fitted(kind):
    theirs = pytest.importorskip("sklearn.exceptions").NotFittedError
    for call in calls(made_of(kind)):
        with pytest.raises(theirs, match=f"this {kind.__name__} .* call fit first") as caught:
            call(TABLE)
        assert all(isinstance(caught.value, own) for own in (NotFittedError, AttributeError))


@KINDS
def test_other_columns_than_were_learned_from_are_refused(kind):
    made = of_rows(kind)
    assert made.feature_names_in_.tolist() == ["a", "b"] and made.n_features_in_ == 2
    a, b = ROWS.T
    wrong = [
        ({"b": b, "a": a}, "X must be a table with the columns a, b in this order"),
        ({"a": a, "c": b}, "X must be a table with the columns a, b in this order"),
        ({"a": a}, "X must be of 2 columns, as in fit, got '1 of them'"),
        ({**TABLE, "c": b}, "X must be of 2 columns, as in fit, got '3 of them'"),
    ]
    for call in calls(made):
        for rows, message in wrong:
            with pytest.raises(ArgumentError, match=message):
                call(rows)
        call(TABLE)


NUMBERS = [learn.PCA, learn.TruncatedSVD, learn.Perceptron, learn.LinearRegression]
WITHOUT_PROBABILITIES = [learn.LogisticRegression, learn.RandomForestClassifier]


@pytest.mark.parametrize(
    ("kind", "odd"),
    [(kind, odd) for kind in NUMBERS for odd in (np.nan, np.inf, -np.inf)]
    + [(kind, np.nan) for kind in WITHOUT_PROBABILITIES],  # others are clipped
)
def test_rows_that_lead_to_no_answer_are_refused(kind, odd):
    made = of_rows(kind, ROWS, **({"n_components": 2} if hasattr(kind, "transform") else {}))
    rows = np.array([[0.5, 0.5], [odd, -odd], [odd, odd]])
    for name in ("transform", "predict", "predict_proba"):
        if hasattr(made, name):
            with np.errstate(all="raise"), pytest.raises(DataError, match=r"no answer|NaN or inf"):
                getattr(made, name)(rows)
    if hasattr(made, "score"):
        with pytest.raises(DataError, match=r"no answer|NaN or inf"):
            made.score(rows, [1, -1, 1])
    if hasattr(made, "inverse_transform"):
        places = made.transform(ROWS)
        assert made.inverse_transform(places) == pytest.approx(ROWS, abs=1e-12)
        with pytest.raises(ArgumentError, match="X must be rows of 2 columns, like the output"):
            made.inverse_transform(places[:, :1])


def test_what_an_earlier_fit_learned_does_not_stay():
    made = of_rows(learn.LinearRegression, ROWS)
    assert made.n_rows_ == pytest.approx(500, abs=50)
    with pytest.raises(ArgumentError):
        made.set_params(fit_intercept=False, n_init=10)
    assert made.fit_intercept and made.set_params(fit_intercept=False) is made
    assert "fit_intercept=False" in repr(made) and not hasattr(made.fit(ROWS, LABELS), "n_rows_")


@quick_rows(2)
@KINDS
def test_one_spend_pays_for_bounds_and_learning(kind, monkeypatch):
    g = np.random.default_rng(2)
    X = np.concatenate([g.normal([100, 3], [5, 0.2], (3000, 2)), g.normal([200, 6], 1, (3000, 2))])
    y, budget, seen, right = np.repeat([-1, 1], 3000), dp.Budget(epsilon=8), [], estimator.prepare

    def watched(rounds, source, loss, *args, **kw):
        seen.append((loss, kw["budget"]))
        return right(rounds, source, loss, *args, **kw)

    with monkeypatch.context() as patched:
        patched.setattr(estimator, "prepare", watched)
        made = kind(**{**surface.LEARNERS[kind], "bounds": "auto", "epsilon": 4})
        made.fit(X, y, budget=budget)
    assert seen == [(Pure(3), None)] * 2  # what is left of the loss is what the rounds cost
    (entry,) = budget.history
    assert entry.what.endswith("a quarter of it for bounds") and entry.loss == made.loss_ == Pure(4)
    lo, hi = made.bounds_.T
    assert made.bounds == "auto" and made.bounds_.shape == (2, 2)
    # Bounds hold all rows as a rule; a tenth is 600 of them, where noise is of some dozens.
    assert np.all(np.mean((lo <= X) & (hi >= X), axis=0) > 0.9)
    before = dict(vars(made))
    budget.cost(made.fit, X, y)  # asking for a price, or for what is refused, is no fit
    with pytest.raises(ArgumentTypeError):
        made.fit(np.zeros((2, 2, 2)), y)
    X[7] = np.nan
    if kind not in BINNED:
        with pytest.raises(DataError):
            made.set_params(bounds=(0, 300)).fit(X, y)
    assert vars(made.set_params(bounds="auto")) == before
    made.fit(X[8:, :1], y[8:], budget=budget)  # of another width
    assert made.bounds_.shape == (1, 2)


@KINDS
def test_arguments_that_are_set_after_a_fit_change_no_answer(kind):
    """All of them are wrong then; what was learned belongs to those that `fit` had."""
    made = of_rows(kind)
    asked = calls(made)
    if hasattr(made, "inverse_transform"):  # of one column for each component
        width = len(getattr(made, "components_", "ab"))
        asked.append(lambda _: made.inverse_transform(np.ones((4, width))))
    before = [np.asarray(call(TABLE)) for call in asked]
    made.set_params(**dict.fromkeys(made.get_params(), "nothing"))
    assert all(np.array_equal(a, call(TABLE)) for a, call in zip(before, asked, strict=True))
    with pytest.raises(DpfastError):  # but they are those of another fit
        made.fit(TABLE, LABELS)
    made._fitted_with = {}  # the negative control: what was kept is lost
    if kind not in (*NUMBERS, learn.StandardScaler):
        with pytest.raises(DpfastError):
            asked[-1](TABLE), asked[0](TABLE)


@KINDS
def test_clones_and_pipelines(kind):
    base = pytest.importorskip("sklearn.base")
    from sklearn.pipeline import make_pipeline

    made = kind(**surface.LEARNERS[kind], rho=1).fit(surface.ROWS, surface.LABELS)
    again, budget = base.clone(made), dp.Budget(rho=1)
    assert again.get_params() == made.get_params()
    assert not [name for name in vars(again) if name.endswith("_")]
    pipeline = make_pipeline("passthrough", again)
    pipeline.fit(surface.ROWS, surface.LABELS, **{f"{kind.__name__.lower()}__budget": budget})
    call = pipeline.predict if hasattr(kind, "predict") else pipeline.transform
    assert len(call(surface.ROWS)) == len(surface.ROWS) and len(budget.history) == 1
    assert base.is_clusterer(made) == (kind is learn.KMeans)
    assert base.is_regressor(made) == (
        kind in (learn.LinearRegression, learn.AdditiveBoostingRegressor)
    )
    assert base.is_classifier(made) == hasattr(made, "classes_")


REPLACED = {"neighbors": "replace"}
MANY = {"X": np.zeros((1, MOST_CHOICES + 1)), "y": np.zeros(1)}
BALL, PLAIN, ENTROPY = {"bounds": None}, {"bins": None, "bounds": None}, {"criterion": "entropy"}
SOME = {"bounds": [(0, 1), None, (0, 1)]}
BOTH = {"bounds": [(0, 1), None, None], "categories": [None, [0], None]}
BINS = [{"bins": None, "bounds": (0, 1)}, {"bins": [[0, 1]] * 2, "bounds": (0, 1)}]
BINS += [{"bounds": [(0, 1)] * 2}]


def each(name, *values, **more):
    return [{name: value, **more} for value in values]


#: Arguments that are wrong for one learner; the first is the one that is told.
WRONG: dict[Any, list[dict[str, Any]]] = {
    learn.KMeans: [*each("n_clusters", 0, 2.0, 2**70, 10**400), {"n_clusters": 11, **REPLACED},
        *each("max_iter", 0, 2.5, "auto"), *each("init", np.full((2, 3), np.nan)),
        *each("init", "k-means++", np.zeros((3, 3)), [[object()]], 10**400),
        {"bounds": [(0, 1e-320), (0, 1), (0, 1)]}],
    learn.PCA: [*each("n_components", 0, 4), *each("bounds", (1e15, 1e15 + 1), "automatic"),
        {"nan": "sideways", "bounds": "auto"}, {"epsilon": 2.0**-31, "bounds": "auto"}],
    learn.TruncatedSVD: each("n_components", 0, 4),
    learn.Perceptron: [{"bounds": (0, 1), "radius": 1}, *each("radius", 0, 2.0**-1000, **BALL),
        {"bounds": (0, 1e-300)}, *each("max_iter", 1, 2.0), *each("fit_intercept", 1),
        *each("step", "fast"), *each("y", np.ones((10, 2)), np.array([True] * 10))],
    learn.LinearRegression: [*each("y_bounds", [(0, 1), (0, 1)]), *each("fit_intercept", 1),
        *each("ridge", -1, 1e-300, "some", math.inf)],
    learn.NaiveBayes: [SOME, {"bounds": (0, 1), "categories": [None, [0], [1]]}, BOTH,
        {"bounds": [None] * 3, "categories": 3},
        *each("categories", [[0, 1]] * 2, np.ma.masked, **BALL),
        *each("classes", None, [2, 1], np.array(1)), *each("alpha", 0, 1e-320, 1e308)],
    learn.LogisticRegression: [SOME, {"bounds": (0, 1e-300)}, BOTH, *each("max_iter", 1, 2.0),
        *each("fit_intercept", 1), *each("classes", None, [2, 1], np.array(1), [1])],
    learn.StandardScaler: [*each("with_mean", 1), *each("with_std", "yes"),
        *each("bounds", (0, 1e-300), None)],
    learn.RandomForestClassifier: [BOTH, *each("n_estimators", 0, 2.0, 2**23),
        *each("max_depth", 0, 1.5, 21), *each("random_state", -1, 0.5),
        *each("classes", [2, 1])],
    learn.AdditiveBoostingClassifier: [*BINS, *each("max_iter", 1, 2.0), *each("classes", None)],
    learn.AdditiveBoostingRegressor: [*BINS, *each("y_bounds", (1, 0)), *each("nan", "some")],
    learn.ID3Classifier: [*BINS,
        *each("categories", [[1, 0], [0, 1], [0, 1]], np.array(1), [[0, 1]] * 2, **PLAIN),
        {"bins": np.array(1), "categories": [0, 1]}, {"bins": np.array(4), "bounds": [(0, 1)] * 3},
        *each("classes", None, [1, 1], [], np.array("a")), *each("max_depth", 0, 1.0),
        *each("criterion", "id3"), *each("splits", "best"), {"splits": "exponential", **MANY},
        *each("most_rows", None, 0, "many", **ENTROPY), {"most_rows": 0, "splits": "counts"}],
}  # fmt: skip
for _kind in surface.LEARNERS:
    if _kind._supervised:
        WRONG[_kind] += each("y", "label", 1.0, np.array(["a", "b"] * 5))
        WRONG[_kind] += each("y", np.ones(9), **REPLACED)
    if _kind not in BINNED:
        WRONG[_kind] += [{"bounds": [(0, 1)]}, {"nan": "drop", **REPLACED}]


@pytest.mark.parametrize(
    ("kind", "kw"),
    [(kind, kw) for kind in WRONG for kw in WRONG[kind]],
    ids=lambda one: one.__name__ if isinstance(one, type) else shown(one),
)
def test_bad_arguments_are_told_and_cost_nothing(kind, kw):
    """What all of them take is tried in `test_hostile`."""
    given = {"X": np.zeros((10, 3)), "y": np.ones(10), **surface.LEARNERS[kind], "epsilon": 1, **kw}
    X, y = given.pop("X"), given.pop("y")
    refused(lambda budget: kind(**given).fit(X, y, budget=budget), f"^{next(iter(kw))}")


@quick_rows(1)
@KINDS
def test_no_more_than_chunks_are_in_memory(kind, tmp_path, monkeypatch):
    """Whatever has to be converted, or read from a file: 6 MB of float64 here."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    pa, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    rows = np.tile(ROWS.astype(np.float32), (700, 1))
    labels = np.tile(LABELS.astype(np.float32), 700)
    made = of_rows(kind, ROWS)
    columns = {"y": labels, "a": rows[:, 0], "b": rows[:, 1]}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=1 << 15)
    file = dp.scan(tmp_path / "rows.parquet", column=["a", "b"])
    y = "y" if kind in SCORED else None
    made.fit(file, y)  # what is imported and compiled once is in memory by now
    for data, given in ((rows, labels), (np.asfortranarray(rows), labels), (file, y)):
        assert peak(lambda data=data, given=given: made.fit(data, given))[0] < 3 * 2**20
    if y:
        assert peak(lambda: made.score(file, y))[0] < 3 * 2**20
    whole = peak(lambda: np.asarray(rows, np.float64))[0]
    assert whole > 5 * 2**20  # what it would be otherwise
