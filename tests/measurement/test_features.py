"""Features by definition: what a row adds, by how much neighbors differ, and the way back."""

import itertools

import pytest

from dpfast.measurement.features import Feature, Moments, inverse
from dpfast.measurement.linear import Column, Setting
from dpfast.statistics.totals.moments import Mean, Sum, Variance
from dpfast.summaries.cells import Cells
from dpfast.summaries.totals import Totals

SPAN = 4
COLUMN = Column(0.0, 4.0, Cells(1.0, -1, SPAN))
STATISTICS = {kind.__name__: kind(bounds=(0, 4)) for kind in (Sum, Mean, Variance)}
FORMS = [
    (name, form)
    for name, statistic in STATISTICS.items()
    for form in statistic.forms(COLUMN, is_public=False)
]
SETTINGS = [Setting("add-remove"), Setting("replace", masked=True)]


def totals(rows):
    return Totals(len(rows), sum=sum(rows), squares=sum(u * u for u in rows))


def tables(setting):
    """All neighbors of at most three rows: cells, or None for a row that a mask leaves out."""
    cells = [*range(SPAN + 1), *([None] if setting.masked else [])]
    for others in itertools.chain([()], itertools.product(cells, repeat=2)):
        if setting.neighbors == "add-remove":
            yield from ((others, (*others, row)) for row in range(SPAN + 1))
        else:
            yield from (((*others, a), (*others, b)) for a, b in itertools.product(cells, repeat=2))


def differences(form, setting):
    """The vectors by which the sums of neighbors differ."""
    for pair in tables(setting):
        a, b = (form.totals(totals([u for u in rows if u is not None])) for rows in pair)
        yield [x - y for x, y in zip(a, b, strict=True)]


def furthest(form, setting):
    return [max(map(abs, column)) for column in zip(*differences(form, setting), strict=True)]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(("name", "form"), FORMS)
def test_no_neighbor_moves_a_sum_further_and_some_do_as_far(name, form, setting):
    far, sizes = furthest(form, setting), setting.sizes(form)
    if form.norm is None or setting.is_public:
        assert far == sizes
        return
    vectors, times = list(differences(form, setting)), 2 if setting.masked else 1
    assert all(a <= b for a, b in zip(far, sizes, strict=True))
    assert max(sum(map(abs, v)) for v in vectors) == times * form.norm
    assert max(sum(x * x for x in v) for v in vectors) == times * form.norm**2


def test_how_far_values_of_a_range_are_apart_by_enumeration():
    """A row that leaves takes its value along, which may be more than another value changes."""
    for lo, hi in itertools.combinations_with_replacement(range(-3, 4), 2):
        feature, values = Feature((1, 0, 0), lo, hi), range(lo, hi + 1)
        most = max(abs(a - b) for a in values for b in values)
        assert feature.sensitivity("replace", is_public=True) == most
        alone = max(map(abs, values))
        assert feature.sensitivity("add-remove", is_public=False) == alone
        assert feature.sensitivity("replace", is_public=False) == max(most, alone)


def test_a_range_that_is_too_narrow_is_found():
    """Planted: as if a mask could hide no row."""
    form = STATISTICS["Mean"].forms(COLUMN, is_public=False)[1]
    as_public = [feature.sensitivity("replace", True) for feature in form.features]
    assert furthest(form, SETTINGS[1]) != as_public


@pytest.mark.parametrize(("name", "form"), [one for one in FORMS if one[0] != "Sum"])
def test_moments_come_back(name, form):
    exact = totals([0, 1, 3, 3, 2])
    second = exact.squares if name == "Variance" else 0
    found = form.moments(form.totals(exact), None)
    whole = found.whole
    assert found == Moments(5 * whole, exact.sum * whole, second * whole, whole)


def test_an_inverse_by_definition():
    factors = ((0, 1, 0), (2, -3, 0), (-24, 9, 8))
    back = inverse(factors)
    for moment, row in enumerate(back):
        combined = [sum(c * f[j] for c, f in zip(row, factors, strict=True)) for j in range(3)]
        assert combined == [int(j == moment) for j in range(3)]
