"""Time the adapter of diffprivlib beside diffprivlib itself.

pip install --no-deps --target DIRECTORY diffprivlib
python benchmarks/adapters.py DIRECTORY
"""

from __future__ import annotations

import sys
import timeit
import types
import warnings

import numpy as np

import dpfast.adapters.diffprivlib as ours


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


def seconds(call):
    """Return the least time of a call."""
    timer = timeit.Timer(call)
    times = max(1, int(0.2 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(3, times)) / times


def text(time):
    """Return a time with its unit."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} us"


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    # Their models do not import under scikit-learn 1.9, and nothing here needs them.
    sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")
    import diffprivlib as theirs

    warnings.simplefilter("ignore")
    print("| | dpfast | diffprivlib | ratio |\n|---|---:|---:|---:|")
    for (name, own), (_, other) in zip(cases(ours), cases(theirs), strict=True):
        a, b = seconds(own), seconds(other)
        print(f"| {name} | {text(a)} | {text(b)} | {b / a:.3g} |")
