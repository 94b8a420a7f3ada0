"""The page on attacks runs and prints what it shows; its figures can be made again."""

import json

import pytest

import dpfast as dp

from ..support.pages import FIGURES, GUIDE, build, program, runs

figures = program("attacks")

KEPT = json.loads((FIGURES / "attacks.json").read_text(encoding="utf-8"))


@pytest.mark.full
def test_the_page_runs_and_prints_what_it_shows(tmp_path):
    text, _ = runs(GUIDE / "attacks.md", tmp_path)
    assert build["images"](text) == ["../figures/attacks.png"]
    for name in dp.audit.__all__:
        assert f"`dp.audit.{name}(" in text


def key(row):
    return tuple(row[name] for name in row if name not in ("recovered", "expected", "bound"))


@pytest.mark.full
def test_the_figures_of_the_page_are_those_of_the_library(tmp_path):
    """Means of two runs lie about those kept; 256 bits have a deviation of 1 / 32 at most."""
    figures.main(["--quick", "--out", str(tmp_path)])
    again = json.loads((tmp_path / "attacks.json").read_text(encoding="utf-8"))
    assert (tmp_path / "attacks.png").read_bytes().startswith(b"\x89PNG")
    assert 20_000 < (FIGURES / "attacks.png").stat().st_size < 150_000
    assert KEPT["bits"] == again["bits"] == figures.BITS and KEPT["runs"] > again["runs"]
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
    assert shown == (set(figures.METHODS), set(figures.WAYS))


def test_a_figure_is_a_function_of_its_name():
    for one in (
        lambda: figures.without_privacy(1.0, 4, "least-squares", 2),
        lambda: figures.at_full_budget("every bit at once", 0.5, 2),
    ):
        assert one() == one()
    assert figures.without_privacy(1.0, 4, "lp", 2) != figures.without_privacy(2.0, 4, "lp", 2)
