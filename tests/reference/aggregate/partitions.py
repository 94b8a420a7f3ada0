"""Partitions by definition, and the fewest blocks that must change between neighbors. A partition
is a table of equally likely secrets, and a rule that turns a secret and the rows into labels. Two
neighbors are as safe as the best pairing of their secrets: if they can be paired, each with its due
weight, so that no pair differs in more than t block outputs, then every output of the partition is
t changes away from an equally likely one. `fewest` finds the least such t; no proof of ours is
asked. A row is (place-independent name, value): names are what an id or a recorded label hangs
on."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

#: The label of a row that is in no block.
NOWHERE = -1


class Row(NamedTuple):
    """A row: whose it is, and what it holds."""

    name: int
    value: float


Rows = Sequence[Row]


class Scheme(NamedTuple):
    """A partition into `blocks` blocks."""

    secrets: Callable[[Rows], Iterator[Any]]
    labels: Callable[[Rows, Any], list[int]]


def tables(keys, blocks):
    """Every function from keys to blocks."""
    keys = sorted(set(keys))
    for found in itertools.product(range(blocks), repeat=len(keys)):
        yield dict(zip(keys, found, strict=True))


def random(blocks):
    """An independent label for each row number."""
    return Scheme(lambda rows: itertools.product(range(blocks), repeat=len(rows)),
        lambda rows, secret: list(secret))  # fmt: skip


def keyed(blocks, names):
    """A random function of the id; `names` are all the ids there can be."""
    return Scheme(
        lambda rows: tables(names, blocks), lambda rows, secret: [secret[r.name] for r in rows]
    )


def contiguous(blocks):
    """Fixed ranges; nothing is secret."""
    return Scheme(lambda rows: iter([None]),
        lambda rows, secret: [sum((j + 1) * len(rows) // blocks <= i for j in range(blocks))
        for i in range(len(rows))])  # fmt: skip


def permuted(blocks):
    """A random order of the rows, cut into equal chunks."""
    return Scheme(lambda rows: itertools.permutations(range(len(rows))),
        lambda rows, secret: [place * blocks // len(rows) for place in secret])  # fmt: skip


def by_content(blocks, values):
    """A keyed hash of what the row holds."""
    return Scheme(
        lambda rows: tables(values, blocks), lambda rows, secret: [secret[r.value] for r in rows]
    )


def by_chunk(blocks, chunk):
    """Labels of row numbers that are counted anew in each chunk."""
    return Scheme(lambda rows: itertools.product(range(blocks), repeat=chunk),
        lambda rows, secret: [secret[i % chunk] for i in range(len(rows))])  # fmt: skip


def relabelled(blocks):
    """Rows that hold a NaN are dropped first; fixed ranges of what is left."""

    def labels(rows, secret):
        kept = [i for i, r in enumerate(rows) if not math.isnan(r.value)]
        found = [NOWHERE] * len(rows)
        for i, label in zip(
            kept, contiguous(blocks).labels([rows[i] for i in kept], None), strict=True
        ):
            found[i] = label
        return found

    return Scheme(lambda rows: iter([None]), labels)


def textbook(blocks):
    """Chunks of ceil(n / blocks) rows: often fewer of them than `blocks`."""
    return Scheme(lambda rows: iter([None]),
        lambda rows, secret: [i // -(-len(rows) // blocks) for i in range(len(rows))])  # fmt: skip


def changed(first, second):
    """How many rows of two block-output matrices differ in a bit; NaN is NaN."""
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return int((~same.reshape(len(first), -1).all(axis=1)).sum())


def fewest(first, second):
    """The least t that some pairing of secrets gets by with. `first` and `second` hold one row of
    block outputs for each equally likely secret."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    size = math.lcm(len(first), len(second))
    a = np.repeat(np.nan_to_num(first, nan=-1e9), size // len(first), axis=0)
    b = np.repeat(np.nan_to_num(second, nan=-1e9), size // len(second), axis=0)
    apart = (a[:, None] != b[None]).sum(axis=2)
    t = 0
    while (maximum_bipartite_matching(csr_array(apart <= t)) < 0).any():
        t += 1
    return t
