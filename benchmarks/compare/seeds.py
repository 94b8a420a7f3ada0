"""Where the noise of each system comes from, and whether two processes have the same.

    python -m benchmarks.compare.seeds [--environments DIR] [--only SYSTEM ...]

asks each system for a few noisy sums of the same rows, in two processes that know nothing of each
other, and writes the results and a table of `docs/guide/compare.md`. What the table says of a
generator is read in the source of the release that runs; whether noise is the same is seen here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ANSWERS, ROWS = 5, 1000


@dataclass(frozen=True)
class Source:
    """The generator of a system's noise, what seeds it, and where its source says so."""

    generator: str
    seed: str
    file: str


BORINGSSL = Source(
    "BoringSSL", "the operating system", "google/differential-privacy/cc/algorithms/rand.cc"
)
SOURCES = {
    "dpfast": Source("ChaCha20", "256 bits of the operating system", "dpfast/rng.py"),
    "diffprivlib": Source(
        "the operating system",
        "none; with `random_state`, the Mersenne twister and that seed",
        "diffprivlib/utils.py",
    ),
    "duckdb_elastic": Source(
        "the Mersenne twister, with a new seed for each number",
        "32 bits of the operating system, mixed with the query's number, the true value and the "
        "scale",
        "src/aggregates/dp_laplace_noise.cpp",
    ),
    "duckdb_pac": Source(
        "the Mersenne twister",
        "42, mixed with the query's number",
        "src/include/aggregates/pac_aggregate.hpp",
    ),
    "opendp": Source(
        "OpenSSL, `RAND_priv_bytes`", "the operating system", "rust/src/traits/samplers/mod.rs"
    ),
    "pipelinedp": BORINGSSL,
    "pydp": BORINGSSL,
    "qrlew": Source(
        "`RANDOM()` of the database: PCG32 in DuckDB",
        "64 bits of the operating system for each connection",
        "duckdb/src/common/random_engine.cpp",
    ),
    "smartnoise": Source(
        "that of an older release of OpenDP",
        "the operating system",
        "snsql/sql/_mechanisms/laplace.py",
    ),
    "tumult": Source(
        "RDRAND of the processor, otherwise the operating system",
        "none",
        "tmlt/core/random/rng.py",
    ),
}


def answers(system: str) -> list[float]:
    """A few noisy sums, asked in the environment of the system."""
    spec = importlib.util.spec_from_file_location("worker", HERE / "worker.py")
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    workloads = worker.shared()
    asked = worker.load(HERE / system / "system.py", "system")
    data = asked.prepare(workloads.WORKLOADS["sum"].data(ROWS), "sum")
    call = asked.sum(data, asked.OFFERS["sum"][0])
    return [float(call()) for _ in range(ANSWERS)]


def processes(python: Path, system: str) -> list[list[float]]:
    """The answers of two processes."""
    command = [str(python), "-P", str(HERE / "seeds.py"), "--child", system]
    runs = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True) for _ in "12"]
    return [json.loads(run.stdout.splitlines()[-1]) for run in runs]


def lines(result: dict[str, Any]) -> str:
    """The table of the guide."""
    from .page import table

    made, rows = [], {one["system"]: one for one in result["systems"]}
    for system, source in SOURCES.items():
        release = (HERE / system / "requirements.txt").read_text(encoding="utf-8").split()[0]
        release = release.replace("==", " ")
        seen = "not run here"
        if system in rows:
            one = rows[system]
            release, same = one["release"], f"**{one['same']} of {one['answers']} the same**"
            seen = same if one["same"] else "different"
        made.append([release, source.generator, source.seed, f"`{source.file}`", seen])
    head = ["system", "generator", "seed", "source file", "noise of two processes"]
    return table(head, made, words=5)


def main() -> None:
    from . import __main__ as compare
    from .page import GUIDE, blocks

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environments", type=Path, default=compare.BUILD)
    parser.add_argument("--only", nargs="*", default=list(SOURCES), choices=list(SOURCES))
    given = parser.parse_args()
    path = compare.ROOT / "docs" / "figures" / "seeds.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"systems": []}
    rows = {one["system"]: one for one in old["systems"]}
    for system in given.only:
        python = compare.environment(system, given.environments)
        about = compare.offers(python, system)
        first, second = processes(python, system)
        same = sum(x == y for x, y in zip(first, second, strict=True))
        release = f"{about['name']} {about['version']}"
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        rows[system] = {
            "system": system,
            "release": release,
            "date": date,
            "answers": len(first),
            "same": same,
        }
        print(f"{release}: {same} of {len(first)} answers are the same", flush=True)
        kept = [rows[name] for name in SOURCES if name in rows]
        result = {"command": "python -m benchmarks.compare.seeds", "systems": kept}
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        blocks(GUIDE, {"seeds": lines(result)})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(answers(sys.argv[2])))
    else:
        main()
