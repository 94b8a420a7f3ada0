"""Sensitivities of graphs: every small graph by definition, larger ones by cuts and pairs."""

import itertools
import math
import sys

import numpy as np
import pytest

from dpfast import sensitivity
from dpfast.errors import ArgumentTypeError, DataError, MissingExtraError
from dpfast.sensitivity import TreeCost, Triangles, triangles

from ..reference.sensitivity import graphs as reference
from ..support.sensitivities import close

BETAS = (0.1, 0.5, 1.5, 8.0)
COMPLETE = list(itertools.combinations(range(4), 2))


def tree(edges, weights, bounds, k=0, beta=None):
    cost, kw = TreeCost(edges, bounds=bounds), {"neighbors": "replace"}
    if beta is not None:
        return sensitivity.smooth(cost, weights, beta=beta, **kw)
    return sensitivity.local(cost, weights, at_distance=k, **kw)


def test_the_formula_over_cuts_equals_the_definition_and_half_of_it_does_not():
    every = reference.Weightings(4, COMPLETE, 3, 4)
    some, at = list(enumerate(every.all))[::7], reference.tree_at_distance

    def agree(**fault):
        return all(
            at(4, COMPLETE, w, 3, k, **fault) == every.at_distance[k].ravel()[i]
            for k in range(5)
            for i, w in some
        )

    assert agree() and not agree(alone=True)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_larger_trees_equal_all_their_cuts(seed):
    """Eight vertices: 127 cuts; weights of many sizes, ties, clipping, a lower bound."""
    rng, count = np.random.default_rng(seed), 8
    pairs = list(itertools.combinations(range(count), 2))
    ring = [(i, (i + 1) % count) for i in range(count)]
    edges = ring + [pairs[i] for i in rng.choice(len(pairs), 9)]
    weights = [rng.random(17), rng.integers(0, 4, 17), rng.exponential(size=17)][seed % 3]
    lo, hi = (0.0, 1.0) if seed < 3 else (-1.0, 2.5)
    inside = np.clip(weights, lo, hi) - lo

    def at(k):
        return reference.tree_at_distance(count, edges, inside, hi - lo, k)

    assert all(close(tree(edges, weights, (lo, hi), k), at(k)) for k in (0, 1, 2, 4, 9, 30))
    for beta in BETAS:
        got = tree(edges, weights, (lo, hi), beta=beta)
        assert close(got, reference.smooth(at, beta, 20))


def test_bad_trees(monkeypatch):
    with pytest.raises(DataError):
        tree([(0, 1)], [math.nan], (0, 1), beta=0.5)
    for edges, weights, top in (([], [], 1), ([(0, 1)], [0.5], 0)):
        assert tree(edges, weights, (0, top)) == 0 == tree(edges, weights, (0, top), beta=0.5)
    monkeypatch.setitem(sys.modules, "scipy.sparse.csgraph", None)
    with pytest.raises(MissingExtraError, match="pip install scipy"):
        tree([(0, 1)], [0.5], (0, 1))


@pytest.fixture(scope="module")
def five():
    return reference.triangle_graphs(5, 8)


def triangles_agree(five, at):
    matrices, at_distance = five
    return all(
        at(matrices[i], k) == at_distance[k][i]
        for k in range(7)
        for i in range(0, len(matrices), 5)
    )


def test_triangles_equal_the_definition(five):
    assert triangles_agree(five, lambda m, k: sensitivity.local(Triangles(), m, at_distance=k))
    matrices, at_distance = five
    for beta in BETAS:
        want = np.max([np.exp(-beta * k) * a for k, a in enumerate(at_distance)], axis=0)
        for i in range(0, len(matrices), 3):
            assert close(sensitivity.smooth(Triangles(), matrices[i], beta=beta), want[i])
    assert sensitivity.global_(Triangles(5)) == at_distance[-1].max()


def test_one_common_neighbor_an_edge_fails_the_same_test(five):
    """The fault: where no vertex is beside one of two others, a common one takes two edges."""
    assert triangles_agree(five, reference.triangles_at_distance)
    assert not triangles_agree(
        five, lambda m, k: reference.triangles_at_distance(m, k, halves=False)
    )


@pytest.mark.parametrize("rows", [triangles._ROWS, 7])
def test_larger_graphs_equal_all_their_pairs(rows, monkeypatch):
    monkeypatch.setattr(triangles, "_ROWS", rows)
    rng = np.random.default_rng(2)
    for n, share in ((3, 0.5), (9, 0.1), (12, 0.5)):
        upper = np.triu(rng.random((n, n)) < share, 1)
        matrix, edges = upper | upper.T, np.argwhere(upper)

        def at(k, matrix=matrix):
            return reference.triangles_at_distance(matrix, k)

        for k in (0, 1, 5, 10**9):
            want = at(min(k, 2 * n))
            assert sensitivity.local(Triangles(), matrix, at_distance=k) == want
            assert sensitivity.local(Triangles(n), edges, at_distance=k) == want
        for beta in (0.1, 0.5):
            got = sensitivity.smooth(Triangles(n), edges, beta=beta)
            assert close(got, reference.smooth(at, beta, 2 * n))


def test_odd_and_bad_graphs():
    assert sensitivity.local(Triangles(), np.zeros((0, 0))) == 0
    assert sensitivity.smooth(Triangles(2), [], beta=1) == 0
    assert sensitivity.local(Triangles(3), [(0, 1), (1, 0), (0, 1)]) == 0
    lopsided, own = np.array([[0, 1], [0, 0]]), np.eye(2)
    for graph, nodes in [(lopsided, None), (own, None), ([(0, 3)], 3), ([(1, 1)], 3), (2 * own, 3)]:
        with pytest.raises(ArgumentTypeError, match="data"):
            sensitivity.local(Triangles(nodes), graph)
