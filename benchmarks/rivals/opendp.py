"""OpenDP: the exponential mechanism over a public grid of candidates (add-remove)."""

import math
from functools import lru_cache

import numpy as np
import opendp.prelude as dp

NAME, DISTRIBUTION = "OpenDP", "opendp"
dp.enable_features("contrib")
CANDIDATES = 1001
BOTH = ["replace", "add-remove"]
OFFERS = {
    "quantile": BOTH,
    "tree": BOTH,
    "sum": BOTH,
    "mean": ["replace"],
    "variance": ["replace"],
    "count": ["add-remove"],
    "histogram": BOTH,
    "covariance": ["replace"],
}
#: Candidates for a quantile where no lattice is public, and leaves of a tree of counts.
STEPS, LEAVES = 10_000, 1024


def _space(rows=None):
    """Tables of floats: their number is private, or public and rows are replaced."""
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows), dp.symmetric_distance()


@lru_cache
def _quantile(bounds, epsilon):
    space = _space()

    def make(scale):
        return dp.m.make_private_quantile(
            *space,
            dp.max_divergence(),
            candidates=np.linspace(*bounds, CANDIDATES),
            alpha=0.5,
            scale=scale,
        )

    return dp.binary_search_chain(make, d_in=1, d_out=epsilon)


def median(data, bounds, epsilon):
    return _quantile(tuple(map(float, bounds)), float(epsilon))(data)


@lru_cache
def _noise(maker, scale):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    if maker == "gaussian":
        space = space[0], dp.l2_distance(T=float)
    return getattr(dp.m, f"make_{maker}")(*space, scale=scale)


def laplace(scale, size):
    return _noise("laplace", float(scale))([0.0] * size)


def gaussian(scale, size):
    return _noise("gaussian", float(scale))([0.0] * size)


@lru_cache
def _noisy_max(scale, distribution):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(*space, getattr(dp, distribution)(), scale=scale)


def noisy_max(scores, sensitivity, epsilon):
    """With Gumbel noise: the exponential mechanism."""
    return _noisy_max(2 * sensitivity / epsilon, "zero_concentrated_divergence")(scores)


def permute_and_flip(scores, sensitivity, epsilon):
    """With exponential noise, which has that distribution."""
    return _noisy_max(2 * sensitivity / epsilon, "max_divergence")(scores)


@lru_cache
def _release(kind, bounds, epsilon, neighbors, rows):
    """With Laplace noise: one of a public number of rows is replaced, or rows come and go."""
    public = neighbors == "replace" and kind != "histogram"
    space = _space(rows if public else None)
    if kind == "histogram":
        edges = np.linspace(*bounds, 101).tolist()
        bins = {"categories": list(range(1, 101)), "null_category": False}
        exact = space >> dp.t.then_find_bin(edges) >> dp.t.then_count_by_categories(**bins)
    elif kind == "count":
        exact = space >> dp.t.then_count()
    elif kind == "variance":
        exact = space >> dp.t.then_clamp(bounds) >> dp.t.then_variance(ddof=0)
    elif kind == "sum" and not public:
        clamped = space >> dp.t.then_clamp(bounds)
        exact = clamped >> dp.t.make_bounded_float_checked_sum(2 * rows, bounds)
    else:
        step = {"sum": dp.t.then_sum, "mean": dp.t.then_mean}[kind]
        exact = space >> dp.t.then_clamp(bounds) >> step()
    return dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale),
        d_in=2 if neighbors == "replace" else 1,
        d_out=epsilon,
    )


def _answer(kind):
    def answer(data, bounds, epsilon, neighbors="replace"):
        at = tuple(map(float, bounds)), float(epsilon), neighbors, len(data)
        return _release(kind, *at)(data)

    return answer


sum, mean, variance, histogram = map(_answer, ("sum", "mean", "variance", "histogram"))


def draws(kind, rows, bounds, epsilon, neighbors, **given):
    if kind == "quantile":
        return quantile_draws(rows, bounds, epsilon, neighbors, **given)
    if kind == "tree":
        release = _tree(bounds, float(epsilon), neighbors, len(rows), tuple(given["qs"]))
        return lambda: release(rows)
    if kind == "covariance":
        return covariance_draws(rows, bounds, epsilon)
    rows = rows[rows != 0] if kind == "count" else rows
    answer = _answer(kind)
    return lambda: answer(rows.astype(float), bounds, epsilon, neighbors)


@lru_cache
def _parts(bounds, epsilon, public, q, step):
    """`make_private_quantile` in its two parts: candidates, their scores, and a scale in ranks.

    `public` is the number of rows that may be replaced, or None where they come and go.
    """
    width = bounds[1] - bounds[0]
    candidates = np.linspace(*bounds, round(width / step) + 1 if step else STEPS + 1)
    scores = dp.t.make_quantile_score_candidates(*_space(public), candidates, q)
    scale = 2 * (1 if public else max(q, 1 - q)) / epsilon
    measure = dp.max_divergence()
    whole = dp.m.make_private_quantile(*_space(public), measure, candidates, q, scale)
    assert abs(whole.map(2 if public else 1) / epsilon - 1) < 1e-3  # q is a rounded fraction
    return candidates, scores, scale


def quantile_draws(rows, bounds, epsilon, neighbors, q, step=None):
    """The scores of all candidates are computed once; each draw has noise of its own.

    It is what OpenDP adds for a pure loss, the least of scores less exponential noise, here from
    NumPy in float64, which takes a hundredth of the time and has the same law but for rounding.
    """
    public = len(rows) if neighbors == "replace" else None
    candidates, scores, scale = _parts(bounds, epsilon, public, q, step)
    found = np.array(scores(rows), np.uint64)
    # Scores are multiples of the distance of ranks, by a factor that is OpenDP's own choice.
    last = candidates[-1]
    distance = abs((1 - q) * np.sum(rows < last) - q * np.sum(rows > last))
    near = (found - found.min()) * (distance / (scale * float(found[-1])))
    likely = np.flatnonzero(near < 45 + math.log(len(near)))  # but for 1e-19
    candidates, near, random = candidates[likely], near[likely], np.random.default_rng()
    return lambda: candidates[np.argmin(near - random.standard_exponential(len(near)))]


@lru_cache
def _tree(bounds, epsilon, neighbors, rows, qs):
    """Many quantiles from one tree of noisy counts, made consistent."""
    branches = dp.t.choose_branching_factor(size_guess=rows)
    edges, leaves = np.linspace(*bounds, LEAVES + 1).tolist(), list(range(1, LEAVES + 1))
    bins = dp.t.then_find_bin(edges)
    counts = _space() >> bins >> dp.t.then_count_by_categories(leaves, null_category=False)
    exact = counts >> dp.t.make_b_ary_tree(
        counts.output_domain, counts.output_metric, leaf_count=LEAVES, branching_factor=branches
    )
    consistent = dp.t.make_consistent_b_ary_tree(branches)
    quantiles = dp.t.make_quantiles_from_counts(edges, list(qs))
    return dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale) >> consistent >> quantiles,
        d_in=2 if neighbors == "replace" else 1,
        d_out=epsilon,
    )


def covariance_draws(rows, bounds, epsilon):
    """Each sum and each sum of products alone, with an equal part of the loss."""
    d = rows.shape[1]
    lo, hi = np.transpose(bounds)
    middle, reach = (lo + hi) / 2, (hi - lo) / 2
    x = (rows - middle) / reach
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    share = epsilon / (d + len(pairs))
    columns = [x[:, i].copy() for i in range(d)], [x[:, i] * x[:, j] for i, j in pairs]
    limits = [(0.0 if i == j else -1.0, 1.0) for i, j in pairs]

    def draw():
        means = np.array([mean(column, (-1, 1), share) for column in columns[0]])
        found = np.empty((d, d))
        for (i, j), column, limit in zip(pairs, columns[1], limits, strict=True):
            covariance = mean(column, limit, share) - means[i] * means[j]
            found[i, j] = found[j, i] = covariance * reach[i] * reach[j]
        return found

    return draw


def response(bits, epsilon):
    """One answer a call."""
    mechanism = dp.m.make_randomized_response_bool(1 / (1 + math.exp(-epsilon)))
    return [mechanism(bool(bit)) for bit in bits]
