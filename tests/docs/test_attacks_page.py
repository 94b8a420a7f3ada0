"""The figures of the page on attacks can be made again."""

import pytest

from ..support.pages import figures, program, quick_run

attacks = program("attacks")
quick = quick_run(attacks)
KEPT = figures("attacks")


def key(row):
    return tuple(row[name] for name in row if name not in ("recovered", "expected", "bound"))


@pytest.mark.full
def test_the_figures_of_the_page_are_those_of_the_library(quick):
    """Means of two runs lie about those kept; 256 bits have a deviation of 1 / 32 at most."""
    again = figures("attacks", quick)
    assert KEPT["bits"] == again["bits"] == attacks.BITS and KEPT["runs"] > again["runs"]
    for part in ("without_privacy", "at_full_budget"):
        kept = {key(row): row for row in KEPT[part]}
        assert len(kept) == len(KEPT[part]) > len(again[part]) > 5
        for few in again[part]:
            many = kept[key(few)]
            assert abs(few["recovered"] - many["recovered"]) < 5 / 32
            (name,) = {"expected", "bound"} & set(few)
            assert few[name] == pytest.approx(many[name], rel=1e-9)
    shown = (
        {r["method"] for r in KEPT["without_privacy"]},
        {r["way"] for r in KEPT["at_full_budget"]},
    )
    assert shown == (set(attacks.METHODS), set(attacks.WAYS))
