"""How often a row with a weight counts, by the definition, in exact fractions."""

import math
from fractions import Fraction


def unit(hi):
    """Return the weight of a row that counts once: a power of two with 2**15 to 2**16 in hi."""
    return Fraction(2) ** (math.frexp(hi)[1] - 16)


def times(weight, lo, hi):
    """Return how often a row counts: the cell next to its clipped weight."""
    clipped = lo if weight < lo else hi if weight > hi else weight
    own = unit(hi)
    first, last = math.ceil(Fraction(lo) / own), math.floor(Fraction(hi) / own)
    return min(max(round(Fraction(clipped) / own), first), last)
