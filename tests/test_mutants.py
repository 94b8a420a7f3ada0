"""`tools/mutants.py` finds the lines that privacy hangs on, and plants what it says."""

import ast
import runpy
import sys

import pytest

from .support.pages import ROOT

TOOL = ROOT / "tools" / "mutants.py"
if not TOOL.exists():
    pytest.skip("the tools are not here", allow_module_level=True)
tool = runpy.run_path(str(TOOL))

NATIVE = {
    "noise.c": """
#define HALF(x) \\
    ((x) >> 1) /* of 3 */
int64_t more(int64_t x) { /* x < 7 */
    return x < 7 && x + HALF(x) != 0; // or 8
}
""",
    "noise.pyx": '''
from libc.stdint cimport int64_t
def more(int64_t x):
    """Whether x < 7 and more."""
    return x < 7 and x + (x >> 1) != 0  # or 8
''',
}
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

FAULTS = {"count <= 0": "(count < 0)", "loss.epsilon is None": "(loss.epsilon is not None)",
    "count <= 0 or loss.epsilon is None": "(count <= 0 and loss.epsilon is None)",
    "check(loss)": "pass", "check(loss); ...": "width = max(count, 3)\n    check(loss)",
    "max(count, 3)": "(count)", "3": "(4)",
    "nextafter(width / loss.epsilon, inf)": "(width / loss.epsilon)",
    "width / loss.epsilon": "(width / (2 * loss.epsilon))"}  # fmt: skip


@pytest.fixture
def mutants(tmp_path, monkeypatch):
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


@pytest.mark.parametrize("file", NATIVE)
def test_faults_of_c_and_cython_are_in_code_alone(file, tmp_path, monkeypatch):
    monkeypatch.setitem(tool["native_mutants"].__globals__, "PACKAGE", tmp_path)
    path, text = tmp_path / file, NATIVE[file]
    path.write_text(text, encoding="utf-8")
    found = list(tool["native_mutants"](path))
    both, shift = (("and", "or") if file.endswith("pyx") else ("&&", "||"),
        [(">>", "<<"), ("1", "2")])  # fmt: skip
    due = [("<", "<="), ("7", "8"), both, ("+", "-"), *shift, ("!=", "=="), ("0", "1")]
    assert [(m.old, m.new) for m in found] == [
        pair for pair in due if file.endswith("pyx") or pair not in shift
    ]
    line = text.splitlines()[found[0].line - 1]
    for mutant in found:
        planted = mutant.plant(text.encode()).decode().splitlines()
        assert planted.pop(mutant.line - 1) not in (line, "") and len(planted) > 3
        assert set(planted) < set(text.splitlines())


def test_a_compiler_is_asked_once_for_the_same_text(tmp_path, monkeypatch):
    """It is asked again where the text differs, and where it failed."""
    monkeypatch.chdir(tmp_path)
    script = "import pathlib, sys\ntext = pathlib.Path('a.c').read_text()\n"
    script += "if '-E' in sys.argv:\n    print(text)\nelse:\n    open('log', 'a').write('x')\n"
    script += "    pathlib.Path('a.o').write_text(text)\n    sys.exit('bad' in text)\n"
    (tmp_path / "cc.py").write_text(script)
    command = [sys.executable, "cc.py", "-c", "a.c", "-o", "a.o"]
    asked = 0
    for text, code, more in [("a", 0, 1), ("b", 0, 1), ("a", 0, 0), ("bad", 1, 1), ("bad", 1, 1)]:
        (tmp_path / "a.c").write_text(text)
        assert tool["compile_once"](tmp_path / "cache", command) == code
        asked += more
        assert (tmp_path / "a.o").read_text() == text
        assert len((tmp_path / "log").read_text()) == asked


@pytest.mark.full
def test_every_fault_that_is_called_equivalent_is_one_of_today():
    names = {mutant.name for mutant in tool["everywhere"]([])}
    assert len(names) > 1000
    assert tool["equivalent"]().keys() <= names
    assert all(len(reason.split()) > 3 for reason in tool["equivalent"]().values())


def test_tests_that_plant_faults_are_found():
    text = "def test_a(): ...\n\n\ndef test_a_fault_is_found(): ...\n\n\n"
    text += 'def test_b():\n    """Planted: half the noise."""\n\n\ndef test_default(): ...\n'
    assert tool["controls"](text) == {"test_a_fault_is_found", "test_b"}
