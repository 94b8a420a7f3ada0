"""The page on accuracy and the README say what was measured, and can be measured again."""

import json

import pytest

from ..support.pages import ROOT, figures, program

page = program("accuracy_page")
KEPT = figures("accuracy")


def test_the_blocks_are_made_from_the_figures():
    text = page.PAGE.read_text(encoding="utf-8")
    assert {name for _, name, _ in page.MARKS.findall(text)} == set(page.BLOCKS)
    assert page.made(text, KEPT) == text
    other = json.loads(json.dumps(KEPT))
    for row in other["rows"]:
        row["absolute"]["dpfast"][0] *= 3  # a planted fault
    assert page.made(text, other) != text


def test_the_readme_says_in_how_many_cells_the_error_is_larger():
    count = page.worst(KEPT).partition(" cells;")[0]
    assert f"this is {count} cells" in (ROOT / "README.md").read_text(encoding="utf-8")


def row(mine, other, error=0.01, **more):
    """A row with a mean error on each side, and with medians of 0."""
    sides = {"dpfast": [mine, error, 0, 0], "dpfast, other": [0, 0, 0, 0]}
    found = sides | {"A": [other, error, 0, 0], "B": [9, error, 0, 0]}
    return {"group": "sum", "runs": 200, "absolute": found, **more}


def test_worse_is_above_the_limit_by_two_standard_errors():
    assert page.verdict(row(1.2, 1)).worse and page.verdict(row(1.2, 1)).best == "A"
    assert not page.verdict(row(1.12, 1)).worse  # within what chance does
    assert not page.verdict(row(1.2, 1, error=0.1)).worse
    assert page.verdict(row(0.5, 1)).ratio == 0.5
    assert page.verdict(row(1, 1), "absolute", "median").ratio == 1  # none on either side
    assert page.verdict(row(1, 1), "rank") is None
    assert page.verdict(row(1e-3, 1e-6, error=1e-9, floor=1e-2)).ratio == 1  # both as good as none
    assert page.verdict(row(1, 1, group="count", optimum=1e-4)) is None
    assert [found[0].ratio for found in page.worse([row(1.2, 1), row(3, 1), row(1, 1)])] == [3, 1.2]


@pytest.mark.full
def test_it_can_be_measured_again(tmp_path):
    accuracy = program("accuracy")
    out = tmp_path / "accuracy.json"
    cells = ["mean ages*n=51 epsilon=1 replace", "quantile ages tight n=51 epsilon=1 q=0.5 replace"]
    once = ["--seconds", "0", "--out", str(out)]
    accuracy.main(["--cells", cells[0], *once])
    first = json.loads(out.read_text(encoding="utf-8"))
    accuracy.main(["--cells", *cells, *once])
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["rows"][1] == first["rows"][0] | {"session": 0}  # it was kept, in its place
    assert [row["group"] for row in found["rows"]] == ["quantile", "mean"]
    assert found["rows"][0]["floor"] == 120e-6
    mean = found["rows"][1]
    assert mean["runs"] == 200 and mean["optimum"] == pytest.approx(2.258, rel=1e-3)
    assert 0.6 < mean["absolute"]["dpfast"][0] / mean["optimum"] < 1.6  # 8 standard errors
