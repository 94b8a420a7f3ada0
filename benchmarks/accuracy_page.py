"""What the rows of `docs/figures/accuracy.json` say: verdicts, heat maps, tables, sentences.

A ratio is that of an error of dpfast to the least of those of the rivals in a cell. It is worse if
it is above `TOLERATED` by more than `SPREAD` standard errors, and undecided if it is not, but might
be, and its standard error is above `ENOUGH`. An error below `NONE` (of a unit, or of a rank; of a
quantile a millionth of the range of the column) counts as that much, for noise may lie at a hair's
breadth from what it was added to.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
#: The page with blocks that are made from the rows, between marks such as `<!-- worst -->`.
PAGE = ROOT / "docs" / "guide" / "accuracy.md"
TOLERATED, SPREAD, ENOUGH = 1.1, 2.0, 0.03
NONE = {"absolute": 1e-6, "rank": 0.5}
#: Integers in an answer, which may all be right: no verdict where so few errors are expected.
INTEGERS, RARE = {"count": 1, "histogram": 100}, 10
#: Where the figure and its standard error are in a list of the file.
STATISTICS = {"mean": slice(0, 2), "median": slice(2, 4)}
KINDS = [(measure, statistic) for measure in NONE for statistic in STATISTICS]
GROUPS = {
    "quantile tight": "a quantile",
    "quantile wide": "a quantile, bounds 10,000 times too wide",
    "lattice": "a quantile on a public lattice",
    "quantiles": "3, 9 or 29 quantiles",
    "sum": "sums",
    "mean": "means",
    "variance": "variances",
    "count": "counts",
    "histogram": "histograms",
    "covariance": "covariances",
    "auto": "no public bounds",
    "learners": "learners",
}


class Verdict(NamedTuple):
    """A ratio to the best rival, its standard error, whether that is worse, and who the best is."""

    ratio: float
    spread: float
    worse: bool
    best: str

    @property
    def is_decided(self):
        """Whether chance decides no more whether it is worse."""
        may_be = self.ratio + SPREAD * self.spread > TOLERATED
        return self.worse or not may_be or self.spread <= ENOUGH


def verdict(row, measure="absolute", statistic="mean"):
    """What a row says, or None where no rival was measured, or hardly an error was met."""
    each = INTEGERS.get(row["group"], math.inf)
    if row.get("optimum", math.inf) * row["runs"] * each < RARE:
        return None
    part, least = STATISTICS[statistic], NONE[measure]
    if measure == "absolute":
        least = row.get("floor", least)
    found = {who: errors[part] for who, errors in row.get(measure, {}).items()}
    others = {who: errors for who, errors in found.items() if not who.startswith("dpfast")}
    if not others:
        return None
    best = min(others, key=lambda who: others[who][0])
    (mine, a), (other, b) = found["dpfast"], others[best]
    mine, other = max(mine, least), max(other, least)
    ratio = mine / other
    spread = ratio * math.hypot(a / mine, b / other)
    return Verdict(ratio, spread, ratio - SPREAD * spread > TOLERATED, best)


def group(row):
    return " ".join([row["group"], *([row["bounds"]] if row["group"] == "quantile" else [])])


def typical(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def number(x):
    return f"{x:.3g}" if 0.01 <= x < 1000 else f"{x:.2g}"


def table(head, lines):
    marks = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (head, marks, *lines))


def shares(rows):
    """For each group: how many cells, in what part of them dpfast is not worse, and the ratio."""
    lines = []
    for key, title in GROUPS.items():
        own = [row for row in rows if group(row) == key and verdict(row)]
        cells = []
        for kind in KINDS:
            found = [v for row in own if (v := verdict(row, *kind))]
            good = sum(not v.worse for v in found)
            cells.append(f"{math.floor(100 * good / len(found))} %" if found else "")
        if own:
            ratio = number(typical([verdict(row).ratio for row in own]))
            lines.append([title, len(own), *cells, len(undecided(own)), ratio])
    head = ["group", "cells", "mean error", "median error", "mean rank error", "median rank error"]
    return table([*head, "undecided", "typical ratio"], lines)


def undecided(rows):
    """The rows of which at least one error may be worse or not."""
    return [
        row for row in rows if not all(v.is_decided for kind in KINDS if (v := verdict(row, *kind)))
    ]


def summary(result):
    """How much was measured, of whom."""
    rows = [row for row in result["rows"] if verdict(row)]
    least, used = min(row["runs"] for row in rows), sorted({row["session"] for row in rows})
    names = dict.fromkeys(v for i in used for v in result["sessions"][i]["versions"][2:])
    return (
        f"There are {len(rows):,} cells. The rivals are {', '.join(names)}.\n"
        f"Each library has at least {least} runs in each cell."
    )


def label(row, *left_out):
    """What a row is of, in words."""
    words = {k: v for k, v in row.items() if k in FACTS and k not in left_out}
    if "case" in row:
        return row["case"]
    return ", ".join(v if isinstance(v, str) else f"{k} = {v:,}" for k, v in words.items())


FACTS = ("group", "column", "statistic", "bounds", "n", "m", "q", "epsilon", "neighbors")


def worse(rows):
    """All that is worse, the worst first: verdict, row, kind of error."""
    found = [(v, row, kind) for row in rows for kind in KINDS if (v := verdict(row, *kind))]
    return sorted((each for each in found if each[0].worse), key=lambda each: -each[0].ratio)


def shown(found):
    for v, row, (measure, statistic) in found:
        ratio = f"{number(v.ratio)} ± {v.spread:.1g}"
        yield [label(row), f"{statistic} {'rank ' * (measure == 'rank')}error", ratio, v.best]


def beside_optimum(rows):
    """Mean errors over the least that noise of one shape can have."""
    lines = []
    for key, title in GROUPS.items():
        own = [row for row in rows if group(row) == key and "optimum" in row and verdict(row)]
        if own:
            ours = [row["absolute"]["dpfast"][0] / row["optimum"] for row in own]
            theirs = [x / verdict(row).ratio for x, row in zip(ours, own, strict=True)]
            cells = typical(ours), min(ours), max(ours), typical(theirs)
            lines.append([title, len(own), *map(number, cells)])
    head = ["group", "cells", "dpfast, typical", "dpfast, least", "dpfast, largest"]
    return table([*head, "best rival, typical"], lines)


def without_bounds(rows):
    """Mean errors over those of dpfast with tight public bounds."""
    lines = []
    for statistic in dict.fromkeys(row["statistic"] for row in rows if row["group"] == "auto"):
        for epsilon in sorted({row["epsilon"] for row in rows if row["group"] == "auto"}):
            cells = []
            for who in ("dpfast", "PyDP", "dpfast, bounds 1e6 too wide"):
                ratios = [
                    max(row["absolute"][who][0], NONE["absolute"])
                    / max(row["absolute"]["dpfast, tight bounds"][0], NONE["absolute"])
                    for row in rows
                    if row.get("statistic") == statistic
                    and row["epsilon"] == epsilon
                    and who in row["absolute"]
                ]
                cells.append(f"{number(typical(ratios))} ({number(max(ratios))})" if ratios else "")
            lines.append([f"{statistic}, epsilon = {epsilon}", *cells])
    head = ["statistic", 'dpfast, `bounds="auto"`', "PyDP, without bounds"]
    return table([*head, "dpfast, wide public bounds"], lines)


def learned(rows):
    lines = []
    for row in rows:
        if row["group"] == "learners":
            (mine, a), (other, b) = (row["absolute"][who][:2] for who in ("dpfast", "diffprivlib"))
            pairs = (mine, a), (other, b)
            errors = [f"{value:.4g} ± {round(error, 9):.1g}" for value, error in pairs]
            lines.append([row["case"], *errors, number(mine / other), row["what"]])
    head = ["learner", "dpfast", "diffprivlib", "ratio", "error"]
    return table(head, lines)


def left_out(rows):
    counts = {}
    for row in rows:
        for who, why in row.get("left out", {}).items():
            counts[who, why] = counts.get((who, why), 0) + 1
    lines = [f"- {who}, in {count} cells: {why}" for (who, why), count in counts.items()]
    return "\n".join(lines or ["- nothing"])


def sessions(result):
    """How many rows each day, commit, machine and set of versions has."""
    counts = {}
    for row in result["rows"]:
        own = result["sessions"][row["session"]]
        facts = own["date"].split()[0], f"commit {own['commit']}"
        where = own["machine"], *own["versions"], f"seed {own['seed']}"
        counts[facts, where] = counts.get((facts, where), 0) + 1
    return "\n".join(
        f"- {', '.join(facts)}: {count} cells; {', '.join(where)}"
        for (facts, where), count in sorted(counts.items())
    )


def worst(result, most=15):
    rows = result["rows"]
    red = worse(rows)
    cells, every = {id(row) for _, row, _ in red}, [row for row in rows if verdict(row)]
    lines = table(["cell", "error", "ratio", "best rival"], shown(red[:most]))
    words = f"{len(cells):,} of {len(every):,} cells; the {most} largest ratios are:"
    return f"{words}\n\n{lines}"


def pictures(result):
    names = figures_of(result)
    return "\n\n".join(f"![{FIGURES[name][0]}](../figures/{name}.png)" for name in names)


BLOCKS = {
    "summary": summary,
    "shares": lambda result: shares(result["rows"]),
    "pictures": pictures,
    "worst": worst,
    "optimum": lambda result: beside_optimum(result["rows"]),
    "bounds": lambda result: without_bounds(result["rows"]),
    "learners": lambda result: learned(result["rows"]),
    "left out": lambda result: left_out(result["rows"]),
    "sessions": sessions,
}
MARKS = re.compile(rf"(<!-- ({'|'.join(BLOCKS)}) -->\n).*?(<!-- /\2 -->)", re.S)


def made(text, result):
    """A page with all its blocks made anew."""
    return MARKS.sub(lambda m: f"{m[1]}{BLOCKS[m[2]](result)}\n{m[3]}", text)


RELATIONS = ("add-remove", "replace")
#: Panels of each figure: title, groups, relation and kind of error.
SIMPLE = ("sum", "mean", "variance", "count", "histogram", "covariance", "auto")
FIGURES = {
    "accuracy": (
        "Errors of a quantile, divided by the errors of the best rival",
        [
            (f"{relation}: mean {measure} error", ("quantile", "lattice"), relation, measure)
            for relation in RELATIONS
            for measure in NONE
        ],
    ),
    "accuracy-more": (
        "Errors of other statistics, divided by the errors of the best rival",
        [
            (f"{relation}: mean {measure} error", groups, relation, measure)
            for groups, measure in (
                (SIMPLE, "absolute"),
                (("quantiles",), "absolute"),
                (("quantiles",), "rank"),
            )
            for relation in RELATIONS
        ],
    ),
}


def panel_rows(rows, panel):
    _, groups, relation, _ = panel
    return [r for r in rows if r["group"] in groups and r["neighbors"] == relation and verdict(r)]


def figures_of(result):
    """The figures that there are rows for."""
    return [
        name
        for name, (_, panels) in FIGURES.items()
        if any(panel_rows(result["rows"], panel) for panel in panels)
    ]


def colour(v):
    import matplotlib as mpl

    if v.worse:
        return mpl.colormaps["Reds"](0.35 + 0.65 * min(1.0, math.log2(v.ratio) / 3))
    return mpl.colormaps["Greens"](0.8 * min(1.0, max(0.0, -math.log2(v.ratio)) / 3))


def heat(axis, rows, panel):
    """One square a cell."""
    import numpy as np

    title, _, _, measure = panel
    down = list(dict.fromkeys(label(row, "q", "epsilon", "neighbors") for row in rows))
    across = sorted({(row.get("q", 0), row["epsilon"]) for row in rows})
    image = np.full((len(down), len(across), 4), (0.85, 0.85, 0.85, 1))
    for row in rows:
        if v := verdict(row, measure):
            at = down.index(label(row, "q", "epsilon", "neighbors"))
            image[at, across.index((row.get("q", 0), row["epsilon"]))] = colour(v)
    axis.imshow(image, aspect="auto")
    axis.set_yticks(range(len(down)), down, fontsize=6)
    words = [f"{q:g}: {e:g}" if q else f"{e:g}" for q, e in across]
    axis.set_xticks(range(len(across)), words, rotation=90, fontsize=6)
    axis.set_title(title, fontsize=9)
    axis.set_xlabel("q: epsilon" if across[0][0] else "epsilon", fontsize=7)


def draw(result, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for name in figures_of(result):
        parts = [(panel_rows(result["rows"], panel), panel) for panel in FIGURES[name][1]]
        parts = [(rows, panel) for rows, panel in parts if rows]
        high = (len(parts) + 1) // 2
        size = {"figsize": (12, 5 * high), "layout": "constrained"}
        figure, axes = plt.subplots(high, 2, squeeze=False, **size)
        for axis in axes.flat[len(parts) :]:
            axis.set_axis_off()
        for axis, (rows, panel) in zip(axes.flat, parts, strict=False):
            heat(axis, rows, panel)
        figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close(figure)


def make(result):
    """Draw the figures, and write what the page says of the rows."""
    draw(result, ROOT / "docs" / "figures")
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), result), encoding="utf-8")
