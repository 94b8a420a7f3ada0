"""dpfast, from the source beside this comparison."""

from datetime import date

import in_duckdb
import numpy as np
import workloads as ask

import dpfast as dp

NAME, DISTRIBUTION = "dpfast", "dpfast"
BOTH = (ask.ADD, ask.REPLACE)
OFFERS = {
    **dict.fromkeys(("count", "sum", "mean", "variance", "histogram", "median", "quantiles"), BOTH),
    "selection": (ask.REPLACE,),
    "noise": (ask.ADD,),
    **dict.fromkeys(("groups", "private_groups", "people", "database"), (ask.ADD,)),
    **dict.fromkeys(("marginals", "tpch_1", "tpch_6", "tpch_14"), (ask.ADD,)),
    **dict.fromkeys(("clusters", "components", "regression", "trees", "stream"), (ask.REPLACE,)),
}
ABSENT: dict[str, str] = {}
#: What hides a part of the loss from who sees the answer alone: how many parts of equal loss there
#: are at least, and which.
HIDES = {
    f"histogram, {ask.REPLACE}": (2, "two counts change, half of epsilon each"),
    "median": (1, "one draw, whose odds change by a factor of e, and chances by less"),
    "quantiles": (1, "one draw of all nine: most of what they may be is as likely on both"),
    f"quantiles, {ask.ADD}": (4, "four levels of draws, a quarter of epsilon each"),
    "private_groups": (2, "half of epsilon shows the group, half is for the noise of its sum"),
    "people": (5, "the sums of five groups, a fifth of epsilon each"),
    "database": (5, "the sums of five groups, a fifth of epsilon each"),
    "marginals": (5, "Gaussian noise in seven tables, of which a row moves each a little"),
    "tpch_1": (11, "eleven sums of one group, with a part of epsilon each"),
    "tpch_14": (2, "the quotient of two noisy sums, half of epsilon each"),
    "clusters": (
        1,
        "up to five rounds of joint noise in 72 sums, of which the answer tells the last",
    ),
    "components": (1, "joint noise in 36 products, of which the answer tells three directions"),
    "regression": (
        1,
        "rounds of noise in 18 sums or more, and slopes that noise explains are left out",
    ),
    "stream": (
        2,
        "a row that is replaced leaves one step and enters another, half of epsilon each",
    ),
    "trees": (10, "counts of two leaves in each of five trees, which vote"),
}


def prepare(data, workload):
    if workload != "database" and not workload.startswith("tpch"):
        return data | {"key": np.array(ask.KEYS)[data["key"]]} if "key" in data else data
    import ibis

    connection = ibis.duckdb.connect()
    in_duckdb.fill(connection.con, in_duckdb.tables(data, workload))
    return connection.table("data") if workload == "database" else connection


def count(data, neighbors):
    high = data["value"] > ask.HIGH_VALUE
    return lambda: dp.count_nonzero(high, epsilon=ask.EPSILON, neighbors=neighbors)


def sum(data, neighbors):
    return lambda: dp.sum(
        data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )


def mean(data, neighbors):
    return lambda: dp.mean(
        data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )


def variance(data, neighbors):
    return lambda: dp.variance(
        data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )


def histogram(data, neighbors):
    return lambda: dp.histogram(
        data["value"], bins=100, bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )[0]


def median(data, neighbors):
    return lambda: dp.median(
        data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )


def quantiles(data, neighbors):
    return lambda: dp.quantiles(
        data["value"], ask.QS, bounds=ask.BOUNDS, epsilon=ask.EPSILON, neighbors=neighbors
    )


def selection(data, neighbors):
    return lambda: dp.selection.permute_and_flip(
        data["score"], sensitivity=1, epsilon=ask.EPSILON, neighbors=neighbors
    )


def noise(data, neighbors):
    return lambda: dp.additive_release(
        data["value"],
        sensitivity=ask.NOISE_SCALE,
        epsilon=ask.EPSILON,
        neighbors=neighbors,
        noise="laplace",
    )


def groups(data, neighbors):
    def answer():
        by = dp.group_by(data, "key", keys=ask.KEYS, neighbors=neighbors)
        found = by.sum("value", bounds=ask.BOUNDS, epsilon=ask.EPSILON)
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer


def private_groups(data, neighbors):
    def answer():
        by = dp.group_by(data, "key", neighbors=neighbors)
        found = by.sum("value", bounds=ask.BOUNDS, epsilon=ask.EPSILON, delta=ask.DELTA)
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer


def people(data, neighbors):
    def answer():
        by = dp.group_by(
            data,
            "key",
            keys=ask.KEYS,
            ids="person",
            max_groups=ask.MAX_GROUPS,
            max_rows=ask.MAX_ROWS,
            neighbors=neighbors,
        )
        found = by.sum("value", bounds=ask.BOUNDS, epsilon=ask.EPSILON)
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer


database = people


def marginals(data, neighbors):
    categories = {name: list(range(size)) for name, size in ask.SHAPE.items()}

    def answer():
        found = dp.marginals(
            data,
            ways=2,
            categories=categories,
            epsilon=ask.EPSILON,
            delta=ask.DELTA,
            neighbors=neighbors,
        )
        return np.concatenate([found.counts(*names).ravel() for names in found])

    return answer


def bought(data):
    lines, orders = data.table("lineitem"), data.table("orders")
    price = lines.l_extendedprice * (1 - lines.l_discount)
    lines = lines.mutate(price=price, charge=price * (1 + lines.l_tax))
    return lines.join(orders, [("l_orderkey", "o_orderkey")])


def tpch_1(data, neighbors):
    lines = bought(data).filter(lambda line: line.l_shipdate <= ask.LAST_SHIP.item())
    names = ["l_returnflag", "l_linestatus"]
    statistics = {
        "sum_qty": dp.stat.sum("l_quantity", bounds=(0, ask.QUANTITY)),
        "sum_base_price": dp.stat.sum("l_extendedprice", bounds=(0, ask.PRICE)),
        "sum_disc_price": dp.stat.sum("price", bounds=(0, ask.PRICE)),
        "sum_charge": dp.stat.sum("charge", bounds=(0, ask.CHARGE)),
        "avg_qty": dp.stat.mean("l_quantity", bounds=(0, ask.QUANTITY)),
        "avg_price": dp.stat.mean("l_extendedprice", bounds=(0, ask.PRICE)),
        "avg_disc": dp.stat.mean("l_discount", bounds=(0, ask.DISCOUNT)),
        "count_order": dp.stat.count(),
    }
    unit = {"ids": "o_custkey", "max_groups": 4, "max_rows": ask.LINES["tpch_1"]}

    def answer():
        by = dp.group_by(lines, names, keys=list(ask.FLAGS), neighbors=neighbors, **unit)
        found = by.agg(statistics, epsilon=ask.EPSILON)
        return np.column_stack([found[name] for name in statistics]).ravel()

    return answer


def tpch_6(data, neighbors):
    lines = bought(data)
    lines = lines.filter(
        lines.l_shipdate >= date(1994, 1, 1),
        lines.l_shipdate < date(1995, 1, 1),
        lines.l_discount.between(0.05, 0.07),
        lines.l_quantity < 24,
    )
    lines = lines.select("o_custkey", revenue=lines.l_extendedprice * lines.l_discount)
    return lambda: dp.sum(
        lines["revenue"],
        bounds=(0, ask.REVENUE),
        epsilon=ask.EPSILON,
        ids="o_custkey",
        max_rows=ask.LINES["tpch_6"],
        neighbors=neighbors,
    )


def tpch_14(data, neighbors):
    lines = bought(data).join(data.table("part"), [("l_partkey", "p_partkey")])
    lines = lines.filter(lines.l_shipdate >= date(1995, 9, 1), lines.l_shipdate < date(1995, 10, 1))
    promo = (lines.p_type == "PROMO").ifelse(lines.price, 0.0)
    lines = lines.select("o_custkey", promo=promo, price=lines.price)

    def answer():
        share = dp.ratio(
            lines,
            bounds=[(0, ask.PRICE)] * 2,
            epsilon=ask.EPSILON,
            ids="o_custkey",
            max_rows=ask.LINES["tpch_14"],
            neighbors=neighbors,
        )
        return 100 * share

    return answer


def clusters(data, neighbors):
    def answer():
        learner = dp.learn.KMeans(
            ask.CLUSTERS, bounds=(-1, 1), epsilon=ask.EPSILON, neighbors=neighbors
        )
        return learner.fit(data["x"]).cluster_centers_

    return answer


def components(data, neighbors):
    def answer():
        learner = dp.learn.PCA(
            ask.COMPONENTS, bounds=(-1, 1), epsilon=ask.EPSILON, neighbors=neighbors
        )
        return learner.fit(data["x"]).components_

    return answer


def regression(data, neighbors):
    def answer():
        learner = dp.learn.LinearRegression(
            bounds=(-1, 1),
            y_bounds=(-ask.REACH, ask.REACH),
            epsilon=ask.EPSILON,
            neighbors=neighbors,
        )
        learner.fit(data["x"], data["target"])
        return [*learner.coef_, learner.intercept_]

    return answer


def trees(data, neighbors):
    def answer():
        learner = dp.learn.RandomForestClassifier(
            bounds=(-1, 1), classes=[0, 1], epsilon=ask.EPSILON, neighbors=neighbors
        )
        return learner.fit(data["x"], data["label"]).predict(data["x"])

    return answer


def stream(data, neighbors):
    def answer():
        counter = dp.online.RunningCount(len(data["bit"]), epsilon=ask.EPSILON, neighbors=neighbors)
        return [counter.add(int(bit)).total for bit in data["bit"]]

    return answer
