"""The recipes of the page on batch work run, as far as their programs are here."""

import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.pages import GUIDE, ROOT

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXT = (GUIDE / "batch.md").read_text(encoding="utf-8")
#: The recipes by the file that their first lines name.
FILES = {
    re.search(r"# (\S+\.\w+)$", block, re.M)[1]: block
    for block in re.findall(r"^```\w+\n(.*?)^```$", TEXT, re.M | re.S)
}
ROWS = 4000


@pytest.fixture
def folder(tmp_path):
    """The files of the page, and the data of a month in two parts, from the second of which keys
    are missing."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    rows = np.arange(ROWS)
    table = {"patient": rows % 1000, "hours": rows % 48.0, "ward": pa.array(["a", "b"] * 2000)}
    for part, start in (("a", 0), ("b", ROWS // 2)):
        cut = pa.table(table).slice(start, ROWS // 2)
        pq.write_table(cut, tmp_path / f"visits-2024-06-{part}.parquet")
    return tmp_path


def environment(folder, **more):
    """What a program gets: the command line of this installation, and the variables of the job."""
    program = folder / "bin" / "dpfast"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dpfast "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    given = {"PATH": path, "PYTHONPATH": str(ROOT), "FOLDER": str(folder), "MONTH": "2024-06"}
    return {**os.environ, **given, **more}


def test_the_job_bounds_once_and_is_paid_once(folder, monkeypatch):
    for name in ("FOLDER", "MONTH"):
        monkeypatch.setenv(name, environment(folder)[name])
    explained = dp.job.explain(folder / "job.toml")
    assert explained["period"] == "month" and explained["waves"] == 1
    first = dp.job.run(folder / "job.toml")
    first.check()
    assert first["visits"]["ward"] == ["a", "b"]
    again = dp.job.run(folder / "job.toml")
    assert again["hours"] == first["hours"]
    ledger = dp.Budget(path=folder / "visits.db", ids="patient")
    assert ledger.remaining["epsilon"] == 0 and len(ledger.history) == 2
    assert pq.read_table(folder / "answers-2024-06.parquet").num_rows >= 4


@pytest.mark.full
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_the_script_of_cron_runs(folder):
    done = subprocess.run(
        ["sh", "nightly.sh"], cwd=folder, env=environment(folder), capture_output=True, timeout=300
    )
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (0, 1, b"")
    lines = (folder / "owner.log").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert {"spend", "pass", "release"} <= set(events)
    assert (folder / "owner.log").stat().st_mode & 0o077 == 0


@pytest.mark.full
def test_the_task_of_airflow_runs(folder, monkeypatch):
    """By stand-ins for what the page imports, which keep what they are given."""
    made = []

    class Stub:
        def __init__(self, *args, **kwargs):
            made.append(kwargs)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    home = "airflow.providers.standard.operators.bash"
    stubs = {home.rsplit(".", k)[0]: types.ModuleType("stub") for k in range(1, 5)}
    stubs[home] = types.SimpleNamespace(BashOperator=Stub)
    stubs["airflow.sdk"] = types.SimpleNamespace(DAG=Stub)
    for name, module in stubs.items():
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(FILES["dag.py"], "dag.py", "exec"), {})
    task = made[1]
    own = {name: text.replace("/srv/visits", str(folder)) for name, text in task["env"].items()}
    month = "{{ data_interval_end.subtract(months=1).strftime('%Y-%m') }}"
    assert own.pop("MONTH") == month and task["append_env"]
    assert made[0]["schedule"] in FILES["crontab.txt"]
    done = subprocess.run(
        ["sh", "-c", task["bash_command"]], cwd=folder, env=environment(folder, **own),
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    (report,) = done.stdout.splitlines()
    assert [release["name"] for release in json.loads(report)["releases"]] == ["visits", "hours"]


def test_the_dockerfile_names_versions_and_what_is_there_and_does_not_run_as_root():
    text = (ROOT / "docs" / "recipes" / "Dockerfile").read_text(encoding="utf-8")
    lines = [line.split(maxsplit=1) for line in text.replace("\\\n", " ").splitlines()]
    said = {line[0]: line[1] for line in lines if line and line[0] != "#"}
    bases, copied = (re.findall(rf"^{word} (.*)$", text, re.M) for word in ("FROM", "COPY"))
    assert bases and all(re.match(r"python:3\.\d+\.\d+-slim-\w+( AS \w+)?$", x) for x in bases)
    own = [name for line in copied if "--from" not in line for name in line.split()[:-1]]
    assert own and all((ROOT / name).exists() for name in own)
    assert re.match(r"[1-9]\d*(:|$)", said["USER"]) and "apt-get" not in said["RUN"]
    command = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    assert command == ["dpfast", "run", "job.toml", "--quiet"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or newer")
def test_the_program_of_spark_runs_and_a_second_start_pays_nothing(folder):
    submit = Path(pytest.importorskip("pyspark").__file__).parent / "bin" / "spark-submit"
    env = environment(folder, LEDGER=str(folder / "spark.db"), PYSPARK_PYTHON=sys.executable)
    rows = folder / "visits-2024-06-a.parquet"
    command = list(map(str, (submit, "--master", "local[2]", "release.py", rows)))
    how = {"cwd": folder, "env": env, "capture_output": True, "text": True, "timeout": 400}
    runs = [subprocess.run(command, **how) for _ in range(2)]
    first, second = (done.stdout.splitlines()[-1] for done in runs)
    assert first == second and "'ward': ['a', 'b']" in first
    assert len(dp.Budget(path=folder / "spark.db", ids="patient").history) == 1
