"""The loss that an audit shows of our own mechanisms, over their claims, and faults that it finds.

    python -m benchmarks.audited [--quick] [--out folder] [names]

writes `audited.json` in `docs/figures`. Every public mechanism is audited on a pair of neighbors on
which it spends what it claims, or nearly; a ratio above 1 would be a fault of dpfast. Each planted
fault is audited at the claim that it breaks.

A row is audited in one of three ways.

* By *answers*: `dp.audit.measure` bounds the loss from below. The data of a release are read once,
  and each answer gets fresh noise; integers are drawn for many answers at once.
* By its *law*: the probability of each answer on either data, from the parameters of the mechanism;
  `dp.audit.exact_epsilon` and `exact_rho` tell the loss. Answers of the mechanism are then tested
  against the law, by chi-square.
* By its *rounds*: a program of noisy integers runs twice, and is given the same answers. Of each
  integer the law of its noise tells what the shift costs. Fresh answers are tested against it.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import dpfast as dp

from . import faults
from .mechanisms import (
    OURS,
)
from .ways import (
    FALSE_ALARM,
    GENERATOR,
    ROUNDING,
    SEED,
)

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


def measure(quick, names=()):
    faults.RNG = faults.plain()
    ours = {}
    for name, row in OURS.items():
        if not names or name.startswith(tuple(names)):
            ours[name] = audited(row, max(4_000, row.samples // 20) if quick else row.samples)
            print(f"{name}: {ours[name]['ratio']}", file=sys.stderr, flush=True)
    if names:
        return {"ours": ours, "faults": {}, "quick": quick}
    found = {name: audited_fault(*row, 2_000_000) for name, row in faults.FAULTS.items()}
    return {"ours": ours, "faults": found, "quick": quick}


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
    parser.add_argument("names", nargs="*", help="these of our mechanisms alone; writes no file")
    given = parser.parse_args(arguments)
    result = measure(given.quick, given.names)
    if not given.names:
        path = given.out / "audited.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps(kept | result, indent=1) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main(sys.argv[1:])
