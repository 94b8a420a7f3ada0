"""The page of the comparison: a table that sorts and filters, plots, and where dpfast loses, first.

    python -m benchmarks.compare.page [OTHER.json]

tells where another run names another winner, by more than 1.5 in both. Without one it writes what
is made of `docs/figures/compare.json`: `compare.html`, one file without any other, the picture
`compare.png`, and the tables of `docs/guide/compare.md`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from . import power, workloads

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide" / "compare.md"
#: A row is lost if its figure is above that of the best private rival by this factor, and for
#: errors by so many standard errors.
TOLERATED, SPREAD = 1.1, 2.0
#: Errors of fewer answers are shown, and not compared.
RUNS = 30
#: A ratio to nothing, which JSON can hold.
INFINITE = 1e9
#: What is said of an audit that shows little for no reason that is known.
UNKNOWN = "other neighbors may show more"
#: A winner is clear if the next system is behind by more than this factor.
CLEAR = 1.5
#: What is compared: where it is in a row, and how it is shown.
COLUMNS = {
    "warm": ("time of a warm call", "s"),
    "whole": ("time of the whole process", "s"),
    "memory": ("peak of memory", "B"),
    "error": ("mean error", ""),
    "lines": ("lines a user writes", ""),
}


def figure(row: dict[str, Any], column: str) -> float | None:
    """A figure of a row, or None."""
    found = row.get(column)
    if column == "error" and found and found["runs"] < RUNS:
        return None
    if isinstance(found, dict):
        found = found.get("seconds" if column == "warm" else "mean")
    return found


def private(system: str) -> bool:
    """Whether a system claims a loss: others are a floor, or claim something else."""
    return system not in ("duckdb", "duckdb_pac", "polars")


def lost(row: dict[str, Any], other: dict[str, Any], column: str) -> bool:
    """Whether the first row is worse than the second."""
    mine, theirs = figure(row, column), figure(other, column)
    if mine is None or theirs is None:
        return False
    slack = 0.0
    if column == "error":
        slack = SPREAD * math.hypot(row["error"]["se"], TOLERATED * other["error"]["se"])
    return mine - TOLERATED * theirs > slack


def verdicts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each question and column, dpfast beside the best private rival, the worst first."""
    found = []
    for row in rows:
        if row["system"] != "dpfast":
            continue
        same = [
            one
            for one in rows
            if (one["workload"], one["relation"]) == (row["workload"], row["relation"])
            and one is not row
            and private(one["system"])
        ]
        for column in COLUMNS:
            mine = figure(row, column)
            others = [one for one in same if figure(one, column) is not None]
            if mine is None or not others:
                continue
            best = min(others, key=lambda one: figure(one, column))
            theirs = figure(best, column)
            ratio = mine / theirs if theirs else INFINITE if mine else 1.0
            found.append(
                {
                    "workload": row["workload"],
                    "relation": row["relation"],
                    "column": column,
                    "ratio": ratio,
                    "best": best["system"],
                    "lost": lost(row, best, column),
                }
            )
    return sorted(found, key=lambda one: (not one["lost"], -one["ratio"]))


def winners(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], tuple[str, float]]:
    """For each question and column the best private system, and how far the next one is behind."""
    found = {}
    for question in dict.fromkeys((row["workload"], row["relation"]) for row in rows):
        for column in COLUMNS:
            own = sorted(
                (figure(row, column), row["system"])
                for row in rows
                if (row["workload"], row["relation"]) == question
                and private(row["system"])
                and figure(row, column) is not None
            )
            if len(own) > 1:
                (best, system), (second, _) = own[:2]
                found[*question, column] = system, second / best if best else INFINITE
    return found


def disagreements(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[str]:
    """Questions for which two runs name different winners that are clear ones in both."""
    first, second = winners(rows), winners(others)
    return [
        f"{', '.join(key)}: {first[key][0]} here, {second[key][0]} there"
        for key in first.keys() & second.keys()
        if first[key][0] != second[key][0] and min(first[key][1], second[key][1]) > CLEAR
    ]


def told(x: float | None, unit: str) -> str:
    """A number with three digits."""
    if x is None:
        return ""
    if unit == "B":
        return f"{x / 1e6:.0f} MB"
    if unit == "s":
        scale, name = next(((k, n) for k, n in ((1, "s"), (1e-3, "ms")) if x >= k), (1e-6, "µs"))
        return f"{x / scale:.3g} {name}"
    return f"{x:.3g}"


def table(head: list[str], lines: list[list[str]], words: int = 1) -> str:
    """A table whose first columns are words, and the others numbers."""
    marks = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (head, marks, *lines))


def title(workload: str) -> str:
    """What tables call a question now, although a file of results has the words of its run."""
    return workloads.WORKLOADS[workload].title


def named(one: dict[str, Any]) -> str:
    return f"{title(one['workload'])}, {one['relation']}"


def losses(result: dict[str, Any]) -> str:
    """The rows in which dpfast is worse, as Markdown."""
    every = verdicts(result["rows"])
    some = [one for one in every if one["lost"]]
    lines = [
        [
            named(one),
            COLUMNS[one["column"]][0],
            f"{one['ratio']:.3g}",
            result["systems"][one["best"]]["name"],
        ]
        for one in some
    ]
    head = ["question", "figure", "dpfast / rival", "best private rival"]
    first = f"dpfast is worse than the best private rival in {len(some)} of {len(every)} figures."
    return first + ("\n\n" + table(head, lines) if lines else "")


def hidden(system: dict[str, Any], row: dict[str, Any]) -> tuple[int, str]:
    """How many parts divide the loss of an answer, and why the answer does not show all of it."""
    reasons = system.get("hides", {})
    named_first = reasons.get(f"{row['workload']}, {row['relation']}")
    parts, why = named_first or reasons.get(row["workload"], (1, ""))
    return parts, why


def could_show(result: dict[str, Any], row: dict[str, Any]) -> float:
    """The bound that so many answers show of a mechanism that spends all of the claim."""
    parts, _ = hidden(result["systems"][row["system"]], row)
    return power.shown(row["audit"]["samples"], parts, row["audit"].get("pairs", 1))


def why(result: dict[str, Any], row: dict[str, Any]) -> str:
    """Why an audit shows less than half of the claim, or nothing if it shows more."""
    own = row["audit"]
    if own.get("epsilon", 0.0) >= power.ENOUGH * result["epsilon"]:
        return ""
    parts, reason = hidden(result["systems"][row["system"]], row)
    needed = power.needed(parts, own.get("pairs", 1))
    said = [reason] if reason else []
    if needed is None:
        said.append("no number of answers shows half")
    elif own["samples"] < power.MARGIN * needed:
        each = f" of {told(own['each'], 's')} each" if "each" in own else ""
        said.append(f"half needs {digits(needed)} answers{each}, or up to twice as many")
    return "; ".join(said) or UNKNOWN


def digits(number: int) -> str:
    """A number rounded up to two digits."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // unit) * unit:,}"


def half(result: dict[str, Any], row: dict[str, Any]) -> str:
    """How many answers would show half of the claim, where an audit of fewer shows less."""
    own = row["audit"]
    if own["epsilon"] >= power.ENOUGH * result["epsilon"]:
        return ""
    parts, _ = hidden(result["systems"][row["system"]], row)
    needed = power.needed(parts, own.get("pairs", 1))
    if needed is None:
        return "more than 1e9"
    return digits(needed) if own["samples"] < power.MARGIN * needed else ""


def audits(result: dict[str, Any]) -> str:
    """What the audits say, as Markdown: refuted claims and supports that differ first.

    Below the table are the questions that a system answers too slowly for an audit.
    """
    lines: list[Any] = []
    slow: dict[str, list[str]] = {}
    for row in result["rows"]:
        own = row.get("audit", {})
        if "samples" not in own or not private(row["system"]):
            continue
        name = result["systems"][row["system"]]["name"]
        if "epsilon" not in own:
            slow.setdefault(name, []).append(named(row))
            continue
        epsilon = own["epsilon"]
        shown = f"{epsilon:.2f}" if epsilon < 1e6 else "no bound"
        verdict = "**refuted**" if own["refuted"] else "not refuted"
        if own.get("differences"):
            verdict += ", supports differ"
        could = f"{could_show(result, row):.2f}"
        cells = [name, named(row), verdict, shown, could, f"{own['samples']:,}", half(result, row)]
        lines.append((not own["refuted"], not own.get("differences"), -epsilon, name, cells))
    head = [
        *("system", "question", "claim", "audited epsilon", "could show", "answers"),
        "answers for half",
    ]
    made = table(head, [cells for *_, cells in sorted(lines)], words=3)
    if not slow:
        return made
    number = sum(map(len, slow.values()))
    listed = [f"- {name}: {'; '.join(sorted(some))}" for name, some in sorted(slow.items())]
    first = (
        f"No bound for {number} questions, because the system gave too few answers in the time of "
        "the audit:"
    )
    return "\n".join([made, "", first, "", *listed])


def questions(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The questions and relations that there are rows of, in the order of the questions."""
    order = {name: i for i, name in enumerate(result["workloads"])}
    found = {(row["workload"], row["relation"]) for row in result["rows"]}
    return sorted(found, key=lambda one: (order[one[0]], one[1]))


def times(result: dict[str, Any]) -> str:
    """The times of warm calls, as Markdown: a row for each question, a column for each system."""
    rows = result["rows"]
    order = sorted(result["systems"], key=lambda s: (s != "dpfast", not private(s), s))
    lines = []
    for workload, relation in questions(result):
        own = {
            r["system"]: r for r in rows if (r["workload"], r["relation"]) == (workload, relation)
        }
        question = named({"workload": workload, "relation": relation})
        cells = [told(figure(own[s], "warm"), "s") or "failed" if s in own else "" for s in order]
        lines.append([question, *cells])
    return table(["question", *(result["systems"][s]["name"] for s in order)], lines)


def growth(result: dict[str, Any]) -> str:
    """The times of a histogram by rows, as Markdown."""
    sizes = sorted({row["rows"] for row in result["growth"]})
    lines = []
    for system, own in result["systems"].items():
        found = {r["rows"]: r for r in result["growth"] if r["system"] == system}
        if found:
            cells = [
                told(figure(found[n], "warm"), "s") or found[n]["failure"] if n in found else ""
                for n in sizes
            ]
            lines.append([own["name"], *cells])
    return table(["system", *(f"{n:.0e}".replace("e+0", "e") + " rows" for n in sizes)], lines)


def picture(result: dict[str, Any], path: Path) -> None:
    """Draw the time of a warm call of each system over that of dpfast."""
    from matplotlib.figure import Figure

    rows = result["rows"]
    questions = [r for r in rows if r["system"] == "dpfast" and figure(r, "warm")]
    drawing = Figure(figsize=(9, 0.32 * len(questions) + 1.7), layout="constrained")
    panel = drawing.subplots()
    systems = [s for s in result["systems"] if s != "dpfast"]
    marks = dict(zip(systems, "osD^vPX*ph<>", strict=False))
    for system in systems:
        at, height = [], []
        for i, own in enumerate(questions):
            for other in rows:
                key = other["system"], other["workload"], other["relation"]
                if key == (system, own["workload"], own["relation"]) and figure(other, "warm"):
                    at.append(figure(other, "warm") / figure(own, "warm"))
                    height.append(i)
        if at:
            name = result["systems"][system]["name"]
            style = "full" if private(system) else "none"
            panel.plot(at, height, marks[system], label=name, fillstyle=style)
    panel.axvline(1, color="0.2")
    panel.set_xscale("log")
    panel.set_yticks(range(len(questions)), [named(own) for own in questions])
    panel.invert_yaxis()
    panel.grid(axis="x", color="0.9")
    panel.set_xlabel(
        "time of a warm call, as a multiple of that of dpfast\n(left of the line: faster)"
    )
    drawing.legend(fontsize=8, ncols=4, loc="outside lower center")
    drawing.savefig(path, dpi=110)


def blocks(path: Path, made: dict[str, str]) -> None:
    """Put what was made between the marks of a page."""
    text = path.read_text(encoding="utf-8")
    for name, block in made.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, b=block: m[1] + b + "\n" + m[2], text, flags=re.S)
    path.write_text(text, encoding="utf-8")


def summary(result: dict[str, Any]) -> str:
    """When, where and of what the figures were made, as a list in Markdown."""
    versions = "; ".join(
        f"{own['name']} {own['version']}" for own in result["systems"].values() if "version" in own
    )
    anew, again = result.get("audits"), ""
    if anew:
        again = f" The audits were made again on {anew['date']}, commit {anew['commit']}."
    lines = [
        f"- Run: `{result['command']}`, {result['date']}, commit {result['commit']}, "
        f"{result['machine']}, Python {result['python']}.{again}",
        *(f"- {later(result, one)}" for one in result.get("later", [])),
        f"- Versions: {versions}.",
        f"- Times and memory are for {result['scale']:,.0f} rows, errors for "
        f"{result['error_rows']:,} rows. Epsilon is {result['epsilon']:g}.",
    ]
    return "\n".join(lines)


def later(result: dict[str, Any], run: dict[str, Any]) -> str:
    """How many rows a later run made again, and how."""
    number = sum(row.get("date") == run["date"] for row in result["rows"])
    return (
        f"A later run, which measured {number} rows of the figures again: `{run['command']}`, "
        f"{run['date']}, commit {run['commit']}, {run['machine']}, Python {run['python']}."
    )


def write(results: Path) -> None:
    """Write the page, the picture and the tables of a file of results."""
    result = json.loads(results.read_text(encoding="utf-8"))
    rows = [
        {
            **row,
            "audit": {**row["audit"], "could": could_show(result, row), "why": why(result, row)},
        }
        if "samples" in row.get("audit", {})
        else row
        for row in result["rows"]
    ]
    shown = {
        **result,
        "rows": rows,
        "workloads": {
            name: {**one, "title": title(name)} for name, one in result["workloads"].items()
        },
        "verdicts": verdicts(result["rows"]),
        "columns": COLUMNS,
        "private": [s for s in result["systems"] if private(s)],
    }
    template = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    data = json.dumps(shown, allow_nan=False).replace("</", "<\\/")
    html = template.replace("/* results */ null", data)
    results.with_suffix(".html").write_text(html, encoding="utf-8")
    picture(result, results.with_suffix(".png"))
    if results == ROOT / "docs" / "figures" / "compare.json":
        made = {
            "summary": summary(result),
            "losses": losses(result),
            "audits": audits(result),
            "times": times(result),
            "growth": growth(result),
        }
        blocks(GUIDE, made)


if __name__ == "__main__":
    kept = ROOT / "docs" / "figures" / "compare.json"
    if len(sys.argv) > 1:
        runs = [json.loads(Path(path).read_text())["rows"] for path in (kept, sys.argv[1])]
        print("\n".join(disagreements(*runs)) or "no winner differs")
    else:
        write(kept)
