"""Advice is about public arguments alone: it comes before the spend and is never about rows."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.budget.release import UNPAID

from .support.battery import CASES, EVERY

AGES = np.repeat(np.arange(18.0, 91), 4)
TWO = np.stack([AGES, AGES], 1)
WIDE = {"bounds": (0, 1e300)}
#: Losses that promise little, with what is said of them.
ODD = {"epsilon=20 is above 10": {"epsilon": 20},
    "delta=0.01 is 1/1000 or more": {"epsilon": 1, "delta": 0.01},
    "rho=30 is above 10": {"rho": 30}}  # fmt: skip


def advice(work):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with contextlib.suppress(dp.errors.DpfastError):
            work()
    said = [(str(one.message), one.filename) for one in heard if one.category is dp.PrivacyAdvice]
    said = [one for one in said if one[0] != UNPAID]  # which is of a process: see `test_block`
    assert all(len(message.split()) < 30 for message, _ in said)
    return [*dict.fromkeys(said)]  # one that is said of each round counts once


def rows_of(case):
    """The rows of a case, and others of the same types: neighbors, far from them, or none."""
    yield case.data
    if case.rows or case.least is None or case.form == "object":
        return
    if isinstance(case.data, np.ndarray):
        yield case.data[:-1]
        yield np.full_like(case.data, case.data[0])
        if case.least == 0:
            yield case.data[:0]


def differs(call, datasets, paid):
    told = [advice(lambda data=data: call(data)) for data in datasets]
    with paid:
        told += [advice(lambda data=data: call(data)) for data in datasets]
    return any(one != told[0] for one in told)


@EVERY
def test_advice_is_the_same_for_all_rows_and_before_the_spend(name):
    case = CASES[name]
    wide = WIDE if isinstance(case.kw.get("bounds"), tuple) else {}
    (loss, *_) = (
        odd for odd in ODD.values() if any(odd.keys() == one.keys() for one in case.losses)
    )
    too_little = dp.Budget(epsilon=1e-9, delta=1e-12)

    def call(data):
        case.call(data, **{**case.kw, **loss, **wide})

    assert not differs(call, [*rows_of(case)], too_little)
    assert not too_little.history


def test_advice_that_depends_on_rows_is_caught():
    def planted(data):
        dp.count(data, epsilon=1)
        if len(data) > 290:
            warnings.warn("many rows", dp.PrivacyAdvice, stacklevel=2)

    assert differs(planted, [AGES, AGES[:-3]], dp.Budget(epsilon=9))


def test_what_promises_little_is_said_of_calls_budgets_and_objects():
    model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1], epsilon=20)
    x, y = np.linspace(0, 9, 40)[:, None], np.arange(40) % 2
    works = {"call": lambda **loss: dp.mean(AGES, bounds=(0, 120), **loss),
        "measurement": lambda **loss: dp.Mean(bounds=(0, 120)).measure(**loss)(AGES),
        "mechanism": lambda **loss: dp.mechanism(dp.mean, bounds=(0, 120), **loss)(AGES),
        "groups": lambda **loss: dp.group_by({"k": np.arange(292) % 2, "x": AGES}, "k",
        keys=[0, 1]).mean("x", bounds=(0, 120), **loss),
        "budget": lambda **loss: dp.Budget(**loss)}  # fmt: skip
    for words, loss in ODD.items():
        for name, work in works.items():
            if name != "budget" and "delta" in loss:
                continue  # noise that is chosen for a delta may leave it unspent
            ((message, filename),) = advice(lambda: work(**loss))  # noqa: B023
            assert message.startswith(words) and filename == __file__, name
    keys = dp.group_by({"k": np.arange(292) % 2}, "k")
    ((message, _),) = advice(lambda: keys.keys(epsilon=1, delta=0.01))
    assert message.startswith("delta=0.01 is 1/1000 or more")
    ((message, filename),) = advice(lambda: model.fit(x, y))
    assert message.startswith("epsilon=20") and filename == __file__


def test_what_is_not_odd_is_silent():
    table = pd.DataFrame({"town": ["Bonn", "Ulm"] * 146, "age": AGES})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dp.Budget(epsilon=10, delta=1e-6):
            dp.mean(AGES, bounds=(0, 120), epsilon=1, delta=1e-9)
            dp.median(AGES, bounds=(0, 2**53), epsilon=1)
            dp.group_by(table, "town", keys=["Bonn", "Ulm"]).mean("age", bounds=(0, 120), epsilon=1)
            dp.expected_error(dp.mean, AGES, bounds=(0, 120), epsilon=1, rows=1000)
            dp.expected_error(dp.mean, AGES, bounds=(0, 120), epsilon=0.001)


def test_bounds_that_are_far_too_wide():
    table = {"k": np.arange(292) % 2, "x": AGES}
    groups = dp.group_by(table, "k", keys=[0, 1])
    for work in (
        lambda: dp.mean(AGES, **WIDE, epsilon=1),
        lambda: dp.mean(np.stack([AGES, AGES], 1), axis=0, bounds=[(0, 1), (0, 1e300)], epsilon=1),
        lambda: groups.mean("x", **WIDE, epsilon=1),
        lambda: groups.agg({"late": dp.Mean("x", **WIDE)}, epsilon=1),
    ):
        ((message, filename),) = advice(work)
        assert message.startswith("bounds are over 2**53 apart") and filename == __file__
    days = np.arange("2000-01-01", "2030-01-01", dtype="M8[D]").astype("M8[ns]")
    years = pd.Timestamp("1990-01-01"), pd.Timestamp("2040-01-01")
    assert not advice(lambda: dp.median(days, bounds=years, epsilon=1))


@pytest.mark.parametrize("work", [
    lambda **rows: dp.expected_error(dp.mean, AGES, bounds=(0, 120), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.sum, AGES, bounds=(0, 120), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.count, AGES, epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.median, AGES, bounds=(0, 120), epsilon=0.1, **rows),
    lambda **rows: dp.Mean(bounds=(0, 120)).measure(epsilon=0.1).error(rows["rows"], 0.95),
    lambda **rows: dp.expected_error(dp.variance, AGES, bounds=(0, 120), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.std, AGES, bounds=(0, 120), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.proportion, AGES > 40, epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.sum, AGES, bounds=(0, 9), weights=AGES,
        weight_bounds=(0, 9), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.histogram, AGES, bins=9, bounds=(0, 9), weights=AGES,
        weight_bounds=(0, 9), epsilon=0.1, **rows),
    lambda **rows: dp.expected_error(dp.mean, TWO, axis=0, bounds=[(0, 9), (0, 120)], epsilon=0.1,
        **rows),
    lambda **rows: dp.expected_error(dp.quantile, TWO, q=0.2, axis=0, bounds=[(0, 9)] * 2,
        epsilon=0.1, **rows),
    lambda **rows: dp.mechanism(dp.count, epsilon=0.1).expected_error(**rows),
    lambda **rows: dp.expected_error(dp.group_by({"k": [0], "x": [0.0]}, "k", keys=[0, 1]).count,
        epsilon=0.1, **rows),
])  # fmt: skip
def test_an_answer_about_few_rows_is_noise(work):
    ((message, filename),) = advice(lambda: work(rows=10))
    assert "of 10 rows will be known" in message and "noise" in message and filename == __file__
    assert not advice(lambda: work(rows=100_000))


def test_a_new_ledger_at_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((message, filename),) = advice(lambda: dp.Budget(epsilon=1, path="study.db"))
    assert message.startswith("a new ledger at a relative path, 'study.db'")
    assert filename == __file__
    assert not advice(lambda: dp.Budget(path="study.db"))
    assert not advice(lambda: dp.Budget(epsilon=1, path=tmp_path / "other.db"))


def test_the_command_line_says_it_in_one_line(tmp_path, monkeypatch, capsys):
    from dpfast.app.cli.main import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "ages.csv").write_text("age\n23\n35\n")
    asked = ["mean", "ages.csv", "--column", "age", "--bounds", "0", "120", "--epsilon"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run(["budget", "create", "study.db", "--epsilon", "1"]) == 0
        assert run([*asked, "0.5"]) == 0
        assert capsys.readouterr().err == ""
        for more, words in ((["20"], "epsilon=20 is"), (["0.1", "--rows", "1"], "mean of 1 rows")):
            assert run([*asked, *more]) == 0
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith(f"dpfast: warning: {words}")


def test_what_is_noise_is_marked_in_the_answer():
    few, seeded = {"k": np.repeat([0, 1], [3, 300])}, {"rng": dp.rng.InsecureGenerator(1)}
    groups = dp.group_by(few, "k", keys=[0, 1]).count(epsilon=0.1, **seeded)
    assert groups.is_noise["count"].tolist() == [True, False]
    assert "of 'count' 1 cannot be told from 0" in repr(groups)
    for statistic in (dp.Mean(bounds=(0, 120)), dp.Median(bounds=(0, 120)), dp.Count()):
        noise = statistic.measure(epsilon=1e-7).release(AGES, **seeded)
        assert noise.is_noise is True and repr(noise).endswith(", noise")
        answer = statistic.measure(epsilon=9).release(AGES, **seeded)
        assert answer.is_noise is False and repr(answer).endswith("(95 %)")
    counts = dp.Histogram(bins=2, bounds=(0, 200)).measure(epsilon=0.5)
    assert counts.release(AGES, **seeded).is_noise.tolist() == [False, True]


def test_a_job_by_group_says_what_will_be_noise_whatever_its_groups_are(tmp_path):
    (tmp_path / "t.csv").write_text("k,x\na,1\nb,2\n")
    groups = 'by = ["k"]\nkeys = ["a", "b"]\n'
    text = f"""[data]
path = "t.csv"
rows = ROWS
[budget]
epsilon = 0.1
neighbors = "add-remove"
[[release]]
statistic = "count"
{groups}"""
    for rows, said in ((10, 1), (10**6, 0)):
        path = tmp_path / f"{rows}.toml"
        path.write_text(text.replace("ROWS", str(rows)))
        messages = advice(lambda path=path: dp.job.explain(path))
        assert len(messages) == said and all("of 10 rows" in words for words, _ in messages)
