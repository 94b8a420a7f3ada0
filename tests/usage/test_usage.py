"""Another package, by public names. For the analyst see `test_analyst`."""

import json
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.paths import program
from ..support.types import strict
from ..test_public_names import inside
from . import payroll

TEXT = (Path(__file__).parent / "payroll.py").read_text("utf-8")
#: A process of its own, since a family of noise stays.
USED = """
import json, dpfast as dp
from tests.usage.payroll import Excess, uniform

pay = [1_500.0] * 9_000 + [2_500.0] * 6_000 + [9_500.0] * 1_000
table = {"pay": pay, "team": [0] * 9_000 + [1] * 6_000 + [2] * 1_000}
excess, budget = Excess(target=2_000, bounds=(0, 10_000)), dp.Budget(epsilon=2, delta=0.5)
measured = excess.measure(epsilon=1)
over = {"over": Excess("pay", target=2_000, bounds=(0, 10_000))}
teams = dp.group_by(table, "team", keys=[0, 1, 2]).agg(over, epsilon=0.25, budget=budget)
loss = {"epsilon": 0.01, "delta": 0.25}  # far too large a delta, but to see it
before = excess.measure(**loss)
dp.extend.add_noise_family(uniform)
after = excess.measure(**loss)
print(json.dumps({
    "answers": [measured(pay, budget=budget), after(pay, budget=budget)],
    "bars": [one.error(None, 0.95).half_width for one in (measured, before, after)],
    "noise": [one.noise_parameters["noise"] for one in (before, after)],
    "teams": teams["over"].tolist(), "team bars": teams["over error"].tolist(),
    "ledger": [entry.what for entry in budget.history],
}))
"""


@pytest.mark.full
def test_a_package_adds_a_statistic_and_noise():
    done = program(USED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    by_team = [(pay - 2_000) * n for pay, n in [(1_500, 9_000), (2_500, 6_000), (9_500, 1_000)]]
    bar, before, after = found["bars"]
    assert bar == pytest.approx(8_000 * np.log(20), rel=1e-3) and after < before / 6
    # Laplace noise exceeds six of its bars once in 6e7 runs, uniform noise none.
    answer, noisy = (answer - sum(by_team) for answer in found["answers"])
    assert abs(answer) < 6 * bar and abs(noisy) < after + 1
    assert found["team bars"] == pytest.approx([4 * bar] * 3, rel=1e-3)
    assert all(abs(a - b) < 24 * bar for a, b in zip(found["teams"], by_team, strict=True))
    assert found["noise"] == ["rounded-gaussian", "uniform"]
    names = ["agg by team, nan=drop", "excess, nan=drop", "excess, nan=drop"]
    assert found["ledger"] == names  # whose ends are those of the base of its statistics


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
    home = ("tests", "usage")
    assert not list(inside(TEXT, home))
    assert list(inside("from dpfast.measurement.linear import Linear", home))  # planted


@pytest.mark.full
def test_the_package_passes_a_strict_type_checker(tmp_path):
    right = "NoiseCandidate(error, lambda: noise)"
    wrong = TEXT.replace(right, "NoiseCandidate(noise, error)")
    assert wrong != TEXT
    (tmp_path / "payroll.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "planted.py").write_text(wrong, encoding="utf-8")
    said = strict(tmp_path / "planted.py", tmp_path / "payroll.py")
    assert said and all("planted.py" in line for line in said)
