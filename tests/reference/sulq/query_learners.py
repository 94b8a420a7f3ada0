"""What learners ask about a labelled row, by definition: one row at a time, in exact fractions."""

import math
from fractions import Fraction


def says_yes(literals, x):
    """Whether all literals (a place, and whether what stands there is above 0) hold."""
    return all((x[at] > 0) == wanted for at, wanted in literals)


def broken(literal, x, y):
    """Whether the label says yes and the literal no."""
    return int(y > 0 and not says_yes([literal], x))


def lifted(x, radius, intercept):
    """x cut to the radius, over it, with a constant beside it."""
    length = math.sqrt(sum(Fraction(v) ** 2 for v in x))
    z = [float(v) / max(length, radius) for v in x]
    return [v * math.sqrt(0.5) for v in [*z, 1.0]] if intercept else z


def margin_of(w, z, y):
    """How far on its own side of the hyperplane."""
    return (1 if y > 0 else -1) * math.fsum(a * b for a, b in zip(w, z, strict=True))


def pull(w, margin, z, y):
    """y z if that is less than the margin."""
    near = margin_of(w, z, y) < margin
    return [(1 if y > 0 else -1) * v * near for v in z]


def hinge(w, margin, rows):
    """The mean hinge loss over pairs of z and y."""
    return math.fsum(max(0.0, 1 - margin_of(w, z, y) / margin) for z, y in rows) / len(rows)
