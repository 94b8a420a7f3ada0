"""Fuzz the readers of bytes that others wrote, with libFuzzer and, for Python, Atheris.

    python -m tests.fuzz                         # every target, a minute each
    python -m tests.fuzz records --runs 10000000
    python -m tests.fuzz --planted               # the planted fault of each target must be found

`records` is the scanner of text tables in C, with sanitizers, which needs clang. The others are in
`targets.py` and need `pip install "dpfast[fuzz]"`. The input of a finding is left in
`build/fuzz/found/TARGET`, and the exit code is 1. Every run begins with the inputs in
`tests/fuzz/corpus/TARGET` and in `build/fuzz/corpus/TARGET`, where those that reach new code are
kept.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "fuzz"
SCANNER = ["csrc/tables/records.c", "csrc/core/isa.c"]
SANITIZERS = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
#: The targets, each with the longest input.
LONGEST = {"records": 1000, "header": 200, "array": 300, "jobs": 200, "ledger": 40, "labels": 40}


def missing(target: str) -> str:
    """What a target needs and is not here, with the line that installs it."""
    if target == "records":
        return "" if shutil.which("clang") else "clang: apt-get install clang"
    return "" if importlib.util.find_spec("atheris") else 'Atheris: pip install "dpfast[fuzz]"'


def command(target: str, *, planted: bool) -> list[str]:
    """The program that fuzzes a target; that of the scanner is compiled first."""
    if target != "records":
        module = [sys.executable, "-m", "tests.fuzz.python_target", target]
        return [*module, "--planted"] if planted else module
    program = str(BUILD / "scanner")
    flags = ["-g", "-O1", "-std=c11", *SANITIZERS, "-Icsrc", *["-DPLANTED"] * planted]
    sources = [str(HERE / "records.c"), *SCANNER]
    subprocess.run(["clang", *flags, *sources, "-o", program], cwd=ROOT, check=True)
    return [program]


def finds(target: str, limit: str, *, planted: bool) -> bool:
    """Fuzz a target until the limit or a finding, and say whether there is one.

    Raises `CalledProcessError` if fuzzing ends otherwise, such as by an error of an import.
    """
    found = BUILD / ("planted" if planted else "found") / target
    shutil.rmtree(found, ignore_errors=True)
    corpora = [BUILD / "corpus" / target, HERE / "corpus" / target]
    for folder in (found, *corpora):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_len={LONGEST[target]}", limit, f"-artifact_prefix={found}/"]
    run = [*command(target, planted=planted), *options, *map(str, corpora)]
    done = subprocess.run(run, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    if any(found.iterdir()):
        return True
    done.check_returncode()
    return False


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.split("\n")[0]
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(LONGEST))
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--runs", type=int, help="of each target, in the place of seconds")
    parser.add_argument("--planted", action="store_true", help="plant a fault, which must be found")
    chosen = parser.parse_args()
    limit = f"-runs={chosen.runs}" if chosen.runs else f"-max_total_time={chosen.seconds}"
    BUILD.mkdir(parents=True, exist_ok=True)
    lines, failed = [], False
    for target in chosen.targets or LONGEST:
        if need := missing(target):
            lines.append(f"{target}: NOT fuzzed, this needs {need}")
            continue
        is_found = finds(target, limit, planted=chosen.planted)
        failed |= is_found != chosen.planted
        fault = "the planted fault" if chosen.planted else "a fault"
        lines.append(f"{target}: {fault} was found" if is_found else f"{target}: nothing was found")
    print("\n".join(lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
