"""An attack on every interface of the library that answers questions about rows. Each is asked for
the sums of secret bits over some public sets, for one total loss, in a way that an analyst could
ask. A new interface takes one entry under `attack` here (`test_attacks.py` fails without it)."""

import inspect
import math
import tempfile
from collections.abc import Callable
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


def attack(interface, *losses, **kw):
    """Register a way to ask an interface, under the name of the function and each of the losses."""

    def register(ask):
        for loss in losses:
            name = f"{ask.__name__} {'-'.join(loss)}"
            assert name not in ATTACKS
            ATTACKS[name] = Attack(interface, ask, loss, **kw)
        return ask

    return register


def share(loss, parts):
    """An equal part of a loss."""
    return {name: Fraction(amount) / parts for name, amount in loss.items()}


def each(ask):
    """A question for each set, each for an equal part of the loss."""

    def ask_all(bits, sets, loss, pay):
        part = share(loss, len(sets))
        return [ask(bits, one, {**part, **pay}) for one in sets]

    ask_all.__name__ = ask.__name__
    return apart(ask_all)


def apart(ask):
    """Note that what is asked are releases with a part of the loss each."""
    APART.add(ask)
    return ask


def more_than_half(said, size):
    """What an answer that only says whether most bits are 1 says about their number."""
    return size / 2 + math.sqrt(size) * (float(said) - 0.5)


UNIT = {"bounds": (0, 1), "neighbors": "replace"}
REPLACE = {"neighbors": "replace"}


@attack(dp.count, EPSILON, RHO, sharp=True)
@each
def counts(bits, one, kw):
    return dp.count(bits, where=one & bits, **REPLACE, **kw)


@attack(dp.count, HALF_EPSILON, steps=2)
@each
def counts_of_what_is_not_missing(bits, one, kw):
    return dp.count(np.where(bits, 1.0, np.nan), nan="drop", where=one, **kw)


@attack(dp.sum, EPSILON, DELTA, RHO, sharp=True)
@each
def sums(bits, one, kw):
    return dp.sum(bits, where=one, **UNIT, **kw)


@attack(dp.mean, EPSILON, RHO)
@each
def means(bits, one, kw):
    return dp.mean(bits, where=one, **UNIT, **kw) * one.sum()


@attack(dp.session, EPSILON)
@each
def ends_of_error_bars(bits, one, kw):
    paid = {name: kw.pop(name) for name in ("budget", "rng") if name in kw}
    release = dp.session(**paid).mean(bits, where=one, **UNIT, **kw)
    return (release.low + release.high) / 2 * one.sum()


@attack(dp.proportion, EPSILON, RHO)
@each
def proportions(bits, one, kw):
    return dp.proportion(bits, where=one, **REPLACE, **kw) * one.sum()


@attack(dp.ratio, EPSILON, RHO)
@each
def ratios(bits, one, kw):
    rows = np.stack([bits, bits | True], axis=1) * 1.0
    return dp.ratio(rows, bounds=[(0, 1), (1, 1)], where=one, **REPLACE, **kw) * one.sum()


@attack(dp.variance, EPSILON)
@each
def variances(bits, one, kw):
    # Beside as many rows known to be 0 the share p of ones is at most a half, and p - p^2 says it.
    rows, where = np.append(bits, 0 * bits), np.append(one, one)
    found = dp.variance(rows, where=where, **UNIT, **kw)
    return 2 * one.sum() * (1 - math.sqrt(1 - 4 * min(max(found, 0), 0.25))) / 2


@attack(dp.std, RHO)
@each
def standard_deviations(bits, one, kw):
    # As variances, of which it is the root.
    rows, where = np.append(bits, 0 * bits), np.append(one, one)
    found = dp.std(rows, where=where, **UNIT, **kw)
    return 2 * one.sum() * (1 - math.sqrt(1 - 4 * min(found**2, 0.25))) / 2


@attack(dp.count_nonzero, EPSILON, RHO, sharp=True)
@each
def counts_of_what_is_not_0(bits, one, kw):
    return dp.count_nonzero(bits & one, **REPLACE, **kw)


@attack(dp.count_distinct, EPSILON, RHO, sharp=True)
@each
def distinct_values(bits, one, kw):
    # A row that is 1 has a value of its own.
    rows = np.where(bits & one, np.arange(1, 1 + len(bits)), 0)
    return dp.count_distinct(np.append(rows, 0), **REPLACE, **kw) - 1


@attack(dp.kept_whole, EPSILON, RHO)
@each
def people_with_two_rows(bits, one, kw):
    ids = np.append(np.arange(len(bits)), np.flatnonzero(bits & one))
    return len(bits) * (1 - dp.kept_whole(ids, ids=ids, max_rows=1, **REPLACE, **kw))


@attack(dp.marginals, RHO)
@each
def marginals(bits, one, kw):
    rows = {"bit": (bits & one) * 1}
    answer = dp.marginals(rows, ways=1, categories={"bit": [0, 1]}, **REPLACE, **kw)
    return answer["bit"]["count"][1]


@attack(dp.describe, EPSILON, RHO)
@each
def descriptions(bits, one, kw):
    rows = {"bit": (bits & one) * 1.0}
    return len(bits) * dp.describe(rows, bounds={"bit": (0, 1)}, **REPLACE, **kw)["mean"][0]


@attack(dp.covariance, RHO, signs=True)
@each
def covariances(bits, one, kw):
    # Beside as many rows known to be 0, so that the column of the set has a known mean of a half.
    rows = np.stack([np.append(bits, 0 * bits), np.append(one, ~one)], axis=1)
    found = dp.covariance(rows * 1.0, bounds=[(0, 1)] * 2, **REPLACE, **kw)
    return 4 * len(bits) * found[0, 1]


@attack(dp.difference, EPSILON)
@each
def differences(bits, one, kw):
    # Rows of no group stand for bits of the other set.
    rows = np.stack([bits * 1.0, np.where(one, 1, 3)], axis=1)
    return dp.difference(rows, of=dp.Sum(bounds=(0, 1)), **REPLACE, **kw)


@attack(dp.correlation, RHO, signs=True)
@each
def correlations(bits, one, kw):
    # As covariances, over the spread of rows of which a quarter are 1, and half are of the set.
    rows = np.stack([np.append(bits, 0 * bits), np.append(one, ~one)], axis=1)
    found = dp.correlation(rows * 1.0, bounds=[(0, 1)] * 2, **REPLACE, **kw)
    return 4 * len(bits) * found * math.sqrt(3 / 16 / 4)


@attack(dp.histogram, EPSILON, RHO)
@each
def histograms(bits, one, kw):
    return dp.histogram(bits, bins=2, bounds=(0, 1), where=one, **REPLACE, **kw)[0][1]


@attack(dp.tree_histogram, EPSILON, RHO)
@each
def trees_of_counts(bits, one, kw):
    tree = dp.tree_histogram(bits, bins=4, bounds=(0, 1), fan_out=2, where=one, **REPLACE, **kw)
    return tree.range(0.5, 1)


@attack(dp.workload, RHO)
@each
def workloads(bits, one, kw):
    known = dp.workload(bits, [[0, 1]], bins=2, bounds=(0, 1), where=one, **REPLACE, **kw)
    return known.answers[0]


ORDERED = {"queries": 256, "rows": 16}


def _ordered(name, call, *losses, q=(), tell=None, **own):
    """Statistics that are 1 if most bits are, or tell their number otherwise."""

    @each
    def ask(bits, one, kw):
        found = np.mean(call(bits, *q, where=one, **UNIT, **own, **kw))
        return tell(found, one.sum()) if tell else more_than_half(found, one.sum())

    ask.__name__ = name
    attack(call, *losses, **ORDERED)(ask)


_ordered("medians", dp.median, EPSILON, RHO)
_ordered("quantiles_of_noise", dp.quantile, EPSILON, DELTA, q=(0.5,), method="smooth")
_ordered("percentiles", dp.percentile, EPSILON, q=(50,), method="exponential")
_ordered("several_quantiles", dp.quantiles, EPSILON, q=([0.4, 0.5, 0.6],))
_ordered("ends_of_an_interval", dp.quantile_interval, EPSILON, q=(0.5,))
_trim = {"proportion": 0.2}
_ordered("trimmed", dp.trimmed_mean, EPSILON, tell=lambda x, n: n * (0.2 + 0.6 * x), **_trim)
_ordered("winsorized", dp.winsorized_mean, EPSILON, tell=lambda x, n: n * x, **_trim)


@attack(dp.bounds, EPSILON, RHO, **ORDERED)
@each
def bounds_that_leave_a_quarter_out(bits, one, kw):
    # Beside as many rows known to be 1, so that a quarter of all is half of those of the set.
    rows, some = np.append(np.where(bits, 1000, 1), np.ones(len(bits))), np.append(one, one)
    _, high = dp.bounds(rows, q=0.25, where=some, **REPLACE, **kw)
    return more_than_half(float(high > 100), one.sum())


@attack(dp.iqr, EPSILON, **ORDERED)
@each
def interquartile_ranges(bits, one, kw):
    # Beside as many rows known to be 0, the upper quartile is 1 if most bits are.
    rows, where = np.append(bits, 0 * bits), np.append(one, one)
    return more_than_half(dp.iqr(rows, where=where, **UNIT, **kw), one.sum())


@attack(dp.minimum, EPSILON, RHO, sets="single")
@each
def minima(bits, one, kw):
    return dp.minimum(bits, where=one, **UNIT, **kw)


@attack(dp.maximum, EPSILON, DELTA, sets="single")
@each
def maxima(bits, one, kw):
    return dp.maximum(bits, where=one, method="smooth", **UNIT, **kw)


@attack(dp.select_keys, DELTA, sets="single")
@each
def shown_keys(bits, one, kw):
    """Beside one row that is known: a key of one row is hardly shown at any epsilon."""
    rows = np.append(one & bits, True)
    return len(dp.select_keys(np.zeros(len(rows), int), where=rows, **kw))


@attack(dp.sample_and_aggregate, EPSILON, RHO)
@each
def blocks(bits, one, kw):
    rows = _padded(bits & one, 4)
    return len(rows) * dp.sample_and_aggregate(rows, "mean", blocks=4, **UNIT, **kw)


def _padded(rows, blocks):
    """With rows known to be 0, so that all blocks have as many."""
    return np.append(rows, np.zeros(-len(rows) % blocks))


@attack(dp.smooth_release, EPSILON, DELTA)
@attack(dp.smooth_release, RHO, sharp=True)
@each
def smooth_releases(bits, one, kw):
    count = float((bits & one).sum())
    return dp.smooth_release(count, lambda beta: 1.0, bounds=(0, len(bits)), **kw)


@attack(dp.bounded_release, EPSILON, RHO)
@each
def bounded_counts(bits, one, kw):
    count = float((bits & one).sum())
    return dp.bounded_release(count, bounds=(0, len(bits)), sensitivity=1, **REPLACE, **kw)


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


@attack(dp.extend.release, EPSILON, RHO)
@each
def counts_of_an_own_mechanism(bits, one, kw):
    amounts = {name: kw.pop(name, None) for name in ("epsilon", "rho")}
    loss = dp.privacy.loss(amounts["epsilon"], 0, amounts["rho"])
    return dp.extend.release(bits & one, OwnCount(loss), **kw)


@attack(dp.additive_release, EPSILON, DELTA, RHO)
@each
def counts_of_the_caller(bits, one, kw):
    count = int((bits & one).sum())
    return dp.additive_release(count, sensitivity=1, whole=True, **REPLACE, **kw)


def _number(found):
    return math.nan if found is dp.NO_ANSWER else found


@attack(dp.ptr.mean, DELTA)
@each
def means_if_they_are_stable(bits, one, kw):
    n = len(bits)
    return n * _number(dp.ptr.mean(bits & one, proposed=1.01 / n, **UNIT, **kw))


@attack(dp.ptr.quantile, DELTA, **ORDERED)
@each
def quantiles_if_they_are_stable(bits, one, kw):
    found = dp.ptr.quantile(bits[one], 0.5, proposed=1 / 1024, **UNIT, **kw)
    return more_than_half(_number(found), one.sum())


@attack(dp.ptr.iqr, DELTA, **ORDERED)
@each
def interquartile_ranges_if_they_are_stable(bits, one, kw):
    rows = np.append(bits[one], 0 * bits[one])
    return more_than_half(_number(dp.ptr.iqr(rows, proposed=1 / 1024, **UNIT, **kw)), one.sum())


@attack(dp.ptr.release, DELTA)
@each
def anything_that_is_stable(bits, one, kw):
    n = len(bits)
    return _number(
        dp.ptr.release(
            bits & one, np.sum, lambda data, proposed: math.inf, bounds=(0, n), proposed=1, **kw
        )
    )


def _scores(bits, one):
    return [(one & ~bits).sum(), (one & bits).sum()]


def _selection(call, *args, **own):
    @each
    def ask(bits, one, kw):
        found = call(_scores(bits, one), *args, sensitivity=1, **REPLACE, **own, **kw)
        return more_than_half(np.ravel(found)[0], one.sum())

    ask.__name__ = f"ballots_by_{call.__name__}"
    return ask


#: Sure enough of one ballot for `epsilon`, too.
SURER = (dp.selection.permute_and_flip, dp.selection.noisy_max)
for _call, _args in (
    (dp.selection.exponential, ()),
    (dp.selection.permute_and_flip, ()),
    (dp.selection.noisy_max, ()),
    (dp.selection.top_k, (1,)),
):
    _ask = _selection(_call, *_args)
    attack(_call, EPSILON, sharp=_call in SURER, **ORDERED)(_ask)
    attack(_call, RHO, sharp=True, **ORDERED)(_ask)


@attack(dp.selection.best_of, EPSILON)
@each
def the_first_of_some_runs(bits, one, kw):
    """All scores are the same, so one count leaves, for a third of what is paid."""
    loss, pay = _apart(kw)
    part = {"epsilon": loss["epsilon"] / 3, "rng": pay.get("rng"), **REPLACE}

    def run():
        return 0, dp.count(bits, where=one & bits, **part)

    each_run = dp.privacy.Pure(part["epsilon"])
    return dp.selection.best_of(run, run_loss=each_run, gamma=0.5, **REPLACE, **pay).answer


def _estimates(responses, sets, estimate):
    return [estimate(responses[one]) * one.sum() if one.any() else 0.0 for one in sets]


@attack(dp.response.binary, EPSILON, sharp=True)
def responses(bits, sets, loss, pay):
    said = dp.response.binary(bits, **loss, **pay)
    return _estimates(said, sets, lambda r: dp.response.estimate_binary(r, **loss).value)


@attack(dp.response.kary, EPSILON, sharp=True)
def responses_of_two(bits, sets, loss, pay):
    two = {"categories": 2, **loss}
    said = dp.response.kary(bits * 1, **two, **pay)
    return _estimates(said, sets, lambda r: dp.response.estimate_kary(r, **two).value[1])


@attack(dp.response.unary, EPSILON, queries=512)
@each
def unary_responses(bits, one, kw):
    # Half of the rows say nothing about themselves, so all are asked anew for each set.
    said = dp.response.unary(bits[one] * 1, categories=2, **kw)
    other, own = dp.response.estimate_unary(said, epsilon=kw["epsilon"]).value
    return one.sum() * (own - other + 1) / 2


@attack(dp.job.run, EPSILON, queries=64, rows=12, own_budget=True)
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


def _noisy(bits, loss, pay, queries, **kw):
    return dp.sulq.NoisySums(bits * 1.0, queries=queries, **{**REPLACE, **kw}, **loss, **pay)


@attack(dp.sulq.NoisySums, DELTA)
@attack(dp.sulq.NoisySums, EPSILON, RHO, sharp=True)
def noisy_sums(bits, sets, loss, pay):
    made = _noisy(bits, loss, pay, len(sets))
    return [made.sum("value", rows=one, bounds=(0, 1)) for one in sets]


@attack(dp.sulq.NoisySums, EPSILON, RHO, sharp=True)
def batches(bits, sets, loss, pay):
    half = (len(sets) + 1) // 2
    made = _noisy(bits, loss, pay, 2 if len(sets) > 1 else 1)
    found = []
    for some in (sets[:half], sets[half:]):
        if len(some):
            found += made.batch([one * bits for one in some])
    return found


@attack(dp.sulq.NoisySums, RHO, signs=True, sharp=True)
def sums_of_vectors(bits, sets, loss, pay):
    signs = np.where(sets, 1.0, -1.0)
    made = _noisy(bits, loss, pay, 1)
    rows = signs.T * np.where(bits, 1.0, -1.0)[:, None]
    found = made.sum(rows, l2=math.sqrt(len(sets)))
    return (np.ravel(found) + signs.sum(axis=1)) / 2


@lru_cache
def _tolerance(rows, queries, neighbors, loss):
    """The least tolerance that a loss pays for."""
    kw = {"queries": queries, "neighbors": neighbors, **dict(loss)}
    kind = "rho" if "rho" in kw else "epsilon"
    most, kw["loss"] = kw.pop(kind), kind
    low, high = 1e-8, 1e8
    for _ in range(50):
        middle = math.sqrt(low * high)
        try:
            cost = dp.sulq.oracle_cost(rows, tolerance=middle, **kw)
            enough = getattr(cost, kind) <= most
        except ArgumentError:  # at no loss
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    return high


def _oracle(rows, queries, neighbors, loss, pay):
    tolerance = _tolerance(len(rows), queries, neighbors, tuple(loss.items()))
    return dp.sulq.StatisticalQueryOracle(
        rows,
        tolerance=tolerance,
        queries=queries,
        confidence=CONFIDENCE,
        rows=len(rows),
        neighbors=neighbors,
        **loss,
        **pay,
    )


@attack(dp.sulq.StatisticalQueryOracle, DELTA, slack=0.002)
@attack(dp.sulq.StatisticalQueryOracle, EPSILON, RHO, slack=0.002, sharp=True)
def statistical_queries(bits, sets, loss, pay):
    made = _oracle(bits, len(sets), "replace", loss, pay)
    return len(bits) * np.array([made.ask(one & bits) for one in sets])


@attack(dp.sulq.StatisticalQueryOracle, QUARTER_RHO, steps=2, slack=0.002, refuses=1 - CONFIDENCE)
def statistical_queries_where_rows_come_and_go(bits, sets, loss, pay):
    rows = np.append(bits, np.zeros(2000, bool))  # known, so that the count is not far off
    try:
        made = _oracle(rows, len(sets), "add-remove", loss, pay)
    except DataError:  # its noisy count of the rows is below the public bound, as if it were wrong
        return None
    found = made.batch([np.append(one & bits, rows[len(bits) :]) for one in sets])
    return len(rows) * np.array(found)


@attack(dp.learn.KMeans, EPSILON, RHO)
@each
def clusters(bits, one, kw):
    loss, pay = _apart(kw)
    made = dp.learn.KMeans(2, init=[[0.0], [1.0]], max_iter=1, **UNIT, **loss)
    rows = np.append(bits & one, [0.0])  # as many as centres at least
    return made.fit(rows[:, None], **pay).cluster_counts_[1]


def _means(name, kind):
    """The mean of a column, and how many rows there are."""

    @each
    def ask(bits, one, kw):
        loss, pay = _apart(kw)
        made = kind(**UNIT, **loss).fit((bits & one)[:, None] * 1.0, **pay)
        return made.mean_[0] * made.n_rows_

    ask.__name__ = name
    attack(kind, RHO)(ask)


_means("components", dp.learn.PCA)
_means("scalings", dp.learn.StandardScaler)


@attack(dp.learn.TruncatedSVD, EPSILON)
@each
def singular_values(bits, one, kw):
    loss, pay = _apart(kw)
    made = dp.learn.TruncatedSVD(**UNIT, **loss).fit((bits & one)[:, None] * 1.0, **pay)
    return made.singular_values_[0] ** 2


@attack(dp.learn.Perceptron, EPSILON, RHO)
@each
def perceptrons(bits, one, kw):
    # The first step goes by the mean of y x, of which a row outside of the set has nothing.
    loss, pay = _apart(kw)
    made = dp.learn.Perceptron(radius=1, max_iter=2, fit_intercept=False, **REPLACE, **loss)
    made.fit(one[:, None] * 1.0, np.where(bits, 1, -1), **pay)
    return (len(bits) * made.coef_[0, 0] + one.sum()) / 2


def _class_counts(kind, read, *args, **own):
    """A label is 1 for each row of the set whose bit is 1: what is learned has counts of labels."""

    @each
    def ask(bits, one, kw):
        loss, pay = _apart(kw)
        made = kind(*args, classes=[0, 1], **own, **REPLACE, **loss)
        counts = read(made.fit(0.0 * bits[:, None], (bits & one) * 1, **pay))
        return (counts[1] - counts[0] + len(bits)) / 2

    ask.__name__ = f"classes_of_{kind.__name__}"
    attack(kind, EPSILON, RHO)(ask)


_WITHIN = {"bounds": (0, 1)}
_class_counts(dp.learn.ID3Classifier, lambda made: made.tree_.counts[0], [0, 1], max_depth=1)
_class_counts(dp.learn.NaiveBayes, lambda made: made.class_count_, **_WITHIN)
_class_counts(dp.learn.LogisticRegression, lambda made: made.class_count_, max_iter=2, **_WITHIN)
_class_counts(
    dp.learn.AdditiveBoostingClassifier, lambda made: made.class_count_, [0, 1], max_iter=2
)
_FOREST = {"n_estimators": 1, "max_depth": 1, **_WITHIN}
_class_counts(dp.learn.RandomForestClassifier, lambda made: made.leaf_counts_[0, 0], **_FOREST)


@attack(dp.learn.AdditiveBoostingRegressor, EPSILON, RHO)
@each
def boosted_numbers(bits, one, kw):
    loss, pay = _apart(kw)
    made = dp.learn.AdditiveBoostingRegressor(
        [0, 1], y_bounds=(0, 1), max_iter=2, **REPLACE, **loss
    )
    return made.fit((bits & one)[:, None] * 1.0, 1.0 * bits, **pay).bin_counts_[0][1]


@attack(dp.learn.LinearRegression, EPSILON, RHO)
@each
def regressions(bits, one, kw):
    # On a column that is 1 in the set and 0 elsewhere.
    loss, pay = _apart(kw)
    unit = {"bounds": (0, 1), "y_bounds": (-1, 1), "fit_intercept": False}
    made = dp.learn.LinearRegression(**unit, **REPLACE, **loss)
    made.fit(one[:, None] * 1.0, np.where(bits, 1.0, -1.0), **pay)
    return one.sum() * (made.coef_[0] + 1) / 2


@attack(dp.learn.cross_validate, EPSILON)
@each
def validations(bits, one, kw):
    # Most rows are known to be of the first class, which is predicted for all of them then.
    labels = np.append(bits & one, np.zeros(3 * len(bits), bool)) * 1
    unit = {"bounds": (0, 1), "classes": [0, 1], "n_estimators": 1, "max_depth": 1}
    made, rows = dp.learn.RandomForestClassifier(**unit, **REPLACE), np.zeros((len(labels), 1))
    return len(labels) * (1 - dp.learn.cross_validate(made, rows, labels, cv=2, **kw).mean)


def _apart(kw):
    """What the constructor of an estimator takes, and what `fit` does."""
    pay = {name: kw[name] for name in ("budget", "rng") if name in kw}
    return {name: x for name, x in kw.items() if name not in pay}, pay


@attack(dp.online.AboveThreshold, EPSILON, RHO, **ORDERED)
@each
def alarms(bits, one, kw):
    stream = dp.online.AboveThreshold(threshold=int(one.sum() + 1) // 2, **REPLACE, **kw)
    return more_than_half(bool(stream.answer(int((bits & one).sum()))), one.sum())


@attack(dp.online.RunningCount, EPSILON, RHO)
@each
def running_totals(bits, one, kw):
    # A row that is 1 comes in its own step, and one that is 0 does not.
    stream = dp.online.RunningCount(len(bits), **kw)
    return [stream.add(int(bit)) for bit in bits & one][-1].total


@attack(dp.online.SparseVector, EPSILON, DELTA, RHO)
def numbers_beside_alarms(bits, sets, loss, pay):
    stream = dp.online.SparseVector(
        positives=len(sets), threshold=-(10**9), answers=True, **REPLACE, **loss, **pay
    )
    return stream.answer_many((sets & bits).sum(axis=1)).values


@lru_cache
def _known(interface, rows, given):
    """How many rows have to be known that so few more have shares of some accuracy."""
    for power in range(2, 40, 4):
        try:
            interface([rows, 1 << power], **dict(given))
            return 1 << power
        except ArgumentError:
            pass
    raise AssertionError("no number of rows is enough")


def _hard(interface, **own):
    """A question that is hard: a quarter of the known rows are 1, and half of them are guessed."""

    @each
    def ask(bits, one, kw):
        given, pay = _apart({"queries": 1, "accuracy": 0.2, **own, **kw})
        known = _known(interface, len(bits), tuple(given.items()))
        ones = int((bits & one).sum())
        histogram = [known * 3 // 4 + len(bits) - ones, known // 4 + ones]
        answer = interface(histogram, **given, **pay).answer([0, 1])
        return answer * (known + len(bits)) - known // 4

    ask.__name__ = f"a_hard_question_to_{interface.__name__}"
    return ask


attack(dp.online.MedianMechanism, EPSILON, DELTA, RHO)(_hard(dp.online.MedianMechanism, size=4))
_ask = _hard(dp.online.PrivateMultiplicativeWeights)
attack(dp.online.PrivateMultiplicativeWeights, EPSILON, RHO)(_ask)


@attack(dp.online.MWEM, EPSILON, DELTA, RHO, sets="single")
def a_fitted_distribution(bits, sets, loss, pay):
    # The bit of a row is one of two elements of its own.
    histogram = np.ravel([~bits, bits], order="F") * 1
    queries = np.repeat(sets, 2, axis=1) * np.tile([0, 1], len(bits))
    made = dp.online.MWEM(histogram, queries, rounds=2 * len(sets), **loss, **pay)
    return len(bits) * np.array([made.answer(one) for one in queries])
