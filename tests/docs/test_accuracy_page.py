"""The page on accuracy and the README say what was measured, and can be measured again."""

import json

import pytest

from ..support.pages import FIGURES, ROOT, figures, program

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


def test_the_figures_that_are_shown_are_there():
    for name in page.figures_of(KEPT):
        assert (FIGURES / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_both_sides_have_equal_runs_and_every_row_its_session():
    for row in KEPT["rows"]:
        assert row["runs"] >= 200 and row["absolute"]["dpfast"][1] >= 0
        assert 0 <= row["session"] < len(KEPT["sessions"])


def test_what_the_page_says_of_staircases():
    def ratio(epsilon):
        sums = [r for r in KEPT["rows"] if r["group"] == "sum" and r["epsilon"] == epsilon]
        return page.typical([r["absolute"]["dpfast"][0] / r["optimum"] for r in sums])

    assert all(0.95 < ratio(epsilon) < 1.07 for epsilon in (0.01, 0.1, 0.5, 1, 2))
    assert f"{ratio(10):.1f} times as large at 10" in page.PAGE.read_text(encoding="utf-8")


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


def test_what_might_be_worse_is_undecided_unless_it_is_well_known():
    assert page.verdict(row(1, 1)).is_decided and page.verdict(row(1.2, 1)).is_decided
    assert not page.verdict(row(1, 1, error=0.1)).is_decided
    assert page.verdict(row(0.5, 1, error=0.1)).is_decided
    rows = [row(1, 1), row(1, 1, error=0.1)]
    assert page.undecided(rows) == rows[1:]
    assert "| sums | 2 | 100 % | 100 % |  |  | 1 |" in page.shares(rows)


@pytest.mark.parametrize("share", [0.49, 0.51])
def test_a_median_does_not_jump_where_answers_are_the_same(share):
    accuracy = program("accuracy")
    right = round(1000 * share)
    errors = accuracy.np.repeat([0.0, 1.0, 2.0], [right, 400, 600 - right])
    *_, median, error = accuracy.summary([errors])
    assert 0.4 < median < 0.7 and 0 < error < 0.1  # the plain one is 0 or 1
    spread = accuracy.np.random.default_rng(1).normal(0, 1, 999)
    assert accuracy.summary([spread])[2] == accuracy.short(accuracy.np.median(spread))


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


def test_a_rank_error_is_the_distance_from_the_ranks_of_the_answer():
    """By definition, on rows with ties, and for answers at rows and between them."""
    accuracy = program("accuracy")
    rows = accuracy.np.array([1, 2, 2, 2, 3, 5, 5, 7, 8, 8, 9], float)
    cell = {"group": "quantile", "n": 11, "q": 0.5}
    even = {"group": "quantile", "n": 10, "q": 0.5}
    (absolute, ranks) = accuracy.errors_of(even, rows[:10])(accuracy.np.array([3, 4.0, 5, 6]))
    assert absolute.tolist() == [1, 0, 1, 2] and ranks.tolist() == [0.5, 0, 0.5, 2]
    answers = accuracy.np.array([0, 1, 2, 2.5, 3, 4, 5, 6, 7, 8.5, 10])
    (absolute, ranks) = accuracy.errors_of(cell, rows)(answers)
    assert absolute.tolist() == [abs(a - 5) for a in answers]
    expected = []
    for a in answers:
        own = [i for i, x in enumerate(rows) if x == a] or [sum(rows < a) - 0.5]
        expected.append(min(abs(i - 5) for i in own))
    assert ranks.tolist() == expected
