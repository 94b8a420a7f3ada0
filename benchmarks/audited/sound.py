"""False alarms: audits of sound claims, of which none may be refuted.

    python -m benchmarks.audited.sound [--runs N] [--out folder] [kinds]

writes the part `sound` of `audited.json` in `docs/figures`. The claims have no slack: most of the
mechanisms spend all of them on these neighbors, so a kit that refuted too early would show it here.
Answers are numbers, vectors, text, mappings, errors, printed lines and mixtures of these. Each run
has a seed of its own. Each kind also audits one false claim, which has to be refuted: of a third of
the loss or less, or of a mechanism with a fault.
"""

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

from .__main__ import FIGURES

RUNS = 2_000
#: Neighbors: the last row is 1, or 0.
X, X2 = [1, 0, 1], [1, 0, 0]
ONE = {"epsilon": 1.0}
GAUSSIAN = {
    "epsilon": 1.0,
    "delta": NormalDist().cdf(-0.5) - math.e * NormalDist().cdf(-1.5),
}
#: The probability that an answer shows the row.
SHOWN = 0.01
#: What is told if one answer after the other is drawn.
WORDS = np.array(["no", "yes"])
#: The share of most claims that is false.
THIRD = 1 / 3

Run = Callable[[int, bool], bool]


def noisy(noise):
    """The sum with many numbers of a noise at once."""
    return lambda g: lambda data, size: sum(data) + noise(size, g)


def coin(g, data, size=1, epsilon=1.0):
    """The last row by randomized response, which is all of a loss."""
    return dp.response.binary(np.full(size, data[-1]), epsilon=epsilon, rng=g)


def told(tell):
    """What is told of one answer by randomized response."""
    return lambda g: lambda data: tell(bool(coin(g, data)[0]))


def fails(hit):
    return 1 / hit if hit else 1 / int(hit)


def prints(hit):
    if hit:
        print("hit")
    return 0


def warns(hit):
    if hit:
        np.log(np.zeros(1))
    return 0


def shown(g):
    """Randomized response, but the row itself with the probability delta."""

    def mechanism(data, size):
        seen = g.random_raw(size) < SHOWN * 2.0**64
        return np.where(seen, 2 + data[-1], coin(g, data, size))

    return mechanism


def threshold(g):
    """The noisy count of a key of one row, if it is above 4."""

    def mechanism(data, size):
        count = data[-1] + dp.noise.discrete_laplace(1, size, rng=g)
        return np.where((data[-1] > 0) & (count > 4), count, 0)

    return mechanism


def parts(g):
    """Two releases of half of the loss in a mapping, with what is computed from them."""

    def mechanism(data):
        first, second = (sum(data) + dp.noise.discrete_laplace(2, rng=g) for _ in range(2))
        return {"first": first, "second": second, "pair": (first, str(second)), "n": 3}

    return mechanism


def mixture(g):
    """A number, text, None, NaN, an array or an error, by a noisy count."""

    def mechanism(data):
        count = int(sum(data) + dp.noise.discrete_laplace(1, rng=g))
        if count % 7 == 6:
            raise KeyError("seven")
        return (count, float(count), f"{count}", None, math.nan, np.zeros(2))[count % 7]

    return mechanism


def selection(g):
    def mechanism(data, size):
        scores = [data[-1], 1 - data[-1], 0]
        return dp.selection.permute_and_flip(scores, sensitivity=1, epsilon=1, size=size, rng=g)

    return mechanism


def released(function, **given):
    """A release of rows, of which one is replaced."""
    paid = {"epsilon": 1, "neighbors": "replace", **given}
    return lambda g: lambda data: function(data, rng=g, **paid)


def by_calls(make, claim=ONE, samples=10_000, share=THIRD, more=4):
    """An audit of a function, by its answers; a false claim is of a share, and has more answers."""

    def run(seed, sound):
        less = claim if sound else {key: share * claim[key] for key in claim}
        number = samples if sound else more * samples
        mechanism = make(InsecureGenerator(seed))
        return dp.audit.measure(mechanism, X, X2, **less, samples=number).refuted

    return run


def by_stored(make, shape=()):
    """An audit of answers that are there."""

    def run(seed, sound):
        g = InsecureGenerator(seed)
        answers = (make(g, data, (5_000 if sound else 20_000, *shape)) for data in (X, X2))
        return dp.audit.measure_answers(*answers, epsilon=1 if sound else THIRD).refuted

    return run


def stored_words(g, data, shape):
    return WORDS[coin(g, data, shape).astype(int)]


def stored_rows(g, data, shape):
    return np.array(data) + dp.noise.laplace(1, shape, rng=g)


def of_one_run(seed, sound):
    """A thousand canaries, each told by randomized response of twice the half of the claim."""
    g = InsecureGenerator(seed)

    def run(included):
        return dp.response.binary(included, epsilon=1 if sound else 3, rng=g)

    return dp.audit.one_run(run, 1_000, epsilon=1, rng=InsecureGenerator(seed + RUNS)).refuted


def of_support(seed, sound):
    """Floats, of which each can come from either of the data."""
    g, plain = InsecureGenerator(seed), np.random.default_rng(seed)

    def mechanism(data, size):
        noise = dp.noise.laplace(1.0, size, rng=g) if sound else plain.laplace(0, 1, size)
        return data[-1] + noise

    return not dp.audit.support(mechanism, X, X2, epsilon=1, samples=10_000).same


def of_replay(seed, sound):
    """A program of two releases, of which the second has a limit from the first."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.uniform(0, 100, int(rng.integers(5, 50))))

    def program(data):
        middle = dp.median(data, bounds=(0, 100), epsilon=1)
        high = max(1.0, 2 * middle if sound else data.max())
        return dp.sum(np.clip(data, 0, high), bounds=(0, high), epsilon=1), middle

    return not dp.audit.replay(program, rows, rows[:-1]).clean


laplace, integers = dp.noise.laplace, dp.noise.discrete_laplace
KINDS: dict[str, Run] = {
    "integers": by_calls(noisy(lambda n, g: integers(1, n, rng=g))),
    "floats": by_calls(noisy(lambda n, g: laplace(1, n, rng=g))),
    "integers, rho": by_calls(
        noisy(lambda n, g: dp.noise.discrete_gaussian(1, n, rng=g)), {"rho": 0.5}
    ),
    "floats, delta": by_calls(noisy(lambda n, g: dp.noise.gaussian(1, n, rng=g)), GAUSSIAN),
    "vectors": by_calls(lambda g: lambda data, size: np.array(data) + laplace(1, (size, 3), rng=g)),
    "booleans": by_calls(lambda g: lambda data, size: coin(g, data, size)),
    "the row itself with probability delta": by_calls(shown, ONE | {"delta": SHOWN}),
    "keys above a threshold": by_calls(
        threshold, ONE | {"delta": math.exp(-4) / (1 + math.exp(-1))}
    ),
    "a selection": by_calls(selection),
    "constants": by_calls(told(lambda _: 0), {"epsilon": 0.001}, 1_100),
    "text": by_calls(told(lambda hit: "yes" if hit else "no"), samples=1_500),
    "lengths": by_calls(told(lambda hit: [0.0] * (1 + hit)), samples=1_500),
    "types": by_calls(told(lambda hit: 1 if hit else 1.0), samples=1_500),
    "NaN and minus zero": by_calls(told(lambda hit: math.nan if hit else -0.0), samples=1_500),
    "mappings": by_calls(told(lambda hit: {"a": 1, "b" if hit else "c": [2]}), samples=1_500),
    "mappings of two releases": by_calls(parts, samples=1_500),
    "errors": by_calls(told(fails), samples=1_500),
    "printed lines": by_calls(told(prints), samples=1_500),
    "warnings": by_calls(told(warns), samples=1_500),
    "a mixture": by_calls(mixture, samples=1_500),
    "dp.count_nonzero": by_calls(released(dp.count_nonzero), samples=1_500),
    "dp.sum": by_calls(released(dp.sum, bounds=(0, 1)), samples=1_500),
    "dp.histogram": by_calls(released(dp.histogram, bins=[0, 0.5, 1]), samples=1_100, more=16),
    "dp.median": by_calls(released(dp.median, bounds=(0, 1)), samples=1_100, share=0.1, more=16),
    "stored vectors": by_stored(stored_rows, (3,)),
    "stored text": by_stored(stored_words),
    "one run of canaries": of_one_run,
    "what floats can be": of_support,
    "a replayed program": of_replay,
}
#: These spend nothing, or too little for an audit of a third to see.
UNSEEN = {"constants"}


def audited(runs: int, names: Collection[str]) -> dict[str, Any]:
    """The counts of each of the named kinds: a run has the same seed, whichever are named."""
    begun = time.process_time()
    kinds = {name: {"runs": 0, "refuted": 0} for name in KINDS if name in names}
    for seed, name in zip(range(runs), itertools.cycle(KINDS), strict=False):
        if name in kinds:
            kinds[name]["runs"] += 1
            kinds[name]["refuted"] += KINDS[name](seed, True)
    for name, kind in kinds.items():
        kind["false claim refuted"] = None if name in UNSEEN else KINDS[name](runs, False)
    return {"runs": runs, "seconds": round(time.process_time() - begun), "kinds": kinds}


def merged(kept: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What was kept, with the kinds that were tried again."""
    kinds = kept.get("kinds", {}) | found["kinds"]
    kinds = {name: kinds[name] for name in KINDS if name in kinds}
    counts = {key: sum(kind[key] for kind in kinds.values()) for key in ("runs", "refuted")}
    return {**counts, "kinds": kinds}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the file is")
    parser.add_argument("names", nargs="*", help="these kinds alone; the others stay as they are")
    given = parser.parse_args(arguments)
    path = given.out / "audited.json"
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = audited(given.runs, given.names or KINDS)
    before = figures.get("sound", {}) if given.names else {}
    figures["sound"] = merged(before, found)
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
