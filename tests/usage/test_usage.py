"""Two users: a job by night, a study of accuracy. For the analyst see `test_analyst`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.types import strict
from ..test_public_names import inside
from . import nightly, payroll, study

HERE = Path(__file__).parent


def ran(program, *arguments):
    """What a program prints that is run as a user runs it."""
    done = subprocess.run(
        [sys.executable, HERE / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- The night. ----


def wrong_with(night):
    """What is wrong with a night that was killed and resumed."""
    checks = {
        "was not killed": night["killed"],
        "had no answer before": 0 < len(night["before"]) < len(night["answers"]),
        "changed an answer": night["before"].items() <= night["after"].items(),
        "answered otherwise again": night["answers"] == night["again"],
        "paid twice": len(set(night["paid"])) == len(night["paid"]) == len(night["answers"]),
        "spent another amount": night["spent"] == 2,
    }
    return [name for name, holds in checks.items() if not holds]


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot kill")
def test_a_night_that_is_killed_is_paid_for_once(tmp_path):
    job = nightly.prepare(tmp_path)
    night = nightly.main(tmp_path)
    assert wrong_with(night) == []
    assert night["rows"] == 6 and abs(night["answers"]["mean of pay"] - 50) < 1
    written = (tmp_path / "answers.csv").read_text()
    assert str(night["answers"]["median of pay"]) in written
    forged = {**night, "paid": night["paid"][:1] * 5, "again": {}, "after": {}}  # planted
    assert wrong_with(forged) == ["changed an answer", "answered otherwise again", "paid twice"]
    job.write_text(job.read_text().replace("monday", "tuesday"))  # other data: to be paid again
    with pytest.raises(dp.errors.BudgetError):
        dp.job.run(job)


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot kill")
def test_without_a_version_touched_data_are_other_data(tmp_path, monkeypatch):
    """Planted: the line is forgotten. Then the budget refuses, and nothing more is paid."""
    monkeypatch.setattr(nightly, "JOB", nightly.JOB.replace('version = "monday"\n', ""))
    nightly.prepare(tmp_path)
    with pytest.raises(dp.errors.BudgetError):
        nightly.main(tmp_path)
    ledger = dp.Budget(path=tmp_path / "nightly.db")
    assert len(ledger.history) <= 5 and ledger.spent["epsilon"] <= 2
    assert nightly.answered(tmp_path / "nightly.db") and not (tmp_path / "answers.csv").exists()


# ---- The study. ----

ROWS = np.random.default_rng(3).normal(50, 15, 500).clip(0, 100)


def test_a_study_is_the_same_again_and_no_budget_pays_for_it():
    one, same, other = (study.errors(ROWS, seed, (0.1, 1), 5) for seed in (1, 1, 2))
    assert one == same and one != other
    budget, seeded = dp.Budget(epsilon=1), dp.rng.InsecureGenerator(1)
    with pytest.raises(dp.errors.BudgetError, match="private noise only"):
        dp.mean(ROWS, bounds=study.BOUNDS, epsilon=1, budget=budget, rng=seeded)
    assert not budget.history


@pytest.mark.full
def test_more_epsilon_is_less_error():
    """A mean of a range of 100 is off by 100 / (n epsilon) as a rule."""
    found = study.errors(ROWS, 1, (0.1, 1.0, 10.0), 100)
    for own in found.values():
        assert own[0] > 3 * own[1] and own[1] > 3 * own[2]
    expected = 100 / len(ROWS) / np.array([0.1, 1.0])
    assert np.all(np.abs(found["mean"][:2] / expected - 1) < 0.4)
    assert ran("study.py", 5) == ran("study.py", 5) != ran("study.py", 6)


# ---- Their types. ----


@pytest.mark.full
def test_their_types_hold(tmp_path):
    """Planted: a path that is a number, a seed of text."""
    planted = {
        "nightly": ("dp.job.run(job, progress", "dp.job.run(7, progress"),
        "study": ("InsecureGenerator(seed)", 'InsecureGenerator("seed")'),
    }
    for name, (right, wrong) in planted.items():
        text = (HERE / f"{name}.py").read_text(encoding="utf-8")
        assert text.count(right) == 1
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        (tmp_path / f"wrong_{name}.py").write_text(text.replace(right, wrong), encoding="utf-8")
    said = strict(*sorted(tmp_path.glob("*.py")))
    assert [line for line in said if "wrong_" not in line] == []
    assert {name for name in planted for line in said if f"wrong_{name}.py" in line} == {*planted}


# ---- Another package, by public names. ----

FILES = sorted((HERE / "payroll").glob("*.py"))


@pytest.mark.full
def test_a_package_adds_a_statistic_noise_and_a_source():
    done = subprocess.run(
        [sys.executable, "-m", "tests.usage.payroll"],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    true, bar = found["true"], found["bar"]
    assert found["price"] == 1 and bar == pytest.approx(8_000 * np.log(20), rel=1e-3)
    # Laplace noise, which exceeds six of its bars once in 6e7 runs.
    assert abs(found["answer"] - true) < 6 * bar
    assert found["measured bar"] == pytest.approx(2 * bar)
    assert abs(found["measured"] - true) < 12 * bar
    each = [(pay - 2_000) * many for pay, many in [(1_500, 9_000), (2_500, 6_000), (9_500, 1_000)]]
    assert found["groups bar"] == pytest.approx([4 * bar] * 3, rel=1e-3)
    assert all(abs(a - b) < 24 * bar for a, b in zip(found["groups"], each, strict=True))
    assert found["noise"] == ["rounded-gaussian", "uniform"]
    before, after = found["noise bars"]
    assert after < before / 6 and abs(found["noisy"] - true) < after + 1
    assert abs(found["median"] - 1_500) < 1 and abs(found["rows"] - 16_000) < 40
    assert found["spent"] == [1.76, 0.25]
    assert found["ledger"] == [  # whose names end as the base of its statistics says
        "excess, nan=drop",
        "excess, nan=drop",
        "agg by team, nan=drop",
        "excess, nan=drop",
    ]


@pytest.mark.parametrize("size", [1, 3, 10])
def test_uniform_noise_of_the_package_is_private(size):
    """The share of answers that a neighbor cannot have; planted: noise that reaches less far."""
    loss = dp.privacy.Approx(0.1, 0.25)
    (made,) = payroll.uniform(loss, loss.epsilon, dp.extend.Moves((size,)))
    (reach,) = made.noise().reach
    assert size / (2 * reach + 1) <= loss.delta < size / (2 * reach - 1)
    drawn = {made.noise().add([0], dp.rng.InsecureGenerator(seed))[0] for seed in range(2_000)}
    assert drawn == set(range(-reach, reach + 1))


def test_the_package_uses_public_names_only():
    home = ("tests", "usage", "payroll")
    assert not [name for path in FILES for name in inside(path.read_text("utf-8"), home)]
    assert list(inside("from dpfast.measurement.linear import Linear", home))  # planted


@pytest.mark.full
def test_the_package_passes_a_strict_type_checker(tmp_path):
    text = (HERE / "payroll" / "payslips.py").read_text("utf-8")
    (tmp_path / "planted.py").write_text(
        text.replace("Chunk(values, start)", "Chunk(start, values)")
    )
    said = strict(tmp_path / "planted.py", *FILES)
    assert said and all("planted.py" in line for line in said)
