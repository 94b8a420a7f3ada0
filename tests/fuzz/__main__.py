"""Fuzz the readers of bytes that others wrote, with libFuzzer and, for Python, Atheris.

    python -m tests.fuzz                         # every target, a minute each
    python -m tests.fuzz records jobs --seconds 600
    python -m tests.fuzz records --runs 10000000
    python -m tests.fuzz --planted               # each planted fault must be found

`records` is the scanner of text tables in C, with sanitizers, which needs clang. The others are in
`targets.py` and need `pip install "dpfast[fuzz]"`. Findings are left in `build/fuzz/TARGET`, and
the exit code is 1. Inputs that reach new code are kept in `build/fuzz/corpus/TARGET`; `--keep`
makes the smallest set of them with the same reach, and writes it to `tests/fuzz/corpus/TARGET`,
which is where every run begins.
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
PYTHON = ["header", "array", "jobs", "ledger", "labels"]
LONGEST = {"records": 1000, "header": 200, "array": 300, "jobs": 200, "ledger": 40, "labels": 40}


def missing(target: str) -> str:
    """What a target needs and is not here, with the line that installs it."""
    if target == "records":
        return "" if shutil.which("clang") else "clang: apt-get install clang"
    return "" if importlib.util.find_spec("atheris") else 'Atheris: pip install "dpfast[fuzz]"'


def command(target: str, *, planted: bool) -> list[str]:
    """The program that fuzzes a target, which is built if need be."""
    if target != "records":
        program = [sys.executable, "-m", "tests.fuzz.python_target", target]
        return [*program, "--planted"] if planted else program
    program = BUILD / f"scanner{'-planted' * planted}"
    flags = ["-g", "-O1", "-std=c11", *SANITIZERS, "-Icsrc", *["-DPLANTED"] * planted]
    source = str(HERE / "records.c")
    subprocess.run(["clang", *flags, source, *SCANNER, "-o", str(program)], cwd=ROOT, check=True)
    return [str(program)]


def fuzz(target: str, limits: list[str], *, planted: bool, keep: bool) -> int:
    """Fuzz a target; 0 if nothing was found."""
    kept, corpus, found = HERE / "corpus" / target, BUILD / "corpus" / target, BUILD / target
    for folder in (kept, corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    program = command(target, planted=planted)
    options = [f"-max_len={LONGEST[target]}", "-print_final_stats=1", f"-artifact_prefix={found}/"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [*program, *options, *limits, str(corpus), str(kept)]
    code = subprocess.run(run, cwd=ROOT, env=environment).returncode
    if keep and not code:
        merged = BUILD / "merged" / target
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir(parents=True)
        merge = [*program, options[0], "-merge=1", str(merged), str(corpus), str(kept)]
        subprocess.run(merge, cwd=ROOT, env=environment, check=True)
        shutil.rmtree(kept)
        shutil.copytree(merged, kept)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.split("\n")[0]
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="records, header, ...")
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--runs", type=int, help="of each target, in the place of seconds")
    parser.add_argument("--planted", action="store_true", help="plant a fault, which must be found")
    parser.add_argument("--keep", action="store_true", help="keep the inputs that reach new code")
    chosen = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={chosen.seconds}"]
    if chosen.runs:
        limits = [f"-runs={chosen.runs}"]
    failed = []
    for target in chosen.targets or ["records", *PYTHON]:
        if need := missing(target):
            print(f"{target} was NOT fuzzed, this needs {need}")
            continue
        code = fuzz(target, limits, planted=chosen.planted, keep=chosen.keep)
        if bool(code) != chosen.planted:
            failed.append(target)
    said = "missed a planted fault in" if chosen.planted else "found something in"
    print(f"{said} {', '.join(failed)}" if failed else "as it should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
