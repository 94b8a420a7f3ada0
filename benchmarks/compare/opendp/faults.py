"""OpenDP: what its own maps claim of measurements."""

import numpy as np
import opendp.prelude as dp
import polars as pl

NAME, DISTRIBUTION = "OpenDP", "opendp"
dp.enable_features("contrib")
THRESHOLD = 5
#: The groups of a person.
GROUPS = 20


def number(name):
    return dp.series_domain(name, dp.atom_domain(T="i64"))


def collected(measurement, x, x2, count):
    """Answers of one number, which is in the last column of a table, on both neighbors."""
    for table in (pl.LazyFrame(x), pl.LazyFrame(x2)):
        yield np.array([measurement(table).collect().item(0, -1) for _ in range(count)])


def of_threshold(make, metric, scale, claim, control):
    """Whether a key of one row is shown, which is not there at all in the neighbor.

    Each key has noise of its own, so one release of many keys is as many answers of one.
    """
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), metric
    measurement = make(*space, scale=scale, threshold=THRESHOLD)
    claimed = make(*space, scale=scale, threshold=THRESHOLD - control)
    keys = [str(i) for i in range(100_000)]
    shown = measurement(dict.fromkeys(keys, 1)), measurement({})
    return claim(claimed), *(np.array([key in one for key in keys], int) for one in shown)


def laplace_threshold(control):
    """A count that is the threshold is shown, and the delta leaves it out.

    The control claims the delta that is reported for the threshold less 1.
    """

    def claim(measurement):
        return dict(zip(("epsilon", "delta"), measurement.map((1, 1, 1)), strict=True))

    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return of_threshold(dp.m.make_laplace_threshold, metric, 1.0, claim, control)


def gaussian_threshold(control):
    """As of Laplace noise; the claim is translated by OpenDP's own curve, at epsilon 2."""

    def claim(measurement):
        curve, delta = dp.c.make_zCDP_to_approxDP(measurement).map((1, 1, 1))
        return {"epsilon": 2.0, "delta": curve.delta(2.0) + delta}

    metric = dp.l02inf_distance(dp.absolute_distance(T=int))
    return of_threshold(dp.m.make_gaussian_threshold, metric, 2.0, claim, control)


def merged_groups(control):
    """Rows of people are bounded in each group, and then all groups are made one.

    The control makes them one first, and then bounds the rows.
    """
    rows, groups = (GROUPS, 1) if control else (1, GROUPS)
    merged = pl.lit(0, dtype=pl.Int64).alias("group")
    plan = pl.LazyFrame(schema={"person": pl.Int64, "group": pl.Int64})
    plan = plan.with_columns(merged) if control else plan
    plan = plan.filter(pl.int_range(pl.len()).over("person", "group") < rows)
    plan = plan.filter(pl.struct("group").rank("dense").over("person") <= groups)
    plan = plan if control else plan.with_columns(merged)
    counts = plan.group_by("group").agg(dp.len(scale=10.0))
    measurement = dp.m.make_private_lazyframe(
        dp.lazyframe_domain([number("person"), number("group")]),
        dp.symmetric_id_distance(identifier=pl.col("person")),
        dp.zero_concentrated_divergence(),
        pl.LazyFrame({"group": [0]}).join(counts, on="group", how="left"),
    )
    group = list(range(GROUPS))
    two = {"person": [0] * GROUPS + [1] * GROUPS, "group": group * 2}
    one = {"person": [1] * GROUPS, "group": group}
    return {"rho": measurement.map(1)}, *collected(measurement, two, one, 1_500)


def length_as_change(control):
    """The sum of a group of one row that is replaced, so that one row goes and one comes.

    The greatest length of the group, 1, is taken for the most rows that change. The control
    declares a length of 2, which does not bind.
    """
    plan = pl.LazyFrame(schema={"group": pl.Int64, "value": pl.Int64})
    margin = dp.polars.Margin(
        by=["group"], max_length=2 if control else 1, max_groups=1, invariant="keys"
    )
    measurement = dp.m.make_private_lazyframe(
        dp.with_margin(dp.lazyframe_domain([number("group"), number("value")]), margin),
        dp.symmetric_distance(),
        dp.max_divergence(),
        plan.group_by("group").agg(pl.col("value").dp.sum((-1, 1), scale=1.0)),
    )
    x, x2 = ({"group": [0], "value": [value]} for value in (1, -1))
    return {"epsilon": measurement.map(2)}, *collected(measurement, x, x2, 5_000)


def codes_of_categories(control):
    """The sum of codes of bins, in which a row that comes first changes those of all others.

    The control compares each row with the edge itself.
    """
    value = pl.col("value")
    code = (value > 1).cast(pl.UInt32) if control else value.cut([1.0]).to_physical()
    column = dp.series_domain("value", dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_private_lazyframe(
        dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=100)),
        dp.symmetric_distance(),
        dp.max_divergence(),
        pl.LazyFrame(schema={"value": pl.Float64}).select(code.dp.sum((0, 1), scale=1.0)),
    )
    low = [0.5] * 10
    answers = collected(measurement, {"value": [2.0, *low]}, {"value": low}, 1_500)
    return {"epsilon": measurement.map(1)}, *answers
