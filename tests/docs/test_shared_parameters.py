"""What releases say of the parameters that they share is in one place, and in each docstring."""

import runpy

import pytest

from ..support.pages import ROOT

tool = runpy.run_path(str(ROOT / "tools" / "shared_parameters.py"))
TOTALS = ROOT / "dpfast" / "statistics" / "totals" / "api.py"
RNG = "The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a"


@pytest.mark.full
def test_every_docstring_has_the_shared_texts():
    assert tool["main"](check=True) == 0


@pytest.mark.parametrize(
    "new, said",
    [("Any generator; a", "rng begins with none of its texts"), (RNG, "")],
)
def test_other_words_are_a_fault_and_more_words_are_none(new, said):
    text = TOTALS.read_text(encoding="utf-8")
    text = text.replace(
        f"{RNG}\n        budget refuses it.", f"{new}\n        budget refuses it. Or two.", 1
    )
    _, faults = tool["mended"](text, {"count"})
    assert len(faults) == bool(said) and all(said in fault for fault in faults)


def test_what_points_elsewhere_is_written_out():
    text = TOTALS.read_text(encoding="utf-8")
    start = text.index("    epsilon, delta, rho : float", text.index("def mean"))
    end = text.index("    Returns", start)
    short = (
        f"{text[:start]}    epsilon, delta, rho, ddof, budget\n        As in `sum`.\n\n{text[end:]}"
    )
    new, faults = tool["mended"](short, {"mean"})
    assert faults == [] and new != short
    assert "    ddof\n        As in `sum`.\n    epsilon, delta, rho : float, Fraction" in new


def test_an_entry_that_says_nothing_is_a_fault():
    text = TOTALS.read_text(encoding="utf-8")
    start = text.index("    budget : Budget, optional", text.index("def mean"))
    _, faults = tool["mended"](f"{text[:start]}    some, more\n{text[start:]}", {"mean"})
    assert len(faults) == 1 and "some, more say nothing" in faults[0]
