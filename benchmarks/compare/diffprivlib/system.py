"""diffprivlib: tools, mechanisms, and models by scikit-learn's names."""

import workloads as ask
from diffprivlib import mechanisms, models, tools

NAME, DISTRIBUTION = "diffprivlib", "diffprivlib"
OFFERS = {
    **dict.fromkeys(("count", "sum", "mean", "variance", "median", "quantiles"), (ask.REPLACE,)),
    "histogram": (ask.ADD,),
    "selection": (ask.REPLACE,),
    "noise": (ask.ADD,),
    **dict.fromkeys(("clusters", "components", "regression", "trees"), (ask.REPLACE,)),
}
ABSENT = {
    "database": "no tables in a database",
    "marginals": "no tables of counts",
    "tpch_1": "no tables, and no people",
    "tpch_6": "no tables, and no people",
    "tpch_14": "no tables, and no people",
    "groups": "no answers by group",
    "private_groups": "no answers by group",
    "people": "no bound on the rows of a person",
    "stream": "no counter of a stream",
}
#: What hides a part of the loss from who sees the answer alone: how many parts of equal loss there
#: are at least, and which.
HIDES = {
    "median": (1, "one draw, whose odds change by a factor of e, and chances by less"),
    "quantiles": (9, "nine draws, a ninth of epsilon each"),
    "clusters": (15, "two rounds or more of nine numbers, a fifteenth of epsilon each at most"),
    "components": (
        8,
        "eight means, eight variances and three directions, an eighth of epsilon each at most",
    ),
    "regression": (45, "45 coefficients and nine means, less than a 45th of epsilon each"),
    "trees": (1, "a row is in one of ten trees, which vote"),
}


def prepare(data, workload):
    return data


def count(data, neighbors):
    high = data["value"] > ask.HIGH_VALUE
    return lambda: tools.count_nonzero(high, epsilon=ask.EPSILON)


def sum(data, neighbors):
    return lambda: tools.sum(data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON)


def mean(data, neighbors):
    return lambda: tools.mean(data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON)


def variance(data, neighbors):
    return lambda: tools.var(data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON)


def histogram(data, neighbors):
    return lambda: tools.histogram(data["value"], bins=100, range=ask.BOUNDS, epsilon=ask.EPSILON)[
        0
    ]


def median(data, neighbors):
    return lambda: tools.median(data["value"], bounds=ask.BOUNDS, epsilon=ask.EPSILON)


def quantiles(data, neighbors):
    return lambda: tools.quantile(
        data["value"], list(ask.QS), bounds=ask.BOUNDS, epsilon=ask.EPSILON
    )


def selection(data, neighbors):
    utility = data["score"].tolist()
    best = mechanisms.PermuteAndFlip(epsilon=ask.EPSILON, sensitivity=1, utility=utility)
    return best.randomise


def noise(data, neighbors):
    mechanism = mechanisms.Laplace(epsilon=ask.EPSILON, sensitivity=ask.NOISE_SCALE)
    return lambda: [mechanism.randomise(x) for x in data["value"].tolist()]


def clusters(data, neighbors):
    def answer():
        learner = models.KMeans(ask.CLUSTERS, bounds=(-1, 1), epsilon=ask.EPSILON)
        return learner.fit(data["x"]).cluster_centers_

    return answer


def components(data, neighbors):
    def answer():
        learner = models.PCA(
            ask.COMPONENTS, bounds=(-1, 1), data_norm=ask.COLUMNS**0.5, epsilon=ask.EPSILON
        )
        return learner.fit(data["x"]).components_

    return answer


def regression(data, neighbors):
    def answer():
        learner = models.LinearRegression(
            bounds_X=(-1, 1), bounds_y=(-ask.REACH, ask.REACH), epsilon=ask.EPSILON
        )
        learner.fit(data["x"], data["target"])
        return [*learner.coef_, learner.intercept_]

    return answer


def trees(data, neighbors):
    def answer():
        learner = models.RandomForestClassifier(bounds=(-1, 1), classes=[0, 1], epsilon=ask.EPSILON)
        return learner.fit(data["x"], data["label"]).predict(data["x"])

    return answer
