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


def test_other_words_are_a_fault_and_more_words_are_none():
    text, end = TOTALS.read_text(encoding="utf-8"), "\n        budget refuses it."
    for new, said in (("Any generator; a", "rng begins with none of its texts"), (RNG, "")):
        _, faults = tool["mended"](text.replace(f"{RNG}{end}", f"{new}{end} Or two.", 1), {"count"})
        assert len(faults) == bool(said) and all(said in fault for fault in faults)


def test_what_points_elsewhere_is_written_out():
    text = TOTALS.read_text(encoding="utf-8")
    start = text.index("    epsilon, delta, rho : float", text.index("def mean"))
    own = "    epsilon, delta, rho, ddof, budget\n        As in `sum`.\n\n"
    short = text[:start] + own + text[text.index("    Returns", start) :]
    new, faults = tool["mended"](short, {"mean"})
    assert faults == [] and new != short
    assert "    ddof\n        As in `sum`.\n    epsilon, delta, rho : float, Fraction" in new
    start = text.index("    budget : Budget, optional", text.index("def mean"))
    _, (fault,) = tool["mended"](f"{text[:start]}    some, more\n{text[start:]}", {"mean"})
    assert "some, more say nothing" in fault
