"""Joint noise by sizes alone, a stand-in for the choice of noise, and the fit of draws to a law."""

import numpy as np

from dpfast.measurement.choice import Moves, NoiseCandidate, choose_noise

from .lazy import chisquare


def box_noise(loss, sizes, weights=(), counts=0):
    """The noise for integers that differ by any vector of a box."""
    return choose_noise(loss, Moves(tuple(sizes), tuple(weights), counts)).noise()


def p_value(counts, chances, size=None, least=8.0):
    """The p-value of a chi-square test: the rarest cells are one, with what is in none.

    Counts and chances are equally long, or those of a mapping.
    """
    if isinstance(chances, dict):
        assert size is not None or set(counts) <= set(chances)
        counts, chances = [counts[key] for key in chances], list(chances.values())
    counts, due = np.asarray(counts, float), np.asarray(chances, float)
    size = counts.sum() if size is None else size
    order = np.argsort(due)
    counts, due = counts[order], due[order] * size
    rest = size - due.sum()  # expected in no cell
    if rest > 1e-9 * size or due[0] < least:
        few = min(int(np.searchsorted(rest + np.cumsum(due), least)) + 1, len(due))
        counts = np.append(size - counts[few:].sum(), counts[few:])
        due = np.append(size - due[few:].sum(), due[few:])
    elif counts.sum() < size:
        return 0.0
    return chisquare(counts, due * size / due.sum()).pvalue if len(due) > 1 else 1.0


class Recorder:
    """Stands in for `choose_noise`: keeps moves, the integers that noise is added to, no noise."""

    def __init__(self):
        self.moves = self.values = self.loss = self.noise = None

    def __call__(self, loss, moves):
        error, make = choose_noise(loss, moves)

        def silent():
            self.moves, self.noise = moves, make()
            self.loss = self.noise.loss
            return self

        return NoiseCandidate(error, silent)

    def of(self, loss, sensitivity):
        """Stand in for `integer_noise`, too."""
        self.moves, self.loss = Moves((sensitivity.largest,), norm=sensitivity), loss
        return self

    @property
    def asked(self):
        """The sizes of the moves."""
        return self.moves and list(self.moves.sizes)

    @property
    def norms(self):
        """What they are in L1, in L2 squared, in number and at most."""
        norm, sizes = self.moves.norm, self.moves.sizes
        if norm is not None:
            return norm.l1, norm.l2_squared, norm.l0, norm.largest
        return sum(sizes), sum(x * x for x in sizes), len(sizes), max(sizes)

    def add(self, values, generator):
        self.values = list(values)
        return list(values)
