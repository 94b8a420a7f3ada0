"""Staircase noise, by its definition: b to the number of the stair."""

import itertools


def stair(z, cores, steps):
    """The least l for which |z_i| <= R_i + l D_i for all i, counted up."""
    found = 0
    while any(abs(x) > r + found * d for x, r, d in zip(z, cores, steps, strict=True)):
        found += 1
    return found


def law(b, cores, steps, stairs):
    """The probabilities of all points on the first stairs, times a common factor."""
    sides = [range(-r - stairs * d, r + stairs * d + 1) for r, d in zip(cores, steps, strict=True)]
    return {z: b ** stair(z, cores, steps) for z in itertools.product(*sides)}


def worst_ratio(found, moves):
    """The largest ratio of the probabilities of two points that are a move apart. Points whose
    neighbors are all within what was listed are looked at."""
    return max(p / found[there] for z, p in found.items()
        for d in itertools.product(*(range(-m, m + 1) for m in moves))
        if (there := tuple(a + b for a, b in zip(z, d, strict=True))) in found)  # fmt: skip
