"""Releases are answers of their measurement; by group they are HTML, pictures and tables."""

import itertools
import json
import pickle
import re
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.measurement.columns_by_name import SHOWN, Answer

from ..support.browser import chromium, narrow, wish
from ..support.refused import refused

browser = chromium()
NAMES = np.array([f"<carrier> of a name that takes more than a line, {i}" for i in range(30)])
TABLE = {"k": np.repeat(NAMES, 200), "x": np.tile(np.arange(200.0), 30)}
GROUPS = dp.group_by(TABLE, "k", keys=list(NAMES))
ASKED = {"n": dp.stat.count()}
ASKED |= {"mean": dp.stat.mean("x", bounds=(0, 200)), "q": dp.stat.median("x", bounds=(0, 200))}
ASKED["h"] = dp.stat.histogram("x", bins=2, bounds=(0, 200))
MANY = GROUPS.agg(ASKED, epsilon=40)


def test_html_unfolds_and_has_bars_behind_numbers():
    text = MANY._repr_html_()
    assert text.count("&lt;carrier&gt;") == 30 and "<carrier>" not in text
    first, folded = text.split("<details>")
    assert f"<summary>{30 - SHOWN} more</summary>" in folded and first.count("<tr>") == SHOWN + 1
    titles = re.findall("<th>(.*?)</th>", first)
    assert titles == ["k", "n", "mean", "q", "h 0", "h 100", "h error"]
    cells = re.findall("<td>(.*?)</td>", first)[1:4]
    assert re.fullmatch(r"\d+\s±\s\d", cells[0]) and re.fullmatch(r"[\d.]+\s±\s[\d.]+", cells[1])
    assert re.fullmatch(r"[\d.]+\xa0\(within\xa0\d+\xa0rows\xa0in\xa0order\)", cells[2])


def test_a_number_has_the_digits_of_its_bar():
    for value, bar, text in (
        (38.5821, 0.0213, "38.582 ± 0.022"),
        (12345, 1234.0, "12,300 ± 1,300"),
        (2.0, np.inf, "2 ± inf"),
        (np.datetime64("2020-01-02"), np.timedelta64(3, "D"), "2020-01-02 ± 3 days"),
    ):
        shown = Answer({"k": ["a"], "v": np.array([value]), "v error": np.array([bar])})
        assert text in shown._repr_html_().replace("\xa0", " ")


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot

    yield matplotlib.pyplot
    matplotlib.pyplot.close("all")


@pytest.mark.full
def test_a_plot_has_bars_and_labels_that_do_not_overlap(pyplot):
    before = dict(pyplot.rcParams)
    axes = MANY.plot()
    assert [axis.get_title() for axis in axes] == ["n", "mean", "q", "h 0", "h 100"]
    assert dict(pyplot.rcParams) == before
    axes[0].figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes[0].get_yticklabels()]
    assert len(boxes) == 30
    assert all(a.y0 >= b.y1 for a, b in pairwise(boxes))
    for name, axis in zip(["n", "mean", "q", "h 0"], axes, strict=False):
        (drawn,) = axis.containers
        bars = MANY.get(f"{name} error", MANY["h error"] if name == "h 0" else None)
        assert drawn.has_xerr == (bars is not None)
        if bars is not None:
            ends = np.array(drawn[2][0].get_segments())[:, :, 0]
            assert np.allclose(np.ptp(ends, axis=1), 2 * bars)


def test_a_table_of_pandas_is_the_answer(monkeypatch):
    pandas = pytest.importorskip("pandas")
    assert MANY.to_pandas().equals(pandas.DataFrame(dict(MANY)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        MANY.to_pandas()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match="pip install matplotlib"):
        MANY.plot()


#: The words of cells that are on two lines, and how far the page, and the table, is too wide.
LOOKED_AT = """
const range = document.createRange(), broken = [];
for (const cell of document.querySelectorAll("td, th"))
  for (const word of cell.textContent.matchAll(/\\S+/g)) {
    range.setStart(cell.firstChild, word.index);
    range.setEnd(cell.firstChild, word.index + word[0].length);
    const tops = [...range.getClientRects()].map(line => line.top);
    if (new Set(tops).size > 1) broken.push(word[0]);
  }
const wide = of => of.scrollWidth - of.clientWidth;
return [broken, wide(document.documentElement), wide(document.querySelector("div"))]"""


@pytest.mark.full
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_table_is_cut_in_a_word(browser, tmp_path, theme):
    """A table that is wider than the page scrolls by itself; planted: words that break anywhere."""
    wish(browser, theme)
    style = "<meta charset=utf-8><style>:root { color-scheme: light dark }"
    page = tmp_path / "a.html"
    for fault in ("", "td, th { word-break: break-all }"):
        page.write_text(f"{style} {fault}</style>{MANY._repr_html_()}")
        for width in (400, 1300):
            narrow(browser, width)
            browser.get(page.as_uri())
            broken, too_wide, scrolls = browser.execute_script(LOOKED_AT)
            assert too_wide == 0 and (scrolls > 0 or fault or width > 400)
            assert bool(broken) == (bool(fault) and width == 400)


ROWS = np.random.default_rng(3).uniform(0, 100, 300)
REPLACE = dp.Unit("replace")


def seeded():
    return dp.rng.InsecureGenerator(5)


@pytest.mark.parametrize(
    "statistic",
    [
        dp.Count(), dp.Mean(bounds=(0, 100)), dp.Median(bounds=(0, 100)),
        dp.Histogram(bins=4, bounds=(0, 100)), dp.Quantiles(qs=(0.2, 0.8), bounds=(0, 100)),
    ],
)  # fmt: skip
def test_the_value_is_that_of_a_call(statistic):
    measurement = statistic.measure(epsilon=1)
    release = measurement.release(ROWS, rng=seeded())
    whole = statistic.with_interval()
    answer = whole.measure(epsilon=1)(ROWS, rng=seeded())
    if whole is not statistic:
        low, answer, high = answer
        np.testing.assert_equal((release.low, release.high), (low, high))
    np.testing.assert_equal(release.value, answer)
    shown = json.loads(json.dumps(release.to_dict(), allow_nan=False))
    assert shown["statistic"] == statistic.word and shown["entry"] is release.entry is None
    again = pickle.loads(pickle.dumps(release))
    assert repr(again) == repr(release) and again.to_dict() == release.to_dict()


def test_columns_come_last_in_releases_too():
    two = np.stack([ROWS / 10, 90 + ROWS / 10], axis=1)  # of which no number is near the other
    asked = {"axis": 0, "bounds": (0, 100), "epsilon": 50, "rng": seeded()}
    for qs in ([0.1, 0.9], [0.1, 0.5, 0.9]):
        release = dp.extend.prepare(dp.quantiles, two, qs, **asked).release()
        assert release.value.shape == release.low.shape == (len(qs), 2)
        assert (release.value[:, 0] < 20).all() and (release.value[:, 1] > 80).all()
        assert (release.low <= release.value).all() and (release.value <= release.high).all()


@pytest.mark.parametrize("statistic", [dp.Mean, dp.Median])
def test_a_bar_within_drawn_bounds_says_what_it_does_not_know(statistic):
    release = statistic(bounds="auto").measure(epsilon=1).release(ROWS[:3])
    assert release.bar.half_width is not None and "drawn" in release.bar.note
    assert repr(release).endswith("bias unknown")
    people = statistic(bounds=(0, 100)).measure(epsilon=1, unit=dp.Unit(ids="who", max_rows=1))
    assert "at most 1 of each 'who'; bias unknown" in repr(people.release(ROWS, ids=np.arange(300)))


DAYS = np.datetime64("2020-01-01") + np.arange(300).astype("m8[D]")
SPANS = np.arange(300).astype("m8[h]")


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("name", ["mean", "std", "median", "quantiles", "iqr"])
def test_times_have_bars_and_records(name, zone):
    pandas = pytest.importorskip("pandas")
    more = {"qs": [0.2, 0.6]} if name == "quantiles" else {}
    of_days = {"bounds": (DAYS[0], DAYS[-1]), "epsilon": 9, **more}
    of_spans = {**of_days, "bounds": (SPANS[0], SPANS[-1])}
    days = DAYS if zone is None else pandas.Series(DAYS).dt.tz_localize(zone)
    for data, asked in ((days, of_days), (SPANS, of_spans)):
        release = getattr(dp.session(rng=seeded()), name)(data, **asked)
        assert np.all(release.low <= release.value) and np.all(release.value <= release.high)
        assert "95 %" in repr(release) and "95 %" in release._repr_html_()
        json.dumps(release.to_dict(), allow_nan=False)


def test_only_a_public_number_of_rows_is_told():
    def rows(release):
        return release.to_dict()["data"]["rows"]

    mean = dp.Mean(bounds=(0, 100))
    public = mean.measure(epsilon=1, unit=REPLACE).release(ROWS)
    assert rows(public) == 300 and public.error() == public.error(300)
    private = mean.measure(epsilon=1).release(ROWS)
    assert rows(private) is None and private.error().half_width is None
    assert private.error(300, 0.5) == mean.measure(epsilon=1).error(300, 0.5)
    assert private.bar.half_width is not None  # by the noisy sums that are paid for
    masked = mean.measure(epsilon=1, unit=REPLACE, where=True)
    assert rows(masked.release(ROWS, where=ROWS > 50)) is None
    people = mean.measure(epsilon=1, unit=dp.Unit("replace", "who", 2))
    assert rows(people.release(ROWS, ids=np.arange(300) // 3)) is None


# ---- Promises of a measurement. ----

N = 2000
#: One person has all the rows, each of which has an id of its own.
ALIKE = {"x": np.ones(N), "who": np.zeros(N, int), "row": np.arange(N)}
OF_PEOPLE = {"epsilon": 1, "unit": dp.Unit(ids="who", max_rows=1)}


def some(*names):
    return {name: ALIKE[name] for name in names}


STATISTICS = {
    "sum": (dp.Sum(bounds=(0, 1)), some("x", "row")),
    "count": (dp.Count(), some("x", "row")),
    "median": (dp.Median(bounds=(0, 1)), some("x", "row")),
    "ratio": (dp.Ratio(bounds=[(0, 1), (0, 1)]), {"y": ALIKE["x"], **some("x", "row")}),
    "distinct": (dp.CountDistinct(), some("x", "row")),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("unit", [dp.Unit(ids="who", max_rows=1), dp.Unit(ids="", max_rows=1)])
def test_people_of_other_ids_are_refused(name, unit):
    statistic, data = STATISTICS[name]
    given = {"budget": dp.Budget(epsilon=10, ids="who"), "data": data, "ids": "row"}
    words = r"^ids must be the ids of the unit, '(who)?'.*row"
    refused(statistic.measure(epsilon=1, unit=unit), words, **given)


def test_ids_without_a_name_are_those_of_the_unit():
    measured = dp.Sum(bounds=(0, 1)).measure(**OF_PEOPLE)
    budget = dp.Budget(epsilon=10, ids="who")
    assert abs(measured(ALIKE["x"], ids=ALIKE["who"], budget=budget)) < 40
    assert [entry.ids for entry in budget.history] == ["who"]


def test_ids_that_nobody_compares_are_seen(monkeypatch):
    """The planted fault: a sum of all rows of a person, of whom one should count."""
    monkeypatch.setattr("dpfast.measurement.statistic.id_name", lambda ids: "")
    measured = dp.Sum(bounds=(0, 1)).measure(epsilon=1, unit=dp.Unit(ids="who", max_rows=1))
    assert measured(some("x", "row"), ids="row") > N - 40


@pytest.mark.parametrize("statistic", [dp.Mean, dp.Sum, dp.Variance])
@pytest.mark.parametrize("columns, width", [(1, 60), (60, 1), (2, 3)])
def test_other_columns_than_were_said_are_refused(statistic, columns, width):
    loss = {"epsilon": 1, "delta": 1e-6}
    measured = statistic(bounds=(0, 1)).measure(**loss, columns=columns)
    budget = dp.Budget(epsilon=10, delta=0.1)
    words = rf"^data must be a table of {columns} columns"
    refused(measured, words, budget=budget, data=np.ones((50, width)))
    measured(np.ones((50, columns)), budget=budget)
    assert budget.history[0].loss == measured.loss


def test_another_loss_than_was_said_is_refused():
    """The planted fault: a mechanism that costs more is made for the rows."""
    measured = dp.Mean(bounds=(0, 1)).measure(epsilon=1)
    more = dp.Mean(bounds=(0, 1)).measure(epsilon=2)
    planted = replace(measured, offered=more.offered, of_times=True)  # so it is made anew
    with pytest.raises(ArgumentTypeError, match="dtype of measure"):
        planted([0.5] * 9)


def test_a_function_of_somebody_else_is_asked_at_every_call():
    bounds = [(0, 10)]

    @dp.extend.measures
    def age(data, *, epsilon=400, ids=None, max_rows=None, budget=None, rng=None):
        assert len(data) == 50
        return dp.Mean(bounds=bounds[0])

    assert age([50.0] * 50) == pytest.approx(10, abs=1)
    bounds[0] = (0, 100)
    assert age([50.0] * 50) == pytest.approx(50, abs=5)


PEOPLE = dp.Unit(ids="who", max_rows=1)


def test_the_bars_are_those_of_each_bound():
    mean = dp.Mean(bounds=(0, 9))
    plan = mean.measure(rho=0.5, unit=PEOPLE).plan(1000, 100, [1, 3, 50])
    assert plan["rows at most"].tolist() == [100, 300, 1000]
    for bound, error, kept in zip(
        plan["max_rows"], plan["error 95%"], plan["rows at most"], strict=True
    ):
        bounded = mean.measure(rho=0.5, unit=dp.Unit(ids="who", max_rows=int(bound)))
        assert error == bounded.error(int(kept), 0.95).half_width


def test_what_is_kept_is_between_its_ends_for_all_numbers_of_rows():
    count = dp.Count().measure(epsilon=1, unit=PEOPLE)
    for rows, units in ((6, 2), (7, 3), (5, 5), (1, 1)):
        plan = count.plan(rows, units)
        kept = [
            [sum(min(c, bound) for c in each) for bound in plan["max_rows"].tolist()]
            for each in itertools.product(range(1, rows + 1), repeat=units)
            if sum(each) == rows
        ]
        assert np.min(kept, axis=0).tolist() == plan["rows at least"].tolist()
        assert np.max(kept, axis=0).tolist() == plan["rows at most"].tolist()
        assert plan["rows at least"][-1] == rows


def test_nothing_is_spent_and_nothing_drawn():
    plan = dp.Median(bounds=(0, 9)).measure(epsilon=1, unit=PEOPLE).plan(100, 10)
    assert np.isnan(plan["error 95%"]).all() and "(8 bounds)" in repr(plan)
    columns = dp.Sum(bounds=(0, 9)).measure(epsilon=1, unit=PEOPLE, columns=2).plan(100, 10, [2])
    assert columns["error 95%"].shape == (1,)


def test_what_is_refused():
    count = dp.Count().measure(epsilon=1, unit=PEOPLE)
    for more, words in (
        ({"rows": 0}, "rows must be"),
        ({"units": 11}, "units must be at most the number of rows, 10"),
        ({"max_rows": []}, "max_rows must be a list"),
        ({"max_rows": [0]}, "max_rows must be"),
        ({"max_rows": 3}, "max_rows must be a list"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            count.plan(**{"rows": 10, "units": 5} | more)
    total = dp.Count(per_unit=(0, 3)).measure(epsilon=1, unit=dp.Unit(ids="who"))
    for measured in (dp.Count().measure(epsilon=1), total):
        with pytest.raises(ArgumentTypeError, match="unit must be a unit with ids"):
            measured.plan(10, 5)
