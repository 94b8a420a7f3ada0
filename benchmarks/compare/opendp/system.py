"""OpenDP: its framework of measurements, and its Context over Polars for groups."""

import numpy as np
import opendp.prelude as dp
import polars as pl
import workloads as ask

NAME, DISTRIBUTION = "OpenDP", "opendp"
dp.enable_features("contrib", "floating-point", "honest-but-curious")
BOTH = (ask.ADD, ask.REPLACE)
OFFERS = {
    "count": (ask.ADD,),
    **dict.fromkeys(("sum", "median", "quantiles", "histogram"), BOTH),
    "mean": (ask.REPLACE,),
    "variance": (ask.REPLACE,),
    "selection": (ask.REPLACE,),
    **dict.fromkeys(("noise", "groups", "private_groups", "people"), (ask.ADD,)),
    "components": (ask.REPLACE,),
}
ABSENT = {
    "database": "no tables in a database",
    "marginals": "counts by public categories, one table after another: not asked",
    "tpch_1": "not asked: joins are of Polars, before the measurement",
    "tpch_6": "not asked: joins are of Polars, before the measurement",
    "tpch_14": "not asked: joins are of Polars, before the measurement",
    "clusters": "no k-means",
    "regression": "least squares of one feature only (Theil and Sen)",
    "trees": "no trees",
    "stream": "no counter of a stream",
}
#: What hides a part of the loss from who sees the answer alone: how many parts of equal loss there
#: are at least, and which.
HIDES = {
    f"histogram, {ask.REPLACE}": (2, "two counts change, half of epsilon each"),
    "median": (1, "one draw, whose odds change by a factor of e, and chances by less"),
    "quantiles": (4, "four levels of a tree, and the noise of all its 1,024 leaves"),
    "private_groups": (2, "half of epsilon shows the group, half is for the noise of its sum"),
    "people": (5, "the sums of five groups, a fifth of epsilon each"),
    "components": (3, "a third of epsilon is for a mean, a third for variances, not in the answer"),
}


def prepare(data, workload):
    if "key" in data:
        table = pl.DataFrame({**data, "key": np.array(ask.KEYS)[data["key"]]})
        return {"table": table.lazy(), "rows": len(table)}
    return {name: np.ascontiguousarray(x) for name, x in data.items() if x is not None}


def count(data, neighbors):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    counting = space >> dp.t.then_count() >> dp.m.then_laplace(1 / ask.EPSILON)
    high = data["value"][data["value"] > ask.HIGH_VALUE]
    return lambda: counting(high)


def sum(data, neighbors):
    n = len(data["value"])
    public = n if neighbors == ask.REPLACE else None
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=public)
    clamped = (domain, dp.symmetric_distance()) >> dp.t.then_clamp(ask.BOUNDS)
    if public:
        exact = clamped >> dp.t.then_sum()
    else:
        exact = clamped >> dp.t.make_bounded_float_checked_sum(2 * n, ask.BOUNDS)
    changes = 2 if public else 1
    private = dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale), d_in=changes, d_out=ask.EPSILON
    )
    return lambda: private(data["value"])


def mean(data, neighbors):
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(data["value"]))
    exact = (domain, dp.symmetric_distance()) >> dp.t.then_clamp(ask.BOUNDS) >> dp.t.then_mean()
    private = dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale), d_in=2, d_out=ask.EPSILON
    )
    return lambda: private(data["value"])


def variance(data, neighbors):
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(data["value"]))
    clamped = (domain, dp.symmetric_distance()) >> dp.t.then_clamp(ask.BOUNDS)
    exact = clamped >> dp.t.then_variance(ddof=0)
    private = dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale), d_in=2, d_out=ask.EPSILON
    )
    return lambda: private(data["value"])


def histogram(data, neighbors):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    binned = space >> dp.t.then_clamp(ask.BOUNDS) >> dp.t.then_find_bin(ask.EDGES.tolist())
    exact = binned >> dp.t.then_count_by_categories(list(range(1, 101)), null_category=False)
    changes = 2 if neighbors == ask.REPLACE else 1
    private = dp.binary_search_chain(
        lambda scale: exact >> dp.m.then_laplace(scale), d_in=changes, d_out=ask.EPSILON
    )
    return lambda: private(data["value"])


def median(data, neighbors):
    public = len(data["value"]) if neighbors == ask.REPLACE else None
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=public)
    space = domain, dp.symmetric_distance()
    candidates = np.linspace(*ask.BOUNDS, 2001)
    private = dp.binary_search_chain(
        lambda scale: dp.m.make_private_quantile(
            *space, dp.max_divergence(), candidates=candidates, alpha=0.5, scale=scale
        ),
        d_in=2 if public else 1,
        d_out=ask.EPSILON,
    )
    return lambda: private(data["value"])


def quantiles(data, neighbors):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    edges, leaves = np.linspace(*ask.BOUNDS, 1025).tolist(), list(range(1, 1025))
    binned = space >> dp.t.then_clamp(ask.BOUNDS) >> dp.t.then_find_bin(edges)
    counts = binned >> dp.t.then_count_by_categories(leaves, null_category=False)
    branches = dp.t.choose_branching_factor(size_guess=max(len(data["value"]), 2))
    tree = counts >> dp.t.then_b_ary_tree(leaf_count=1024, branching_factor=branches)
    consistent = dp.t.make_consistent_b_ary_tree(branches)
    found = dp.t.make_quantiles_from_counts(edges, list(ask.QS))
    private = dp.binary_search_chain(
        lambda scale: tree >> dp.m.then_laplace(scale) >> consistent >> found,
        d_in=2 if neighbors == ask.REPLACE else 1,
        d_out=ask.EPSILON,
    )
    return lambda: private(data["value"])


def selection(data, neighbors):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    best = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 / ask.EPSILON)
    return lambda: best(data["score"])


def noise(data, neighbors):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    noisy = dp.m.make_laplace(*space, scale=ask.NOISE_SCALE / ask.EPSILON)
    return lambda: noisy(data["value"])


def groups(data, neighbors):
    def answer():
        context = dp.Context.compositor(
            data=data["table"],
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=ask.EPSILON),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=2 * data["rows"])],
        )
        total = pl.col("value").fill_null(0.0).fill_nan(0.0).dp.sum(ask.BOUNDS)
        keys = pl.LazyFrame({"key": ask.KEYS})
        query = context.query().group_by("key").agg(total).with_keys(keys)
        return dict(query.release().collect().iter_rows())

    return answer


def private_groups(data, neighbors):
    def answer():
        context = dp.Context.compositor(
            data=data["table"],
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=ask.EPSILON, delta=ask.DELTA),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["key"], max_length=2 * data["rows"], max_groups=1000)],
        )
        total = pl.col("value").fill_null(0.0).fill_nan(0.0).dp.sum(ask.BOUNDS)
        query = context.query().group_by("key").agg(dp.len(signed=True), total)
        return dict(query.release().collect().select("key", "value").iter_rows())

    return answer


def people(data, neighbors):
    def answer():
        context = dp.Context.compositor(
            data=data["table"],
            privacy_unit=dp.unit_of(contributions=1, identifier="person"),
            privacy_loss=dp.loss_of(epsilon=ask.EPSILON),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=2 * data["rows"])],
        )
        total = pl.col("value").fill_null(0.0).fill_nan(0.0).dp.sum(ask.BOUNDS)
        bounded = context.query().truncate_per_group(ask.MAX_ROWS, by=["key"])
        bounded = bounded.truncate_num_groups(ask.MAX_GROUPS, by=["key"], keep="first")
        query = bounded.group_by("key").agg(total).with_keys(pl.LazyFrame({"key": ask.KEYS}))
        return dict(query.release().collect().iter_rows())

    return answer


def components(data, neighbors):
    def answer():
        learner = dp.sklearn.decomposition.PCA(
            epsilon=ask.EPSILON,
            row_norm=ask.COLUMNS**0.5,
            n_samples=len(data["x"]),
            n_features=ask.COLUMNS,
            n_components=ask.COMPONENTS,
        )
        return learner.fit(data["x"]).components_

    return answer
