"""What releases say of the parameters that they share is in one place, and in each docstring."""

import runpy

import pytest

from ..support.pages import ROOT

tool = runpy.run_path(str(ROOT / "tools" / "shared_parameters.py"))
TOTALS = ROOT / "dpfast" / "statistics" / "totals" / "api.py"
RNG = "By default the secure one. `InsecureGenerator` is for tests; a budget refuses it."


@pytest.mark.full
def test_every_docstring_has_the_shared_texts():
    assert tool["main"](check=True) == 0


@pytest.mark.parametrize(
    "new, said",
    [("Any generator.", "rng begins with none of its texts"), (RNG + " Or two.", "")],
)
def test_other_words_are_a_fault_and_more_words_are_none(new, said):
    text = TOTALS.read_text(encoding="utf-8")
    _, faults = tool["mended"](text.replace(RNG, new, 1), {"count"})
    assert len(faults) == bool(said) and all(said in fault for fault in faults)
