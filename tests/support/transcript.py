"""Record and replay of everything that is learned in rounds: what a neighbor would have cost. A run
on one dataset is recorded: the exact integers of every release, its noise, and what was published;
of a choice its scores and how sharp it is. On a neighbor each release then publishes *the same*,
whatever its own integers are, so that everything that was decided between rounds is decided again
in the same way. What the two runs differ in is the exact integers, and how far apart these are,
measured in their noise and added up over the run, is the loss of that transcript, by the theorems
that noise is calibrated by. For a choice that is the length of the interval which its scores differ
by."""

import math
from contextlib import contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np

from dpfast.noise.additive import analytic
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.wishart import MatrixNoise
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.sulq.rounds import _Choices

from .lazy import expit, norm


@contextmanager
def releases(add, choose):
    """All ways in which anything is published, replaced by others."""
    integers, matrices, boxes = (
        patch.object(kind, "add", add) for kind in (IntegerNoise, MatrixNoise, BoxNoise)
    )
    with integers, matrices, boxes, patch.object(_Choices, "finish", choose):
        yield


def nuclear(noise, moves):
    """The nuclear norm of a matrix, of which there are the squares and then the products."""
    d = noise.size
    matrix = np.zeros((d, d))
    matrix[np.triu_indices(d, 1)] = moves[d:]
    matrix += matrix.T + np.diag(moves[:d])
    if noise.public:
        assert not any(moves[: noise.public])
    return float(np.abs(np.linalg.eigvalsh(matrix)).sum())


def boxed(noise, moves):
    """What a vector of moves costs by joint noise, and by noise of their own of the first ones."""
    sizes, left = noise.sensitivities, 0
    assert not any(move for move, size in zip(moves, sizes, strict=True) if not size)
    for own, move in zip(noise.independent, moves, strict=False):
        if move:
            assert own.distribution == "laplace"
            left += Fraction(abs(move) >> own.shift) / own.scale
    parts = [Fraction(abs(moves[i]), sizes[i]) for i in noise._joint]
    norm = max(parts, default=Fraction(0))
    return left + noise.epsilon * (norm if noise.staircase is None else math.ceil(norm))


def recorded(run):
    """(noise or sharpness, integers, published) of each release of a run."""
    lines = []
    right = {kind: kind.add for kind in (IntegerNoise, MatrixNoise, BoxNoise)}
    chosen, inside = _Choices.finish, []

    def add(self, values, generator):
        if inside:  # what joint noise draws
            return right[type(self)](self, values, generator)
        inside.append(self)
        out = right[type(self)](self, values, generator)
        inside.pop()
        lines.append((self, list(values), out))
        return out

    def choose(self, summary, generator):
        out = chosen(self, summary, generator)
        lines.append((self.c, summary.copy(), out))
        return out

    with releases(add, choose):
        run()
    return lines


def used(lines, run, loss):
    """The part of a loss that tells a run on a neighbor from the recorded one; at most 1."""
    left = list(lines)
    found = Fraction(0)

    def add(self, values, generator):
        nonlocal found
        noise, before, out = left.pop(0)
        assert self == noise and len(values) == len(before), "another path was taken"
        if isinstance(noise, BoxNoise):
            assert isinstance(loss, Pure)
            found += boxed(noise, [a - b for a, b in zip(values, before, strict=True)])
            return out
        pairs = zip(values, before, strict=True)
        moves = [(a >> noise.shift) - (b >> noise.shift) for a, b in pairs]
        if isinstance(noise, MatrixNoise):
            found += Fraction(nuclear(noise, moves) * (1 - 1e-9)) / noise.scale
            assert isinstance(loss, Pure) or not left  # it is the only one then
        elif noise.scale:
            moves = [abs(m) for m in moves]
            scaled = [m / noise.scale for m in moves]
            found += sum(scaled) if noise.distribution == "laplace" else sum(m * m for m in scaled)
        elif any(moves):
            found = math.inf
        return out

    def choose(self, summary, generator):
        nonlocal found
        sharp, before, out = left.pop(0)
        assert self.c == sharp and summary.shape == before.shape, "another path was taken"
        ranges = [Fraction(self.c) * int(np.ptp(row)) for row in summary - before]
        if isinstance(loss, Pure):
            found += sum(ranges)
        elif isinstance(loss, ZCDP):
            found += 2 * sum(Draws(r, 1, True).to_zcdp().rho for r in ranges if r)
        else:
            found += sum(Fraction(2 * norm.ppf(expit(float(r) / 2))) ** 2 for r in ranges)
        return out

    with releases(add, choose):
        run()
    assert not left, "a release is missing"
    if isinstance(loss, Pure) or any(isinstance(noise, MatrixNoise) for noise, *_ in lines):
        return found / loss.epsilon
    if isinstance(loss, ZCDP):
        return found / 2 / loss.rho
    return math.sqrt(found) * analytic(float(loss.epsilon), float(loss.delta))
