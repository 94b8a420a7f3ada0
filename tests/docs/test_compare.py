"""The comparison of systems: questions, faults, the judge, verdicts, and its page in a browser."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compare import __main__ as command
from benchmarks.compare import faults, page, worker, workloads

from ..support.browser import asked, chromium

HERE = Path(worker.__file__).parent
SYSTEMS = command.systems()
browser = chromium()


def parsed(system, name):
    """The statements of a file of a system, and its functions by name."""
    assert (HERE / system / "requirements.txt").read_text().strip()
    tree = ast.parse((HERE / system / f"{name}.py").read_text(encoding="utf-8"))
    return tree.body, {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_answers_each_question_or_says_why_not(system):
    tree, functions = parsed(system, "system")
    words = {}
    for node in tree:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            words[ast.unparse(target)] = ast.unparse(node.value)
    offers = words["OFFERS"].replace("*ROWS", words.get("ROWS", ""))
    for workload in workloads.WORKLOADS:
        assert (workload in functions) != (f"'{workload}'" in words["ABSENT"]), workload
        assert (workload in functions) == (f"'{workload}'" in offers), workload


def test_each_fault_of_a_library_was_refuted_in_time_and_no_control_was():
    kept = json.loads(faults.RESULTS.read_text(encoding="utf-8"))
    for fault, one in zip(faults.FAULTS, kept["faults"], strict=True):
        function = parsed(fault.system, "faults")[1][fault.name]
        assert [argument.arg for argument in function.args.args] == ["control"]
        assert one["name"] == f"{fault.system}/{fault.name}"
        found, control = one["fault"], one["control"]
        assert found["refuted"] and found["p_value"] <= 1e-6, one["name"]
        assert not control["refuted"] and not control.get("differences"), one["name"]
        assert max(found["seconds"], control["seconds"]) < 60, one["name"]
    assert faults.lines(kept) in page.GUIDE.read_text(encoding="utf-8")


def test_rows_that_change_are_refuted_and_those_that_stay_are_not():
    rows = np.arange(6.0).reshape(3, 2)
    assert not faults.judge(rows, rows.copy(), None)["refuted"]
    found = faults.judge(rows, rows - rows.mean(0), None)
    assert found["refuted"] and found["witness"] == "6 of 6 numbers changed"


@pytest.mark.full
@pytest.mark.parametrize("control", [False, True])
def test_low_bits_of_numpy_are_refuted_and_noise_on_a_grid_is_not(control, tmp_path):
    fault = next(one for one in faults.FAULTS if one.name == "low_bits")
    found = faults.ask(Path(sys.executable), fault, control, tmp_path / "answers.npz")
    verdicts = found["refuted"], bool(found["differences"]), found["p_value"] <= 1e-6
    assert verdicts == (not control,) * 3 and found["release"] == f"NumPy {np.__version__}"


@pytest.mark.full
@pytest.mark.parametrize("workload", workloads.WORKLOADS)
def test_dpfast_answers_each_question(workload, tmp_path):
    relation = next(iter(workloads.WORKLOADS[workload].pairs))
    kept = tmp_path / "answers.npz"
    given = ("dpfast", workload, relation, "--rows", 2000, "--seconds", 0.2, "--runs", 2)
    arguments = command.command(Path(sys.executable), *given, "--answers", kept)
    made = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout.splitlines()[-1])
    assert found["warm"]["seconds"] > 0 and found["lines"] >= 1
    assert (workload == "noise") == ("errors" not in found)
    answers = np.load(kept)
    assert len(answers["x"]) == len(answers["x2"]) == found["answers"] / 2 > 0


@pytest.mark.parametrize(("share", "refuted"), [(0.5, True), (1.0, False)])
def test_the_judge_finds_half_of_the_noise_and_nothing_in_the_whole(share, refuted, tmp_path):
    rng = np.random.default_rng(1)
    p = 1 - np.exp(-1 / share)
    x, x2 = (at + rng.geometric(p, 20_000) - rng.geometric(p, 20_000) for at in (3, 2))
    np.savez(tmp_path / "answers.npz", x=x, x2=x2)
    found = command.audit(tmp_path / "answers.npz", workloads.WORKLOADS["count"])
    assert found["refuted"] == refuted
    assert (found["epsilon"] > 1) == refuted


def row(system, warm, error, runs=200, **more):
    return {
        "system": system, "workload": "sum", "relation": "replace", "whole": 1.0, "memory": 1e8,
        "warm": {"seconds": warm, "best": warm, "calls": 3}, "lines": 1, **more,
        "error": {"mean": error, "se": error / 10, "runs": runs, "q50": 0, "q90": 0, "q99": 0},
    }  # fmt: skip


def result(*rows):
    systems = {name: {"name": name.title(), "version": "1", "absent": {}} for name in SYSTEMS}
    titles = {
        name: {"title": one.title, "measure": "", "delta": 0}
        for name, one in workloads.WORKLOADS.items()
    }
    growth = [{"system": "dpfast", "relation": "replace", "rows": 1e3, "warm": {"seconds": 1e-3}}]
    return {
        "command": "run", "date": "today", "commit": "0", "machine": "one", "python": "3",
        "scale": 1e6, "error_rows": 100, "epsilon": 1, "seed": 1, "workloads": titles,
        "systems": systems, "rows": list(rows), "growth": growth,
    }  # fmt: skip


def test_a_later_run_keeps_rows_that_it_does_not_ask_and_the_page_says_when_it_was():
    old = result(row("dpfast", 1.0, 1.0), row("opendp", 1.0, 1.0))
    new = result() | {"date": "tomorrow"}
    found = command.kept(old, new, ["opendp/*"])
    assert [one["system"] for one in found["rows"]] == ["dpfast"] and found["date"] == "today"
    found["rows"].append(row("opendp", 2.0, 1.0, date="tomorrow"))
    assert "tomorrow, commit 0, one, Python 3, made 1 of these rows later: Opendp on sum." in (
        page.summary(found)
    )
    assert "later" not in page.summary(old)


def test_lines_of_tpch_have_its_laws():
    data = workloads.tpch(60_000)
    found = workloads.query_1(data).reshape(4, 8)
    assert abs(found[:, 4] - 25.5)[[0, 2, 3]].max() < 0.5  # of quantities from 1 to 50
    assert abs(found[:, 6] - 0.05)[[0, 2, 3]].max() < 0.001  # of discounts from 0 to .1
    shares = found[:, 7] / len(data["l_tax"])
    at_scale_1 = np.array([1_478_493, 38_854, 2_920_374, 1_478_870]) / 6_001_215
    assert abs(shares - at_scale_1).max() < 0.01
    assert abs(workloads.query_14(data) - 100 / 6) < 10
    assert 1000 < workloads.query_6(data) / len(data["l_tax"]) * 60 < 1400


def test_verdicts_are_of_private_rivals_the_worst_first():
    def verdicts(*rows, lost=True):
        found = page.verdicts([row(*one) for one in rows])
        return found[0], [one["column"] for one in found if one["lost"] or not lost]

    first, lost = verdicts(("dpfast", 2e-3, 1.0), ("opendp", 1e-3, 0.9), ("duckdb", 1e-6, 0))
    assert (first["column"], first["ratio"], first["best"]) == ("warm", 2, "opendp")
    assert lost == ["warm"]  # the errors are not told apart
    clear = ("dpfast", 1e-3, 2.0), ("opendp", 1e-3, 1.0)
    assert verdicts(*clear)[1] == ["error"]
    assert "error" not in verdicts(clear[0], (*clear[1], 5), lost=False)[1]


@pytest.fixture
def shown(tmp_path):
    """A page of two systems, one of which is refuted and one of which fails elsewhere."""
    audit = {"epsilon": 2.5, "refuted": True, "witness": "an event", "samples": 2000}
    rows = [
        row("dpfast", 2e-3, 1.0, audit=audit | {"epsilon": 0.9, "refuted": False}),
        row("opendp", 1e-3, 1.0, audit=audit | {"differences": ["low bits"]}),
        {"system": "pydp", "workload": "sum", "relation": "add-remove", "failure": "</script> no"},
    ]
    path = tmp_path / "compare.json"
    path.write_text(json.dumps(result(*rows)), encoding="utf-8")
    page.write(path)
    return path.with_suffix(".html")


@pytest.mark.full
def test_a_page_and_a_picture_are_written_and_no_text_ends_the_script(shown):
    text = shown.read_text(encoding="utf-8")
    assert text.count("</script>") == 1 and "http://" not in text.replace("http://www.w3.org", "")
    assert shown.with_suffix(".png").stat().st_size > 5000


@pytest.mark.full
def test_the_page_sorts_filters_and_plots(shown, browser):
    asked(browser)
    browser.get(shown.as_uri())
    assert asked(browser) <= {"file"} and not browser.get_log("browser")

    def cells(table, *which):
        script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
            .map(r => [...r.cells].map(c => c.textContent))"""
        return [line[slice(*which)] for line in browser.execute_script(script, table)]

    def choose(field, value):
        script = f"const s = document.getElementById('{field}'); s.value = '{value}'; s.onchange()"
        browser.execute_script(script)

    assert cells("losses", None) == [["sum", "replace", "time of a warm call", "2", "Opendp"]]
    assert cells("all", 2, 3) == [["Dpfast"], ["Opendp"], ["Pydp"]]
    for times in (["1 ms", "2 ms"], ["2 ms", "1 ms"]):  # a click on "warm", and another
        browser.find_elements("css selector", "#all th button")[3].click()
        assert cells("all", 3, 4) == [[one] for one in (*times, "</script> no")]
    head = browser.find_elements("css selector", "#all th")[3]
    assert head.get_attribute("ariaSort") == "descending"
    choose("system", "opendp")
    assert cells("all", 8, 11) == [["200", "2.50", "differs"]]
    assert len(browser.find_elements("css selector", "#plot circle")) == 2
    choose("column", "error")
    titles = browser.find_elements("css selector", "#plot circle title")
    assert titles[1].get_attribute("textContent") == "Opendp: 1, 1 times dpfast"
    assert cells("growth", None) == [["Dpfast", "1 ms"]]
