"""The quick tests leave nothing public out, and the marks are those that are described."""

import re
from pathlib import Path

import pytest

from dpfast.statistics.table import STATISTICS

from . import test_conformance, test_foreign_errors, test_one_row
from .support import battery, surface

TESTS = Path(__file__).parent
ROOT = TESTS.parent
TIERS = {"full", "slow"}


def quick_values(test):
    """The values that a test is given in quick rows, of all its arguments."""
    marks = getattr(test, "pytestmark", [])
    if any(mark.name in TIERS for mark in marks):
        return set()
    found = set()
    for mark in marks:
        for row in mark.args[1] if mark.name == "parametrize" else ():
            own = {mark.name for mark in getattr(row, "marks", ())}
            if not own & TIERS:
                values = getattr(row, "values", (row,))
                found.update(value for value in values if isinstance(value, str))
    return found


def functions(module):
    return [test for name, test in vars(module).items() if name.startswith("test_")]


def test_every_release_is_tried_by_quick_tests():
    quick = battery.CASES.keys() - battery.LATER
    tried = {battery.CASES[name].call for name in quick}
    assert tried >= {entry.function for entry in STATISTICS.values() if entry.kind is not None}
    every = [test for test in functions(test_conformance) if quick_values(test) >= quick]
    assert len(every) >= 9
    assert test_conformance.test_bad_arguments_are_one_clear_error_and_cost_nothing in every
    assert test_conformance.test_the_spend_comes_before_data_and_randomness in every
    assert test_conformance.test_a_spend_stands_when_the_data_fail in every


def test_everything_public_is_called_by_quick_tests():
    assert quick_values(test_foreign_errors.test_the_right_arguments_are_right) == {*surface.CALLS}


@pytest.mark.parametrize("module", [test_conformance, test_foreign_errors, test_one_row])
def test_each_battery_has_a_quick_negative_control(module):
    """The planted faults of a battery are caught by tests with these words in their names."""
    marks = {test.__name__: {mark.name for mark in getattr(test, "pytestmark", ())}
        for test in functions(module)}  # fmt: skip
    quick = [name for name in marks if not marks[name] & TIERS]
    assert any(re.search("caught|found|fail", name) for name in quick)


def test_a_name_that_is_full_only_is_caught():
    """Planted: a case whose rows are all full, and a test that is full as a whole."""

    @pytest.mark.parametrize("name", ["a", pytest.param("b", marks=pytest.mark.full), "c"])
    def test(name): ...

    assert quick_values(test) == {"a", "c"}
    assert quick_values(pytest.mark.full(test)) == set()


REFERENCE = TESTS / "reference"
TWINS = {".".join(path.relative_to(REFERENCE).with_suffix("").parts)
    for path in REFERENCE.rglob("*.py") if path.stem != "__init__"
    and path.parent.name != "vectors"}  # fmt: skip
#: A twin and the name under which a file of tests has it.
IMPORT = re.compile(r"^from \.+reference((?:\.\w+)*) import ([^(\n]+|\([^)]+\))", re.M)


def twins_of(text):
    """The twins that a file asks in what is not full or slow."""
    # Two empty lines stand between functions, and nowhere else.
    parts = [part for part in text.split("\n\n\n")
        if not re.search(r"^@pytest\.mark\.(full|slow)", part, re.M)]  # fmt: skip
    quick = IMPORT.sub("", "\n".join(parts))
    for folder, names in IMPORT.findall(text):
        module = folder.removeprefix(".")
        for name in re.split(r"[\s,()]+", names.replace(" as ", "=")):
            twin, _, own = name.partition("=")
            if name and re.search(rf"\b{own or twin}\b", quick):
                yield module if module in TWINS else f"{module}.{twin}"


def test_every_twin_is_asked_by_a_quick_test():
    files = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    asked = {twin for path, text in files.items() if path.name.startswith("test_")
        for twin in twins_of(text)}  # fmt: skip
    # A twin that another is made of is asked by that one.
    for path, text in files.items():
        if REFERENCE in path.parents:
            asked |= {twin for twin in TWINS
                if re.search(rf"^from .*\b{twin.split('.')[-1]}\b", text, re.M)}  # fmt: skip
    assert len(TWINS) > 30 and TWINS - asked == set()


def test_a_twin_of_full_tests_alone_is_caught():
    text = "from ..reference.summaries import order as plain\nfrom ..reference.learn import box\n"
    text += "from ..reference.learn.decision_tree import grow\n\n\n"
    text += "def test():\n    box(plain)\n\n\n@pytest.mark.full\ndef test_more():\n    grow()\n"
    assert set(twins_of(text)) == {"summaries.order", "learn.box"}
