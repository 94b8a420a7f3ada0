"""Decimals of Arrow are the float64 nearest to them, wherever they lie."""

import random
from decimal import Decimal, localcontext

import pytest

pa = pytest.importorskip("pyarrow")

from dpfast.tables.arrow import nearest_floats, widened  # noqa: E402
from dpfast.tables.data import as_rows  # noqa: E402


def decimals(digits, scale, rows=500):
    draw = random.Random(digits)
    with localcontext() as context:
        context.prec = 80
        sizes = [draw.randint(1, digits) for _ in range(rows)]
        return [Decimal(draw.randint(1 - 10**k, 10**k - 1)).scaleb(-scale) for k in sizes]


@pytest.mark.parametrize(
    "kind",
    [(15, 2), (15, 15), (9, 4), (18, 2), (18, 18), (38, 10), (38, 0), (5, -3), (60, 20)],
    ids=str,
)
def test_decimals_are_rounded_once(kind):
    make = pa.decimal256 if kind[0] > 38 else pa.decimal128
    values = [*decimals(*kind), None, Decimal(0)]
    array = pa.array(values, make(*kind))
    right = [None if value is None else float(value) for value in values]
    assert nearest_floats(array).to_pylist() == right
    assert nearest_floats(array[7:]).to_pylist() == right[7:]
    assert widened(array, pa.float64()).to_pylist() == right
    rows = as_rows(pa.chunked_array([array[:40], array[40:-2]])).reduce(
        lambda chunk: chunk.rows.tolist(), lambda a, b: a + b
    )
    assert rows == right[:-2]
