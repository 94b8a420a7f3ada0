"""Every instruction set gives the same bits: of all releases, and of kernels beside their twins."""

import pytest

from dpfast._kernels.rng import isa_paths

from ..support.paths import on_every_path, run

RELEASES = """
import warnings
warnings.simplefilter("ignore")
import hashlib
import pickle
import numpy as np
import dpfast as dp
from tests.support.battery import CASES
seen, rng = hashlib.sha256(), dp.rng.InsecureGenerator(1)

def add(answer):
    seen.update(pickle.dumps(answer))

for case in CASES.values():
    rows, many = {}, case.data
    if case.form in ("column", "table", "array", "words") and len(many) < 400:  # and not one block
        many, *rest = (np.concatenate([x] * 21) for x in (many, *map(case.kw.get, case.rows)))
        rows = dict(zip(case.rows, rest, strict=True))
    for loss in case.losses:
        add(case(many, loss, rng=rng, **rows))
for dtype in ("f4", "i4", "i2", "u1"):
    x = (np.random.default_rng(0).normal(0, 1, 300_001) * 20 + 100).astype(dtype)
    for noise, loss in (("polyplace", {"epsilon": 1}), ("cauchy", {"epsilon": 0.3}),
                        ("gaussian", {"epsilon": 1, "delta": 1e-9}), ("arsinh-normal", {"rho": 1})):
        add(dp.quantile(x, 0.3, bounds=(0, 200), noise=noise, rng=rng, **loss))
    whole = x if x.dtype.kind != "f" else x.astype("i8")
    add(dp.response.kary(whole, categories=120, epsilon=1, rng=rng))
    for draw in (dp.selection.exponential, dp.selection.permute_and_flip):
        add(draw(x[:63_000].reshape(63, 1000), sensitivity=1, epsilon=1, size=3, rng=rng))
for name in ("laplace", "gaussian", "cauchy", "discrete_laplace", "discrete_gaussian"):
    add(getattr(dp.noise, name)(3.0, 5003, rng=rng))
    add(getattr(dp.noise, name)(np.arange(1.0, 700), rng=rng))
add(dp.noise.laplace(3.0, 503, granularity=2.0**-44, rng=rng))
for name, *given in (("student_t", 3.0, 1.0), ("generalized_cauchy", 4, 1.0), ("staircase", 2.5, 3),
                     ("polyplace", 1.5, 1.0), ("arsinh_normal", 0.9, 1.0)):
    add(getattr(dp.noise, name)(*given, 2001, rng=rng))
print(seen.hexdigest())
"""


@pytest.mark.full
def test_every_instruction_set_gives_the_same_answers():
    assert len(on_every_path(RELEASES)) == 64


#: Tests that compare a kernel, bit for bit, with a plain loop or with arbitrary precision.
TWINS = {
    "noise/test_samplers.py": "rounded or values_scales or no_decision or discrete",
    "noise/test_distributions.py": "evaluate_is_the_kernel",
    "noise/test_choice.py": "upper_bounds or twin",
    "selection/test_peaks.py": "short_length or stored_scores or any_floats",
    "statistics/test_histogram.py": "plain_twin or few_and_many or registers",
    "statistics/test_response.py": "twin or no_category",
    "summaries/test_order.py": "sort or definition",
    "summaries/test_quantise.py": "plain_twin or integers or products",
}


@pytest.mark.full
@pytest.mark.parametrize("path", isa_paths()[:-1])
@pytest.mark.parametrize("file", TWINS)
def test_twins_agree_on_the_other_instruction_sets(file, path):
    options = [
        "-q",
        "-m",
        "not full and not slow",
        "-k",
        f"({TWINS[file]}) and not caught",
        f"tests/{file}",
    ]
    code = (
        f"import pytest\nprint(int(pytest.main({options})))\nfrom dpfast._kernels.rng import isa\n"
    )
    *_, failed, taken = run(code + "print(isa())", path).stdout.splitlines()
    assert (failed, taken) == ("0", path)
