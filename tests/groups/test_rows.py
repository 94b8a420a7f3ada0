"""Rows by group: the same in memory, in files, in any cut and under other codes."""

from __future__ import annotations

import itertools
from contextlib import closing

import numpy as np
import pytest

import dpfast as dp
from dpfast.groups import rows as module
from dpfast.groups.rows import NONE, Rows
from dpfast.rng import InsecureGenerator


def made(codes, cells, cuts):
    rows = Rows()
    for start, stop in itertools.pairwise([0, *cuts, len(codes)]):
        rows.add(codes[start:stop].copy(), cells[start:stop].copy())
    return rows


def by_group(rows, groups, final=None):
    found = {}
    with closing(rows.by_group(groups, final)) as parts:
        for part in range(len(parts)):
            first, stop = parts.ends(part)
            cells, offsets = parts.rows(part)
            assert len(offsets) == stop - first + 1 and offsets[0] == 0
            for g, (start, end) in enumerate(itertools.pairwise(offsets.tolist()), first):
                assert g not in found
                found[g] = sorted(cells[start:end].tolist())
    assert list(found) == list(range(groups))
    return found


def twin(codes, cells, groups):
    found = {g: [] for g in range(groups)}
    for code, cell in zip(codes.tolist(), cells.tolist(), strict=True):
        if code < groups:
            found[code].append(cell)
    return {g: sorted(own) for g, own in found.items()}


@pytest.fixture(params=["memory", "files"])
def place(request, monkeypatch):
    if request.param == "files":
        monkeypatch.setattr(module, "share", lambda: 0)
        monkeypatch.setattr(module, "STEP", 1)
    return request.param


@pytest.mark.full
@pytest.mark.parametrize("groups", [1, 7, 255, 256, 3000, 70_000])
def test_rows_are_sorted_by_group(place, groups):
    rng = np.random.default_rng(groups)
    codes = rng.integers(0, groups + 1, 5000).astype(np.int32)
    codes[rng.random(5000) < 0.1] = NONE
    cells = rng.integers(-(2**31), 2**31, 5000).astype(np.int32)
    rows = made(codes, cells, [10, 10, 4000])
    assert bool(rows.blocks) == (place == "files")
    assert by_group(rows, groups) == twin(codes, cells, groups)


def test_rows_of_several_threads_and_under_final_codes(place):
    rng = np.random.default_rng(1)
    codes, cells = (
        rng.integers(0, 400, 3000).astype(np.int32),
        rng.integers(0, 99, 3000).astype(np.int32),
    )
    codes[::9] = NONE
    rows, other = made(codes[:1000], cells[:1000], [500]), made(codes[1000:], cells[1000:], [700])
    rows.merge(other)
    kept = rng.permutation(400)[:300]
    final = np.full(400, 300, np.int32)
    final[kept] = np.arange(300)
    told = np.append(final, 300)[np.minimum(codes, 400)]
    assert by_group(rows, 300, final) == twin(told, cells, 300)


def test_a_row_in_another_group_would_be_caught():
    codes, cells = np.array([0, 1, 1], np.int32), np.array([5, 6, 7], np.int32)
    assert by_group(made(codes, cells, []), 2) != twin(codes[::-1], cells, 2)


@pytest.mark.parametrize("private", [False, True])
def test_the_limit_of_memory_changes_no_bit(monkeypatch, private):
    rng = np.random.default_rng(2)
    table = {"k": rng.integers(0, 900, 20_000), "x": rng.normal(0, 1, 20_000)}
    groups = dp.group_by(table, "k", keys=None if private else np.arange(900))

    def answer():
        own = dp.stat.quantiles("x", [0.5, 0.1], bounds=(-4, 4))
        loss = {"epsilon": 2.0, "delta": 1e-6 if private else 0}
        return groups.agg({"q": own}, **loss, rng=InsecureGenerator(3))

    before = answer()
    monkeypatch.setattr(module, "share", lambda: 0)
    monkeypatch.setattr(module, "STEP", 1)
    after = answer()
    assert {n: a.tolist() for n, a in before.items()} == {n: a.tolist() for n, a in after.items()}
    assert len(before["k"]) > (100 if private else 899)
