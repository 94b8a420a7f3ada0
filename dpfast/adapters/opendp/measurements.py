"""Makers of OpenDP measurements that run releases of dpfast."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

import dpfast as dp
from dpfast.extend import Neighbors, checks, extra
from dpfast.privacy import ZCDP, Draws, Loss, Pure, group

from ..scaled_noise import ScaledNoise
from . import spaces

_then: Any = extra("opendp.extras._utilities", spaces.PURPOSE).to_then
_context: Any = extra("opendp.context", spaces.PURPOSE)

#: Arguments that follow from the domain and the metric.
OTHERS = ("columns", "dtype", "neighbors")
#: The arguments that state a loss, with their defaults.
_LOSS: dict[str, Any] = {"epsilon": None, "delta": 0, "rho": None}
#: OpenDP's type for answers that are Python objects, which it passes on unchanged.
ANSWER = "ExtrinsicObject"
#: The largest absolute value of a score.
_LARGEST_SCORE = 2.0**1000
#: The largest scales of noise on floats and on integers, as exponents of two.
_FLOATS, _INTEGERS = 900, 40
#: The most clusters, for any number of rows.
_MANY = 1 << 25


# ---- Noise. ----


def make_laplace(input_domain: Any, input_metric: Any, scale: Any) -> Any:
    """Return a measurement that adds Laplace noise, on integers discrete Laplace noise.

    Privacy
    -------
    Neighbors are at most d apart in the metric: in absolute value, or in L1 for a vector. The loss
    is d / scale (Dwork, McSherry, Nissim and Smith, TCC 2006). Each number and its noise are added
    before they are rounded to a grid. So rounding costs nothing, and the map has no term for it.

    Parameters
    ----------
    input_domain : Domain
        A number or a vector of numbers, without NaN.
    input_metric : Metric
        ``absolute_distance`` or ``l1_distance``.
    scale : float
        Greater than 0.

    Returns
    -------
    Measurement
        A measurement whose measure is MaxDivergence. For a vector it returns a NumPy array.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_laplace
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.atom_domain(T=float, nan=False), theirs.absolute_distance(T=float)
    >>> make_laplace(*space, scale=4.0).map(1.0)
    0.25
    """
    return _noisy("laplace", "L1Distance", input_domain, input_metric, scale)


def make_gaussian(input_domain: Any, input_metric: Any, scale: Any) -> Any:
    """Return a measurement that adds Gaussian noise, on integers discrete Gaussian noise.

    Privacy
    -------
    Neighbors are at most d apart in the metric: in absolute value, or in L2 for a vector. The loss
    in rho is d**2 / (2 scale**2) (Bun and Steinke, TCC 2016; Canonne, Kamath and Steinke, NeurIPS
    2020).

    Parameters
    ----------
    input_domain : Domain
        A number or a vector of numbers, without NaN.
    input_metric : Metric
        ``absolute_distance`` or ``l2_distance``.
    scale : float
        The standard deviation. Greater than 0.

    Returns
    -------
    Measurement
        A measurement whose measure is ZeroConcentratedDivergence. For a vector it returns a NumPy
        array.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_gaussian
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.l2_distance(T=float)
    >>> make_gaussian(*space, scale=2.0).map(1.0)
    0.125
    """
    return _noisy("gaussian", "L2Distance", input_domain, input_metric, scale)


def make_geometric(input_domain: Any, input_metric: Any, scale: Any) -> Any:
    """Return a measurement that adds discrete Laplace noise to integers.

    Privacy
    -------
    As `make_laplace`, on integers only (Ghosh, Roughgarden and Sundararajan, STOC 2009).

    Parameters
    ----------
    input_domain : Domain
        An integer or a vector of integers.
    input_metric : Metric
        ``absolute_distance`` or ``l1_distance``.
    scale : float
        Greater than 0.

    Returns
    -------
    Measurement

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_geometric
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.atom_domain(T=int), theirs.absolute_distance(T=int)
    >>> make_geometric(*space, scale=3.0).map(1) >= 1 / 3
    True
    """
    if spaces.atoms_of(input_domain)[0].dtype.kind == "f":
        checks.fail("input_domain", "a domain of integers", input_domain)
    return make_laplace(input_domain, input_metric, scale)


def _noisy(distribution: str, norm: str, domain: Any, metric: Any, scale: Any) -> Any:
    numbers, is_number = spaces.atoms_of(domain)
    wanted = "AbsoluteDistance" if is_number else norm
    if not spaces.kind_of("input_metric", metric, "Metric").startswith(wanted):
        checks.fail("input_metric", wanted, metric)
    whole, width = numbers.dtype.kind != "f", checks.positive("scale", scale)
    power = _INTEGERS if whole else _FLOATS
    if not 2.0**-power <= width <= 2.0**power:
        checks.fail("scale", f"a number between 2**-{power} and 2**{power}", scale)
    noise = ScaledNoise(distribution, checks.ratio(scale) if whole else Fraction(width), whole)

    def run(data: Any) -> Any:
        values = numbers.read(data)
        if not is_number:
            return dp.extend.release(values, noise, read=False)
        return np.asarray(dp.extend.release(values.item(), noise, read=False)).item()

    # These types can be inputs of OpenDP's transformations.
    answer = ("i64" if whole else "f64") if is_number else ANSWER
    return _measurement(
        domain, metric, noise.loss, run, lambda d_in: noise.loss_of(checks.ratio(d_in)), answer
    )


# ---- Selections. ----


def make_top_k(
    input_domain: Any, input_metric: Any, output_measure: Any, k: int, scale: Any
) -> Any:
    """Return a measurement that draws the indices of `k` scores, roughly the best first.

    Privacy
    -------
    Neighbors are at most d apart in L-infinity. Each of the `k` choices has a bounded range of 2 d
    / scale, or of d / scale if scores are monotonic. The loss is the composition of the choices
    (Durfee and Rogers, NeurIPS 2019).

    Parameters
    ----------
    input_domain : Domain
        A vector of numbers, without NaN.
    input_metric : Metric
        ``linf_distance``, monotonic or not.
    output_measure : Measure
        ``max_divergence()`` or ``zero_concentrated_divergence()``.
    k : int
        At least 1, and at most the number of scores.
    scale : float
        The scale of Gumbel noise that would give the same distribution. Greater than 0.

    Returns
    -------
    Measurement

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_top_k
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.linf_distance(T=int)
    >>> two = make_top_k(*space, theirs.max_divergence(), k=2, scale=0.25)
    >>> sorted(two([900, 3, 4, 800])), two.map(1)
    ([0, 3], 16.0)
    """
    numbers, is_number = spaces.atoms_of(input_domain)
    if is_number:
        checks.fail("input_domain", "a vector domain", input_domain)
    if "LInfDistance" not in spaces.kind_of("input_metric", input_metric, "Metric"):
        checks.fail("input_metric", "LInfDistance", input_metric)
    measure = spaces.kind_of("output_measure", output_measure, "Measure")
    checks.choice("output_measure", measure, ("MaxDivergence", "ZeroConcentratedDivergence"))
    picks, width = checks.whole("k", k, 1), Fraction(checks.positive("scale", scale))
    size = input_domain.size
    if size is not None and picks > size:
        checks.fail("k", f"at most the number of scores, {size}", k)
    monotone = "monotonic" in repr(input_metric)

    def run(data: Any) -> list[int]:
        scores = numbers.read(data)
        if scores.dtype.kind == "f":
            scores = np.clip(scores.astype(np.float64), -_LARGEST_SCORE, _LARGEST_SCORE)
        drawn = dp.selection.top_k(
            scores,
            picks,
            sensitivity=1,
            epsilon=picks / width,
            monotone=True,
            neighbors="add-remove",
        )
        return list(map(int, drawn))

    def loss(d_in: Any) -> Loss:
        range_of_choice = (1 if monotone else 2) * checks.ratio(d_in) / width
        return Draws(picks * range_of_choice, picks, bounded_range=True)

    return _measurement(input_domain, input_metric, output_measure, run, loss)


# ---- Statistics of rows. ----


def make_release(
    input_domain: Any, input_metric: Any, function: Callable[..., Any], **arguments: Any
) -> Any:
    """Return a measurement that runs a release of dpfast, such as ``dpfast.mean``.

    Privacy
    -------
    Neighbors differ in one row, which is added or removed under SymmetricDistance, and replaced
    under ChangeOneDistance. For a distance of d rows, the privacy map returns the loss of the
    release for a group of d rows (`dpfast.privacy.group`; Dwork, McSherry, Nissim and Smith, TCC
    2006). If the loss of a call would be larger than the map says, the call is refused.

    Parameters
    ----------
    input_domain : Domain
        A vector of numbers, `array_domain`, or ``array2_domain(num_columns=...)`` for rows of
        several columns. If it may have NaN, `nan` must be given.
    input_metric : Metric
        ``symmetric_distance`` or ``change_one_distance``, or their ordered variants.
    function : callable
        A release whose loss does not depend on the rows.
    **arguments
        Arguments of the function, with the loss: `epsilon`, `epsilon` with `delta`, or `rho`.

    Returns
    -------
    Measurement
        A measurement whose measure is MaxDivergence for `epsilon`, Approximate(MaxDivergence) for
        `epsilon` with `delta`, and ZeroConcentratedDivergence for `rho`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp, opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_release
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.symmetric_distance()
    >>> mean = make_release(*space, dp.mean, bounds=(0, 120), rho=0.125)
    >>> mean.map(1), mean.map(2), 30 < mean([23, 35, 41, 58] * 99) < 50
    (0.125, 0.5, True)
    """
    return _released(input_domain, input_metric, function, arguments)


def make_median(
    input_domain: Any,
    input_metric: Any,
    bounds: Any,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    nan: Any = "raise",
) -> Any:
    """Return a measurement that releases the median by ``dpfast.median``.

    Privacy
    -------
    As `make_release` (Smith, STOC 2011, for the exponential mechanism on ranks).

    Parameters
    ----------
    input_domain, input_metric
        As for `make_release`.
    bounds, epsilon, delta, rho, nan
        As for ``dpfast.median``.

    Returns
    -------
    Measurement

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import array_domain, make_median
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> median = make_median(array_domain(), theirs.symmetric_distance(), (0, 120), epsilon=0.5)
    >>> median.map(2)
    1.0
    """
    arguments = {"bounds": bounds, "epsilon": epsilon, "delta": delta, "rho": rho, "nan": nan}
    return _released(input_domain, input_metric, dp.median, arguments)


def make_quantiles(
    input_domain: Any,
    input_metric: Any,
    qs: Any,
    bounds: Any,
    epsilon: Any = None,
    rho: Any = None,
    nan: Any = "raise",
) -> Any:
    """Return a measurement that releases quantiles by ``dpfast.quantiles``.

    Privacy
    -------
    As `make_release` (Gillenwater, Joseph and Kulesza, ICML 2021, for quantiles that are drawn
    together).

    Parameters
    ----------
    input_domain, input_metric
        As for `make_release`.
    qs, bounds, epsilon, rho, nan
        As for ``dpfast.quantiles``.

    Returns
    -------
    Measurement

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import array_domain, make_quantiles
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = array_domain(), theirs.change_one_distance()
    >>> make_quantiles(*space, [0.25, 0.75], (0, 120), epsilon=0.5).map(1)
    0.5
    """
    arguments = {"qs": qs, "bounds": bounds, "epsilon": epsilon, "rho": rho, "nan": nan}
    return _released(input_domain, input_metric, dp.quantiles, arguments)


def make_histogram(
    input_domain: Any,
    input_metric: Any,
    bins: Any,
    bounds: Any = None,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
) -> Any:
    """Return a measurement that releases the counts of ``dpfast.histogram``.

    Privacy
    -------
    As `make_release` (Ghosh, Roughgarden and Sundararajan, STOC 2009).

    Parameters
    ----------
    input_domain, input_metric
        As for `make_release`.
    bins, bounds, epsilon, delta, rho
        As for ``dpfast.histogram``.

    Returns
    -------
    Measurement
        A measurement that returns an array of integers.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import array_domain, make_histogram
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = array_domain(), theirs.symmetric_distance()
    >>> make_histogram(*space, 10, (0, 120), epsilon=0.5).map(1)
    0.5
    """
    arguments = {"bins": bins, "bounds": bounds, "epsilon": epsilon, "delta": delta, "rho": rho}
    return _released(input_domain, input_metric, dp.histogram, arguments, itemgetter(0))


def make_kmeans(
    input_domain: Any,
    input_metric: Any,
    n_clusters: int,
    bounds: Any,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
) -> Any:
    """Return a measurement that releases the cluster centers of ``dpfast.learn.KMeans``.

    Privacy
    -------
    As `make_release` (Blum, Dwork, McSherry and Nissim, PODS 2005).

    Parameters
    ----------
    input_domain : Domain
        ``array2_domain(num_columns=..., nan=False, T=float)`` of OpenDP.
    input_metric
        As for `make_release`.
    n_clusters, bounds, epsilon, delta, rho
        As for ``dpfast.learn.KMeans``.

    Returns
    -------
    Measurement
        A measurement that returns an array of `n_clusters` rows.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import make_kmeans
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> rows = theirs.numpy.array2_domain(num_columns=2, nan=False, T=float)
    >>> make_kmeans(rows, theirs.symmetric_distance(), 3, (0, 1), rho=0.5).map(1)
    0.5
    """
    numbers, relation = spaces.numbers_of(input_domain), spaces.relation_of_metric(input_metric)
    if numbers.width is None or numbers.nan:
        checks.fail("input_domain", "array2_domain(num_columns=..., nan=False)", input_domain)
    arguments: dict[str, Any] = {"bounds": bounds, "epsilon": epsilon, "delta": delta, "rho": rho}
    centers = checks.whole("n_clusters", n_clusters, 1)

    @dp.extend.releases
    def fitted(data: Any, budget: Any = None) -> Any:
        learner = dp.learn.KMeans(centers, neighbors=relation, **arguments)
        fit = dp.extend.prepare(learner.fit, data, budget=budget)
        return fit.then(lambda model: model.cluster_centers_)

    loss = dp.privacy.loss(epsilon, delta, rho)
    # As many rows as clusters, because fewer are refused if the number of rows is public.
    rows = np.broadcast_to(0.0, (min(centers, _MANY), numbers.width))
    _paying(loss, loss, relation).cost(fitted, rows)  # raises if an argument is wrong

    def run(data: Any) -> Any:
        return fitted(numbers.read(data), _paying(loss, loss, relation))

    return _measurement(input_domain, input_metric, loss, run, lambda d_in: group(loss, d_in))


def _released(
    domain: Any, metric: Any, function: Any, arguments: dict[str, Any], part: Any = None
) -> Any:
    """Return an OpenDP measurement that runs a release, and answers with `part` of its answer."""
    numbers, relation = spaces.numbers_of(domain), spaces.relation_of_metric(metric)
    for name in OTHERS:
        if name in arguments:
            checks.fail("arguments", f"names of arguments of the function, except {OTHERS}", name)
    shape: Any = {"columns": numbers.width, "dtype": numbers.dtype.name, "neighbors": relation}
    is_release = any(function is entry.function for entry in dp.STATISTICS.values())
    taken = inspect.signature(function).parameters.get("nan") if is_release else None
    # A domain states whether there are NaN, but not whether a count should count them.
    if taken and taken.default is None and "NanPolicy" in str(taken.annotation):
        nan = arguments.setdefault("nan", "raise")
        if numbers.nan and isinstance(nan, str) and nan == "raise":
            checks.fail("nan", "given for a domain with NaN, and not 'raise'", nan)
    release = dp.mechanism(function, **shape, **arguments)
    row_loss = release.loss  # for some mechanisms a `Draws` loss, whose rho is smaller
    requested = dp.privacy.loss(*(arguments.get(name, zero) for name, zero in _LOSS.items()))

    def run(data: Any) -> Any:
        answer = release(numbers.read(data), budget=_paying(row_loss, requested, relation))
        return answer if part is None else part(answer)

    return _measurement(domain, metric, requested, run, lambda d_in: group(row_loss, d_in))


def _paying(loss: Loss, requested: Loss, relation: Neighbors) -> dp.Budget:
    """Return a budget for one call, limited to the loss of the privacy map."""
    if isinstance(requested, ZCDP) and isinstance(loss, Pure):
        loss = ZCDP.of_pure(loss)
    if isinstance(loss, ZCDP):
        return dp.Budget(rho=loss.rho, neighbors=relation)
    return dp.Budget(epsilon=loss.epsilon, delta=loss.delta, neighbors=relation)


def _measurement(
    domain: Any,
    metric: Any,
    measure: Any,
    run: Callable[[Any], Any],
    loss: Callable[[Any], Loss],
    answer: str = ANSWER,
) -> Any:
    """Return a measurement whose privacy map is ``loss(d_in)``, rounded up to a float."""
    measure = measure if isinstance(measure, spaces.mod.Measure) else spaces.measure_of(measure)
    kind = str(measure.type)

    def privacy_map(d_in: Any) -> Any:
        return spaces.distance_of(loss(d_in), kind) if d_in else spaces.nothing(kind)

    return spaces.theirs.m.make_user_measurement(
        domain, metric, measure, run, privacy_map, TO=answer
    )


#: The functions that `register` adds to OpenDP's Context.
MEASUREMENTS = (
    make_laplace, make_gaussian, make_geometric, make_top_k, make_median, make_quantiles,
    make_histogram, make_kmeans,
)  # fmt: skip
(
    then_laplace, then_gaussian, then_geometric, then_top_k, then_median, then_quantiles,
    then_histogram, then_kmeans,
) = map(_then, MEASUREMENTS)  # fmt: skip
then_release = _then(make_release)


def register() -> None:
    """Add the measurements to OpenDP's Context, as ``context.query().dpfast_median(...)``.

    The method of `make_median` is ``dpfast_median``, and so on. Call `register` once in a process;
    further calls do nothing. If `scale` is left out, the Context computes it.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import register
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> register()
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int))
    >>> context = theirs.Context.compositor(
    ...     data=[23, 35, 41] * 99, privacy_unit=theirs.unit_of(contributions=1), domain=space,
    ...     privacy_loss=theirs.loss_of(epsilon=1.0), split_evenly_over=2)
    >>> 20 <= context.query().dpfast_median(bounds=(0, 120), epsilon=0.5).release() <= 50
    True
    """
    for make in MEASUREMENTS:
        name = f"dpfast_{make.__name__.removeprefix('make_')}"
        if name not in _context.constructors:
            _context.register(make, name)
