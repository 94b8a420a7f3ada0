"""Tables of Spark SQL, by Ibis: the answers of the same rows in memory, bit by bit."""

import os
import sys
from collections import Counter

import pyarrow as pa
import pytest

import dpfast as dp
from tests.support.databases import HOSTILE, connect, table

from . import test_answers as answers
from . import test_people as people
from .test_keys import keys_of

# Of pyspark about pandas, of the JVM about sockets.
pytestmark = pytest.mark.filterwarnings("ignore")
narrow = answers.narrow


def some(names, few):
    full, slow = pytest.mark.full, pytest.mark.slow
    return [pytest.param(name, marks=full if name in few else slow) for name in names]


@pytest.fixture(scope="module", autouse=True)
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = connect("pyspark")
    yield made
    made._session.stop()


@pytest.fixture(scope="module")
def there():
    return answers.table_of("pyspark")


FEW = ["variance", "weighted histogram", "of two", "median of some"]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("question", some(answers.QUESTIONS, FEW))
def test_answers(question, there):
    answers.expect_same(answers.QUESTIONS[question], there)


@pytest.mark.parametrize("name", some(people.RELEASES, ["total of counts"]))
def test_people(name):
    people.test_answers_are_those_of_memory("pyspark", name, 3)


@pytest.mark.parametrize("kind", some(answers.KINDS, ["float64", "int64", "fraction"]))
def test_hostile_numbers(kind):
    values, rows = HOSTILE[kind][1], table(connect("pyspark"), {"x": HOSTILE[kind]})
    here = {"x": pa.array(values, rows["x"].type().to_pyarrow())}
    for bounds in ((-3, 60), (-(2.0**40), 2.0**52)):
        for statistic in (dp.variance, dp.median):
            ask = lambda t, **how: statistic(t["x"], bounds=bounds, nan="drop", **how)  # noqa: B023, E731
            answers.expect_same(ask, rows, here=here)


@pytest.mark.parametrize("kind", some(["string", "int64", "boolean", "date"], ["string", "date"]))
def test_keys(kind):
    declared, values = HOSTILE[kind]
    expected = Counter(
        value.encode() if isinstance(value, str) else value for value in values if value is not None
    )
    assert keys_of("pyspark", declared, values) == (expected, len(expected))
