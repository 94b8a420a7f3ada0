"""What covers the pairs, and the values, of a product of parametrisations."""

import itertools

import pytest

from .support.pairwise import all_pairs, all_values, every_value, full_rows, pairwise, quick_rows

SIZES = [(1,), (4,), (2, 3), (1, 1, 1), (2, 2, 2), (3, 5, 12), (5, 3, 4, 2), (2,) * 9, (7, 1, 6, 6)]


def gaps(rows, sizes):
    return [(a, i, b, j) for a, b in itertools.combinations(range(len(sizes)), 2)
        for i, j in itertools.product(range(sizes[a]), range(sizes[b]))
        if not any(row[a] == i and row[b] == j for row in rows)]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_pair_is_there_in_few_rows(sizes):
    rows = all_pairs(sizes)
    assert gaps(rows, sizes) == [] and len(set(rows)) == len(rows)
    assert set(rows) <= set(itertools.product(*map(range, sizes)))
    assert {i for (i, *_) in rows} == set(range(sizes[0]))
    largest = sorted(sizes)[-2:]
    assert len(rows) <= 2 * largest[0] * largest[-1]
    assert rows == all_pairs(sizes)


def test_a_gap_is_caught():
    """Planted: without any one of its rows a cover of two factors has a gap."""
    rows = all_pairs((2, 3))
    for row in rows:
        assert gaps([other for other in rows if other != row], (2, 3)) != []
    assert gaps(all_values((2, 3, 4)), (2, 3, 4)) != []


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_value_is_there(sizes):
    rows = all_values(sizes)
    assert len(rows) == max(sizes)
    assert [set(column) for column in zip(*rows, strict=True)] == [set(range(n)) for n in sizes]


def example():
    @pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.skip), None])
    @pytest.mark.parametrize(("b", "c"), [(1, 2), (3, len)], ids=["one", None])
    @pytest.mark.parametrize("d, e", [("x", [1]), ("y", {})])
    def test(a, b, c, d, e): ...

    return test


def marks_of(row):
    return {mark.name for mark in row.marks}


def is_quick(row):
    return not marks_of(row) & {"full", "slow"}


@pytest.mark.parametrize("fold", [pairwise, every_value])
def test_pairs_are_full_and_the_rest_is_slow_or_left_out(fold):
    (mark,) = fold(example()).pytestmark
    names, rows = mark.args
    assert names == ["d", "e", "b", "c", "a"]
    assert len({row.id for row in rows}) == len(rows) == 12
    quick = [row.values for row in rows if is_quick(row)]
    assert 0 < len(quick) <= sum("slow" not in marks_of(row) for row in rows) < 12
    (mark,) = fold(drop=True)(example()).pytestmark
    fewer = mark.args[1]
    assert sorted(map(str, quick)) == sorted(str(row.values) for row in fewer)
    for row in [*rows, *fewer]:
        assert ("skip" in marks_of(row)) == (row.values[-1] == 2)
    assert "x-e0-one-1" in {row.id for row in rows}
    assert "y-e1-3-len-None" in {row.id for row in rows}


@pytest.mark.parametrize("quick", [1, 3, 11, 12, 99])
def test_few_rows(quick):
    (mark,) = quick_rows(quick)(example()).pytestmark
    rows = mark.args[1]
    assert len(rows) == 12
    assert sum(map(is_quick, rows)) == min(quick, 12) and is_quick(rows[0])
    (mark,) = full_rows(quick)(example()).pytestmark
    full = ["full" in marks_of(row) for row in mark.args[1]]
    assert sum(full) == min(quick, 12) and full[0]
    assert all(
        ("slow" in marks_of(row)) != one for row, one in zip(mark.args[1], full, strict=True)
    )
