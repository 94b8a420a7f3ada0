"""Pages say what was measured, name what there is, and can be measured again."""

import inspect
import json
import math
import os
import re
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest

import dpfast as dp
from dpfast import learn, sulq
from dpfast.aggregate.aggregators import AGGREGATORS
from dpfast.groups.api import GroupBy
from dpfast.learn.estimator import Estimator
from dpfast.noise.smooth import _APPROXIMATE, _CONCENTRATED, _PURE
from dpfast.statistics.quantiles import exponential
from dpfast.statistics.quantiles.statistic import Iqr, Method, Quantile

from ..support.pages import GUIDE, ROOT, figures, program, quick_run

accuracy_page, report, history = map(program, ("accuracy_page", "report", "history"))
attacks, crossings, every_way, learned, streams = map(
    program, ("attacks", "crossings", "every_way", "learned", "streams")
)
quick_attacks, quick_crossings, quick_ways, quick_learned, quick_streams = map(
    quick_run, (attacks, crossings, every_way, learned, streams)
)
ACCURACY, ATTACKS, CROSSINGS, STREAMS = map(
    figures, ("accuracy", "attacks", "crossings", "streams")
)


def read(path):
    return path.read_text(encoding="utf-8")


# ---- Accuracy. ----


def test_the_blocks_on_accuracy_are_made_from_the_figures():
    text = read(accuracy_page.PAGE)
    names = {name for _, name, _ in accuracy_page.MARKS.findall(text)}
    assert names == set(accuracy_page.BLOCKS) and accuracy_page.made(text, ACCURACY) == text
    other = json.loads(json.dumps(ACCURACY))
    for row in other["rows"]:
        row["absolute"]["dpfast"][0] *= 3  # a planted fault
    assert accuracy_page.made(text, other) != text
    count = accuracy_page.worst(ACCURACY).partition(" cells;")[0]
    assert f"{count} cells are red" in read(ROOT / "README.md")


def row(mine, other, error=0.01, **more):
    """A row with a mean error on each side, and with medians of 0."""
    sides = {"dpfast": [mine, error, 0, 0], "dpfast, other": [0, 0, 0, 0]}
    found = sides | {"A": [other, error, 0, 0], "B": [9, error, 0, 0]}
    return {"group": "sum", "runs": 200, "absolute": found, **more}


def test_worse_is_above_the_limit_by_two_standard_errors():
    verdict = accuracy_page.verdict
    assert verdict(row(1.2, 1)).worse and verdict(row(1.2, 1)).best == "A"
    assert not verdict(row(1.12, 1)).worse  # within what chance does
    assert not verdict(row(1.2, 1, error=0.1)).worse
    assert verdict(row(0.5, 1)).ratio == 0.5
    assert verdict(row(1, 1), "absolute", "median").ratio == 1  # none on either side
    assert verdict(row(1, 1), "rank") is None
    assert verdict(row(1e-3, 1e-6, error=1e-9, floor=1e-2)).ratio == 1  # both as good as none
    assert verdict(row(1, 1, group="count", optimum=1e-4)) is None
    rows = [row(1.2, 1), row(3, 1), row(1, 1)]
    assert [found[0].ratio for found in accuracy_page.worse(rows)] == [3, 1.2]


@pytest.mark.full
def test_accuracy_can_be_measured_again(tmp_path):
    accuracy, out = program("accuracy"), tmp_path / "accuracy.json"
    cells = ["mean ages*n=51 epsilon=1 replace", "quantile ages tight n=51 epsilon=1 q=0.5 replace"]
    once = ["--seconds", "0", "--out", str(out)]
    accuracy.main(["--cells", cells[0], *once])
    first = json.loads(read(out))
    accuracy.main(["--cells", *cells, *once])
    quantile, mean = json.loads(read(out))["rows"]
    assert mean == first["rows"][0] | {"session": 0}  # it was kept, in its place
    assert (quantile["group"], mean["group"]) == ("quantile", "mean")
    assert quantile["floor"] == 120e-6
    assert mean["runs"] == 200 and mean["optimum"] == pytest.approx(2.258, rel=1e-3)
    assert 0.6 < mean["absolute"]["dpfast"][0] / mean["optimum"] < 1.6  # 8 standard errors


# ---- Attacks. ----


@pytest.mark.full
def test_the_figures_of_attacks_can_be_made_again(quick_attacks):
    """Means of two runs lie about those kept; 256 bits have a deviation of 1 / 32 at most."""

    def key(row):
        return tuple(row[name] for name in row if name not in ("recovered", "expected", "bound"))

    again = figures("attacks", quick_attacks)
    assert ATTACKS["bits"] == again["bits"] == attacks.BITS and ATTACKS["runs"] > again["runs"]
    for part in ("without_privacy", "at_full_budget"):
        kept = {key(row): row for row in ATTACKS[part]}
        assert len(kept) == len(ATTACKS[part]) > len(again[part]) > 5
        for few in again[part]:
            many = kept[key(few)]
            assert abs(few["recovered"] - many["recovered"]) < 5 / 32
            (name,) = {"expected", "bound"} & set(few)
            assert few[name] == pytest.approx(many[name], rel=1e-9)
    assert {r["method"] for r in ATTACKS["without_privacy"]} == set(attacks.METHODS)
    assert {r["way"] for r in ATTACKS["at_full_budget"]} == set(attacks.WAYS)


# ---- Where the errors of quantiles cross. ----


def typical(ratios):
    """The geometric mean over columns, for each loss."""
    return np.exp(np.mean(np.log(ratios), axis=0))


def families(found, of="ratios"):
    """Ratios by what `auto` asks for: one column a row, one loss a column."""
    every = {}
    for entry in found["quantiles"]:
        kind = "range" if entry["statistic"] == "iqr" else "quantile"
        every.setdefault((kind, entry["relation"], entry["loss"]), []).append(entry[of])
    return every


def test_auto_changes_over_where_the_errors_cross():
    """At half of its loss a draw is better by mean or median, at twice of it noise is by both."""
    every, medians = families(CROSSINGS), families(CROSSINGS, "medians")
    assert len(every) == 12
    for (kind, relation, loss), ratios in every.items():
        way = "two steps" if relation.endswith("where") else relation
        least = (Iqr if kind == "range" else Quantile).smooth_from[way][loss == "rho"]
        middle = typical(medians[kind, relation, loss])
        both = list(zip(typical(ratios), middle, CROSSINGS[loss], strict=True))
        below = [max(x, y) for x, y, at in both if at <= least / 2]
        assert below and min(below) > 1, (kind, relation, loss)
        if math.isinf(least):
            continue
        # Now and then noise is far off, which a mean of few hundred answers may have or not.
        for errors in zip(*((x, y) for x, y, at in both if at >= 2 * least), strict=True):
            assert np.exp(np.mean(np.log(errors))) < 1 > errors[-1], (kind, relation, loss)


def test_the_target_of_an_extreme():
    kept = CROSSINGS["extremes"]
    (even,) = (e for e in kept if (e["column"], e["epsilon"]) == ("even", 4.0))
    at = CROSSINGS["inside"].index(exponential.INSIDE)
    assert 0.003 < even["gap"][at] < 0.05  # a few times in a hundred
    assert even["gap"][at - 1] > 0.1 and even["error"][at + 1] > 1.3 * even["error"][at]
    assert all(e["gap"][at] < 0.05 for e in kept)


@pytest.mark.full
def test_the_crossings_can_be_measured_again(quick_crossings):
    few = figures("crossings", quick_crossings)
    assert CROSSINGS["repeats"] >= 200 and few["repeats"] == crossings.QUICK
    assert all(few[name] == CROSSINGS[name][1::4] for name in ("epsilon", "rho"))
    again = families(few)
    for family, ratios in families(CROSSINGS).items():
        change = np.log(typical(again[family]) / typical(ratios)[1::4])
        assert np.all(np.abs(change) < math.log(6)), family
    for part in ("joint", "few", "extremes", "smooth_extremes", "trimmed"):
        words, due = (
            [[(k, v) for k, v in e.items() if isinstance(v, str)] for e in found[part]]
            for found in (few, CROSSINGS)
        )
        assert words == due
    assert few["trimmed"] == CROSSINGS["trimmed"]
    for one, other in zip(few["extremes"], CROSSINGS["extremes"], strict=True):
        assert np.allclose(one["gap"], other["gap"], atol=0.15), one


# ---- Every way to a median or a mean, and learners. ----


def hold_deciles(few, kept, name):
    """The least of a few errors is within nine tenths of those kept, the largest above a tenth."""
    (again, repeated), (shown, all_of) = few, kept
    assert set(repeated) < set(all_of)
    for i, epsilon in enumerate(repeated):
        j = all_of.index(epsilon)
        low, high, least, most = (
            math.inf if x is None else x
            for x in (again["q10"][i], again["q90"][i], shown["q10"][j], shown["q90"][j])
        )
        assert low <= most and high >= least, (name, epsilon)


@pytest.mark.full
def test_the_figures_of_every_way_can_be_made_again(quick_ways):
    few, kept = figures("every-way", quick_ways), figures("every-way")
    assert kept["epsilon"] == list(every_way.EPSILONS) and few["delta"] == kept["delta"]
    assert few["repeats"] == every_way.QUICK and kept["repeats"] >= 200
    again, shown = (
        {(w["column"], w["statistic"], w["loss"], w["way"]): w for w in found["ways"]}
        for found in (few, kept)
    )
    assert list(again) == list(shown) and len(shown) == len(kept["ways"])
    for name, way in shown.items():
        hold_deciles((again[name], few["epsilon"]), (way, kept["epsilon"]), name)


def test_every_way_is_there():
    """Each noise that serves a loss, each method, each aggregator, under a name of its own."""
    names = {(w.statistic, w.loss, w.name) for w in every_way.ways()}
    assert len(names) == len(every_way.ways())
    for loss, noises in (("pure", _PURE), ("approx", {**_APPROXIMATE, **_CONCENTRATED})):
        due = {("median", loss, f"smooth, {noise}") for noise in noises}
        due |= {("median", loss, method) for method in {*get_args(Method)} - {"auto", "smooth"}}
        for aggregator in set(AGGREGATORS) - {"auto"}:
            due |= {(kind, loss, f"blocks, {aggregator}") for kind in ("median", "mean")}
        assert due <= names


@pytest.mark.full
def test_the_figures_of_learners_can_be_made_again(quick_learned):
    few, kept = figures("learned", quick_learned), figures("learned")
    assert kept["epsilon"] == list(learned.EPSILONS) and few["delta"] == kept["delta"]
    assert few["repeats"] == learned.QUICK and kept["repeats"] >= 60
    for one, shown in zip(few["learners"], kept["learners"], strict=True):
        for name in ("learner", "measure", "exact"):
            assert one[name] == shown[name]
        for kind in learned.LOSSES:
            hold_deciles((one[kind], few["epsilon"]), (shown[kind], kept["epsilon"]), kind)


def test_the_pages_name_what_there_is():
    of_learn, of_sulq = (
        read(GUIDE / f"{page}.md").split(f"\n## {title}\n")[1].split("\n## ")[0]
        for page, title in (("learn", "The learners"), ("sulq", "What `dp.sulq` has"))
    )
    kinds = [n for n, x in vars(learn).items() if isinstance(x, type) and issubclass(x, Estimator)]
    assert len(kinds) >= 7 and all(f"| `dp.learn.{name}` |" in of_learn for name in kinds)
    asked = ("learn_", "implication_", "NoisySums", "StatisticalQueryOracle")
    assert all(f"`dp.sulq.{name}`" in of_sulq for name in sulq.__all__ if name.startswith(asked))
    text = read(GUIDE / "groups.md")
    methods = {name for name in dir(GroupBy) if not name.startswith("_")} - {"agg", "keys"}
    assert methods - {"top_k"} == set(dp.stat.__all__)
    (listed,) = re.findall(r"^There are (.*?)\. Their arguments", text, re.M | re.S)
    assert methods == set(re.findall(r"`(\w+)`", listed))
    assert all(name in text for name in inspect.signature(dp.group_by).parameters)


# ---- Streams. ----


def at(found, way, queries):
    (row,) = (row for row in found["ways"][way] if row["queries"] == queries)
    return row


def test_the_table_of_streams_is_that_of_the_figures():
    line = r"^\| ([\w ]+) \| ([\d.e-]+) \| ([\d.e-]+) \| ([\d.e-]+) \| ([\d.]*) \|$"
    rows = re.findall(line, read(GUIDE / "streams.md"), re.M)
    assert [row[0] for row in rows] == list(streams.WAYS) == list(STREAMS["ways"])
    for way, *errors, epsilon in rows:
        assert errors == [f"{at(STREAMS, way, k)['error']:.2g}" for k in (1, 100, 10_000)]
        needs = at(STREAMS, way, 10_000)["epsilon"]
        assert epsilon == ("" if needs is None else f"{needs:.2g}")


@pytest.mark.full
def test_streams_can_be_measured_again(quick_streams):
    """Truth and promises are public and the same; errors of two runs are of the same kind."""
    again = figures("streams", quick_streams)
    for way in streams.WAYS:
        for k in streams.QUICK:
            one, other = at(again, way, k), at(STREAMS, way, k)
            assert (one["promised"], one["epsilon"]) == (other["promised"], other["epsilon"])
    assert again["accuracy"] == STREAMS["accuracy"] and again["repeats"] == 2
    for way in streams.PROMISING:
        assert all(row["error"] <= row["promised"] for row in again["ways"][way])


# ---- Speed. ----


def test_every_row_of_speed_names_tests_that_are_there():
    assert len(report.TABLE) > 15
    for section, rows in report.TABLE.items():
        text = read(ROOT / "benchmarks" / f"test_bench_{section}.py")
        for test in {test.partition("[")[0] for row in rows for test in row.tests}:
            assert f"\ndef {test}(" in text, (section, test)


@pytest.mark.full
@pytest.mark.parametrize("section", ["intervals", "online", "compiled"])
def test_a_section_of_speed_can_be_measured(section):
    run = [sys.executable, str(ROOT / "benchmarks" / "report.py"), section]
    env = {**os.environ, "DPFAST_BENCH_SMOKE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(lines) == len(report.TABLE[section])
    assert all(re.fullmatch(r"\| .+ \| \S+ (s|ms|µs|ns) \| .+ \|", line) for line in lines)


def test_the_history_of_speed_shows_every_run():
    text, kept = read(GUIDE / "speed-history.md"), history.runs()
    shown = re.search(r"<!-- history -->\n(.*?)<!-- /history -->", text, re.S)[1]
    assert shown.splitlines() == history.lines(kept)
    assert len(kept) > 1 and kept == sorted(kept, key=lambda run: run["date"])
