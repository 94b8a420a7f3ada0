"""Estimators that are functions of sums and extremes: against their definitions, block by block."""

import itertools
import math
import warnings
from fractions import Fraction
from functools import reduce
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels.tables import Key
from dpfast.aggregate import estimators as est
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, Partition, RandomLabels
from dpfast.aggregate.blocks.tallies import Moments
from dpfast.aggregate.estimators import columns, moments
from dpfast.aggregate.estimators import regression as regressions
from dpfast.aggregate.estimators.base import Job
from dpfast.tables.base import RowChunk

from ..reference.aggregate import streaming as twin
from ..reference.aggregate.estimators import mode, trimmed_mean
from ..support.memory import peak
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.rows import Rows

KEY = Key(bytes(range(32)))
NAN = math.nan


def partition_of(kind, blocks, n, drop=False):
    if kind == "contiguous":
        return Partition(ContiguousLabels(blocks, n), drop)
    return Partition({"random": RandomLabels, "key": KeyedLabels}[kind](blocks, KEY), drop)


def ids_of(kind, n):
    return np.arange(n) // 3 if kind == "key" else None


def outputs(estimator, source, partition, job=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        width = width_of(estimator, source.dtype.names, source.width)
        return estimator.bind(source, width).outputs(source, partition, job or Job())


def width_of(estimator, names, width):
    """How many pairs of bounds there are, None for one that is none of several."""
    m = len(names) if names else width
    if isinstance(estimator, est.LeastSquares):
        return m - 1 + estimator.intercept
    if isinstance(estimator, est.Correlation):
        return None if m == 2 else m * (m - 1) // 2
    return m


def blocks_of(rows, partition, ids=None):
    labels, kept = partition.split(RowChunk(rows, 0, ids))
    if kept.dtype.names is not None:
        kept = np.stack([kept[name].astype(float) for name in kept.dtype.names], axis=1)
    table = kept.astype(np.float64).reshape(len(kept), math.prod(kept.shape[1:]))
    return [table[labels == b] for b in range(partition.blocks)]


def floats(n, columns=None, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(20, 5, (n, columns or 1))
    x[:, -1] += x[:, 0]
    return x if columns else x[:, 0]


def regression(block, target=-1, intercept=True):
    y, x = block[:, target], np.delete(block, target % block.shape[1], axis=1)
    if intercept:
        x = np.column_stack([np.ones(len(x)), x])
    return np.linalg.lstsq(x, y)[0] if len(x) >= x.shape[1] else np.full(x.shape[1], NAN)


def correlations(block):
    i, j = np.triu_indices(block.shape[1], 1)
    if len(block) < 2:
        return np.full(len(i), NAN)
    with np.errstate(invalid="ignore"):
        return np.corrcoef(block.T)[i, j]


def each(function, least=1):
    return lambda x: np.array([function(c) if len(c) >= least else NAN for c in x.T])


#: An estimator, and what it is of a block (a table of float64).
BY_COLUMN = {
    "mean": (est.Mean(), each(np.mean)),
    "var": (est.Variance(), each(np.var)),
    "var1": (est.Variance(ddof=1), each(lambda x: x.var(ddof=1), 2)),
    "std": (est.StandardDeviation(), each(np.std)),
    "min": (est.Minimum(), each(np.min)),
    "max": (est.Maximum(), each(np.max)),
}
SORTED = {
    "median": (est.Median(), each(np.median)),
    "quantile": (est.Quantile(0.3), each(lambda x: np.quantile(x, 0.3))),
    "trimmed-mean": (est.TrimmedMean(0.2), each(lambda x: trimmed_mean([*x], Fraction(1, 5)))),
    "mode": (est.Mode(), each(lambda x: mode(x.tolist()))),
}
BY_ROW = {
    "correlation": (est.Correlation(), correlations),
    "least-squares": (est.LeastSquares(), regression),
    "first": (est.LeastSquares(target=0), lambda x: regression(x, 0)),
    "origin": (est.LeastSquares(intercept=False), lambda x: regression(x, -1, False)),
}
EVERY = BY_ROW | BY_COLUMN | SORTED


def check(estimator, definition, rows, partition, ids=None, rtol=1e-9):
    found = outputs(estimator, Rows(rows, ids=ids), partition)
    due = np.array([definition(block) for block in blocks_of(rows, partition, ids)])
    np.testing.assert_allclose(found, due.reshape(partition.blocks, -1), rtol=rtol, atol=1e-9)


PARTITIONS = list(itertools.product(["contiguous", "random", "key"], [False, True]))
NAMED = np.dtype([("age", "i2"), ("height", "f4"), ("member", "?"), ("pay", ">f8")])


@pairwise(drop=True)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind,drop", PARTITIONS)
@pytest.mark.parametrize("columns", [None, 2, 4, "named"])
def test_answers_are_those_of_the_definition(name, kind, drop, columns):
    n, is_named = 3000, columns == "named"
    if is_named and name in ("mean", "least-squares"):
        n = 40_000  # more than one piece
    x = floats(n, 4 if is_named else columns or (2 if name in BY_ROW else None))
    rows = np.empty(n, NAMED) if is_named else x
    for i, field in enumerate(NAMED.names if is_named else ()):
        rows[field] = x[:, i] > 20 if field == "member" else x[:, i]
    if drop:
        (rows["pay"] if is_named else rows.reshape(n, -1)[:, -1])[::7] = NAN
    partition, rtol = partition_of(kind, 12, n, drop), 1e-7 if is_named else 1e-9
    check(*EVERY[name], rows, partition, ids_of(kind, n), rtol)


@pytest.mark.parametrize("fault", ["next row's label", "two blocks as one", "a row twice"])
def test_control_rows_in_a_wrong_block_are_caught(monkeypatch, fault):
    right = Moments.add_rows

    def wrong(self, labels, start, rows):
        if fault == "two blocks as one":
            named = labels.read(start, len(rows))
            self.add(np.where(named == 3, 4, named).astype(np.uint32), rows)
            return
        right(self, labels, start + (fault == "next row's label"), rows)
        right(self, labels, start, rows[: fault == "a row twice"])

    monkeypatch.setattr(Moments, "add_rows", wrong)
    for name in ("mean", "var", "least-squares"):
        rows = floats(3000, 2 if name == "least-squares" else None)
        with pytest.raises(AssertionError):
            check(*(BY_COLUMN | BY_ROW)[name], rows, partition_of("random", 12, 3000))


CUTS = [(), (1,), (2999,), (17, 18, 18, 700), tuple(range(0, 3000, 97))]


def same_for_all_chunks(estimator, kind, drop, columns=3):
    rows = floats(3000, columns) * 2.0 ** np.arange(-30, 30).repeat(50)[:, None]
    rows[::13, 0] = NAN if drop else 1.0
    partition, ids = partition_of(kind, 12, 3000, drop), ids_of(kind, 3000)
    due = outputs(estimator, Rows(rows, ids=ids), partition)
    assert not np.isnan(due).any()
    for i, cuts in enumerate([*CUTS, *CUTS[3:]]):
        source = Rows(rows, ids, cuts, (None, 0, 1)[i % 3], team=(4, 1)[i % 2])
        np.testing.assert_array_equal(outputs(estimator, source, partition), due)


@every_value
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind,drop", PARTITIONS)
def test_chunks_workers_and_order_leave_no_trace(name, kind, drop):
    same_for_all_chunks(EVERY[name][0], kind, drop)


def test_control_sums_of_floats_leave_a_trace(monkeypatch):
    """The same test catches a tally that adds in float64, chunk by chunk."""

    def add(self, labels, rows):
        np.add.at(self.counts, labels, 1)
        for total, column in zip(self._first, rows.T, strict=True):
            total.plain = getattr(total, "plain", 0.0) + np.bincount(labels, column, self.blocks)

    def merge(self, other):
        self.counts += other.counts
        for own, more in zip(self._first, other._first, strict=True):
            own.plain = own.plain + more.plain
        return self

    def means(self):
        return np.stack([total.plain for total in self._first], axis=1) / self.counts[:, None]

    for method in (add, merge, means):
        monkeypatch.setattr(Moments, method.__name__, method)
    with pytest.raises(AssertionError):
        same_for_all_chunks(est.Mean(), "key", False)


@pairwise(drop=True)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", ["contiguous", "random", "key"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_blocks_without_rows_have_no_answer(name, kind, n):
    rows, ids = floats(3, 3)[:n], np.arange(n) if kind == "key" else None
    partition = partition_of(kind, 40, n)
    found = outputs(EVERY[name][0], Rows(rows, ids=ids), partition)
    empty = ~np.isin(np.arange(40), partition.split(RowChunk(rows, 0, ids))[0])
    assert np.isnan(found[empty]).all()
    if name in ("mean", "min", "max") and n:
        assert not np.isnan(found[~empty]).any()


def offset_rows(n=600, offset=1e9):
    rows = offset + floats(n, 3, seed=4)
    rows[:, 0] -= 2 * offset
    return rows


def is_exact_about_an_offset(rows, blocks=8):
    """est.Variance, correlation and least squares of numbers far from 0, to ten digits and more."""
    partition = partition_of("random", blocks, len(rows))
    variances, pairs, lines = (
        outputs(estimator, Rows(rows), partition)
        for estimator in (est.Variance(1), est.Correlation(), est.LeastSquares())
    )
    for b, block in enumerate(blocks_of(rows, partition)):
        columns, table = [twin.column(block.tolist(), j) for j in range(3)], block.tolist()
        exact = [float(twin.covariance(x, x, 1)) for x in columns]
        np.testing.assert_allclose(variances[b], exact, rtol=1e-13)
        exact = [twin.correlation(table, i, j) for i, j in [(0, 1), (0, 2), (1, 2)]]
        np.testing.assert_allclose(pairs[b], exact, rtol=1e-12, atol=1e-14)
        exact = twin.least_squares(table, 2, True)
        np.testing.assert_allclose(lines[b], exact, rtol=1e-12, atol=1e-14)


@quick_rows(1)
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
def test_a_large_offset_costs_no_digits(offset):
    is_exact_about_an_offset(offset_rows(offset=offset))


def test_control_one_pass_loses_them(monkeypatch):
    def one_pass(source, partition, form, products=True):
        found = columns.moments(source, partition, form, products)
        found.shift = np.zeros((partition.blocks, form.count))
        return found

    monkeypatch.setattr(moments, "centered", one_pass)
    monkeypatch.setattr(regressions, "centered", one_pass)
    is_exact_about_an_offset(offset_rows(offset=0.0) * [1, 1, 2])  # near 0 it is good enough
    with pytest.raises(AssertionError):
        is_exact_about_an_offset(offset_rows())


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e5])
@pytest.mark.parametrize("intercept", [True, False])
def test_nearly_collinear_features(condition, intercept):
    """The correction by residuals gives what the normal equations alone would lose."""
    rows = floats(400, 3, seed=2)
    rows[:, 1] = rows[:, 0] + rows[:, 1] / condition
    partition = partition_of("random", 4, 400)
    found = outputs(est.LeastSquares(intercept=intercept), Rows(rows), partition)
    for b, block in enumerate(blocks_of(rows, partition)):
        exact = twin.least_squares(block.tolist(), 2, intercept)
        np.testing.assert_allclose(found[b], exact, rtol=1e-14 * condition + 1e-12)


def test_control_the_normal_equations_alone_are_worse(monkeypatch):
    true = regressions._residuals

    def no_products(*args):
        tally = true(*args)
        terms = tally._terms
        tally._terms = lambda *of: (0 * term if i else term for i, term in enumerate(terms(*of)))
        return tally

    monkeypatch.setattr(regressions, "_residuals", no_products)
    with pytest.raises(AssertionError):
        test_nearly_collinear_features(1e5, True)


def test_a_singular_block_has_no_regression():
    rows, partition = floats(600, 3), partition_of("contiguous", 6, 600)
    rows[100:200, 1] = 3 * rows[100:200, 0] - 8  # collinear
    rows[200:300, 0] = 0.1  # constant
    rows[300:400, 2] = 0.1  # only the target
    rows[400:500, 1] = 0
    found = outputs(est.LeastSquares(), Rows(rows), partition)
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, False, True, False]
    np.testing.assert_allclose(found[3], [0.1, 0, 0], atol=1e-15)
    origin = outputs(est.LeastSquares(intercept=False), Rows(rows), partition)
    assert np.isnan(origin).all(axis=1).tolist() == [False, False, False, False, True, False]
    # What is left of a sum of others is rounding: in some of many blocks it is positive.
    rows, partition = floats(4000, 4), partition_of("random", 40, 4000)
    rows[:, 2] = rows[:, 0] / 3 + 7 * rows[:, 1]
    for intercept in (True, False):
        estimator = est.LeastSquares(intercept=intercept)
        assert np.isnan(outputs(estimator, Rows(rows), partition)).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_fewer_rows_than_coefficients(intercept):
    """Of blocks of one to five rows and two features, those that determine a line have one."""
    due, rows, ids = 2 + intercept, floats(15, 3), np.repeat(np.arange(5), np.arange(1, 6))
    labels = KeyedLabels(64, KEY)
    where = labels.read(np.arange(5))
    assert len(set(where.tolist())) == 5
    found = outputs(est.LeastSquares(-1, intercept), Rows(rows, ids=ids), Partition(labels))[where]
    assert np.isnan(found).all(axis=1).tolist() == [n < due for n in range(1, 6)]
    exact = twin.least_squares(rows[ids == due - 1].tolist(), 2, intercept)  # an exact fit
    np.testing.assert_allclose(found[due - 1], exact, rtol=1e-10)


@pytest.mark.parametrize("value", [0.1, 1e-160, -3.3e150, 0.0, 123456.789])
@pytest.mark.parametrize("rows", [2, 3, 49, 1000])
def test_a_constant_column_varies_not_at_all(value, rows):
    x, one = floats(rows, 2), partition_of("random", 1, rows)
    x[:, 0] = value
    assert outputs(est.Variance(), Rows(x), one)[0, 0] == 0
    assert np.isnan(outputs(est.Correlation(), Rows(x), one)).all()
    assert np.isnan(outputs(est.LeastSquares(), Rows(x), one)).all()


def test_correlations_never_leave_their_range_and_squares_float64():
    x = np.random.default_rng(0).uniform(size=2000)
    rows = np.column_stack([x, 3 * x + 1, -x])
    found = outputs(est.Correlation(), Rows(rows), partition_of("random", 200, 2000))
    assert (np.abs(found) <= 1).all()
    np.testing.assert_allclose(found, np.tile([1.0, -1.0, -1.0], (200, 1)), rtol=1e-14)
    rows = np.array([[1e200, 1.0], [-1e200, 2.0], [3e200, 3.0], [1.0, 4.0]])
    even = np.array([1e200, -1e200, 1e200, -1e200])  # whose mean is 0, and the variance infinite
    turned = rows[:, ::-1].copy()
    for estimator, some in (
        *[
            (est.Variance(), rows[:, 0].copy()),
            (est.Variance(), even),
            (est.StandardDeviation(), even),
        ],
        *[(est.Correlation(), rows), (est.Correlation(), turned)],
        *[(est.LeastSquares(), rows), (est.LeastSquares(target=0), turned)],
    ):
        assert np.isnan(outputs(estimator, Rows(some), partition_of("random", 1, 4))).all()


NUMBERS = st.one_of(
    st.integers(-20, 20).map(float),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([NAN, math.inf, -math.inf, -0.0, 1e6 + 2**-20]),
)


@pytest.mark.full
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30),
    st.integers(1, 6),
    st.sampled_from(["contiguous", "random", "key"]),
    st.booleans(),
    st.lists(st.integers(0, 30), max_size=4),
    st.integers(0, 2),
)
def test_any_rows(pairs, blocks, kind, drop, cuts, ddof):
    rows = np.array(pairs, np.float64).reshape(len(pairs), 2)
    ids, partition = ids_of(kind, len(rows)), partition_of(kind, blocks, len(rows), drop)
    source = Rows(rows, ids, [min(c, len(rows)) for c in cuts])
    estimators = est.Variance(ddof), est.Mean(), est.Minimum(), est.Correlation()
    variance, mean, least, both = (outputs(one, source, partition) for one in estimators)
    for b, block in enumerate(blocks_of(rows, partition, ids)):
        for j, x in enumerate(block.T):
            np.testing.assert_array_equal(least[b, j], x.min() if len(x) else NAN)
            if len(x) and np.isfinite(x).all():
                column = twin.column(block[:, j : j + 1].tolist(), 0)
                due = twin.mean(column)
                assert abs(Fraction(mean[b, j]) - due) <= abs(due) * Fraction(2, 2**52)
                due = float(twin.covariance(column, column, ddof)) if len(x) > ddof else NAN
                np.testing.assert_allclose(variance[b, j], due, rtol=1e-14)
            else:
                assert np.isnan(variance[b, j])
                due = {(True, False): math.inf, (False, True): -math.inf}
                seen = bool((x == math.inf).any()), bool((x == -math.inf).any())
                nan = NAN if len(x) == 0 or np.isnan(x).any() else due.get(seen, NAN)
                np.testing.assert_array_equal(mean[b, j], nan)
        usable = len(block) > 0 and np.isfinite(block).all()
        due = twin.correlation(block.tolist(), 0, 1) if usable else NAN
        np.testing.assert_allclose(both[b, 0], due, rtol=1e-12, atol=1e-12)


@pairwise(drop=True)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
@pytest.mark.parametrize("shift", [None, np.array([7.5]), np.linspace(5, 9, 7)[:, None]])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("kind", ["random", "contiguous"])
def test_one_loop_and_numpy_make_the_same_terms(dtype, shift, products, kind):
    """Labels, terms and squares in one loop, and each made by NumPy: the same to the last bit."""
    info = np.iinfo(dtype) if dtype[0] in "iu" else None
    x = np.random.default_rng(5).normal(0, 60, 5000)
    x = (x if info is None else np.clip(x, info.min, info.max)).astype(dtype)
    if info is not None and info.bits == 64:
        x[:2] = info.max, info.max - 5  # rounded on the way to float64
    labels = partition_of(kind, 7, 5000).labels
    fused, plain, other = (Moments(7, 1, products, shift) for _ in range(3))
    for part, start, stop in [(fused, 0, 1), (fused, 3, 3), (other, 2500, 5000), (fused, 1, 2500)]:
        add = part.add_rows if kind == "random" else part.add_ranges
        add(labels, start, x[start:stop])
    fused.merge(other)
    plain.add(labels.read(0, 5000), x)
    for of in (Moments.residuals, Moments.means, Moments.products, Moments.variances):
        np.testing.assert_array_equal(of(fused), of(plain))
    np.testing.assert_array_equal(fused.counts, plain.counts)


def test_one_tally_a_thread():
    """However many chunks there are, and their answers are all in the total."""
    source, make = Rows(floats(3000), None, range(0, 3000, 10), team=3), Mock(wraps=Moments)
    form, partition = columns.columns(source), partition_of("random", 5, 3000)
    total = columns.tallied(source, partition, form, lambda: make(5, 1))
    assert total.counts.sum() == 3000 and 1 <= make.call_count <= 3


class Made:
    """Rows that nobody ever holds together: each chunk is made when it is asked for."""

    def __init__(self, n, columns, dtype="f8"):
        self.length, self.width, self.array = n, columns, None
        self.dtype = np.dtype(dtype)

    def reduce(self, summarise, merge):
        def one(start):
            rows = np.arange(start, min(start + 10_000, self.length))
            table = np.outer(rows, np.sqrt([2, 3, 5, 7][: self.width])) % 1
            return summarise(RowChunk(np.ascontiguousarray(table, self.dtype), start, rows))

        return reduce(merge, map(one, range(0, self.length, 10_000)))


@quick_rows(2)
@pytest.mark.parametrize("name", BY_ROW | BY_COLUMN)
@pytest.mark.parametrize("kind,drop", PARTITIONS)
@pytest.mark.parametrize("in_memory", [True, False])
def test_memory_of_the_blocks_alone(name, kind, drop, in_memory):
    n, source, estimator = 300_000, Made(300_000, 3), EVERY[name][0]
    if in_memory:
        chunk = RowChunk(np.random.default_rng(0).uniform(size=(n, 3)), 0, np.arange(n))
        source.reduce = lambda summarise, merge: summarise(chunk)
    bound = estimator.bind(source, width_of(estimator, None, 3))
    partition = partition_of(kind, 10, n, drop)
    assert peak(lambda: bound.outputs(source, partition, Job()))[0] < 24 * n / 2
