"""Three ways to audit a mechanism on two neighbors: by answers, by its law, and by its rounds."""

import itertools
import math
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

import dpfast as dp
from dpfast.budget.release import WATCHER
from dpfast.measurement.around import OfKept
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.rng import InsecureGenerator

SEED = 2024
#: What is wrong with so small a probability that a law is said to be another.
FALSE_ALARM = 1e-6
#: What rounding of float64 may add to a ratio.
ROUNDING = 1e-9
GENERATOR = InsecureGenerator(SEED)


@dataclass
class Recorder:
    """Keeps the releases of a program, and gives a second run the answers of the first."""

    first: Any = None
    turns: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def turn(self, mechanism: Any, data: Any, answer: Any) -> Any:
        summary = mechanism.reduce(data)
        if isinstance(mechanism, OfKept):  # which rows a mask keeps is no part of the law
            mechanism = mechanism.inner
        kept = answer
        if self.first is not None and hasattr(mechanism, "noises"):
            kept = self.first.turns[len(self.turns)][2]
        self.turns.append((mechanism, summary, kept))
        return kept

    def run(self, call: Callable[[], Any]) -> list[tuple[Any, Any, Any]]:
        token = WATCHER.set(self.turn)
        try:
            call()
        finally:
            WATCHER.reset(token)
        return self.turns


@dataclass
class Row:
    """A mechanism, two neighbors, the claim, and what is said of a share below .95."""

    audit: Callable[..., dict[str, Any]]
    pair: tuple[Any, Any]
    claim: dict[str, float]
    #: Answers in a whole run.
    samples: int = 120_000
    note: str = ""


@contextmanager
def drawn_ahead(answers):
    """Draw the integers of many answers at once: the same law, in a fifth of the time."""
    plain, ahead = IntegerNoise.draw, {}

    def draw(noise, size, generator):
        left = ahead.get((noise, size))
        if not left:
            many = plain(noise, size * answers, generator).reshape(answers, size)
            left = ahead[noise, size] = list(many)
        return left.pop()

    IntegerNoise.draw = draw
    try:
        yield
    finally:
        IntegerNoise.draw = plain


def again(call, tell=np.asarray):
    """Many answers of a release whose data are read once, each as `tell` shows it."""

    def audit(row, samples):
        kept = {}

        def mechanism(data, size):
            if id(data) not in kept:
                kept[id(data)] = Recorder().run(lambda: call(data))[-1][:2]
            release, summary = kept[id(data)]
            with drawn_ahead(size):
                return np.array([tell(release.finish(summary, GENERATOR)) for _ in range(size)])

        return by_answers(mechanism)(row, samples)

    return audit


def by_answers(mechanism):
    """A mechanism as a black box."""

    def audit(row, samples):
        found = dp.audit.measure(mechanism, *row.pair, **row.claim, samples=samples)
        shown = found.rho if "rho" in row.claim else found.epsilon
        return {
            "by": "answers",
            "shown": shown,
            "samples": found.samples,
            "p_value": found.p_value,
        }

    return audit


def by_law(law, draw):
    """A mechanism by the probabilities of its answers 0, 1, ..., which are drawn, too."""

    def audit(row, samples):
        laws = [law(data) for data in row.pair]
        rare = np.maximum(*laws) < 1e-200  # what float64 may not hold of either
        known = [np.where(rare, 0.0, one) for one in laws]
        if "rho" in row.claim:
            shown = dp.audit.exact_rho(*known)
        else:
            shown = dp.audit.exact_epsilon(*known, delta=row.claim.get("delta", 0.0))
        size = min(samples, 200_000) // 2
        drawn = [draw(data, size) for data in row.pair]
        fits = map(fit, drawn, laws)
        return {
            "by": "distribution",
            "shown": shown,
            "samples": sum(map(len, drawn)),
            "p_value": min(1.0, 2 * min(fits)),
        }

    return audit


def fit(answers, law):
    """The p-value of chi-square, of cells in which 25 answers or more are due."""
    due = np.append(law, max(0.0, 1 - law.sum())) * len(answers)
    seen = np.bincount(np.minimum(answers, len(law)), minlength=len(law) + 1)
    if seen[due == 0].any():
        return 0.0
    order = np.argsort(-due, kind="stable")
    cell = np.minimum(np.cumsum(due[order]) // 25, len(answers) // 25 - 1).astype(np.int64)
    due, seen = np.bincount(cell, due[order]), np.bincount(cell, seen[order])
    due, seen = due[due > 0], seen[due > 0]
    return float(special.chdtrc(max(1, len(due) - 1), ((seen - due) ** 2 / due).sum()))


#: Edges of 64 cells with the same mass of a standard normal variable.
CELLS = special.ndtri(np.arange(1, 64) / 64)


def by_rounds(program):
    """A program of Gaussian noise in integers, round by round; its rho is the sum over them all."""

    def audit(row, samples):
        x, x2 = row.pair
        first = Recorder()
        turns = first.run(lambda: program(x)), Recorder(first).run(lambda: program(x2))
        shown, fits, drawn = 0.0, [], 0
        for (made, before, _), (other, after, _) in zip(*turns, strict=True):
            if hasattr(made, "c"):  # a choice
                chances = (special.softmax(made.c * s, axis=1) for s in (before, after))
                shown += sum(itertools.starmap(dp.audit.exact_rho, zip(*chances, strict=True)))
                continue
            noises = noises_of(made, before)
            if not noises:
                continue
            assert noises == noises_of(other, after)  # public numbers
            moved, spread, unit = shifts(noises, before, after)
            shown += float((moved**2 / spread**2).sum()) / 2
            size = max(32, samples // len(before) // 4 // len(turns[0]))
            fresh = [noisy(noises, before) for _ in range(size)]
            wide = spread > 100  # integers that are nearly continuous
            if wide.any():
                scaled = (np.array(fresh, np.float64) - np.array(before, np.float64))[:, wide]
                z = (scaled / (spread * unit)[wide]).ravel()
                fits.append(fit(np.searchsorted(CELLS, z), np.full(64, 1 / 64)))
                drawn += z.size
            for scale in np.unique(spread[~wide]):
                same = spread == scale
                z = (np.array(fresh) - np.array(before))[:, same].ravel()
                most = math.ceil(12 * scale)
                law = np.exp(-(np.arange(-most, most + 1.0) ** 2) / (2 * scale**2))
                fits.append(fit(z + most, law / law.sum()))
                drawn += z.size
        return {
            "by": "rounds",
            "shown": shown,
            "samples": drawn,
            "p_value": min(1.0, len(fits) * min(fits)),
        }

    return audit


def noises_of(made, summary):
    """The noise of the integers of a round, and of how many of them it is."""
    noise = getattr(made, "noise", None)
    if isinstance(noise, IntegerNoise):
        return ((noise, len(summary)),)
    return getattr(made, "noises", ())


def noisy(noises, summary):
    """What a round tells."""
    left, found = list(summary), []
    for noise, size in noises:
        found += noise.add(left[:size], GENERATOR)
        left = left[size:]
    return found


def shifts(noises, before, after):
    """How far each integer moves, and the deviation of its noise, in units; and these."""
    assert all(noise.distribution == "gaussian" for noise, _ in noises)
    shift = np.repeat(*zip(*((noise.shift, size) for noise, size in noises), strict=True))
    spread = np.repeat(*zip(*((float(noise.scale), size) for noise, size in noises), strict=True))
    cells = [[int(x) >> int(s) for x, s in zip(one, shift, strict=True)] for one in (before, after)]
    return np.subtract(*cells, dtype=np.float64), spread, 2.0**shift


#: Neighbors: one of the rows is there or not, or has another value.
GONE = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0]))
CHANGED = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0]))
WIDER = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0]))
ONE, TWO = {"epsilon": 1}, {"epsilon": 2}
RHO = {"rho": 0.5}
RNG_OF = {"rng": GENERATOR}
#: Arguments of most releases.
PAID = {**TWO, **RNG_OF}
IN_UNIT = {"bounds": (0, 1), **PAID}
REPLACE = {"neighbors": "replace"}


def with_noise(function, *args, **given):
    """A sum of rows with noise, many at once."""

    def mechanism(data, size):
        return data.sum() + function(*args, size, rng=GENERATOR, **given)

    return mechanism


def of(function, **given):
    """A release of the data that it is given."""
    return lambda data: function(data, **given)
