"""Another package, by public names. For the analyst see `test_analyst`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.types import strict
from ..test_public_names import inside
from . import payroll

HERE = Path(__file__).parent


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
