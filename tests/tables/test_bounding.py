"""Bounding beside its twin, whatever the cut; its law is uniform, whatever other people do."""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpfast._kernels import groups as kernel
from dpfast._kernels import tables
from dpfast._kernels.tables import Key
from dpfast.errors import ArgumentError, SourceError
from dpfast.tables import row_files
from dpfast.tables.bounding import Bounding
from dpfast.tables.key_words import KeyWords

from ..reference.groups import bounding as twin
from ..support.lazy import special
from ..support.pairwise import every_value

SECRET = bytes(range(32))
KEY = Key(SECRET)
LIMITS = [(None, None), (1, 1), (2, None), (None, 2), (3, 2), (50, 50)]
ALPHA = 1e-9


def bounded(ids, codes, limits, step=None, workers=1, shuffled=False, **options):
    words, codes = KeyWords(KEY), np.asarray(codes, np.int32)
    starts = list(range(0, len(codes), step or max(1, len(codes))))
    if shuffled:
        random.Random(1).shuffle(starts)
    bounding = Bounding(*limits, KEY, **options)

    def add(at):
        low, high, present = words.of(ids[at : at + step] if step else ids)
        bounding.add(low, high, codes[at : at + step] if step else codes, at, present)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(add, starts))
    found = bounding.kept_rows(len(codes), workers=workers)
    assert (bounding.kept_rows(len(codes)) == found).all()  # asking changes nothing
    bounding.close()
    return found.tolist()


def people(kind, n=240):
    """Some ids, and codes of groups: one person has many rows, and some rows are left out."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 12, n) * (rng.random(n) < 0.7)
    codes = rng.integers(-1, 7, n)
    if kind == "integers":
        return numbers, codes
    names = [None if i == 3 else f"person {i}" for i in numbers.tolist()]
    if kind == "mixed":  # so some pieces have high words, and others have none
        return [*numbers[: n // 2].tolist(), *names[n // 2 :]], codes
    return names, codes


@every_value
@pytest.mark.parametrize("kind", ["integers", "text", "mixed"])
@pytest.mark.parametrize("limits", LIMITS)
def test_marks_are_those_of_the_twin_however_rows_are_cut(kind, limits, tmp_path):
    ids, codes = people(kind)
    plain = ids.tolist() if kind == "integers" else ids
    due = twin.marks(SECRET, plain, codes.tolist(), *limits)
    assert bounded(ids, codes, limits) == due
    for options in (
        {"step": 1, "memory": 2**30},
        {"step": 7, "shuffled": True, "memory": 0, "spill": str(tmp_path)},
        {"step": 50, "shuffled": True, "memory": 9000, "workers": 4},
        {"step": 13, "memory": 5000, "workers": 2},
    ):
        assert bounded(ids, codes, limits, **options) == due
    assert not os.listdir(tmp_path)


def test_names_stand_for_codes():
    """Marks are those of other codes; of codes beyond the names, their own."""
    ids, codes = people("text")
    names = np.array([5, 0, 3, 1, 4], np.int32)
    renamed = [names[code] if 0 <= code < 5 else code + 20 * (code > 0) for code in codes.tolist()]
    other = np.where(codes < 5, codes, codes + 20).astype(np.int32)
    low, high, present = KeyWords(KEY).of(ids)
    bounding = Bounding(2, 1, KEY)
    bounding.add(low, high, other, 0, present)
    due = twin.marks(SECRET, ids, list(map(int, renamed)), 2, 1)
    assert bounding.kept_rows(len(ids), names=names).tolist() == due
    assert bounding.kept_rows(len(ids)).tolist() != due  # the control


@pytest.mark.parametrize("mask", [0, 1, 7 << 61])
def test_ties_are_decided_by_codes_and_numbers(mask):
    ids, codes = people("text")
    low, high, present = KeyWords(KEY).of(ids)
    codes = codes.astype(np.int32)
    for limits in LIMITS[1:]:
        records, cuts = kernel.split(KEY, low, high, present, codes, 0)
        blocks = kernel.Blocks()
        blocks.add(records, cuts)
        marks = np.zeros(len(ids), np.uint8)
        most = [10**9 if one is None else one for one in limits]
        blocks.mark(KEY, 0, kernel.PARTS, *most, [], marks, mask)
        due = twin.marks(SECRET, ids, codes.tolist(), *limits, mask)
        assert marks.tolist() == due
        if max(most) < 50:
            assert due != twin.marks(SECRET, ids, codes.tolist(), *limits)  # the mask was used


def chosen(ids, codes, limits, of_group, of_row):
    """Marks by given ranks: the same in other words, and the frame of planted faults."""
    order = np.lexsort((np.arange(len(ids)), of_row, codes, of_group, ids))
    order = order[codes[order] >= 0]
    new_person = np.diff(ids[order], prepend=ids[order[:1]] - 1) != 0
    new_group = new_person | (np.diff(codes[order], prepend=-9) != 0)
    place = np.arange(len(order))
    groups = np.cumsum(new_group)
    groups -= np.maximum.accumulate(np.where(new_person, groups - 1, 0))
    rows = place - np.maximum.accumulate(np.where(new_group, place, 0))
    out = np.zeros(len(ids), np.bool_)
    out[order] = (groups <= limits[0]) & (rows < limits[1])
    return out


def hashes(low, high):
    out = np.empty(len(low), np.uint64)
    tables.hashes(KEY, low.astype(np.uint64), high.astype(np.uint64), out)
    return out


def true_ranks(ids, codes):
    person, rows = hashes(ids, np.zeros(len(ids))), np.arange(len(ids))
    return hashes(person, np.maximum(codes, 0)), hashes(rows, np.full(len(ids), 2**63, np.uint64))


GROUPS, PEOPLE = 4, 3000
#: Group 0 of each person has four rows, the others one.
PATTERN = np.repeat(np.arange(GROUPS), [4, 1, 1, 1])
LAYOUTS = ["one by one", "interleaved", "after others", "among others"]


def laid_out(layout):
    ids, codes = np.repeat(np.arange(PEOPLE), len(PATTERN)), np.tile(PATTERN, PEOPLE)
    at = np.arange(len(ids)).reshape(PEOPLE, -1)
    if layout == "interleaved":
        order = np.random.default_rng(1).permutation(len(ids))
        return ids[order], codes[order], np.argsort(order)[at]
    if layout != "one by one":  # others in the same groups, one of them with a thousand rows
        others = np.concatenate([np.repeat(PEOPLE, 1000), PEOPLE + 1 + np.arange(5000) // 3])
        ids, codes = np.concatenate([others, ids]), np.concatenate([others % GROUPS, codes])
        at = at + len(others)
    if layout == "among others":
        order = np.random.default_rng(2).permutation(len(ids))
        return ids[order], codes[order], np.argsort(order)[at]
    return ids, codes, at


def uniform(kept, sets):
    """Chi-square of sets of kept ones against uniform sets, in units of the limit at ALPHA."""
    cells = (kept * (1 << np.arange(kept.shape[1]))).sum(axis=1)
    names, counts = np.unique(cells, return_counts=True)
    due = len(cells) / sets
    found = ((counts - due) ** 2 / due).sum() + (sets - len(names)) * due
    return found / special.chdtri(sets - 1, ALPHA)


def worst_of(marks, at):
    kept = marks[at]
    groups = np.stack([kept[:, :4].any(axis=1), *kept[:, 4:].T], axis=1)
    rows, pairs = kept[groups[:, 0], :4], np.hstack([groups[::2], groups[1::2]])
    assert (groups.sum(axis=1) == 2).all() and (rows.sum(axis=1) == 2).all()
    return max(uniform(groups, 6), uniform(rows, 6), uniform(pairs, 36))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_groups_and_rows_are_kept_uniformly_whatever_others_do(layout):
    ids, codes, at = laid_out(layout)
    for seed in range(3):
        bounding = Bounding(2, 2, Key(bytes([seed] * 32)))
        bounding.add(ids.view(np.uint64), None, codes.astype(np.int32), 0)
        assert worst_of(bounding.kept_rows(len(ids)), at) < 1


def test_a_choice_that_is_not_uniform_is_caught():
    """Planted: the first rows of a person; a hash of what rows hold; groups hashed without ids."""
    ids, codes, at = laid_out("one by one")
    of_group, of_row = true_ranks(ids, codes)
    content, zeros = np.empty(len(ids), np.int64), np.zeros(len(ids))
    content[at] = [5, 5, 6, 7, 1, 1, 1]  # two rows of one person hold the same
    faulty = [(of_group, np.arange(len(ids))), (of_group, hashes(content, zeros))]
    faulty += [(of_group, hashes(content, ids)), (hashes(codes, zeros), of_row)]
    worst = [worst_of(chosen(ids, codes, (2, 2), *r), at) for r in (*faulty, (of_group, of_row))]
    assert min(worst[:-1]) >= 1 > worst[-1]


def test_nobody_else_decides_what_is_kept_of_a_person():
    """Exactly, as long as the numbers of the rows stay; the control is a rank among all rows."""
    ids, codes = people("integers", 600)
    whole = np.array(bounded(ids, codes, (2, 2)))
    for gone in range(1, 12):
        left = np.where(ids == gone, -1, codes)
        marks = np.array(bounded(ids, left, (2, 2)))
        assert (marks[ids != gone] == whole[ids != gone]).all()
        assert not marks[ids == gone].any()
    # Planted: the hash of a row's place among the rows that are left, which others move.
    left = np.where(ids == 1, -1, codes)
    of_group, _ = true_ranks(ids, codes)
    among = [np.cumsum(some >= 0) for some in (codes, left)]
    marks = [
        chosen(ids, some, (2, 2), of_group, hashes(place, np.zeros(len(ids))))
        for some, place in zip((codes, left), among, strict=True)
    ]
    assert (marks[0] != marks[1])[ids != 1].any()


def test_what_is_refused(tmp_path):
    assert Bounding(1, 1, KEY).kept_rows(3).tolist() == [0, 0, 0]  # no rows are none
    codes = np.zeros(3, np.int32)
    low = np.arange(3).astype(np.uint64)
    for words in ((low[:2], None, None), (low, low[:2], None), (low, None, np.ones(2, bool))):
        with pytest.raises(ValueError, match="one length"):
            kernel.split(KEY, *words, codes, 0)
    with pytest.raises(ValueError, match="negative"):
        kernel.split(KEY, low, None, None, codes, -1)
    bounding = Bounding(1, 1, KEY)
    bounding.add(low, None, codes, 10)
    for n in (0, 12):
        with pytest.raises(ValueError, match="a mark for each row"):
            bounding.kept_rows(n)
    records, cuts = kernel.split(KEY, low, None, None, codes, 0)
    blocks = kernel.Blocks()
    falling = cuts.copy()
    falling[kernel.PARTS // 2] = 9
    for wrong in ((records[:2], cuts), (records[:, :2].copy(), cuts), (records, falling)):
        with pytest.raises(ValueError, match=r"belong together|not fall"):
            blocks.add(*wrong)
    with pytest.raises(ValueError, match="parts must be"):
        blocks.mark(KEY, 0, kernel.PARTS + 1, 1, 1, [], np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="parts must be"):
        blocks.joined(5, 4, 3)
    with pytest.raises(ArgumentError, match="spill must be a directory"):
        Bounding(1, 1, KEY, spill=str(tmp_path / "none"))


def test_a_full_disk_is_one_clear_error(tmp_path, monkeypatch):
    def full(self, some, at):
        raise OSError(28, "secret")

    monkeypatch.setattr(row_files.Spill, "_write", full)
    bounding = Bounding(1, 1, KEY, memory=0, spill=str(tmp_path))
    with pytest.raises(SourceError, match="rows cannot be kept in") as caught:
        bounding.add(np.zeros(3, np.uint64), None, np.zeros(3, np.int32), 0)
    assert "secret" not in str(caught.value) and caught.value.__context__ is None
    bounding.close()
    assert not os.listdir(tmp_path)
