"""dpfast, from the source beside this comparison."""

import numpy as np
import workloads as ask

import dpfast as dp

NAME, DISTRIBUTION = "dpfast", "dpfast"
BOTH = (ask.ADD, ask.REPLACE)
OFFERS = {
    **dict.fromkeys(("count", "sum", "mean", "variance", "histogram", "median", "quantiles"), BOTH),
    "selection": (ask.REPLACE,),
    "noise": (ask.ADD,),
    **dict.fromkeys(("groups", "private_groups", "people"), (ask.ADD,)),
    **dict.fromkeys(("clusters", "components", "regression", "trees", "stream"), (ask.REPLACE,)),
}
ABSENT: dict[str, str] = {}


def prepare(data, workload):
    return data | {"key": np.array(ask.KEYS)[data["key"]]} if "key" in data else data


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
