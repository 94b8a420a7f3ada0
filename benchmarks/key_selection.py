"""How many private keys are shown, beside other rules with the same loss and bounds.

    python -m benchmarks.key_selection [--runs 10] [--max-groups 100 10] [--epsilon 1]

Made up tables are like nine public sets, those of the paper on MAD2R: how many keys people have is
lognormal, and which ones is a Zipf law. Each run bounds people anew. Means of runs with standard
errors; "over" is dpfast's number over that of a rival. `--powers` prints what weights k^(-power)
need, and `--correlated` what a threshold under correlated noise could need at best.
"""

import argparse
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

import dpfast as dp
from dpfast.privacy import Approx
from dpfast.rng import InsecureGenerator
from dpfast.selection.key_selection import choose_rounds, choose_rule

from . import partition_selection as by_people
from .rivals.key_selection import RIVALS, Pairs, noise

#: People, keys that there are, power of the Zipf law, keys of a person on average, and sigma.
SETS = {
    "Higgs": (110_000, 30_000, 1.0, 1.7, 0.8),
    "IMDb": (6_000, 60_000, 1.05, 100, 0.8),
    "Reddit": (20_000, 80_000, 1.1, 36, 1.2),
    "Finance": (60_000, 80_000, 1.1, 9, 0.5),
    "Wiki": (10_000, 150_000, 1.1, 70, 1.2),
    "Twitter": (40_000, 100_000, 1.1, 15, 1.0),
    "Amazon": (12_000, 100_000, 1.05, 50, 0.8),
    "Clueweb": (60_000, 200_000, 0.8, 14, 1.3),
    "Common Crawl": (10_000, 300_000, 1.15, 90, 1.4),
}
MOST_PEOPLE = 4_000


def made(name):
    """The pairs of a set, the same each time."""
    people, every, power, mean, sigma = SETS[name]
    generator = np.random.default_rng([people, every])
    sizes = np.exp(generator.normal(math.log(mean) - sigma**2 / 2, sigma, people))
    sizes = np.clip(np.rint(sizes), 1, every // 20).astype(int)
    law = np.cumsum(np.arange(1.0, every + 1) ** -power)
    whose = np.repeat(np.arange(people), sizes)
    keys = np.searchsorted(law, generator.random(len(whose)) * law[-1])
    pairs = np.unique(whose * every + keys)
    return Pairs(pairs // every, pairs % every, people, every)


def own(pairs, epsilon, delta, most, seed):
    """How many keys dpfast shows."""
    rng = InsecureGenerator(seed)
    loss = {"epsilon": epsilon, "delta": delta}
    return len(dp.select_keys(pairs.keys, ids=pairs.people, max_groups=most, **loss, rng=rng))


def theirs(rival, pairs, epsilon, delta, most, seed):
    generator = np.random.default_rng(seed)
    return int(rival(pairs, epsilon, delta, most, generator).sum())


def of_people(strategy, pairs, epsilon, delta, most, seed):
    """How many keys a rule by numbers of people shows, on average over its coins."""
    people = pairs.bounded(most, np.random.default_rng(seed)).added(None).astype(int)
    return float(strategy[np.minimum(people, MOST_PEOPLE)].sum())


def systems(epsilon, delta, most):
    found = {"dpfast": own}
    found |= {name: partial(theirs, rival) for name, rival in RIVALS.items()}
    for rival in by_people.STRATEGIES:
        law = np.array(rival(epsilon, delta, most, MOST_PEOPLE))
        found[rival.__name__] = partial(of_people, law)
    rule = choose_rule(Approx(Fraction(str(epsilon)), Fraction(str(delta))), most, "add-remove")
    law = np.array([rule.probability(min(n, rule.most)) for n in range(MOST_PEOPLE + 1)])
    found["one round"] = partial(of_people, law)
    return found


def mean_of(numbers):
    """The mean, and its standard error."""
    return np.mean(numbers), np.std(numbers, ddof=1) / math.sqrt(len(numbers))


def compare(epsilon, delta, most, runs, names):
    """Print a table; return the sets in which a rival shows more by two standard errors."""
    found, behind = systems(epsilon, delta, most), []
    head = " ".join(f"{name[:14]:>14}" for name in found)
    print(f"epsilon {epsilon}, delta {delta}, {most} keys a person at most, {runs} runs")
    print(f"{'':13}{'pairs':>8}{'keys':>8} {head}  over MAD2R")
    for name in names:
        pairs = made(name)
        shown = {
            system: mean_of([show(pairs, epsilon, delta, most, seed) for seed in range(runs)])
            for system, show in found.items()
        }
        (us, error), (mad, its) = shown["dpfast"], shown["MAD2R"]
        over = us / mad, us / mad * math.hypot(error / us, its / mad)
        row = " ".join(f"{x:9.1f} ±{e:3.0f}" for x, e in shown.values())
        sizes = f"{len(pairs.keys):8}{len(np.unique(pairs.keys)):8}"
        print(f"{name:13}{sizes} {row}  {over[0]:.2f} ±{over[1]:.2f}", flush=True)
        for system, (rival, e) in shown.items():
            if system not in ("dpfast", "one round") and us < rival - 2 * math.hypot(e, error):
                behind.append((name, system))
    print("fewer than a rival by two standard errors:", behind or "in no set", "\n")
    return behind


def powers(epsilon, delta, most):
    """Print how many people with k keys each show a key with probability 1/2."""
    last = choose_rounds(
        Approx(Fraction(str(epsilon)), Fraction(str(delta))), most, "add-remove"
    ).after
    columns = [k for k in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if k <= most]
    print("weights", *(f"{k:>5}" for k in columns), " geometric mean")
    threshold = noise(epsilon, delta, most)[1]
    rows = {"Gauss": [threshold * math.sqrt(k) for k in columns]}
    for power in (Fraction(n, 40) for n in (20, 18, 16, 15, 14, 12, 8)):
        rule = replace(last, power=power, share=Fraction(1))
        weights = rule.weights(np.array(columns))
        rows[f"{float(power)}"] = [rule.reach(0.5, 1 << 16) / m for m in weights]
    for name, people in rows.items():
        mean = math.exp(np.mean(np.log(people)))
        print(f"{name:7}", *(f"{math.ceil(n):5}" for n in people), f"{mean:10.1f}")


def correlated(epsilon, delta):
    """Print the least threshold under correlated noise, if all keys are some public number.

    Lebeda and Retschmeier (FORC 2025) share noise among the counts of keys that somebody has. For d
    of these, of which a person has L, it has sqrt(L (1 - 2 a) + d a^2) + a in place of sqrt(L) (see
    `docs/theory/groups.md`, Noise that groups share), and a public bound on d must hold.
    """
    print(f"people for a probability of 1/2, epsilon {epsilon}, delta {delta}")
    print("keys a person, dpfast's rule by people, Gaussian noise; correlated for L, 2 L, 5 L keys")
    for most in (1, 2, 3, 5, 10, 20, 100):
        rule = choose_rule(Approx(Fraction(str(epsilon)), Fraction(str(delta))), most, "add-remove")
        plain = by_people.gaussian(epsilon, delta, most, MOST_PEOPLE)
        alone = int(np.searchsorted(plain, 0.5))
        least = []
        for every in (most, 2 * most, 5 * most):
            a = np.linspace(0, 0.5, 10_001)  # beyond, whoever has no key moves A most
            deviation = np.sqrt(np.maximum(0, most * (1 - 2 * a) + every * a**2)) + a
            least.append(math.ceil(1 + (alone - 1) * min(deviation) / math.sqrt(most)))
        print(f"{most:4} {rule.half:5} {alone:5}  ", *(f"{n:5}" for n in least))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--max-groups", type=int, nargs="+", default=[100, 10])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--powers", action="store_true")
    parser.add_argument("--correlated", action="store_true")
    args = parser.parse_args()
    if args.correlated:
        correlated(args.epsilon, args.delta)
    elif args.powers:
        powers(args.epsilon, args.delta, args.max_groups[0])
    else:
        behind = [
            compare(args.epsilon, args.delta, most, args.runs, args.sets)
            for most in args.max_groups
        ]
        raise SystemExit(any(behind))
