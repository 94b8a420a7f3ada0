"""Sums in two halves: beyond 64 bits, in any order."""

from __future__ import annotations

import numpy as np

from dpfast.learn.rows import added, carry, wholes


def test_sums_may_be_larger_than_64_bits():
    g = np.random.default_rng(0)
    found, exact = [], [0] * 5
    for _ in range(3):
        one = np.zeros((2, 5), np.int64)
        for _ in range(40):
            more = g.integers(-(2**62), 2**62, 5)
            more[0], more[1] = 2**62, -(2**62)
            one[1] += more
            carry(one)
            exact = [a + int(b) for a, b in zip(exact, more, strict=True)]
        found.append(one)
    assert wholes(found[0] + found[1] + found[2]).tolist() == exact
    assert exact[0] == 120 * 2**62 and exact[1] == -exact[0]


def test_sums_may_be_added_as_often_as_weights_ask():
    """Each addition of a sum to itself doubles it; without carrying 64 bits would be too few."""
    one = np.array([[3, -5], [2**32 - 1, 7]])
    exact, plain = [int(x) for x in wholes(one)], one
    for _ in range(60):
        one, plain = added(one, one), plain + plain
        exact = [2 * x for x in exact]
        assert wholes(one).tolist() == exact
    assert wholes(plain).tolist() != exact
