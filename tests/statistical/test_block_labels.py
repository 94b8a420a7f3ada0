"""Labels are uniform and independent by row; small faults in the same tests are controls."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.aggregate.blocks.partition import KeyedLabels, RandomLabels
from dpfast.rng import InsecureGenerator
from dpfast.tables.key_words import secret

from ..support.lazy import special
from ..support.pairwise import quick_rows

N = 1 << 19
ALPHA = 1e-9
#: Lanes of a vector, words of a block, groups, pairs of groups, runs of the kernel: and neighbors.
LAGS = (1, 2, 15, 16, 17, 64, 255, 256, 257, 512, 2048, 2049, 8192)


def key(seed: int):
    return secret(InsecureGenerator(seed).stream())


def random(blocks: int, seed: int = 1, start: int = 0) -> np.ndarray:
    return RandomLabels(blocks, key(seed)).read(start, N)


def uniform(labels: np.ndarray, blocks: int) -> float:
    """Chi-square against equal blocks, in units of the rejection limit at ALPHA."""
    counts = np.bincount(labels, minlength=blocks)
    due = len(labels) / blocks
    return ((counts - due) ** 2 / due).sum() / special.chdtri(blocks - 1, ALPHA)


def apart(first: np.ndarray, second: np.ndarray, blocks: int) -> float:
    """The same of pairs of labels."""
    return uniform(first.astype(np.int64) * blocks + second, blocks * blocks)


def pairs(labels: np.ndarray, blocks: int) -> float:
    """The worst of pairs of rows at some distances, of which the control needs to fail one."""
    return max(apart(labels[:-lag], labels[lag:], blocks) for lag in LAGS)


@pytest.mark.parametrize("blocks", [2, 3, 10, 600, 1000, 4096, 65_537])
def test_uniform(blocks):
    labels = random(blocks)
    assert labels.max() < blocks
    assert uniform(labels, blocks) < 1
    # Where in a group, and in which half of a run, a row stands says nothing about its block.
    for period in (16, 256, 512):
        for residue in (0, 1, period - 1):
            assert uniform(labels[residue::period], blocks) < 1


@quick_rows(1)
@pytest.mark.parametrize("blocks", [2, 10, 100])
def test_pairs_are_independent(blocks):
    assert pairs(random(blocks), blocks) < 1
    # Under two keys, and far away under one.
    assert apart(random(blocks), random(blocks, seed=2), blocks) < 1
    assert apart(random(blocks), random(blocks, start=1 << 36), blocks) < 1


def test_biased_labels_are_caught():
    """16 random bits and nothing refused: some of 10,000 blocks get seven words, others six."""
    words = InsecureGenerator(3).random_raw(N // 4).view(np.uint16)
    assert uniform(random(10_000), 10_000) < 1
    assert uniform(words % 10_000, 10_000) > 1
    assert uniform((words.astype(np.int64) * 10_000) >> 16, 10_000) > 1


@quick_rows(2)
@pytest.mark.parametrize("period", [16, 256, 512, 2048])
def test_used_up_counters_are_caught(period):
    """Every stretch of rows repeats the one before now and then."""
    labels = random(100)
    again = labels.copy()
    chosen = np.flatnonzero(random(20, seed=5)[: N - period] == 0)
    again[chosen + period] = labels[chosen]
    assert uniform(again, 100) < 1  # each label alone looks well
    assert pairs(again, 100) > 1
    assert apart(labels, labels, 100) > 1


def test_labels_of_consecutive_ids_are_uniform_and_independent():
    ids = np.arange(N)
    for blocks in (3, 100):
        labels = KeyedLabels(blocks, key(1)).read(ids)
        assert uniform(labels, blocks) < 1
        assert pairs(labels, blocks) < 1
        assert apart(labels, KeyedLabels(blocks, key(2)).read(ids), blocks) < 1
    # Control: the number itself spread out by multiplication looks uniform, and its pairs do not.
    spread = (ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    weak = (spread * np.uint64(100) >> np.uint64(32)).astype(np.int64)
    assert uniform(weak, 100) < 1
    assert pairs(weak, 100) > 1


#: Ids as people write them: counted up, in steps, with the same beginning or end.
WRITTEN = {
    "integers": lambda numbers: numbers * 1000 - 7,
    "text": lambda numbers: np.char.add("person-", numbers.astype(str)),
    "bytes": lambda numbers: numbers.astype("S8"),
    "strings of Python": lambda numbers: [f"{i:09d}@example.org" for i in numbers.tolist()],
}


@quick_rows(3)
@pytest.mark.parametrize("blocks", [2, 3, 10, 1000, 65_537])
@pytest.mark.parametrize("kind", WRITTEN)
def test_labels_of_ids_are_uniform(kind, blocks):
    ids = WRITTEN[kind](np.arange(1 << 17))
    labels = KeyedLabels(blocks, key(1)).read(ids)
    assert labels.max() < blocks
    assert uniform(labels, blocks) < 1
    # Neighboring ids, and ids that share their ends, have nothing in common.
    if blocks <= 100:
        assert pairs(labels, blocks) < 1
    for step in (10, 16, 100):
        if len(ids) / step > 5 * blocks:
            assert uniform(labels[::step], blocks) < 1
