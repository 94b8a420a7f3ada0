"""The report of a job has the form that its schema says."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpfast import job
from dpfast.app.job.output import rows

from .conftest import releases

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")
SCHEMAS = [
    json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parents[2] / "docs" / "schema").glob("*.json"))
]
(SCHEMA,) = (schema for schema in SCHEMAS if schema["title"] == "The report of a job")
#: A name, so that nothing is loaded from elsewhere.
REGISTRY = referencing.Registry().with_resources(
    (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
)
JOB = """
[data]
path = "t.parquet"
version = "2013"
[budget]
epsilon = 20
delta = 1e-6
ids = "tail"
max_rows = 9
period = "month"
[output]
path = "out.json"
[defaults]
column = "delay"
bounds = [-60, 300]
ids = "tail"
max_rows = 4
"""
LATE = '[release.agg.late]\nstatistic = "mean"\ncolumn = "delay"\nbounds = [-60, 300]\n'
JOB += releases(
    {"statistic": "mean", "where": "carrier = UA"},
    {"statistic": "mean", "name": "missing", "nan": "raise"},
    {"statistic": "quantiles", "qs": [0.1, 0.9]},
    {"statistic": "histogram", "bins": 3},
    {"name": "carriers", "by": "carrier", "max_groups": 2},
)
JOB += f'[release.agg.flights]\nstatistic = "count"\n{LATE}'


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    n = 4000
    columns = {
        "carrier": np.array(["AA", "UA"])[np.arange(n) % 2],
        "delay": pa.array(np.arange(n) % 100.0, mask=np.arange(n) == 7),
        "tail": np.arange(n) // 4,
    }
    pq.write_table(pa.table(columns), folder / "t.parquet")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    results = job.run(folder / "job.toml", report=folder / "out.html")
    assert results.table().schema.metadata == {b"dpfast schema": b"1"}
    assert all("4" in row["note"] for row in rows(results) if row["error"] is None)
    return folder


def errors(report):
    return list(jsonschema.Draft202012Validator(SCHEMA, registry=REGISTRY).iter_errors(report))


def test_a_report_has_the_form_of_its_schema(report):
    told = json.loads((report / "out.json").read_text(encoding="utf-8"))
    assert errors(told) == []
    assert [one["name"] for one in told["releases"] if "failure" in one] == ["missing"]
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("place", [(), ("data",), ("releases", 0), ("releases", 0, "error")])
def test_what_is_missing_or_not_known_is_found(report, place):
    """Planted, each at each depth."""
    for change in ("less", "more"):
        told = json.loads((report / "out.json").read_text(encoding="utf-8"))
        part = told
        for step in place:
            part = part[step]
        if change == "less":
            part.popitem()
        else:
            part["color"] = "green"
        assert errors(told)


def test_the_page_says_what_was_asked_beside_each_number(report):
    """Date, data, parameters, error bars in the units of the data, and how many rows count."""
    told = json.loads((report / "out.json").read_text(encoding="utf-8"))
    text = (report / "out.html").read_text(encoding="utf-8")
    top, mean, missing, quantiles, histogram, carriers = text.split("<h2>")
    date = told["releases"][0]["time"][:10]
    for name, value in {"date": date, "data": "t.parquet", "version": "2013"}.items():
        assert f"<tr><td>{name}</td><td>{value}</td></tr>" in top
    assert "where carrier = " in mean and "bounds=(-60, 300), nan=drop" in mean
    assert "± " in mean and told["releases"][0]["error"]["half_width"] > 0
    for section in (mean, quantiles, histogram):
        assert section.count("<caption>at most 4 rows of each tail</caption>") == 1
    each = "<caption>at most 4 rows in each of 2 groups of each tail</caption>"
    assert carriers.count(each) == carriers.count("<table>") == 2 and carriers.count("± ") >= 4
    assert '<p class="error">' in missing and "<table>" not in missing
