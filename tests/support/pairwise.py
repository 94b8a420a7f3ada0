"""Fewer rows of a product of parametrisations: those that cover every pair or value, or just few.

The decorators stand above the `pytest.mark.parametrize` of a test and fold them into one:

    @pairwise
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("axis", AXES)
    def test_...

The rows that cover stay quick. Of the others those are marked `full` that cover every pair of
values, and the rest of three factors or more is marked `slow`. With `drop=True` all others are
left out, where the whole product shows nothing that its pairs do not.
"""

import functools
import itertools
from functools import partial

import pytest


def all_values(sizes):
    """Return the fewest rows in which every value of every factor stands."""
    rows = range(max(sizes)) if all(sizes) else ()
    return [tuple(row % size for size in sizes) for row in rows]


@functools.cache
def all_pairs(sizes):
    """Return rows in which every two values of two factors meet, found greedily."""
    if len(sizes) < 2 or 0 in sizes:
        return all_values(sizes)
    missing = {(a, i, b, j) for a, b in itertools.combinations(range(len(sizes)), 2)
        for i, j in itertools.product(range(sizes[a]), range(sizes[b]))}  # fmt: skip
    rows = []
    for a, i, b, j in sorted(missing):
        if (a, i, b, j) not in missing:
            continue
        row = {a: i, b: j}
        for own in range(len(sizes)):
            if own in row:
                continue
            gains = [sum(pair in missing for pair in pairs_of({**row, own: value}))
                for value in range(sizes[own])]  # fmt: skip
            # Among equals another value for each row, so that more than the pairs is seen.
            best = [value for value, gain in enumerate(gains) if gain == max(gains)]
            row[own] = best[len(rows) % len(best)]
        missing.difference_update(pairs_of(row))
        rows.append(tuple(row[own] for own in range(len(sizes))))
    return rows


def pairs_of(row):
    """Yield the pairs of a row, or of the part of it that is there."""
    for a, b in itertools.combinations(sorted(row), 2):
        yield a, row[a], b, row[b]


def name_of(value, argument, index):
    """Return what pytest calls a value that has no id of its own."""
    if isinstance(value, (str, int, float, bool, complex, type(None))):
        return str(value)
    if isinstance(getattr(value, "__name__", None), str):
        return value.__name__
    return f"{argument}{index}"


def factor(mark):
    """Return the arguments of a parametrisation, and its values with the id of each."""
    names, values = mark.args
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    assert set(mark.kwargs) <= {"ids"}, "only ids go with values here"
    ids = mark.kwargs.get("ids")
    given = None if ids is None or callable(ids) else list(ids)
    rows = []
    for index, value in enumerate(values):
        marks, own = (), None
        if hasattr(value, "marks"):  # a pytest.param
            parts, marks, own = value.values, value.marks, value.id
        else:
            parts = (value,) if len(names) == 1 else tuple(value)
        assert len(parts) == len(names), (names, parts)
        if own is None and given is not None:
            own = None if given[index] is None else str(given[index])
        if own is None:
            called = [ids(part) if callable(ids) else None for part in parts]
            own = "-".join(name_of(part, name, index) if told is None else str(told)
                for part, name, told in zip(parts, names, called, strict=True))  # fmt: skip
        rows.append(pytest.param(*parts, id=own, marks=marks))
    return list(names), rows


def folded(cover, test, drop=False, least=2, full=all_pairs):
    """Fold the parametrisations of a test into one, with quick rows and full ones."""
    marks = getattr(test, "pytestmark", [])
    factors = [factor(mark) for mark in marks if mark.name == "parametrize"]
    assert len(factors) >= least, f"{test.__name__} is no product"
    test.pytestmark = [mark for mark in marks if mark.name != "parametrize"]
    sizes = tuple(len(values) for _, values in factors)
    quick = cover(sizes)
    quick_set, full_set = set(quick), set(full(sizes))

    def tier(chosen):
        return [] if chosen in quick_set else ["full"] if chosen in full_set else ["slow"]

    rows = []
    for chosen in quick if drop else itertools.product(*map(range, sizes)):
        parts = [values[i] for (_, values), i in zip(factors, chosen, strict=True)]
        rows.append(pytest.param(*(value for part in parts for value in part.values),
            id="-".join(part.id for part in parts),
            marks=[*(mark for part in parts for mark in part.marks),
            *map(partial(getattr, pytest.mark), tier(chosen))]))  # fmt: skip
    return pytest.mark.parametrize([name for names, _ in factors for name in names], rows)(test)


def some(number, sizes):
    """Return as many rows, far from one another."""
    rows = list(itertools.product(*map(range, sizes)))
    number = min(number, len(rows))
    return [rows[i * len(rows) // number] for i in range(number)]


def covering(full):
    """Return what chooses the full rows: those that cover all pairs, or as many as are said."""
    return all_pairs if full is None else partial(some, full)


def product(cover):
    """Return a decorator for a product of parametrisations, with ``drop=True`` or without."""

    def decorator(test=None, *, drop=False, full=None):
        fold = partial(folded, cover, drop=drop, full=covering(full))
        return fold if test is None else fold(test)

    return decorator


#: Keep quick what covers every pair of values, or every value.
pairwise, every_value = product(all_pairs), product(all_values)


def quick_rows(number, full=None):
    """Keep quick as many rows of one parametrisation or of several, and mark as many `full`."""
    return partial(folded, partial(some, number), least=1, full=covering(full))


def full_rows(number):
    """Mark `full` as many rows of one parametrisation or of several, and `slow` all others."""
    return quick_rows(0, full=number)
