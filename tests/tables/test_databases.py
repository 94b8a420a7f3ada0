"""The databases of other tests: their columns hold what they are given, bit for bit."""

import pytest

from tests.support.databases import ENGINES, HOSTILE, connect, table


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["float64", "int16", "string"])
def test_a_column_holds_what_it_is_given(engine, kind):
    values = HOSTILE[kind][1]
    given = table(connect(engine), {"x": HOSTILE[kind]})["x"].to_pyarrow().to_pylist()
    if engine == "sqlite":  # which stores NaN as null and -0.0 as an integer
        values = [None if x != x else 0.0 if x == 0 and kind == "float64" else x for x in values]
    assert list(map(repr, given)) == list(map(repr, values))
