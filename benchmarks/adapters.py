"""Time the adapters of diffprivlib and OpenDP beside what they call, and beside diffprivlib.

pip install --no-deps --target DIRECTORY diffprivlib
python benchmarks/adapters.py [DIRECTORY]
"""

from __future__ import annotations

import sys
import time
import timeit
import types
import warnings

import numpy as np

import dpfast as dp
import dpfast.adapters.diffprivlib as ours
from dpfast.budget.release import release

BOUNDS = {"bounds": (0, 10)}
ROWS = np.arange(10.0)
SCORES = [0.0, 1.0, 2.0, 3.0]


def cases(tool):
    """Yield a name and a call for each case."""
    rng = np.random.default_rng(3)
    ages = rng.integers(0, 100, 1_000_000).astype(np.float64)
    noise = tool.mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    yield "median of 1e6 rows with ties", lambda: tool.tools.median(ages, bounds=(0, 100))
    yield "mean of 1e6 rows", lambda: tool.tools.mean(ages, bounds=(0, 100))
    yield (
        "histogram of 1e6 rows, 1e5 bins",
        lambda: tool.tools.histogram(ages, bins=100_000, range=(0, 100)),
    )
    yield "one number with Laplace noise", lambda: noise.randomise(3.5)
    choice = tool.mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=SCORES)
    yield "one of four candidates", choice.randomise


def calls():
    """Yield a name, a call of an adapter, and the release that it makes, on ten rows."""
    payer = ours.BudgetAccountant()
    paid = {"epsilon": 1.0, "neighbors": "replace", "budget": payer.budget}
    for name in "mean", "std", "sum", "median":
        tool, direct = getattr(ours.tools, name), getattr(dp, name)
        yield (
            f"diffprivlib, tools.{name}",
            lambda tool=tool: tool(ROWS, accountant=payer, **BOUNDS),
            lambda direct=direct: direct(ROWS, **BOUNDS, **paid),
        )
    noise = ours.mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    made = noise._made
    yield (
        "diffprivlib, Laplace",
        lambda: noise.randomise(3.5),
        lambda: release(3.5, made, budget=None, rng=None),
    )
    choice = ours.mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=SCORES)
    asked = {"sensitivity": 1.0, "epsilon": 1.0, "neighbors": "replace"}
    drawn = dp.extend.prepare(dp.selection.exponential, SCORES, **asked)
    yield (
        "diffprivlib, Exponential",
        choice.randomise,
        drawn.run,
    )
    import opendp.prelude as theirs

    from dpfast.adapters.opendp import array_domain, make_median, make_release

    theirs.enable_features("contrib", "honest-but-curious")
    space = array_domain(), theirs.symmetric_distance()

    def measurement(function):
        pure = theirs.max_divergence()
        made = theirs.m.make_user_measurement(*space, pure, function, float, TO="ExtrinsicObject")
        return lambda: made(ROWS)

    yield "OpenDP, nothing", measurement(len), lambda: len(ROWS)
    one = {"epsilon": 1.0, "neighbors": "add-remove"}
    for name, made, direct in (
        ("count", make_release(*space, dp.count, epsilon=1.0), lambda x: dp.count(x, **one)),
        ("median", make_median(*space, (0, 10), 1.0), lambda x: dp.median(x, **BOUNDS, **one)),
    ):
        yield f"OpenDP, {name}", lambda made=made: made(ROWS), measurement(direct)


def seconds(call):
    """Return the least time of a call."""
    timer = timeit.Timer(call)
    times = max(1, int(0.2 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(3, times)) / times


def beside(*functions):
    """Return the least time of this thread for each call, taken by turns."""
    least = [np.inf] * len(functions)
    for _ in range(300):
        for i, call in enumerate(functions):
            start = time.thread_time()
            for _ in range(20):
                call()
            least[i] = min(least[i], (time.thread_time() - start) / 20)
    return least


def text(time):
    """Return a time with its unit."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} us"


def rival(directory):
    """Print the table beside diffprivlib."""
    sys.path.insert(0, directory)
    # Their models do not import under scikit-learn 1.9, and nothing here needs them.
    sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")
    import diffprivlib as theirs

    warnings.simplefilter("ignore")
    print("| | dpfast | diffprivlib | ratio |\n|---|---:|---:|---:|")
    for (name, own), (_, other) in zip(cases(ours), cases(theirs), strict=True):
        a, b = seconds(own), seconds(other)
        print(f"| {name} | {text(a)} | {text(b)} | {b / a:.3g} |")


if __name__ == "__main__":
    print("| a call on ten rows | adapter | without it |\n|---|---:|---:|")
    for name, adapter, direct in calls():
        print(f"| {name} | {' | '.join(map(text, beside(adapter, direct)))} |")
    if len(sys.argv) > 1:
        rival(sys.argv[1])
