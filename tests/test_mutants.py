"""`tools/mutants.py` finds the lines that privacy hangs on, and plants what it says."""

import ast
import runpy

import pytest

from .support.pages import ROOT

TOOL = ROOT / "tools" / "mutants.py"
if not TOOL.exists():
    pytest.skip("the tools are not here", allow_module_level=True)
tool = runpy.run_path(str(TOOL))

TEXT = """
def scale_of(loss, count):
    if count <= 0 or loss.epsilon is None:
        raise ValueError(f"count must be more than {0}")
    check(loss)
    width = max(count, 3)
    return nextafter(width / loss.epsilon, inf)


def other(count):
    return count + 1
"""

FAULTS = {
    "count <= 0": "(count < 0)",
    "loss.epsilon is None": "(loss.epsilon is not None)",
    "count <= 0 or loss.epsilon is None": "(count <= 0 and loss.epsilon is None)",
    "check(loss)": "pass",
    "check(loss); ...": "width = max(count, 3)\n    check(loss)",
    "max(count, 3)": "(count)",
    "3": "(4)",
    "nextafter(width / loss.epsilon, inf)": "(width / loss.epsilon)",
    "width / loss.epsilon": "(width / (2 * loss.epsilon))",
}


@pytest.fixture
def mutants(tmp_path, monkeypatch):
    """The faults of `TEXT`."""
    monkeypatch.setitem(tool["mutants"].__globals__, "PACKAGE", tmp_path)
    (tmp_path / "noise.py").write_text(TEXT, encoding="utf-8")
    return list(tool["mutants"](tmp_path / "noise.py"))


def test_faults_are_planted_where_privacy_is_computed(mutants):
    assert {(mutant.old, mutant.new) for mutant in mutants} >= FAULTS.items()
    assert not any("count + 1" in mutant.source or "raise" in mutant.source for mutant in mutants)


def test_a_file_with_a_fault_differs_in_that_place_alone(mutants):
    plain = TEXT.encode()
    for mutant in mutants:
        planted = mutant.plant(plain)
        ast.parse(planted)
        assert planted[: mutant.start] == plain[: mutant.start]
        assert planted.endswith(plain[mutant.stop :])
        assert ast.unparse(ast.parse(planted)) != ast.unparse(ast.parse(plain))


def test_every_fault_that_is_called_equivalent_is_one_of_today():
    names = {mutant.name for mutant in tool["everywhere"]([])}
    assert len(names) > 1000
    assert tool["equivalent"]().keys() <= names
    assert all(len(reason.split()) > 3 for reason in tool["equivalent"]().values())


def test_tests_that_plant_faults_are_found():
    text = "def test_a(): ...\n\n\ndef test_a_fault_is_found(): ...\n\n\n"
    text += 'def test_b():\n    """Planted: half the noise."""\n\n\ndef test_default(): ...\n'
    assert tool["controls"](text) == {"test_a_fault_is_found", "test_b"}
