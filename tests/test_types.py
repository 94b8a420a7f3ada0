"""A user's file under ``mypy --strict``: what is right passes, and each mistake is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent

#: Right, with the types that a user is to get.
RIGHT = """
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, assert_type
import numpy as np
from numpy.typing import NDArray
import dpfast as dp
from dpfast.rng import InsecureGenerator, default_generator
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
rng = InsecureGenerator(1)
assert_type(dp.noise.laplace(), float)
assert_type(dp.noise.gaussian(2.0, 3), Floats)
assert_type(dp.noise.laplace([1, 2.5]), Floats)
assert_type(dp.noise.staircase(2, Fraction(1, 3)), float)
assert_type(dp.noise.discrete_laplace(Fraction(7, 3)), int)
assert_type(dp.noise.discrete_gaussian(np.array([1.0, 2.0])), Integers)
x, matrix, pair = [1.0, 2.0], np.ones((3, 2)), [(0, 1), (0, 2)]
limit = dp.Budget(epsilon=1)
number: int | float = 1
assert_type(dp.count(x, epsilon=1), int)
assert_type(dp.count(matrix, axis=0, nan="drop", rho=Fraction(1, 2)), Integers)
assert_type(dp.sum(x, bounds=(0, 1), epsilon=Decimal("0.5"), budget=limit, rng=rng), float)
assert_type(dp.mean(x, bounds=[0, 1.5], epsilon=np.float64(1), weights=x, weight_bounds=(0, 1)),
            float)
assert_type(dp.variance(x, bounds=(0, 1), epsilon=1, ddof=1, neighbors="add-remove"), float)
assert_type(dp.covariance(matrix, bounds=pair, epsilon=1), Floats)
assert_type(dp.median(x, bounds=(0, 1), epsilon=1, noise="cauchy"), float)
assert_type(dp.quantile(x, Fraction(9, 10), bounds=(0, 1), epsilon=1, method="smooth"), float)
assert_type(dp.median(x, axis=0, bounds=[(0, 1)], epsilon=1, noise="cauchy"), Floats)
assert_type(dp.quantiles(x, [0.25, Fraction(1, 2)], bounds=(0, 1), rho=1, method="joint"), Floats)
assert_type(dp.maximum(matrix, bounds=pair, axis=0, epsilon=1, noise="laplace", delta=1e-6), Floats)
assert_type(dp.iqr(x, bounds=(0, 1), epsilon=1, method="recursive"), float)
assert_type(dp.trimmed_mean(x, proportion=Decimal("0.2"), bounds=(0, 1), epsilon=1), float)
assert_type(dp.smooth_beta(epsilon=1, noise="student-t"), float)
assert_type(dp.smooth_release(0.5, lambda beta: 2 * beta, bounds=(0, 1), epsilon=1), float)
assert_type(dp.smooth_release(0.5, 0.1, beta=0.01, bounds=(0, 1), epsilon=1), float)
counts, edges = dp.histogram(x, bins=4, bounds=(0, 1), epsilon=1)
assert_type(counts, Integers)
assert_type(edges, NDArray[Any])
assert_type(dp.histogram(x, categories=["tea", "coffee"], rho=1)[1], NDArray[Any])
assert_type(
    dp.histogram(matrix, bins=[None, [1, 2]], categories=[["tea"], None], epsilon=1)[1],
    NDArray[Any] | list[NDArray[Any]],
)
dp.histogram(x, bins=np.linspace(0, 1, 5), epsilon=1)
dp.histogram(matrix, bins=[3, 4], bounds=pair, epsilon=1)
either: Literal[0] | None = 0
assert_type(dp.sum(matrix, bounds=(0, 1), axis=either, epsilon=1), float | Floats)
no_answer = dp.ptr.mean(x, bounds=(0, 1), proposed=1, epsilon=1, delta=1e-9)
assert_type(no_answer, float | dp.ptr.NoAnswer)
if no_answer is not dp.NO_ANSWER:
    print(no_answer)
dp.ptr.release(x, len, lambda rows, proposed: len(rows), bounds=(0, 1), proposed=1, epsilon=1)
assert_type(dp.response.binary(True, epsilon=1), np.generic)
assert_type(dp.response.binary([True], epsilon=1), NDArray[Any])
assert_type(dp.response.kary("tea", categories=["tea", "coffee"], epsilon=1), np.generic)
assert_type(dp.response.estimate_binary([0, 1], epsilon=1).value, float)
assert_type(dp.response.estimate_unary(matrix, epsilon=1, of="population").high, Floats)
assert_type(dp.std(x, bounds="auto", rho=1), float)
assert_type(dp.bounds(x, epsilon=1), tuple[float, float])
assert_type(
    dp.histogram(x, bins=3, bounds=(0, 9), weights=x, weight_bounds=(0, 9), epsilon=1)[0], Floats
)
assert_type(dp.selection.exponential([1, 2], sensitivity=1, epsilon=1), int)
assert_type(default_generator().random_raw(), int)
pure, approx, rho = dp.privacy.Pure(0.1), dp.privacy.Approx(1, 1e-6), dp.privacy.ZCDP(1)
assert_type(pure.epsilon, Fraction)
assert_type(dp.privacy.Draws(Decimal("0.1"), draws=2), dp.privacy.Draws)
assert_type(dp.privacy.loss(epsilon=0.1), dp.privacy.Loss)
assert_type(dp.privacy.compose(pure, rho), dp.privacy.Loss)
assert_type(dp.privacy.pure_within(np.float64(0.5)), Fraction)
budget = dp.Budget(epsilon=1, delta=Fraction(1, 10**6), neighbors="add-remove", timeout=3)
budget.spend(pure, neighbors="add-remove", note="a look")
budget.record({"answer": [1.0, 2.0]})
assert_type(budget.remaining, dict[str, Fraction])
assert_type(budget.history[0].loss, dp.privacy.Loss)
assert_type(budget.cost(dp.count, [1, 2], neighbors="add-remove", epsilon=1), dp.privacy.Loss)
assert_type(budget.to_dict(), dict[str, Any])
assert_type(float(pure), float)
with budget.parallel(["a", "b"], ["a"]) as parts:
    assert_type(parts["a"].cost(dp.count, [1, 2], epsilon=1), dict[str, Fraction])
    parts["a"](dp.median, [1, 2], bounds=(0, 3), epsilon=1)
assert_type(parts.spent, dict[str, Fraction])
assert_type(dp.audit.recovery_bound(rho=0.5), float)
secret = np.arange(40) % 3 == 0
def answer(query: NDArray[np.bool_]) -> int:
    return int(secret[query].sum())
assert_type(dp.audit.reconstruct(answer, 40, queries=80, method="lp"), NDArray[np.bool_])
assert_type(dp.audit.measure(len, [1], [2], epsilon=1), dp.audit.Audit)
assert_type(dp.audit.neighbors((0, 1), neighbors="replace")[0].name, str)
assert_type(dp.audit.exact_epsilon([0.5, 0.5], [0.5, 0.5], delta=Fraction(1, 9)), float)
"""

#: Wrong, one mistake a line.
WRONG = [
    "import dpfast as dp; x = [1.0, 2.0]",
    'dp.Budget(epsilon=1, neighbors="add_remove")',
    'dp.Budget(epsilon="x")',
    'dp.Budget(epsilon=1).spend(dp.privacy.Pure(1), neighbors="bounded")',
    'dp.Budget(epsilon=1).spend(1.0, neighbors="replace")',
    'dp.privacy.Pure("x")',
    "float(dp.privacy.Approx(1, 0.1))",
    'dp.privacy.convert(dp.privacy.Pure(1), "add-remove", "add_remove")',
    "dp.privacy.advanced_composition(dp.privacy.ZCDP(1), delta=1e-6)",
    'dp.audit.reconstruct([1], 1, queries=[[1]], method="smoth")',
    'dp.noise.laplace("x")',
    "dp.noise.laplace(1.0, rng=7)",
    "dp.quantile([1], bounds=(0, 1), epsilon=1)",
    "dp.histogram([1], bins=3, bounds=(0, 1), epsilon=1, axis=0)",
    'dp.count(x, epsilon="x")',
    'dp.count(x, epsilon=1, nan="raise")',
    "dp.sum(x, epsilon=1)",
    "dp.sum(x, bounds=(0, 1), epsilon=1, axis=1)",
    "dp.sum(x, bounds=[(0, 1), (0, 1)], epsilon=1)",
    'dp.mean(x, bounds=(0, 1), epsilon=1, nan="omit")',
    "dp.mean(x, bounds=(0, 1), epsilon=1, ddof=1)",
    'dp.histogram(x, bins="auto", bounds=(0, 1), epsilon=1)',
    'dp.median(x, bounds=(0, 1), epsilon=1, method="smoth")',
    'dp.median(x, bounds=(0, 1), epsilon=1, noise="cauchi")',
    "dp.quantiles(x, 0.5, bounds=(0, 1), epsilon=1)",
    'dp.quantiles(x, [0.5], bounds=(0, 1), epsilon=1, method="smooth")',
    'dp.minimum(x, bounds=(0, 1), epsilon=1, method="recursive")',
    'dp.iqr(x, bounds=(0, 1), epsilon=1, method="exponential")',
    'dp.trimmed_mean(x, proportion="x", bounds=(0, 1), epsilon=1)',
    'dp.smooth_beta(epsilon=1, noise="normal")',
    "dp.smooth_release(0.5, lambda: 0.1, bounds=(0, 1), epsilon=1)",
    'dp.ptr.mean(x, bounds=(0, 1), proposed="x", epsilon=1, delta=1e-9)',
    "dp.ptr.release(x, len, 3, bounds=(0, 1), proposed=1, epsilon=1)",
    'dp.response.binary([1], epsilon="x")',
    "dp.response.kary([1], categories=2.5, epsilon=1)",
    'dp.response.estimate_binary([1], epsilon=1, of="sample")',
]  # fmt: skip


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What mypy says of the two files, as lines. Of an installed package it shows no errors."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text("\n".join(WRONG) + "\n")
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-dpfast.*]\nignore_errors = True\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "right.py", "wrong.py"],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT)},
        cwd=folder)  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_what_is_right_passes_and_has_its_type(told):
    assert not [line for line in told if line.startswith("right.py")]


@pytest.mark.parametrize("number", range(2, len(WRONG) + 1), ids=lambda n: WRONG[n - 1])
def test_each_mistake_is_told(told, number):
    assert any(line.startswith(f"wrong.py:{number}: error: ") for line in told), told
