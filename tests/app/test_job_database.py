"""Jobs over a table or a query of a database, which show no password."""

import json
import os
from importlib.util import find_spec

import pytest

from dpfast import Budget, job
from dpfast.errors import ArgumentError, MissingExtraError, SourceError

from ..support.lazy import Lazy
from ..support.pairwise import quick_rows
from .conftest import releases

duckdb = Lazy("duckdb")
pytestmark = pytest.mark.skipif(find_spec("ibis") is None, reason="pip install 'dpfast[sql]'")
DELAY = {"statistic": "mean", "column": "delay"}
LATE = {"name": "late", "statistic": "count", "where": ["carrier = UA", "delay >= 50"]}
RELEASES = "[defaults]\nbounds = [0, 100]\n" + releases(
    DELAY,
    DELAY | LATE,
    DELAY | {"name": "carriers", "by": "carrier", "keys": ["AA", "UA"]},
    DELAY | {"name": "middle", "statistic": "median"},
)
SECRET = "hunter2"


@pytest.fixture
def folder(tmp_path):
    with duckdb.connect(tmp_path / "flights.db") as connection:
        connection.execute(
            "create table flights as select (i % 101)::double as delay, "
            "case when i % 2 = 0 then 'UA' else 'AA' end as carrier from range(10100) t(i)"
        )
    return tmp_path


@pytest.fixture
def write(folder):
    def make(data, budget="epsilon = 400", releases=RELEASES):
        path = folder / "job.toml"
        path.write_text(f"{data}\n[budget]\n{budget}\n{releases}")
        return path

    return make


TABLE = '[data.sql]\nconnect = "duckdb://flights.db"\ntable = "flights"'
QUERY = '[data.sql]\nconnect = "duckdb://flights.db"\nquery = "select * from flights"'


@quick_rows(1)
@pytest.mark.parametrize("data", [TABLE, QUERY])
def test_the_database_answers(write, folder, shell, data):
    results = job.run(write(data))
    results.check()
    assert results["mean of delay"] == pytest.approx(50, abs=0.1)
    assert results["late"] == pytest.approx(2550, abs=2)
    assert results["carriers"]["mean"] == pytest.approx([50, 50], abs=0.1)
    assert results["middle"] == pytest.approx(50, abs=1)
    assert results.passes == 0 and job.report(results)["data"]["engine"] == "duckdb"
    code, out, err = shell("explain", folder / "job.toml")
    assert (code, err) == (0, "") and "duckdb" in out and "memory" not in out
    explained = job.explain(folder / "job.toml")
    assert explained["data"]["engine"] == "duckdb" and explained["passes"] is None
    assert "memory" not in explained
    assert explained["data"]["paths"][0].startswith("duckdb://flights.db, ")


def test_an_answer_is_paid_for_once(write, folder):
    path = write(TABLE, 'epsilon = 4\npath = "study.db"')
    first = job.run(path)
    assert dict(job.run(path)) == dict(first)
    assert Budget(path=folder / "study.db").spent["epsilon"] == 4
    other = write(QUERY, 'epsilon = 4\npath = "study.db"')
    with pytest.raises(Exception, match="was paid for, but its arguments or its data"):
        job.run(other)


def test_a_file_is_relative_to_the_job_and_never_made(write, folder):
    with pytest.raises(SourceError, match="does not exist"):
        job.explain(write(TABLE.replace("flights.db", "none.db")))
    assert not (folder / "none.db").exists()
    whole = TABLE.replace("flights.db", f"{folder / 'flights.db'}?read_only=True")
    job.run(write(whole)).check()


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        ('[data.sql]\nconnect = "duckdb://flights.db"', ArgumentError, "either table or query"),
        (TABLE + '\nquery = "select 1"', ArgumentError, "either table or query"),
        ('[data]\nsql = "hunter2"', ArgumentError, "data.sql must be a table"),
        (TABLE + '\nname = "x"', ArgumentError, "data.sql.name must be one of"),
        ('[data]\npath = "x"\n' + TABLE, ArgumentError, "data.path must be left out"),
        (TABLE.replace('"flights"', '"flight"'), SourceError, "did you mean 'flights'"),
        (TABLE.replace("duckdb://", f"{SECRET}//"), ArgumentError, "must be a URL"),
        (TABLE.replace("duckdb://", f"http://u:{SECRET}@[x"), ArgumentError, "must be a URL"),
        (TABLE.replace("duckdb://", "sqlite://${NOT_SET}" + SECRET), ArgumentError, "NOT_SET"),
        (QUERY.replace("flights\"", f"{SECRET}\""), SourceError, "cannot answer the query"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong_and_no_secret(write, data, error, said):
    with pytest.raises(error) as caught:
        job.explain(write(data))
    assert said in str(caught.value) and SECRET not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_no_password_is_seen(write, folder, monkeypatch, shell):
    monkeypatch.setenv("SECRET", SECRET)
    data = TABLE.replace("flights.db", "flights.db?application_name=${SECRET}")
    for wrong in data, TABLE.replace("duckdb://flights.db", "postgres://u:${SECRET}@[::1]:1/x"):
        path = write(wrong, 'epsilon = 4\npath = "study.db"')
        code, out, err = shell("run", path)
        seen = [out, err, *shell("explain", path, "--json")[1:]]
        if code == 0:
            results = job.run(path)
            seen += [repr(results), json.dumps(job.report(results))]
        seen += [file.read_bytes().decode("latin-1") for file in folder.glob("study.db*")]
        assert not any(SECRET in text for text in seen)


def test_a_driver_that_is_not_installed_is_named(write, monkeypatch):
    import ibis

    def missing(url):
        raise ModuleNotFoundError(f"no module for {url}")

    monkeypatch.setattr(ibis, "connect", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'ibis-framework\[postgres\]'"):
        job.explain(write(TABLE.replace("duckdb://flights.db", "postgresql://a:b@c/d")))


def test_answers_do_not_replace_the_database(write, folder):
    os.rename(folder / "flights.db", folder / "flights.csv")
    data = TABLE.replace("flights.db", "flights.csv") + '\n[output]\npath = "flights.csv"'
    with pytest.raises(ArgumentError, match="another file than the data"):
        job.run(write(data))


@pytest.mark.full
def test_postgres(write, monkeypatch):
    from ..support.databases import Server, table

    server = Server()
    connection = server.connect()
    numbers = table(connection, {"delay": ("float64", [1.0, 99.0] * 500)})
    monkeypatch.setenv("HOST", server.folder)
    one = '[[release]]\nstatistic = "mean"\ncolumn = "delay"\nbounds = [0, 100]'
    data = '[data.sql]\nconnect = "postgres://dpfast@/postgres?host=${HOST}"\n'
    data += f'table = "{numbers.get_name()}"'
    results = job.run(write(data, releases=one))
    assert results["mean of delay"] == pytest.approx(50, abs=1)
    del results
    connection.disconnect()
    server.stop()
