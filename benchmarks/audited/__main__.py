"""The loss that an audit shows of our own mechanisms, over their claims, and faults that it finds.

    python -m benchmarks.audited [--quick] [--table] [--out folder] [names]

writes `audited.json`, and a badge made of it, `audited.svg`, in `docs/figures`. Every public
mechanism is audited on a pair of neighbors on which it spends what it claims, or nearly; a ratio
above 1 would be a fault of dpfast. Each planted fault is audited at the claim that it breaks. With
`--table` only the statistics are audited again, and the rest of the file stays.

A row is audited in one of four ways.

* By *answers*: `dp.audit.measure` bounds the loss from below. The data of a release are read once,
  and each answer gets fresh noise; integers are drawn for many answers at once.
* By its *law*: the probability of each answer on either data, from the parameters of the mechanism;
  `dp.audit.exact_epsilon` and `exact_rho` tell the loss. Answers of the mechanism are then tested
  against the law, by chi-square.
* By its *noise*: every statistic of the table of dpfast, in each of its ways (`of_table`). It runs
  twice, on neighbors, and gets the same noisy numbers; the law of the noise tells what the exact
  numbers lose that it hides.
* By its *rounds*: a program of noisy integers runs twice, and is given the same answers. Of each
  integer the law of its noise tells what the shift costs. Fresh answers are tested against it.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import dpfast as dp

from . import faults, of_table
from .mechanisms import (
    OURS,
)
from .ways import (
    FALSE_ALARM,
    GENERATOR,
    ROUNDING,
    SEED,
)

#: The share of a claim from which nothing has to be explained.
NEAR = 0.95
#: What a quick run audits of the table.
QUICK = {"count", "mean", "median", "sum of people", "means of columns", "mean by group"}
FIGURES = Path(__file__).parents[2] / "docs" / "figures"


def audited_fault(mechanism, pair, claim, samples):
    """A row of the table of faults."""
    begun = time.perf_counter()
    GENERATOR.__init__(SEED)
    found = dp.audit.measure(mechanism, *pair, **claim, samples=samples)
    shown, asked = ("rho", claim["rho"]) if "rho" in claim else ("epsilon", claim["epsilon"])
    return {
        "claim": repr(found.claim) if len(claim) == 1 else "Approx(epsilon=1, delta=0.000667)",
        "shown": round(getattr(found, shown), 4),
        "ratio": round(getattr(found, shown) / asked, 3),
        "refuted": found.refuted,
        "p_value": float(f"{found.p_value:.2g}"),
        "samples": found.samples,
        "seconds": round(time.perf_counter() - begun, 2),
        "witness": found.witness,
    }


def audited(row, samples):
    """A row of the table of our own."""
    begun = time.process_time()
    GENERATOR.__init__(SEED)  # the same bits, whatever rows came before
    found = row.audit(row, samples)
    ratio = found["shown"] / float(row.claim.get("rho", row.claim.get("epsilon")))
    return {
        "claim": repr(dp.privacy.loss(**row.claim)),
        "by": found["by"],
        "shown": round(found["shown"], 4),
        "ratio": round(ratio, 4),
        "refuted": bool(ratio > 1 + ROUNDING or found["p_value"] <= FALSE_ALARM),
        "p_value": float(f"{found['p_value']:.2g}"),
        "samples": found["samples"],
        "seconds": round(time.process_time() - begun, 2),
        "note": row.note,
    }


def measure(quick, names=(), old=None):
    """What the file has; with an old file only the table is audited again."""
    faults.RNG = faults.plain()
    if old is not None:
        return {**old, "table": of_statistics(quick)}
    ours = {}
    for name, row in OURS.items():
        if not names or name.startswith(tuple(names)):
            ours[name] = audited(row, max(4_000, row.samples // 20) if quick else row.samples)
            print(f"{name}: {ours[name]['ratio']}", file=sys.stderr, flush=True)
    table = of_statistics(quick, names)
    if names:
        return {"ours": ours, "table": table, "faults": {}, "quick": quick}
    found = {name: audited_fault(*row, 2_000_000) for name, row in faults.FAULTS.items()}
    return {"ours": ours, "table": table, "faults": found, "quick": quick}


def of_statistics(quick, names=()):
    """The table of statistics in each of their ways."""
    table = {}
    for name, case in of_table.cases():
        wanted = name.startswith(tuple(names)) if names else not quick or name in QUICK
        for row, found in of_table.audited(name, case) if wanted else ():
            table[row] = found
            print(f"{row}: {least(found)}", file=sys.stderr, flush=True)
    return table


def least(row):
    """The least ratio of the claims of a row of the table."""
    return min(claim["ratio"] for claim in row["claims"].values())


def counted(result):
    """How many claims were audited, were refuted, are shown to .95, and are explained."""
    rows = [(row["ratio"], row["refuted"], row["note"]) for row in result["ours"].values()]
    for row in result["table"].values():
        drawn = row["p_value"] <= FALSE_ALARM
        for claim in row["claims"].values():
            refuted = drawn or claim["ratio"] > 1 + ROUNDING or not claim["seen"]
            rows.append((claim["ratio"], refuted, claim["note"]))
    return {
        "measurements": len(result["ours"]) + len(result["table"]),
        "claims": len(rows),
        "refuted": sum(refuted for _, refuted, _ in rows),
        "shown": sum(ratio >= NEAR for ratio, _, _ in rows),
        "explained": sum(ratio < NEAR and bool(note) for ratio, _, note in rows),
    }


BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}">
<title>{label}</title>
<rect width="{width}" height="20" rx="3" fill="#555"/>
<rect x="47" width="{right}" height="20" rx="3" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="6" y="14">audits</text>
<text x="53" y="14" textLength="{length}">{text}</text>
</g>
</svg>
"""


def badge(result):
    """The badge of the README, as SVG."""
    number = counted(result)
    text = (
        f"{number['claims']:,} claims of {number['measurements']} measurements, "
        f"{number['refuted']} refuted, {number['shown']:,} at .95 of the claim"
    )
    length = 6 * len(text)
    return BADGE.format(
        width=length + 59,
        right=length + 12,
        length=length,
        text=text,
        label=f"audits: {text}",
        color="#c33" if number["refuted"] else "#2b7a3d",
    )


def table(result):
    """The tables of the page, as Markdown."""
    lines = [
        "| mechanism | claim | by | shown / claim | answers | seconds | |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for name, row in result["ours"].items():
        lines.append(
            f"| `{name}` | `{row['claim']}` | {row['by']} | {row['ratio']:.3f} "
            f"| {row['samples']:,} | {row['seconds']} | {row['note']} |"
        )
    lines += ["", "| fault | answers | p-value | seconds |", "|---|---:|---:|---:|"]
    for name, row in result["faults"].items():
        lines.append(f"| {name} | {row['samples']:,} | {row['p_value']:.0e} | {row['seconds']} |")
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer answers")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the file goes")
    parser.add_argument("--table", action="store_true", help="again only statistics in their ways")
    parser.add_argument("names", nargs="*", help="these of our mechanisms alone; writes no file")
    given = parser.parse_args(arguments)
    path = given.out / "audited.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    result = measure(given.quick, given.names, kept if given.table else None)
    if not given.names:
        (given.out / "audited.svg").write_text(badge(result), encoding="utf-8")
        path.write_text(json.dumps(kept | result, indent=1) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main(sys.argv[1:])
