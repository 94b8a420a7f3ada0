"""Tables of Spark SQL, by Ibis: the answers of the same rows in memory, bit by bit."""

import os
import sys
from collections import Counter

import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError
from dpfast.rng import InsecureGenerator
from tests.support.databases import HOSTILE, connect, table

from . import test_answers as answers
from . import test_people as people
from . import test_ranks as ranks
from .test_keys import keys_of

# Of pyspark about pandas, of the JVM about sockets.
pytestmark = pytest.mark.filterwarnings("ignore")


narrow = ranks.narrow


def some(names, few):
    """Return names to parametrize a test with: a few for the full tier, and the rest by night."""
    full, slow = pytest.mark.full, pytest.mark.slow
    return [pytest.param(name, marks=full if name in few else slow) for name in names]


@pytest.fixture(scope="module", autouse=True)
def spark():
    """The connection, whose Spark ends with the tests of this file."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = connect("pyspark")
    yield made
    made._session.stop()


@pytest.fixture(scope="module")
def there():
    return answers.table_of("pyspark")


@pytest.mark.parametrize("question", some(answers.QUESTIONS, ["variance", "weighted", "of two"]))
def test_answers(question, there):
    answers.expect_same(answers.QUESTIONS[question], there)


@pytest.mark.parametrize("name", some(people.RELEASES, ["two columns"]))
def test_people(name):
    people.test_answers_are_those_of_memory("pyspark", name, 3)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("question", some(["median", "of integers", "where"], ["where"]))
def test_ranks(question):
    ranks.expect_same(ranks.QUESTIONS[question], ranks.here("pyspark"), ranks.table_of("pyspark"))


@pytest.mark.parametrize("kind", some(ranks.KINDS, ["float64", "int64", "fraction"]))
def test_hostile_numbers(kind):
    """Each magnitude and each border, by sums and by ranks."""
    values, rows = HOSTILE[kind][1], table(connect("pyspark"), {"x": HOSTILE[kind]})
    here = {"x": pa.array(values, rows["x"].type().to_pyarrow())}
    for bounds in ((-3, 60), (-(2.0**40), 2.0**52)):
        for statistic in (dp.variance, dp.median):
            ask = lambda t, **how: statistic(t["x"], bounds=bounds, nan="drop", **how)  # noqa: B023, E731
            ranks.expect_same(ask, here, rows)


@pytest.mark.parametrize("kind", some(["string", "int64", "boolean", "date"], ["string", "date"]))
def test_keys(kind):
    declared, values = HOSTILE[kind]
    expected = Counter(
        value.encode() if isinstance(value, str) else value for value in values if value is not None
    )
    assert keys_of("pyspark", declared, values) == (expected, len(expected))


@pytest.mark.full
def test_moments_are_no_keys():
    """Those of some years fail on their way through pandas."""
    rows = table(connect("pyspark"), {"x": HOSTILE["timestamp"]})
    with pytest.raises(ArgumentTypeError, match="in pyspark: cast it"):
        dp.select_keys(rows["x"], epsilon=1, delta=1e-3)


@pytest.mark.full
def test_groups_of_people(there):
    """Public and private keys, and groups of a person that are chosen."""
    unit = {"ids": "k", "max_groups": 99, "max_rows": 999}
    x = {"bounds": (0, 100), "nan": "drop"}
    for by in ("s", "k"):
        ask = lambda t, **how: dp.group_by(t, by, keys=KEYS[by], **unit).mean("x", **x, **how)  # noqa: B023, E731
        both = [ask(t, epsilon=1, rng=InsecureGenerator(7)) for t in (answers.HERE, there)]
        assert both[0]["mean"].tolist() == both[1]["mean"].tolist()
    few = dp.group_by(there, "s", keys=["a"], ids="k", max_groups=1, max_rows=1)
    assert few.count(epsilon=100)["count"][0] <= 8
    shown = dp.select_keys(there["s"], epsilon=50, delta=1e-3)
    assert set(shown) == set(answers.TEXT)


KEYS = {"s": ["a", "A", "b"], "k": [-2, 3, 9]}
