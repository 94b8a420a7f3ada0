"""`dpfast audit`: verdicts, exit codes and errors."""

import json

import pytest

from ..support.pairwise import quick_rows

MODULE = """
import dpfast as dp

def sound(data, size):  # a loss of 2/3, so no chance refutes a claim of 1
    return len(data) + dp.noise.discrete_laplace(1.5, size)

def half(data, size):
    return len(data) + dp.noise.discrete_laplace(0.5, size)

@dp.audit.claims(epsilon=1)
def test_of_claims(data, size):
    return len(data) + dp.noise.discrete_laplace(0.5, size)

number = 3

def fails(data):
    raise ValueError
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    (tmp_path / "mine_to_audit.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.full
def test_a_sound_one(told):
    found = told("audit", "mine_to_audit:sound", "--epsilon", 1, "--samples", 2000)
    assert found["refuted"] is False and found["epsilon"] <= 1 and found["pairs"] > 10


@pytest.mark.full
@pytest.mark.parametrize("name", ["half", "test_of_claims"])
def test_a_fault(shell, name):
    words = ("audit", f"mine_to_audit:{name}", "--epsilon", 1, "--samples", 4000)
    code, out, err = shell(*words, "--bounds", 0, 9)
    assert (code, err) == (6, "") and "REFUTED" in out
    code, out, err = shell(*words, "--json")
    assert code == 6 and json.loads(out)["p_value"] <= 1e-6


@quick_rows(4)
@pytest.mark.parametrize(
    "words",
    [
        *[["mine_to_audit"], ["mine_to_audit:nothing"], ["no_module_of_this_name:f"]],
        *[["mine_to_audit:number"], ["mine_to_audit:fails"]],
        ["mine_to_audit:sound", "--samples", "3"],
        ["mine_to_audit:sound", "--bounds", "3"],
        ["mine_to_audit:sound", "--neighbors", "none"],
    ],
)
def test_a_bad_argument(shell, words):
    code, out, err = shell("audit", *words, "--epsilon", 1)
    assert (code, out) == (2, "") and err.startswith("dpfast: error: ") and err.count("\n") == 1
