"""Error and budget against the number of queries: independent noise, and what learns from answers.

    python benchmarks/streams.py [--repeats 5] [--quick] [--out docs/figures]

writes `streams.json` and draws it into `streams.png`. The table is the embedded Adult table; its
universe are the 8 kinds of people by sex, income and whether they are married, its queries the 26
marginals of these, drawn at random over and over. Truth may be known here, so errors are printed.

* error: the largest error of any of k answers for epsilon = 1, on average over the repeats. The
  mechanisms that want an accuracy get the least that they promise to the last query.
* epsilon: what it takes to promise that none of k answers is off by more than 0.2, but with
  probability 0.05; a matter of public numbers. MWEM promises nothing of the kind.
"""

import argparse
import json
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
COUNTS = (1, 10, 100, 1_000, 10_000)
QUICK = (1, 10, 100)
ACCURACY, FAILURE, SIZE, ROUNDS = 0.2, 0.05, 14, 8


def histogram():
    """How many people are of each kind."""
    import pyarrow.parquet as pq

    source = files("dpfast") / "data" / "adult.parquet"
    with source.open("rb") as file:
        table = pq.read_table(file, columns=["sex", "income", "marital_status"])
    facts = [
        np.array(table[name].to_pylist()) == value
        for name, value in (
            ("sex", "Female"),
            ("income", ">50K"),
            ("marital_status", "Married-civ-spouse"),
        )
    ]
    return np.bincount(facts[0] * 4 + facts[1] * 2 + facts[2], minlength=8)


def marginals():
    """Which kinds a question is about: each fact is asked for, excluded, or of no matter."""
    kinds = np.array(list(product((0, 1), repeat=3)))
    wanted = [w for w in product((0, 1, None), repeat=3) if any(x is not None for x in w)]
    return np.array([
        np.all([kinds[:, i] == x for i, x in enumerate(w) if x is not None], axis=0)
        for w in wanted
    ]).astype(float)  # fmt: skip


def opened(way, counts, queries, epsilon, accuracy, rng=None):
    if way == "median mechanism":
        return dp.online.MedianMechanism(
            counts, queries=queries, epsilon=epsilon, accuracy=accuracy, size=SIZE, rng=rng
        )
    return dp.online.PrivateMultiplicativeWeights(
        counts, queries=queries, epsilon=epsilon, accuracy=accuracy, rng=rng
    )


def promised(way, counts, queries, epsilon, accuracy):
    """Whether it keeps the accuracy to the last query."""
    try:
        return getattr(opened(way, counts, queries, epsilon, accuracy), "lasts", True)
    except ArgumentError:
        return False


def least(kept, low, high):
    """The least of these numbers, to a hundredth of it, for which something is kept."""
    while high / low > 1.01:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def error(way, counts, asked, accuracy, seed):
    """The largest error of all answers, and how many were hard."""
    rng, n = InsecureGenerator(seed), counts.sum()
    truth = asked @ counts / n
    if way == "independent Laplace":
        noise = dp.noise.laplace(len(asked) / n, size=len(asked), rng=rng)
        return float(np.abs(noise).max()), len(asked)
    if way == "noisy histogram":  # of which all answers are made
        noisy = counts + dp.noise.laplace(2.0, size=len(counts), rng=rng)
        return float(np.abs(asked @ noisy / n - truth).max()), len(counts)
    if way == "MWEM":
        fit = dp.online.MWEM(
            counts, np.unique(asked, axis=0), rounds=ROUNDS, epsilon=1, replays=10, rng=rng
        )
        return float(np.abs(asked @ fit.distribution - truth).max()), ROUNDS
    stream = opened(way, counts, len(asked), 1, accuracy, rng)
    answers = [stream.answer(query) for query in asked]
    return float(np.abs(np.array(answers) - truth).max()), sum(a.hard for a in answers)


def needed(way, counts, queries):
    """The least epsilon for which `ACCURACY` is promised."""
    if way == "independent Laplace":
        return queries * np.log(queries / FAILURE) / (counts.sum() * ACCURACY)

    return least(lambda epsilon: promised(way, counts, queries, epsilon, ACCURACY), 1e-4, 1e3)


PROMISING = ("median mechanism", "multiplicative weights")
SILENT = ("MWEM", "noisy histogram")
WAYS = ("independent Laplace", *PROMISING, *SILENT)


def measured(repeats, numbers):
    counts, queries = histogram(), marginals()
    found = {}
    for way in WAYS:
        rows = []
        for k in numbers:
            accuracy = None
            if way in PROMISING:
                accuracy = least(lambda a, w=way, k=k: promised(w, counts, k, 1, a), 1e-4, 1.0)
            worst, hard = [], []
            for repeat in range(repeats):
                g = np.random.default_rng([k, repeat])
                asked = queries[g.integers(0, len(queries), k)]
                one = error(way, counts, asked, accuracy, 1000 * k + repeat)
                worst.append(one[0])
                hard.append(one[1])
            rows.append({
                "queries": k,
                "error": float(f"{np.mean(worst):.4g}"),
                "paid": float(f"{np.mean(hard):.4g}"),
                "promised": None if accuracy is None else float(f"{accuracy:.3g}"),
                "epsilon": None if way in SILENT else float(f"{needed(way, counts, k):.3g}"),
            })  # fmt: skip
        found[way] = rows
    return found


def draw(found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for way, rows in found["ways"].items():
        k = [row["queries"] for row in rows]
        (line,) = both[0].plot(k, [row["error"] for row in rows], "o-", ms=3, label=way)
        if rows[0]["epsilon"] is not None:
            needs = [row["epsilon"] for row in rows]
            both[1].plot(k, needs, "o-", ms=3, color=line.get_color(), label=way)
    both[0].set(title="largest error, epsilon = 1", ylabel="fraction of the rows")
    both[1].set(title=f"epsilon for errors of at most {ACCURACY}", ylabel="epsilon")
    for each in both:
        each.set(xscale="log", yscale="log", xlabel="queries")
    figure.legend(
        *both[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8
    )
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few queries, two repeats")
    parser.add_argument("--out", type=Path, default=FIGURES)
    asked = parser.parse_args(arguments)
    repeats, numbers = (2, QUICK) if asked.quick else (asked.repeats, COUNTS)
    found = {"repeats": repeats, "rows": int(histogram().sum()), "accuracy": ACCURACY,
             "ways": measured(repeats, numbers)}  # fmt: skip
    asked.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1) + "\n"
    (asked.out / "streams.json").write_text(text, encoding="utf-8")
    draw(found, asked.out / "streams.png")


if __name__ == "__main__":
    main()
