"""The comparison of systems: questions, faults, the judge, verdicts, and its page in a browser."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compare import __main__ as command
from benchmarks.compare import faults, page, power, seeds, worker, workloads

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
    words, public = {}, {"ask": workloads}
    for node in tree:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            words[ast.unparse(target)] = ast.unparse(node.value)
    for name in ("BOTH", "ROWS", "OFFERS", "ABSENT"):
        public[name] = eval(words.get(name, "()"), public)
    # A function of `in_duckdb`, or one for two questions, is assigned.
    assigned = {name for names in words for name in names.strip("()").split(", ")}
    answered = assigned & set(workloads.WORKLOADS) | set(functions)
    for workload in workloads.WORKLOADS:
        assert (workload in answered) != (workload in public["ABSENT"]), workload
        assert (workload in answered) == (workload in public["OFFERS"]), workload


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

    def ask(*more):
        given = ("dpfast", workload, relation, "--seconds", 0.2, *more)
        arguments = command.command(Path(sys.executable), *given)
        made = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        return json.loads(made.stdout.splitlines()[-1])

    found = ask("--rows", 2000, "--runs", 2)
    assert found["warm"]["seconds"] > 0 and found["lines"] >= 1
    assert (workload == "noise") == ("errors" not in found)
    made = ask("--answers", kept)
    with np.load(kept) as read:
        answers = dict(read)
    pairs = len(workloads.WORKLOADS[workload].pairs[relation])
    assert list(answers) == [f"{name}{i}" for i in range(pairs) for name in "xy"]
    assert len({len(answers[name]) for name in answers}) == 1 and made["each"] > 0
    assert sum(len(answers[name]) for name in answers) == made["answers"] > 0
    if workload == "private_groups":  # a key may be hidden each time, but an error has no keys
        assert {answers[name].shape[1:] for name in answers} == {(len(workloads.KEYS),)}
    else:
        assert not any(np.isnan(answers[name]).all() for name in answers)


@pytest.mark.parametrize(("share", "refuted"), [(0.5, True), (1.0, False)])
def test_the_judge_finds_half_of_the_noise_and_nothing_in_the_whole(share, refuted, tmp_path):
    rng = np.random.default_rng(1)
    p = 1 - np.exp(-1 / share)
    x, x2 = (at + rng.geometric(p, 20_000) - rng.geometric(p, 20_000) for at in (3, 2))
    np.savez(tmp_path / "answers.npz", x0=x, y0=x2)
    found = command.audit(tmp_path / "answers.npz", workloads.WORKLOADS["count"], "replace")
    assert found["refuted"] == refuted
    assert (found["epsilon"] > 1) == refuted


def drawn(rng, scale, *centers, size=20_000):
    """Numbers with the noise of `scale`, around each of some arrays."""
    p = 1 - np.exp(-1 / scale)
    each = [(size, *np.shape(center)) for center in centers]
    return [
        c + rng.geometric(p, n) - rng.geometric(p, n) for c, n in zip(centers, each, strict=True)
    ]


def test_the_judge_takes_the_pair_that_shows_most_and_divides_the_error(tmp_path):
    rng = np.random.default_rng(2)
    same, more = drawn(rng, 1, 3, 3), drawn(rng, 1, 3, 2)
    np.savez(tmp_path / "answers.npz", x0=same[0], y0=same[1], x1=more[0], y1=more[1])
    count = workloads.WORKLOADS["count"]
    two = replace(count, pairs={"replace": count.pairs["replace"] * 2})
    found = command.audit(tmp_path / "answers.npz", two, "replace")
    assert not found["refuted"] and 0.5 < found["epsilon"] <= 1
    assert found["samples"] == 80_000 and found["pairs"] == 2
    assert found["confidence"] == 1 - 5e-7


@pytest.mark.full
@pytest.mark.parametrize(("workload", "relation", "scale"), [
    ("histogram", "replace", 2.0), ("people", "add-remove", 10 * workloads.HIGH / 3000),
])  # fmt: skip
def test_all_numbers_of_an_answer_together_show_more_than_one_of_them(
    workload, relation, scale, tmp_path
):
    rng, asked = np.random.default_rng(3), workloads.WORKLOADS[workload]
    (pair,) = asked.pairs[relation]
    exact = workloads.counts if workload == "histogram" else workloads.sums
    unit = 1 if workload == "histogram" else 3000.0
    x, x2 = (unit * one for one in drawn(rng, scale, *(exact(data) / unit for data in pair)))
    np.savez(tmp_path / "answers.npz", x0=x, y0=x2)
    told = [
        command.audit(tmp_path / "answers.npz", one, relation)["epsilon"]
        for one in (asked, replace(asked, lean=None))
    ]
    assert told[1] + 0.1 < told[0] <= 1


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_responses_show_about_what_is_said_and_no_more_is_said_of_more_parts(parts, tmp_path):
    rng = np.random.default_rng(parts)
    true = 1 / (1 + np.exp(-1 / parts))
    x, x2 = (rng.binomial(parts, p, 25_000) for p in (true, 1 - true))
    np.savez(tmp_path / "answers.npz", x0=x, y0=x2)
    found = command.audit(tmp_path / "answers.npz", workloads.WORKLOADS["count"], "replace")
    due = power.shown(50_000, parts)
    assert abs(found["epsilon"] - due) < 0.25 and power.shown(50_000, parts + 1) < due


def test_half_is_shown_by_as_many_answers_as_are_needed_and_not_by_fewer():
    for parts, pairs in ((1, 1), (3, 1), (1, 3)):
        needed = power.needed(parts, pairs)
        assert power.shown(needed, parts, pairs) >= 0.5 > power.shown(needed // 2, parts, pairs)
    assert power.needed(90) is None


def test_an_audit_of_less_than_half_says_why():
    slow, hidden_row = ({**row("opendp", 1e-3, 1.0), "workload": w} for w in ("sum", "people"))
    slow["audit"] = {"samples": 6, "pairs": 1, "each": 1.25}
    hidden_row["audit"] = {"samples": 10_000, "pairs": 1, "epsilon": 0.2, "refuted": False}
    found = result(slow, hidden_row)
    found["systems"]["opendp"]["hides"] = {"people": [5, "five sums"], "sum": [1, ""]}
    assert (
        page.why(found, slow) == "half needs 2,100 answers of 1.25 s each, or up to twice as many"
    )
    assert (
        page.why(found, hidden_row)
        == "five sums; half needs 57,000 answers, or up to twice as many"
    )
    assert page.why(found, {**hidden_row, "audit": hidden_row["audit"] | {"epsilon": 0.5}}) == ""
    _, _, line, *rest = page.audits(found).splitlines()
    assert line.split(" | ")[3:] == ["0.20", "0.23", "10,000", "57,000 |"]
    assert "No bound for 1 questions" in rest[1] and rest[-1] == "- Opendp: sum, replace"


def test_each_audit_that_shows_nothing_says_why():
    kept = json.loads(command.RESULTS.read_text(encoding="utf-8"))
    for one in kept["rows"]:
        if page.private(one["system"]) and "samples" in one.get("audit", {}):
            shown = one["audit"].get("epsilon", 0.0)
            reason = page.why(kept, one)
            assert shown >= 0.005 or reason not in ("", page.UNKNOWN), one
    assert page.audits(kept) in page.GUIDE.read_text(encoding="utf-8")


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
    line = "measured 1 rows of the figures again: `run`, tomorrow, commit 0, one, Python 3."
    assert line in page.summary(found)
    assert "later run" not in page.summary(old)


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
    assert cells("all", 8, 12) == [["200", "2.50", "0.497", "differs"]]
    assert len(browser.find_elements("css selector", "#plot circle")) == 2
    choose("column", "error")
    titles = browser.find_elements("css selector", "#plot circle title")
    assert titles[1].get_attribute("textContent") == "Opendp: 1, 1 times dpfast"
    assert cells("growth", None) == [["Dpfast", "1 ms"]]


def test_the_table_of_seeds_is_that_of_the_file_and_has_each_system_with_noise():
    kept = json.loads((page.ROOT / "docs" / "figures" / "seeds.json").read_text(encoding="utf-8"))
    assert set(seeds.SOURCES) == set(SYSTEMS) - {"duckdb", "polars"}
    assert seeds.lines(kept) in page.GUIDE.read_text(encoding="utf-8")
    assert {one["system"]: one["same"] for one in kept["systems"]}["dpfast"] == 0


def test_two_processes_of_a_seeded_system_have_the_same_noise_and_of_another_not(
    tmp_path, monkeypatch
):
    for name in ("worker.py", "workloads.py", "in_duckdb.py", "seeds.py"):
        (tmp_path / name).write_text((HERE / name).read_text(encoding="utf-8"))
    for name, seed in (("seeded", 42), ("other", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "system.py").write_text(
            "import numpy as np\nOFFERS = {'sum': ('replace',)}\n"
            f"rng = np.random.default_rng({seed})\n"
            "def prepare(data, workload):\n    return data\n"
            "def sum(data, neighbors):\n    return lambda: rng.laplace()\n"
        )
    monkeypatch.setattr(seeds, "HERE", tmp_path)
    first, second = seeds.processes(Path(sys.executable), "seeded")
    assert first == second and len(set(first)) == seeds.ANSWERS
    first, second = seeds.processes(Path(sys.executable), "other")
    assert not set(first) & set(second)
