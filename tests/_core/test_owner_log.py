"""The owner's log has what an analyst may not read, and nobody else reads it."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast._core import owner_log
from dpfast.app.cli.main import run
from dpfast.budget.release import Prepared

ROW = "Ada Lovelace, 36"
CLAUSE = "the owner's log has it in full"


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log, and what reads its records."""
    path = tmp_path / "owner.log"
    monkeypatch.setattr(owner_log, "named", (str(path), "info"))

    def records():
        return [json.loads(line) for line in path.read_text().splitlines()]

    yield records
    owner_log._opened.cache_clear()
    for handler in list(owner_log._logger.handlers):
        owner_log._logger.removeHandler(handler)
        handler.close()


def failing():
    """A release over a source whose pass fails with an error that quotes a row."""

    def factory():
        table = pa.table({"x": [1.0, 2.0]})

        def batches():
            yield from table.to_batches()
            raise ValueError(f"bad row {ROW}") from KeyError(ROW)

        return pa.RecordBatchReader.from_batches(table.schema, batches())

    return dp.mean(dp.stream(factory)["x"], bounds=(0, 9), epsilon=1)


def test_hidden_errors_are_in_the_log_with_their_causes_alone(log, capfd, caplog):
    with pytest.raises(dp.errors.SourceError, match=CLAUSE) as caught:
        failing()
    assert ROW not in str(caught.value)
    (hidden, *_) = [record for record in log() if record["event"] == "hidden error"]
    text = "".join(hidden["errors"])
    assert "ValueError" in text and "KeyError" in text and ROW in text
    assert not caplog.records and capfd.readouterr() == ("", "")


def test_a_logger_that_hands_records_on_is_noticed(log, caplog, monkeypatch):
    monkeypatch.setattr(owner_log._logger, "propagate", True)  # planted
    dp.extend.hide_error(ValueError(ROW))
    assert ROW in caplog.text


def test_without_a_log_nothing_says_that_there_is_one(monkeypatch):
    monkeypatch.setattr(owner_log, "named", None)
    with pytest.raises(dp.errors.SourceError) as caught:
        failing()
    assert "log" not in str(caught.value)


def test_spends_passes_and_releases_are_in_the_log(log, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(10.0))
    budget = dp.Budget(epsilon=1)
    data = dp.scan(tmp_path / "x.npy", "0")
    dp.mean(data, bounds=(0, 9), epsilon=0.5, budget=budget)
    with pytest.raises(dp.errors.BudgetError):
        dp.mean(data, bounds=(0, 9), epsilon=0.75, budget=budget)
    spend, passed, release, refused = log()
    assert spend["event"] == "spend" and "0.5" in spend["loss"] and spend["entry"] == 1
    assert passed["event"] == "pass" and passed["rows"] == 10 and passed["columns"] == ["0"]
    assert release["event"] == "release" and release["what"] == "mean"
    assert release["seconds"] >= passed["seconds"] and release["peak_memory"] > 1 << 20
    assert refused["level"] == "error" and "BudgetError" in refused["errors"][0]


def test_the_environment_names_file_and_level(monkeypatch):
    names = ("DPFAST_LOG", "DPFAST_LOG_LEVEL")
    monkeypatch.setattr(owner_log, "named", ("another", "info"))
    for given, chosen in (
        ((), None),
        (("a.log",), ("a.log", "info")),
        (("a.log", "error"), ("a.log", "error")),
    ):
        for name in names:
            monkeypatch.delenv(name, raising=False)
        for name, value in zip(names, given, strict=False):
            monkeypatch.setenv(name, value)
        owner_log.read_environment()
        assert owner_log.named == chosen


def test_a_level_leaves_records_out(log, monkeypatch):
    monkeypatch.setattr(owner_log, "named", (owner_log.named[0], "error"))
    dp.count([1, 2], epsilon=1)
    dp.extend.hide_error(ValueError(ROW))
    assert [record["event"] for record in log()] == ["hidden error"]
    assert stat.S_IMODE(os.stat(owner_log.named[0]).st_mode) == 0o600
    monkeypatch.setattr(owner_log, "named", (owner_log.named[0], "loud"))
    with pytest.raises(dp.errors.ArgumentError, match="DPFAST_LOG_LEVEL must be"):
        dp.count([1], epsilon=1)


def test_what_is_no_log_is_refused_before_a_spend(log, tmp_path, monkeypatch):
    (tmp_path / "readable").touch(0o640)
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("readable", "folder", "device", "not/there"):
        monkeypatch.setattr(owner_log, "named", (str(tmp_path / name), "info"))
        budget = dp.Budget(epsilon=1)
        with pytest.raises(dp.errors.ArgumentError, match="DPFAST_LOG must be"):
            dp.count([1], epsilon=1, budget=budget)
        assert not budget.history
        assert dp.extend.hide_error(ValueError(ROW)) == "ValueError"


def test_a_log_that_cannot_be_written_shows_nothing(log, monkeypatch, capfd):
    dp.count([1], epsilon=1)
    monkeypatch.setattr(owner_log.os, "write", Mock(side_effect=OSError(28, "no space")))
    dp.extend.hide_error(ValueError(ROW))
    out, err = capfd.readouterr()
    assert (out, err) == ("", "dpfast: the owner's log cannot be written\n")


def test_an_error_that_cannot_be_shown_is_hidden_all_the_same(log):
    class Hostile(Exception):
        def __str__(self):
            raise RuntimeError(ROW)

    assert dp.extend.hide_error(Hostile()).startswith("Hostile")
    assert len(log()) == 1


def test_lines_of_threads_stay_whole(log):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(dp.extend.hide_error, [ValueError("x" * 50_000)] * 8))
    assert len(log()) == 8


JOB = """
[data]
path = "x.parquet"
[budget]
epsilon = 1
[[release]]
statistic = "mean"
column = "x"
bounds = [0, 9]
"""


@pytest.mark.parametrize(
    "words", [["run", "job.toml"], ["mean", "x.parquet", "--bounds", "0", "9", "--epsilon", "1"]]
)
def test_the_command_line_shows_no_row(tmp_path, log, monkeypatch, capfd, words):
    monkeypatch.setattr(Prepared, "run", Mock(side_effect=ValueError(f"bad row {ROW}")))
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"x": [1.0, 2.0]}), "x.parquet")
    (tmp_path / "job.toml").write_text(JOB)
    named = owner_log.named
    for has_log in (False, True):
        monkeypatch.setattr(owner_log, "named", named if has_log else None)
        assert run(words) == 1
        out, err = capfd.readouterr()
        assert ROW not in out + err and "ValueError" in err and (CLAUSE in err) == has_log
        assert (tmp_path / "owner.log").exists() == has_log
    assert ROW in "".join(log()[-1]["errors"])
