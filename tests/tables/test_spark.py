"""Dataframes of Spark as data: the answers of the same rows in memory, on a local Spark."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.tables import spark as spark_module

from . import test_engine as engine
from .test_engine import TABLE, B, N, rng

pytestmark = [
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'dpfast[spark]'"),
    pytest.mark.full,  # and one of them by night
    pytest.mark.filterwarnings("ignore"),  # of pyspark about pandas, of the JVM about sockets
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or newer"),
]


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    made = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def frame(session):
    rows = TABLE.where(TABLE.notna(), None).astype({"age": "int64", "id": "int64"})
    return session.createDataFrame(rows).repartition(5).cache()


HELD = ["mean", "median", "means", "histogram of words", "private groups", "groups of people"]
OTHERS = {"keys": ["a"], "other_key": "rest"}
SUMS = {"n": dp.stat.count(), "s": dp.stat.sum("age", bounds=(0, 100))}
RANKS = {"n": SUMS["n"], "q": dp.QuantileInterval("age", [0.25, 0.75], bounds=(0, 100))}
ANSWERS = {name: engine.RELEASES[name] for name in [*HELD, "blocks of people"]} | {
    "others": lambda t, c, m, **r: dp.group_by(t(), "town", **OTHERS).agg(RANKS, epsilon=1, **r),
    "others of people": lambda t, c, m, **r: dp.group_by(
        t(), "town", **OTHERS, ids="id", max_rows=2
    ).agg(SUMS, epsilon=1, **r),
}


def held(frame):
    return (lambda names=None: dp.spark(frame)[names] if names else dp.spark(frame)), (
        lambda name: dp.spark(frame)[name]
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_what_spark_holds_is_what_it_would_hold_in_memory(frame, name):
    np.testing.assert_equal(
        *(ANSWERS[name](*data, **rng()) for data in ((*held(frame), None), engine.in_memory()))
    )


def test_a_name_with_a_dot_is_one_column(frame):
    dotted = frame.withColumnRenamed("town", "home.town")
    counts = dp.histogram(dp.spark(dotted)[["home.town"]], categories=["a"], epsilon=400)[0]
    assert counts.tolist() == [(TABLE["town"] == "a").sum()]


#: A column of each kind that Spark has, beside the others.
EVERY_TYPE = [
    "*", "timestamp_seconds(86400 * age) as at",
    "to_timestamp_ntz(date_add(date '1970-01-01', cast(age as int))) as plain",
    "date_add(date '1970-01-01', cast(age as int)) as day", "interval '1' day as span",
    "interval '1' month as months", "named_struct('a', age) as two", "array(age) as several",
    "map(age, pay) as pairs", "parse_json('1') as any", "cast(pay as decimal(9, 2)) as price",
    "cast(town as binary) as bytes", "null as nothing",
]  # fmt: skip


def test_columns_of_every_type_stand_beside_others(frame):
    """What nobody asks for decides nothing, and times of all kinds are those of memory."""
    data, days = dp.spark(frame.selectExpr(*EVERY_TYPE)), pd.to_timedelta(TABLE["age"], "D")
    assert dp.sum(data["age"], **B, **rng()) == dp.sum(TABLE["age"], **B, **rng())
    with pytest.raises(ArgumentError, match="months"):
        data["months"]
    first = pd.Timestamp("1970-01-01")
    for name, zone in (("at", "UTC"), ("plain", None), ("day", None)):
        start = pd.Timestamp(first, tz=zone)
        asked = {"bounds": (start, start + pd.Timedelta(99, "D")), "epsilon": 1.0}
        if name == "day":
            asked["bounds"] = tuple(end.date() for end in asked["bounds"])
        found = dp.median(data[name], **asked, **rng())
        due = dp.median(
            (start + days).astype(f"datetime64[us{', UTC' if zone else ''}]"), **asked, **rng()
        )
        off = pd.Timestamp(found).date() - pd.Timestamp(due).date()
        assert abs(off.days) <= (name == "day")  # which is rounded to whole days
    keys = [first.date() + pd.Timedelta(n, "D") for n in (1, 7)]
    counts = dp.group_by(data, "day", keys=keys).count(epsilon=400)["count"]
    assert counts.tolist() == [int((TABLE["age"] == n).sum()) for n in (1, 7)]


def test_a_zone_that_is_not_said_to_spark_is_found(frame, monkeypatch):
    from pyspark.sql.pandas.types import to_arrow_schema

    def of_all(schema, names):
        return to_arrow_schema(schema).empty_table()

    monkeypatch.setattr(spark_module, "_declared", of_all)
    with pytest.raises((AssertionError, TypeError)):
        test_columns_of_every_type_stand_beside_others(frame)


def test_keys_that_are_no_utf8_stay_apart(session):
    """Spark keeps text as bytes that nobody checks."""
    raw = session.range(2000).selectExpr("cast(unhex(if(id < 1000, 'ff', 'fe')) as string) as k")
    found = dp.group_by(raw, "k").count(epsilon=400, delta=1e-6)
    assert found["k"].tolist() == [b"\xfe", b"\xff"] and found["count"].tolist() == [1000] * 2
    again = dp.group_by(raw, "k", keys=[b"\xff", "tea"]).count(epsilon=400)
    assert again["count"].tolist() == [1000, 0]


def test_what_is_refused_before_the_spend(frame):
    for call in (
        lambda: dp.spark(TABLE),
        lambda: dp.mean(dp.spark(frame)["town"], **B),
        lambda: dp.mean(dp.spark(frame)["age"], where=np.ones(N, bool), **B),
    ):
        with pytest.raises(ArgumentTypeError):
            call()
    with pytest.raises(ArgumentError, match="nobody"):
        dp.spark(frame)["nobody"]


def test_an_error_tells_no_row(frame):
    rows = frame.selectExpr("assert_true(age < 0, concat('row ', id)) as wrong", "age")
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="failed while it read the rows") as caught:
        dp.mean(dp.spark(rows.filter("wrong is null"))["age"], **B, budget=budget)
    assert caught.value.__context__ is None and "row " not in str(caught.value)[:30]
    assert budget.spent["epsilon"] == 1


def test_our_own_error_in_a_task_is_ours(frame, monkeypatch):
    """Spark would make text of it; here the task meets rows of another type than it was told."""
    data = dp.spark(frame)
    other = dp.spark(frame.selectExpr("cast(age as float) as age"))
    monkeypatch.setattr(data.store, "like", other.store.like)
    with pytest.raises(DataError, match="other types than its table declares") as caught:
        dp.mean(data["age"], **B)
    assert caught.value.__context__ is None


def test_a_task_that_is_killed_runs_again(frame, tmp_path):
    flag = str(tmp_path / "killed")

    def killing(parts):
        for part in parts:
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield part
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    ages = frame.select("age")
    data = ages.mapInPandas(killing, ages.schema)
    budget = dp.Budget(epsilon=1)
    assert dp.median(dp.spark(data)["age"], **B, **rng()) == dp.median(TABLE["age"], **B, **rng())
    assert os.path.exists(flag)
    dp.sum(dp.spark(data)["age"], **B, budget=budget)
    assert budget.spent["epsilon"] == 1


CONNECT = """
import pandas as pd, dpfast as dp
from dpfast.rng import InsecureGenerator
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[2]").getOrCreate()
rows = pd.DataFrame({"age": range(1000), "id": [i % 9 for i in range(1000)]})
data = session.createDataFrame(rows).repartition(3)
B = {"bounds": (0, 999), "epsilon": 1, "rng": InsecureGenerator(5)}
print(dp.median(dp.spark(data)["age"], **B))
own = dp.group_by(data, "id", keys=list(range(9)), ids="id", max_groups=1, max_rows=200)
print(own.count(epsilon=1, rng=InsecureGenerator(5))["count"].tolist())
session.stop()
"""


def printed(program, *given):
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *given]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=500)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout.split("\n")[:-1]


def test_spark_connect():
    pytest.importorskip("grpc", reason="pip install 'pyspark[connect]'")
    data = pd.DataFrame({"age": range(1000), "id": [i % 9 for i in range(1000)]})
    own = dp.group_by(data, "id", keys=list(range(9)), ids="id", max_groups=1, max_rows=200)
    due = [
        str(dp.median(data["age"], bounds=(0, 999), epsilon=1, **rng())),
        str(own.count(epsilon=1, **rng())["count"].tolist()),
    ]
    assert printed(CONNECT)[-2:] == due


INTERRUPTED = """
import os, signal, sys, threading, time, uuid
import pandas as pd, dpfast as dp
from pyspark.sql import SparkSession

# A shell starts background jobs with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, of = sys.argv[1:]
builder = SparkSession.builder.config("spark.ui.enabled", "false")
builder = builder.remote("local[2]") if of == "connect" else builder.master("local[2]")
session = builder.getOrCreate()


def slow(parts):
    for part in parts:
        open(os.path.join(folder, uuid.uuid4().hex), "x").close()
        time.sleep(0.5)
        yield part


def interrupt():
    while len(os.listdir(folder)) < 2:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


rows = session.createDataFrame(pd.DataFrame({"x": range(400)})).repartition(40)
data = rows.mapInPandas(slow, "x long")
threading.Thread(target=interrupt, daemon=True).start()
budget = dp.Budget(epsilon=1)
try:
    dp.sum(dp.spark(data)["x"], bounds=(0, 1), epsilon=0.5, budget=budget)
except KeyboardInterrupt:
    time.sleep(2)
    print(len(os.listdir(folder)), budget.spent["epsilon"])
print(dp.show_config(mode="dicts")["engines"]["pyspark.sql"])
session.stop()
"""


@pytest.mark.slow
@pytest.mark.parametrize("of", ["classic", "connect"])
def test_ctrl_c_ends_the_tasks_and_the_spend_stands(tmp_path, of):
    if of == "connect":
        pytest.importorskip("grpc", reason="pip install 'pyspark[connect]'")
    said, master = printed(INTERRUPTED, str(tmp_path), of)[-2:]
    tasks, spent = said.split()
    assert int(tasks) <= 6 and spent == "1/2" and master == "local[2]"
