"""Errors on either side of every choice that a loss alone makes, and of some that are advised.

    python benchmarks/crossings.py [--repeats 400] [--quick] [--out docs/figures]

writes `crossings.json`, which `tests/docs/test_figures.py` holds the constants and the words of
the library to. All rows are invented, so truth may be known and errors be printed. A ratio is that
of two mean (for extremes median) absolute errors: below 1 the first method is the better one. The
number of rows is odd, so that all mean the same quantile.

    quantiles     of "smooth" over "exponential", and of "smooth" over "recursive" for the
                  interquartile range, for each relation, loss and column, and those of median
                  errors: where both are below 1 "auto" changes over (`Quantile.smooth_from`)
    joint         of "joint" over "recursive"
    few           the same under "replace", for few rows, where "auto" changes over and at a tenth
                  of that
    extremes      how often the answer for a minimum is in the gap below all rows, for targets that
                  leave the gap a weight of exp(-inside) (`exponential.INSIDE`), and the error; and
                  the ratio of "smooth" over "exponential"
    trimmed       of the noise of a trimmed mean where rows come and go over that where they are
                  replaced, for n rows and an epsilon of 1
"""

import argparse
import json
import math
import sys
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import exponential
from dpfast.statistics.quantiles.statistic import RANGE_JOINT

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
ROWS, BOUNDS, QUICK = 20_001, (0.0, 100.0), 24
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 32.0)
RHOS = (0.1, 0.25, 0.4, 1.0, 3.0, 12.0, 60.0)
INSIDE = (7, 10, 14, 20)
RELATIONS = {
    "replace": {},
    "add-remove": {"neighbors": "add-remove"},
    "replace, where": {"where": np.ones(ROWS, np.bool_)},
}
STATISTICS = {
    "median": (dp.median, {}, "exponential", lambda x: rank(x, 0.5)),
    "0.9": (dp.quantile, {"q": 0.9}, "exponential", lambda x: rank(x, 0.9)),
    "iqr": (dp.iqr, {}, "recursive", lambda x: rank(x, 0.75) - rank(x, 0.25)),
}


def rank(rows, q):
    """The lower quantile of ascending rows."""
    return rows[max(0, math.ceil(q * len(rows)) - 1)]


def columns():
    """Ascending rows whose quantiles are no round numbers, which one method would favour."""
    words = np.random.default_rng(2026)
    first, last = 8 * math.pi, 27 * math.e
    return {
        "even": np.linspace(first, last, ROWS),
        "uniform": np.sort(words.uniform(first, last, ROWS)),
        "normal": np.sort(words.normal(15 * math.pi, 8, ROWS)),
        "lognormal": np.sort(words.lognormal(2.5, 0.5, ROWS)),
    }


def answers(repeats, function, rows, **arguments):
    """Many answers of one release, whose rows are read once."""
    asked = {"bounds": BOUNDS, "neighbors": "replace", **arguments}
    prepared = dp.extend.prepare(function, rows, **asked)
    mechanism, summary = prepared.mechanism, prepared.mechanism.reduce(prepared.source)
    words = f"{function.__name__} {sorted(map(str, arguments.items()))} {rows[:3]}"
    rng = InsecureGenerator(crc32(words.encode()))
    return np.array([mechanism.finish(summary, rng) for _ in range(repeats)])


def error(truth, *given, typical=np.mean, **arguments):
    return float(typical(np.abs(answers(*given, **arguments) - truth)))


def quantiles(repeats, quick):
    for statistic, (function, more, other, true) in STATISTICS.items():
        for relation, terms in RELATIONS.items():
            for name, losses in (("epsilon", EPSILONS), ("rho", RHOS)):
                for title, rows in columns().items():
                    ratios, medians = [], []
                    for loss in losses[1::4] if quick else losses:
                        own = {**more, **terms, name: loss}
                        smooth, beside = (
                            np.abs(answers(repeats, function, rows, method=method, **own) - truth)
                            for truth in [true(rows)]
                            for method in ("smooth", other)
                        )
                        ratios.append(short(smooth.mean() / beside.mean()))
                        medians.append(short(np.median(smooth) / np.median(beside)))
                    yield {
                        "statistic": statistic,
                        "relation": relation,
                        "loss": name,
                        "column": title,
                        "ratios": ratios,
                        "medians": medians,
                    }


def joint(repeats, quick):
    def ratio(what, function, truth, rows, **own):
        found = [
            np.abs(answers(repeats, function, rows, method=method, **own) - truth).mean()
            for method in ("joint", "recursive")
        ]
        return {"what": what, "relation": own["neighbors"], "ratio": short(found[0] / found[1])}

    for relation in ("replace", "add-remove"):
        rows = columns()["normal"]
        for m in (3, 9, 19):
            qs = [(i + 1) / (m + 1) for i in range(m)]
            truth = np.array([rank(rows, q) for q in qs])
            terms = {"qs": qs, "neighbors": relation, "epsilon": 1.0}
            yield ratio(f"{m} quantiles, normal", dp.quantiles, truth, rows, **terms)
        for title, rows in columns().items():
            truth = rank(rows, 0.75) - rank(rows, 0.25)
            yield ratio(f"iqr, {title}", dp.iqr, truth, rows, neighbors=relation, epsilon=0.25)


def few(repeats, quick):
    rng = np.random.default_rng(5)
    for n in (51, 201, 1001):
        for title, rows in (
            ("spread", rng.lognormal(3, 0.5, n)),
            ("ties", np.round(rng.gamma(6, 7, n))),
        ):
            for m in (3, 9):
                qs = [(i + 1) / (m + 1) for i in range(m)]
                for share in (0.1, 1.0):
                    terms = {"qs": qs, "epsilon": share * RANGE_JOINT * m / n}
                    found = [
                        np.abs(
                            answers(
                                repeats, dp.quantiles, rows, method=method, neighbors="replace",
                                **terms,
                            ) - np.quantile(rows, qs)
                        ).mean()
                        for method in ("joint", "recursive")
                    ]  # fmt: skip
                    what = f"{m} quantiles of {n} rows, {title}"
                    yield {"what": what, "share": share, "ratio": short(found[0] / found[1])}


def extremes(repeats, quick):
    for title, rows in columns().items():
        for epsilon in (1.0, 4.0):
            entry = {"column": title, "epsilon": epsilon, "gap": [], "error": []}
            for inside in INSIDE:
                with patch.object(exponential, "INSIDE", inside):
                    found = answers(10 * repeats, dp.minimum, rows, epsilon=epsilon)
                entry["gap"].append(float(np.mean(found < rows[0])))
                entry["error"].append(short(np.median(np.abs(found - rows[0]))))
            yield entry


def smooth_extremes(repeats, quick):
    for title, rows in columns().items():
        for end, function in ((0, dp.minimum), (-1, dp.maximum)):
            ratios = []
            for epsilon in EPSILONS[1::4] if quick else EPSILONS:
                smooth, beside = (
                    error(
                        rows[end],
                        repeats,
                        function,
                        rows,
                        typical=np.median,
                        method=method,
                        epsilon=epsilon,
                    )
                    for method in ("smooth", "exponential")
                )
                ratios.append(short(smooth / beside))
            yield {"column": title, "statistic": function.__name__, "ratios": ratios}


def trimmed(repeats, quick):
    for n in (50, 100, 200, 400, 800):
        noise = []
        for neighbors in ("add-remove", "replace"):
            rows = np.linspace(25, 75, n)
            own = {"proportion": 0.1, "epsilon": 1.0, "neighbors": neighbors}
            prepared = dp.extend.prepare(dp.trimmed_mean, rows, bounds=BOUNDS, **own)
            noise.append(prepared.mechanism.reduce(prepared.source)[1])
        yield {"rows": n, "ratio": short(noise[0] / noise[1])}


def short(x):
    return float(f"{x:.3g}")


PARTS = (quantiles, joint, few, extremes, smooth_extremes, trimmed)


def measure(repeats, quick=False):
    found = {"rows": ROWS, "repeats": repeats, "epsilon": EPSILONS, "rho": RHOS, "inside": INSIDE}
    for name in ("epsilon", "rho"):
        found[name] = found[name][1::4] if quick else found[name]
    for part in PARTS:
        found[part.__name__] = list(part(repeats, quick))
    return found


def write(found, path):
    """One line an entry."""
    lines = [
        f' "{name}": [\n' + ",\n".join(f"  {json.dumps(entry)}" for entry in value) + "\n ]"
        if isinstance(value, list)
        else f' "{name}": {json.dumps(value)}'
        for name, value in found.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--quick", action="store_true", help=f"a third of it, {QUICK} times")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the file goes")
    given = parser.parse_args(arguments)
    found = measure(QUICK if given.quick else given.repeats, given.quick)
    write(found, given.out / "crossings.json")


if __name__ == "__main__":
    main(sys.argv[1:])
