"""`dpfast run` and `dpfast explain`: what they print, exit codes, the documented example."""

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import dpfast as dp
from dpfast import job
from dpfast.app.cli import audit, main
from dpfast.errors import EntropyError

DOCS = Path(__file__).parents[2] / "docs" / "guide" / "command-line.md"


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def path(tmp_path):
    """Ten thousand numbers, one of them missing in the second column."""
    table = np.empty((10_000, 2))
    table[:, 0] = np.arange(10_000) % 101
    table[:, 1] = 1
    table[5, 1] = np.nan
    np.save(tmp_path / "t.npy", table)
    (tmp_path / "job.toml").write_text(
        '[data]\npath = "t.npy"\n[budget]\nepsilon = 3\npath = "study.db"\n'
        'neighbors = "replace"\n[output]\n'
        'path = "out.json"\n[defaults]\nbounds = [0, 100]\n'
        '[[release]]\nname = "[red]mean[/]"\nstatistic = "mean"\ncolumn = "0"\n'
        '[[release]]\nname = "middle"\nstatistic = "median"\ncolumn = "0"\nweight = 2\n'
    )
    return tmp_path / "job.toml"


def add(path, text):
    path.write_text(path.read_text() + text)


def test_run_prints_and_writes_the_same_again_and_again(shell, path):
    code, out, err = shell("run", path, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    found = json.loads(out)
    assert [release["name"] for release in found["releases"]] == ["[red]mean[/]", "middle"]
    assert abs(found["releases"][0]["value"] - 49.95) < 1
    written = path.with_name("out.json").read_text()
    assert json.loads(written) == found
    assert shell("run", path, "--json") == (0, out, "")
    assert path.with_name("out.json").read_text() == written
    code, out, err = shell("run", path)
    assert (code, err) == (0, "") and "[red]mean[/]" in out and "±" in out
    assert f"{found['releases'][0]['value']:.6g}" in out
    done = f"job.toml: 2 of 2 releases answered, epsilon=3, in {path.with_name('out.json')}\n"
    assert shell("run", path, "--quiet") == (0, done, "")
    assert dp.Budget(path=path.with_name("study.db")).spent["epsilon"] == 3


def test_explain_says_what_is_paid_and_what_is_left(shell, told, path):
    code, out, err = shell("explain", path)
    assert (code, err) == (0, "") and "[red]mean[/]" in out and "2/3" in out
    assert "a new ledger, of the loss of this job" in " ".join(out.split())
    assert not path.with_name("study.db").exists()
    printed, returned = told("explain", path), job.explain(path)
    # The free memory of the machine moves between two calls.
    assert printed.pop("memory") > 0 and returned.pop("memory") > 0
    assert printed == returned
    shell("run", path, "--quiet")
    found = told("explain", path)
    assert found["paid"] == ["[red]mean[/]", "middle"] and found["remaining"]["epsilon"] == 0
    assert found["after"] == found["remaining"]
    assert "paid already" in shell("explain", path)[1]


def test_a_release_that_fails_leaves_the_others_their_answers(shell, path):
    add(path, '[[release]]\nname = "gap"\nstatistic = "mean"\ncolumn = "1"\n')
    code, out, err = shell("run", path, "--json")
    assert code == 5 and err.count("\n") == 1
    assert err.startswith("dpfast: error: release 'gap': ")
    found = json.loads(out)
    assert "error" in found["releases"][2] and found["releases"][2]["value"] is None
    assert isinstance(found["releases"][0]["value"], float)
    assert "error: " in shell("run", path)[1]
    code, out_quiet, _ = shell("run", path, "--quiet")
    assert code == 5 and out_quiet.startswith("job.toml: 2 of 3 releases answered")
    assert shell("run", path, "--json") == (code, out, err)


def test_the_page_lists_all_exit_codes():
    table = re.findall(r"^\| (\d+) \|", DOCS.read_text(encoding="utf-8"), re.M)
    assert {*map(int, table)} == {0, *main.CODES.values(), main.INTERRUPTED, audit.REFUTED}


def test_no_entropy_and_an_interrupt(shell, path, monkeypatch):
    for place, error, code in [
        ("tables.shared_pass.SharedPasses._pass", KeyboardInterrupt, 130),
        ("rng.SecureGenerator.stream", EntropyError("no bits"), 1),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(f"dpfast.{place}", Mock(side_effect=error))
            got, _, err = shell("run", path)
        assert got == code and ("no bits" if code == 1 else "interrupted") in err
    assert shell("run", path, "--quiet")[0] == 0
    assert dp.Budget(path=path.with_name("study.db")).spent["epsilon"] == 3


@pytest.mark.full
def test_the_documented_example(tmp_path):
    blocks = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    example, groups = (block for block in blocks if "adult.parquet" in block)
    adult = Path(dp.__file__).with_name("data") / "adult.parquet"
    shutil.copy(adult, tmp_path)
    (tmp_path / "job.toml").write_text(example)
    for command in ("explain", "run", "run"):
        done = subprocess.run(
            [sys.executable, "-m", "dpfast", command, str(tmp_path / "job.toml")],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "quartiles of age" in done.stdout
    with (tmp_path / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1 + 3 + 16 + 4
    assert abs(float(rows[0]["value"]) - 38.58) < 0.5
    assert dp.Budget(path=tmp_path / "study.db").spent["epsilon"] == 2
    (tmp_path / "groups.toml").write_text(groups)
    results = job.run(tmp_path / "groups.toml")
    results.check()
    hours, countries = results["hours of work"], results["countries"]
    assert hours["sex"] == ["Female", "Male"] * 2 and 42 < hours["mean"][1] < 46
    assert {"United-States", "Mexico"} <= set(countries["native_country"])
    assert list(countries)[1:] == ["people", "people error", "age", "age error in ranks"]
    with (tmp_path / "groups.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 4 + 2 * len(countries["age"])


@pytest.mark.full
def test_explain_has_a_line_for_many_releases_of_one_mechanism(shell, path):
    """Up to forty have a line each."""
    one = '[[release]]\nname = "m{}"\nstatistic = "mean"\ncolumn = "0"\nbounds = [0, {}]\n'
    add(path, "".join(one.format(i, 100 + i) for i in range(38)))
    assert len(re.findall("^ m[0-9]+ ", shell("explain", path)[1], re.M)) == 38
    assert shell("run", path)[0] == 0
    assert "paid already 40 of 40 releases" in " ".join(shell("explain", path)[1].split())
    add(path, "".join(one.format(i, 100) for i in range(38, 998)))
    code, out, err = shell("explain", path)
    (means,) = (line.split() for line in out.splitlines() if "999 of 1,000 releases  " in line)
    assert (code, err) == (0, "") and out.count("\n") < 25
    assert means[4:] == ["mean,", "nan=raise", "1/1001", "epsilon=0.002997", "differs", "1"]
    (median,) = (line.split() for line in out.splitlines() if " middle " in line)
    assert median[1:5] == ["quantile", "1/2,", "nan=raise", "2/1001"]
    found = json.loads(shell("explain", path, "--json")[1])
    assert (len(found["releases"]), len(found["paid"])) == (1000, 0)
