"""An attack on every interface of the library that answers questions about rows. Each is asked for
the sums of secret bits over some public sets, for one total loss, in a way that an analyst could
ask. A new interface takes one entry here (`test_attacks.py` fails without it)."""

import inspect
import math
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpfast as dp
from dpfast.errors import ArgumentError, DataError

from .battery import public

EPSILON = {"epsilon": 1}
DELTA = {"epsilon": 1, "delta": Fraction(1, 1000)}
RHO = {"rho": Fraction(1, 2)}
#: The same between the two values of a bit, where two steps lie between them.
HALF_EPSILON = {"epsilon": Fraction(1, 2)}
QUARTER_RHO = {"rho": Fraction(1, 8)}
#: Of an oracle's answers: the rest of it is what it may refuse.
CONFIDENCE = 0.95


def interfaces():
    """Every public function, and every class, that spends: itself, or by one of its methods."""
    yield "dp.job.run", dp.job.run  # whose budget is in its file
    for name, found in public():
        # One reads a budget and spends nothing; the other is what an attacked function makes.
        if found in (dp.extend.relation_of, dp.extend.Prepared):
            continue
        calls = [found]
        if inspect.isclass(found):
            calls += [call for own, call in inspect.getmembers(found, inspect.isfunction)
                      if not own.startswith("_")]  # fmt: skip
        if any("budget" in inspect.signature(call).parameters for call in calls):
            yield name, found


@dataclass(frozen=True)
class Attack:
    """One way to ask an interface."""

    interface: Callable
    ask: Callable[..., Any]
    loss: dict[str, Any]
    #: Neighbors on the way from one value of a bit to the other.
    steps: int = 1
    #: "halves", or "single" rows, for what no answer about many rows would tell.
    sets: str = "halves"
    #: Whether an answer is the sum over a set less the sum over all other rows.
    signs: bool = False
    #: How many sets are asked for, of so many rows.
    queries: int = 128
    rows: int = 24
    #: Whether one bit, asked for at the full loss, is told so well that noise of half the
    #: deviation cannot be taken for the one that was promised.
    sharp: bool = False
    #: Which part of a budget may be left where a cost has a few digits only.
    slack: float = 0.0
    #: With which probability, at most, it may refuse to answer.
    refuses: float = 0.0
    #: Whether its budget is not an argument, nor its generator.
    own_budget: bool = False

    def draw(self, rng):
        """Secret bits and public sets."""
        bits = rng.random(self.rows) < 0.5
        if self.sets == "single":
            return bits, np.eye(self.rows, dtype=bool)
        return bits, rng.random((self.queries, self.rows)) < 0.5

    def matrix(self, sets):
        """Of which a row times the bits is what is answered."""
        return np.where(sets, 1, -1) if self.signs else sets

    def times(self, factor):
        """The loss of noise with a deviation that many times less."""
        power = {"epsilon": factor, "delta": 1, "rho": factor**2}
        return {name: amount * power[name] for name, amount in self.loss.items()}

    def careless(self):
        """A loss that is hardly noise: of each release, where the loss is divided among them."""
        asked = self.rows if self.sets == "single" else self.queries
        parts = asked if self.ask in APART else 1
        most = {"epsilon": 400 * parts, "delta": Fraction(1, 2), "rho": 400 * parts}
        return {name: most[name] for name in self.loss}


ATTACKS = {}
#: What asks for a release for each set.
APART = set()


def add(name, ask, interface, *losses, **kw):
    """Register a way to ask an interface, under its name and each of the losses."""
    for loss in losses:
        own = f"{name} {'-'.join(loss)}"
        assert own not in ATTACKS
        ATTACKS[own] = Attack(interface, ask, loss, **kw)


def each(ask):
    """A question for each set, each for an equal part of the loss."""

    def ask_all(bits, sets, loss, pay):
        part = {name: Fraction(amount) / len(sets) for name, amount in loss.items()}
        return [ask(bits, one, {**part, **pay}) for one in sets]

    return apart(ask_all)


def apart(ask):
    """Note that what is asked are releases with a part of the loss each."""
    APART.add(ask)
    return ask


def more_than_half(said, size):
    """What an answer that only says whether most bits are 1 says about their number."""
    return size / 2 + math.sqrt(size) * (float(said) - 0.5)


def split(kw):
    """What the constructor of an estimator takes, and what `fit` does."""
    pay = {name: kw[name] for name in ("budget", "rng") if name in kw}
    return {name: x for name, x in kw.items() if name not in pay}, pay


REPLACE = {"neighbors": "replace"}
WITHIN = {"bounds": (0, 1)}
UNIT = {**WITHIN, **REPLACE}
#: Of answers that are 1 if most bits are.
ORDERED = {"queries": 256, "rows": 16}
SINGLE = {"sets": "single"}


def twice(b, one):
    """Beside as many rows known to be 0."""
    return np.append(b, 0 * b), np.append(one, one)


def spread(b, one, squared):
    # Beside as many rows known to be 0 the share p of ones is at most a half, and p - p^2 says it.
    return 2 * one.sum() * (1 - math.sqrt(1 - 4 * min(max(squared, 0), 0.25))) / 2


def of_set(b, one):
    """Rows beside as many known to be 0, and whether they are of the set: half of them are."""
    return np.stack([np.append(b, 0 * b), np.append(one, ~one)], axis=1) * 1.0


def number(found):
    return math.nan if found is dp.NO_ANSWER else found


def middle_of_error_bar(b, one, kw):
    loss, paid = split(kw)
    release = dp.session(**paid).mean(b, where=one, **UNIT, **loss)
    return (release.low + release.high) / 2


def padded(rows, blocks):
    """With rows known to be 0, so that all blocks have as many."""
    return np.append(rows, np.zeros(-len(rows) % blocks))


@dataclass(frozen=True)
class OwnCount:
    """A mechanism of somebody else's, of the rows that are 1."""

    loss: dp.privacy.Loss
    neighbors: str = "replace"
    name: str = "own count"

    def reduce(self, source):
        return source.reduce(lambda chunk: int((chunk.values == 1).sum()), int.__add__)

    def finish(self, summary, generator):
        return dp.extend.integer_noise(self.loss).add([summary], generator)[0]


def own_count(b, one, kw):
    loss, pay = split(kw)
    loss = dp.privacy.loss(loss.get("epsilon"), 0, loss.get("rho"))
    return dp.extend.release(b & one, OwnCount(loss), **pay)


def first_of_some_runs(b, one, kw):
    """All scores are the same, so one count leaves, for a third of what is paid."""
    loss, pay = split(kw)
    part = {"epsilon": loss["epsilon"] / 3, "rng": pay.get("rng"), **REPLACE}
    given = {"run_loss": dp.privacy.Pure(part["epsilon"]), "gamma": 0.5, **REPLACE, **pay}
    return dp.selection.best_of(lambda: (0, dp.count(b, where=one & b, **part)), **given).answer


def unary_responses(b, one, kw):
    # Half of the rows say nothing about themselves, so all are asked anew for each set.
    said = dp.response.unary(b[one] * 1, categories=2, **kw)
    other, own = dp.response.estimate_unary(said, epsilon=kw["epsilon"]).value
    return one.sum() * (own - other + 1) / 2


def fitted(kind, kw, x, *y, args=(), **own):
    loss, pay = split(kw)
    return kind(*args, **own, **REPLACE, **loss).fit(x, *y, **pay)


def column(b):
    return b[:, None] * 1.0


def clusters(b, one, kw):
    rows = np.append(b & one, [0.0])[:, None]  # as many as centres at least
    own = {"args": (2,), "init": [[0.0], [1.0]], "max_iter": 1, **WITHIN}
    return fitted(dp.learn.KMeans, kw, rows, **own).cluster_counts_[1]


def mean_of(kind):
    def ask(b, one, kw):
        made = fitted(kind, kw, column(b & one), **WITHIN)
        return made.mean_[0] * made.n_rows_

    return ask


def perceptrons(b, one, kw):
    # The first step goes by the mean of y x, of which a row outside of the set has nothing.
    own = {"radius": 1, "max_iter": 2, "fit_intercept": False}
    made = fitted(dp.learn.Perceptron, kw, column(one), np.where(b, 1, -1), **own)
    return (len(b) * made.coef_[0, 0] + one.sum()) / 2


def of_class(kind, read, *args, **own):
    """A label is 1 for each row of the set whose bit is 1: what is learned has counts of labels."""

    def ask(b, one, kw):
        given = {"classes": [0, 1], "args": args, **own}
        counts = read(fitted(kind, kw, column(0 * b), (b & one) * 1, **given))
        return (counts[1] - counts[0] + len(b)) / 2

    return ask


def boosted(b, one, kw):
    own = {"args": ([0, 1],), "y_bounds": (0, 1), "max_iter": 2}
    made = fitted(dp.learn.AdditiveBoostingRegressor, kw, column(b & one), 1.0 * b, **own)
    return made.bin_counts_[0][1]


def regressions(b, one, kw):
    # On a column that is 1 in the set and 0 elsewhere.
    own = {**WITHIN, "y_bounds": (-1, 1), "fit_intercept": False}
    made = fitted(dp.learn.LinearRegression, kw, column(one), np.where(b, 1.0, -1.0), **own)
    return one.sum() * (made.coef_[0] + 1) / 2


def validations(b, one, kw):
    # Most rows are known to be of the first class, which is predicted for all of them then.
    labels = np.append(b & one, np.zeros(3 * len(b), bool)) * 1
    unit = {**WITHIN, "classes": [0, 1], "n_estimators": 1, "max_depth": 1}
    made, rows = dp.learn.RandomForestClassifier(**unit, **REPLACE), np.zeros((len(labels), 1))
    return len(labels) * (1 - dp.learn.cross_validate(made, rows, labels, cv=2, **kw).mean)


def alarms(b, one, kw):
    stream = dp.online.AboveThreshold(threshold=int(one.sum() + 1) // 2, **REPLACE, **kw)
    return more_than_half(bool(stream.answer(int((b & one).sum()))), one.sum())


def running_totals(b, one, kw):
    # A row that is 1 comes in its own step, and one that is 0 does not.
    stream = dp.online.RunningCount(len(b), **kw)
    return [stream.add(int(bit)) for bit in b & one][-1].total


@lru_cache
def known_rows(interface, rows, given):
    """How many rows have to be known that so few more have shares of some accuracy."""
    for power in range(2, 40, 4):
        with suppress(ArgumentError):
            interface([rows, 1 << power], **dict(given))
            return 1 << power
    raise AssertionError("no number of rows is enough")


def hard(interface, **own):
    """A question that is hard: a quarter of the known rows are 1, and half of them are guessed."""

    def ask(b, one, kw):
        given, pay = split({"queries": 1, "accuracy": 0.2, **own, **kw})
        known = known_rows(interface, len(b), tuple(given.items()))
        ones = int((b & one).sum())
        histogram = [known * 3 // 4 + len(b) - ones, known // 4 + ones]
        answer = interface(histogram, **given, **pay).answer([0, 1])
        return answer * (known + len(b)) - known // 4

    return ask


#: Of one set: a function of the bits, the set and the keywords that pay; what is asked; the losses.
OF_ONE = {
    "counts": (lambda b, one, kw: dp.count(b, where=one & b, **REPLACE, **kw),
        dp.count, EPSILON, RHO, {"sharp": True}),
    "counts of what is not missing": (
        lambda b, one, kw: dp.count(np.where(b, 1.0, np.nan), nan="drop", where=one, **kw),
        dp.count, HALF_EPSILON, {"steps": 2}),
    "sums": (lambda b, one, kw: dp.sum(b, where=one, **UNIT, **kw),
        dp.sum, EPSILON, DELTA, RHO, {"sharp": True}),
    "means": (lambda b, one, kw: dp.mean(b, where=one, **UNIT, **kw) * one.sum(),
        dp.mean, EPSILON, RHO),
    "ends of error bars": (lambda b, one, kw: middle_of_error_bar(b, one, kw) * one.sum(),
        dp.session, EPSILON),
    "proportions": (lambda b, one, kw: dp.proportion(b, where=one, **REPLACE, **kw) * one.sum(),
        dp.proportion, EPSILON, RHO),
    "ratios": (lambda b, one, kw: dp.ratio(np.stack([b, b | True], axis=1) * 1.0,
            bounds=[(0, 1), (1, 1)], where=one, **REPLACE, **kw) * one.sum(),
        dp.ratio, EPSILON, RHO),
    "variances": (lambda b, one, kw: spread(b, one, (lambda rows, where:
            dp.variance(rows, where=where, **UNIT, **kw))(*twice(b, one))),
        dp.variance, EPSILON),
    "standard deviations": (lambda b, one, kw: spread(b, one, (lambda rows, where:
            dp.std(rows, where=where, **UNIT, **kw))(*twice(b, one)) ** 2),
        dp.std, RHO),
    "counts of what is not 0": (lambda b, one, kw: dp.count_nonzero(b & one, **REPLACE, **kw),
        dp.count_nonzero, EPSILON, RHO, {"sharp": True}),
    # A row that is 1 has a value of its own.
    "distinct values": (lambda b, one, kw: dp.count_distinct(
            np.append(np.where(b & one, np.arange(1, 1 + len(b)), 0), 0), **REPLACE, **kw) - 1,
        dp.count_distinct, EPSILON, RHO, {"sharp": True}),
    "people with two rows": (lambda b, one, kw: len(b) * (1 - (lambda ids:
            dp.kept_whole(ids, ids=ids, max_rows=1, **REPLACE, **kw))(
            np.append(np.arange(len(b)), np.flatnonzero(b & one)))),
        dp.kept_whole, EPSILON, RHO),
    "marginals": (lambda b, one, kw: dp.marginals({"bit": (b & one) * 1}, ways=1,
            categories={"bit": [0, 1]}, **REPLACE, **kw)["bit"]["count"][1],
        dp.marginals, RHO),
    "descriptions": (lambda b, one, kw: len(b) * dp.describe({"bit": (b & one) * 1.0},
            bounds={"bit": (0, 1)}, **REPLACE, **kw)["mean"][0],
        dp.describe, EPSILON, RHO),
    # The column of the set has a known mean of a half.
    "covariances": (lambda b, one, kw: 4 * len(b)
            * dp.covariance(of_set(b, one), bounds=[(0, 1)] * 2, **REPLACE, **kw)[0, 1],
        dp.covariance, RHO, {"signs": True}),
    # Rows of no group stand for bits of the other set.
    "differences": (lambda b, one, kw: dp.difference(np.stack([b * 1.0, np.where(one, 1, 3)],
            axis=1), of=dp.Sum(bounds=(0, 1)), **REPLACE, **kw),
        dp.difference, EPSILON),
    # As covariances, over the spread of rows of which a quarter are 1, and half are of the set.
    "correlations": (lambda b, one, kw: 4 * len(b) * math.sqrt(3 / 16 / 4)
            * dp.correlation(of_set(b, one), bounds=[(0, 1)] * 2, **REPLACE, **kw),
        dp.correlation, RHO, {"signs": True}),
    "histograms": (
        lambda b, one, kw: dp.histogram(b, bins=2, **UNIT, where=one, **kw)[0][1],
        dp.histogram, EPSILON, RHO),
    "trees of counts": (lambda b, one, kw: dp.tree_histogram(b, bins=4, fan_out=2, where=one,
            **UNIT, **kw).range(0.5, 1),
        dp.tree_histogram, EPSILON, RHO),
    "workloads": (
        lambda b, one, kw: dp.workload(b, [[0, 1]], bins=2, where=one, **UNIT, **kw).answers[0],
        dp.workload, RHO),
    # Beside as many rows known to be 1, so that a quarter of all is half of those of the set.
    "bounds that leave a quarter out": (lambda b, one, kw: more_than_half(dp.bounds(
            np.append(np.where(b, 1000, 1), np.ones(len(b))), q=0.25, where=np.append(one, one),
            **REPLACE, **kw)[1] > 100, one.sum()),
        dp.bounds, EPSILON, RHO, ORDERED),
    # Beside as many rows known to be 0, the upper quartile is 1 if most bits are.
    "interquartile ranges": (lambda b, one, kw: more_than_half(dp.iqr(np.append(b, 0 * b),
            where=np.append(one, one), **UNIT, **kw), one.sum()),
        dp.iqr, EPSILON, ORDERED),
    "minima": (lambda b, one, kw: dp.minimum(b, where=one, **UNIT, **kw),
        dp.minimum, EPSILON, RHO, SINGLE),
    "maxima": (lambda b, one, kw: dp.maximum(b, where=one, method="smooth", **UNIT, **kw),
        dp.maximum, EPSILON, DELTA, SINGLE),
    # Beside one row that is known: a key of one row is hardly shown at any epsilon.
    "shown keys": (lambda b, one, kw: len(dp.select_keys(np.zeros(len(b) + 1, int),
            where=np.append(one & b, True), **kw)),
        dp.select_keys, DELTA, SINGLE),
    "blocks": (lambda b, one, kw: (len(b) + -len(b) % 4) * dp.sample_and_aggregate(
            padded(b & one, 4), "mean", blocks=4, **UNIT, **kw),
        dp.sample_and_aggregate, EPSILON, RHO),
    "smooth releases": (lambda b, one, kw: dp.smooth_release(float((b & one).sum()),
            lambda beta: 1.0, bounds=(0, len(b)), **kw),
        dp.smooth_release, EPSILON, DELTA),
    "sharp smooth releases": (lambda b, one, kw: dp.smooth_release(float((b & one).sum()),
            lambda beta: 1.0, bounds=(0, len(b)), **kw),
        dp.smooth_release, RHO, {"sharp": True}),
    "bounded counts": (lambda b, one, kw: dp.bounded_release(float((b & one).sum()),
            bounds=(0, len(b)), sensitivity=1, **REPLACE, **kw),
        dp.bounded_release, EPSILON, RHO),
    "counts of an own mechanism": (own_count, dp.extend.release, EPSILON, RHO),
    "counts of the caller": (lambda b, one, kw: dp.additive_release(int((b & one).sum()),
            sensitivity=1, whole=True, **REPLACE, **kw),
        dp.additive_release, EPSILON, DELTA, RHO),
    "means if they are stable": (
        lambda b, one, kw: len(b)
            * number(dp.ptr.mean(b & one, proposed=1.01 / len(b), **UNIT, **kw)),
        dp.ptr.mean, DELTA),
    "quantiles if they are stable": (lambda b, one, kw: more_than_half(number(dp.ptr.quantile(
            b[one], 0.5, proposed=1 / 1024, **UNIT, **kw)), one.sum()),
        dp.ptr.quantile, DELTA, ORDERED),
    "interquartile ranges if they are stable": (lambda b, one, kw: more_than_half(number(dp.ptr.iqr(
            np.append(b[one], 0 * b[one]), proposed=1 / 1024, **UNIT, **kw)), one.sum()),
        dp.ptr.iqr, DELTA, ORDERED),
    "anything that is stable": (lambda b, one, kw: number(dp.ptr.release(b & one, np.sum,
            lambda data, proposed: math.inf, bounds=(0, len(b)), proposed=1, **kw)),
        dp.ptr.release, DELTA),
    "the first of some runs": (first_of_some_runs, dp.selection.best_of, EPSILON),
    "unary responses": (unary_responses, dp.response.unary, EPSILON, {"queries": 512}),
    "clusters": (clusters, dp.learn.KMeans, EPSILON, RHO),
    "components": (mean_of(dp.learn.PCA), dp.learn.PCA, RHO),
    "scalings": (mean_of(dp.learn.StandardScaler), dp.learn.StandardScaler, RHO),
    "singular values": (lambda b, one, kw: fitted(dp.learn.TruncatedSVD, kw, column(b & one),
            **WITHIN).singular_values_[0] ** 2,
        dp.learn.TruncatedSVD, EPSILON),
    "perceptrons": (perceptrons, dp.learn.Perceptron, EPSILON, RHO),
    "boosted numbers": (boosted, dp.learn.AdditiveBoostingRegressor, EPSILON, RHO),
    "regressions": (regressions, dp.learn.LinearRegression, EPSILON, RHO),
    "validations": (validations, dp.learn.cross_validate, EPSILON),
    "alarms": (alarms, dp.online.AboveThreshold, EPSILON, RHO, ORDERED),
    "running totals": (running_totals, dp.online.RunningCount, EPSILON, RHO),
    "hard questions to a median": (hard(dp.online.MedianMechanism, size=4),
        dp.online.MedianMechanism, EPSILON, DELTA, RHO),
    "hard questions to weights": (hard(dp.online.PrivateMultiplicativeWeights),
        dp.online.PrivateMultiplicativeWeights, EPSILON, RHO),
}  # fmt: skip


def ordered(call, *q, tell=more_than_half, **own):
    """A statistic that is 1 if most bits are, or tells their number otherwise."""
    return lambda b, one, kw: tell(np.mean(call(b, *q, where=one, **UNIT, **own, **kw)), one.sum())


def ballot(call, *args):
    """A selection: whether most bits are 1."""

    def ask(b, one, kw):
        scores = [(one & ~b).sum(), (one & b).sum()]
        found = call(scores, *args, sensitivity=1, **REPLACE, **kw)
        return more_than_half(np.ravel(found)[0], one.sum())

    return ask


_trim, _trees = {"proportion": 0.2}, {"n_estimators": 1, "max_depth": 1, **WITHIN}
for _call, _ask, *_losses in (
    (dp.median, ordered(dp.median), EPSILON, RHO),
    (dp.quantile, ordered(dp.quantile, 0.5, method="smooth"), EPSILON, DELTA),
    (dp.percentile, ordered(dp.percentile, 50, method="exponential"), EPSILON),
    (dp.quantiles, ordered(dp.quantiles, [0.4, 0.5, 0.6]), EPSILON),
    (dp.quantile_interval, ordered(dp.quantile_interval, 0.5), EPSILON),
    (dp.trimmed_mean, ordered(dp.trimmed_mean, tell=lambda x, n: n * (0.2 + 0.6 * x), **_trim),
        EPSILON),
    (dp.winsorized_mean, ordered(dp.winsorized_mean, tell=lambda x, n: n * x, **_trim), EPSILON),
):  # fmt: skip
    OF_ONE[_call.__name__] = (_ask, _call, *_losses, ORDERED)
#: The last two are sure enough of one ballot for `epsilon`, too.
for _call, _args, _sharp in (
    (dp.selection.exponential, (), False),
    (dp.selection.top_k, (1,), False),
    (dp.selection.permute_and_flip, (), True),
    (dp.selection.noisy_max, (), True),
):
    for _name, _loss, _own in ("pure", EPSILON, _sharp), ("concentrated", RHO, True):
        _kw = {"sharp": _own, **ORDERED}
        OF_ONE[f"{_name} {_call.__name__}"] = (ballot(_call, *_args), _call, _loss, _kw)
for _kind, _read, *_args, _own in (
    (dp.learn.ID3Classifier, lambda made: made.tree_.counts[0], [0, 1], {"max_depth": 1}),
    (dp.learn.NaiveBayes, lambda made: made.class_count_, WITHIN),
    (dp.learn.LogisticRegression, lambda made: made.class_count_, {"max_iter": 2, **WITHIN}),
    (dp.learn.AdditiveBoostingClassifier, lambda made: made.class_count_, [0, 1], {"max_iter": 2}),
    (dp.learn.RandomForestClassifier, lambda made: made.leaf_counts_[0, 0], _trees),
):
    OF_ONE[_kind.__name__] = (of_class(_kind, _read, *_args, **_own), _kind, EPSILON, RHO)
for _name, (_ask, _call, *_losses) in OF_ONE.items():
    _own = {} if _losses[-1].keys() <= {"epsilon", "delta", "rho"} else _losses.pop()
    add(_name, each(_ask), _call, *_losses, **_own)


def estimates(responses, sets, estimate):
    return [estimate(responses[one]) * one.sum() if one.any() else 0.0 for one in sets]


def responses(bits, sets, loss, pay):
    said = dp.response.binary(bits, **loss, **pay)
    return estimates(said, sets, lambda r: dp.response.estimate_binary(r, **loss).value)


def responses_of_two(bits, sets, loss, pay):
    two = {"categories": 2, **loss}
    said = dp.response.kary(bits * 1, **two, **pay)
    return estimates(said, sets, lambda r: dp.response.estimate_kary(r, **two).value[1])


@apart
def a_job(bits, sets, loss, pay):
    table = pa.table({f"c{i}": (bits & one) * 1 for i, one in enumerate(sets)})
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, Path(folder) / "x.parquet")
        job = ['[data]\npath = "x.parquet"\n[budget]\nneighbors = "replace"']
        job += [f"{name} = {float(amount)}" for name, amount in loss.items()]
        for name in table.column_names:
            job.append(f'[[release]]\nname = "{name}"\nstatistic = "sum"\ncolumn = "{name}"')
            job.append("bounds = [0, 1]")
        (Path(folder) / "job.toml").write_text("\n".join(job))
        found = dp.job.run(Path(folder) / "job.toml")
    return [found[name] for name in table.column_names]


def noisy(bits, loss, pay, queries):
    return dp.sulq.NoisySums(bits * 1.0, queries=queries, **REPLACE, **loss, **pay)


def noisy_sums(bits, sets, loss, pay):
    made = noisy(bits, loss, pay, len(sets))
    return [made.sum("value", rows=one, bounds=(0, 1)) for one in sets]


def batches(bits, sets, loss, pay):
    half = (len(sets) + 1) // 2
    made = noisy(bits, loss, pay, 2 if len(sets) > 1 else 1)
    parts = [some for some in (sets[:half], sets[half:]) if len(some)]
    return [sum_ for some in parts for sum_ in made.batch([one * bits for one in some])]


def sums_of_vectors(bits, sets, loss, pay):
    signs = np.where(sets, 1.0, -1.0)
    rows = signs.T * np.where(bits, 1.0, -1.0)[:, None]
    found = noisy(bits, loss, pay, 1).sum(rows, l2=math.sqrt(len(sets)))
    return (np.ravel(found) + signs.sum(axis=1)) / 2


@lru_cache
def least_tolerance(rows, queries, neighbors, loss):
    """The least tolerance that a loss pays for."""
    kw = {"queries": queries, "neighbors": neighbors, **dict(loss)}
    kind = "rho" if "rho" in kw else "epsilon"
    most, kw["loss"] = kw.pop(kind), kind
    low, high = 1e-8, 1e8
    for _ in range(50):
        middle = math.sqrt(low * high)
        try:
            enough = getattr(dp.sulq.oracle_cost(rows, tolerance=middle, **kw), kind) <= most
        except ArgumentError:  # at no loss
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    return high


def oracle(rows, queries, neighbors, loss, pay):
    tolerance = least_tolerance(len(rows), queries, neighbors, tuple(loss.items()))
    given = {"tolerance": tolerance, "queries": queries, "confidence": CONFIDENCE}
    given |= {"rows": len(rows), "neighbors": neighbors}
    return dp.sulq.StatisticalQueryOracle(rows, **given, **loss, **pay)


def statistical_queries(bits, sets, loss, pay):
    made = oracle(bits, len(sets), "replace", loss, pay)
    return len(bits) * np.array([made.ask(one & bits) for one in sets])


def statistical_queries_where_rows_come_and_go(bits, sets, loss, pay):
    rows = np.append(bits, np.zeros(2000, bool))  # known, so that the count is not far off
    try:
        made = oracle(rows, len(sets), "add-remove", loss, pay)
    except DataError:  # its noisy count of the rows is below the public bound, as if it were wrong
        return None
    found = made.batch([np.append(one & bits, rows[len(bits) :]) for one in sets])
    return len(rows) * np.array(found)


def numbers_beside_alarms(bits, sets, loss, pay):
    given = {"positives": len(sets), "threshold": -(10**9), "answers": True, **REPLACE}
    stream = dp.online.SparseVector(**given, **loss, **pay)
    return stream.answer_many((sets & bits).sum(axis=1)).values


def a_fitted_distribution(bits, sets, loss, pay):
    # The bit of a row is one of two elements of its own.
    histogram = np.ravel([~bits, bits], order="F") * 1
    queries = np.repeat(sets, 2, axis=1) * np.tile([0, 1], len(bits))
    made = dp.online.MWEM(histogram, queries, rounds=2 * len(sets), **loss, **pay)
    return len(bits) * np.array([made.answer(one) for one in queries])


_coarse = {"slack": 0.002}
_gone = {"steps": 2, "refuses": 1 - CONFIDENCE, **_coarse}
_oracle = dp.sulq.StatisticalQueryOracle
for _ask, _call, _own, *_losses in (
    (responses, dp.response.binary, {"sharp": True}, EPSILON),
    (responses_of_two, dp.response.kary, {"sharp": True}, EPSILON),
    (a_job, dp.job.run, {"queries": 64, "rows": 12, "own_budget": True}, EPSILON),
    (noisy_sums, dp.sulq.NoisySums, {}, DELTA),
    (noisy_sums, dp.sulq.NoisySums, {"sharp": True}, EPSILON, RHO),
    (batches, dp.sulq.NoisySums, {"sharp": True}, EPSILON, RHO),
    (sums_of_vectors, dp.sulq.NoisySums, {"signs": True, "sharp": True}, RHO),
    (statistical_queries, _oracle, _coarse, DELTA),
    (statistical_queries, _oracle, {"sharp": True, **_coarse}, EPSILON, RHO),
    (statistical_queries_where_rows_come_and_go, _oracle, _gone, QUARTER_RHO),
    (numbers_beside_alarms, dp.online.SparseVector, {}, EPSILON, DELTA, RHO),
    (a_fitted_distribution, dp.online.MWEM, SINGLE, EPSILON, DELTA, RHO),
):
    add(_ask.__name__, _ask, _call, *_losses, **_own)
