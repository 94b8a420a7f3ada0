"""Check every proof with Coq, and print what each theorem stands on.

    python -m proofs            # compiles what changed, then checks all theorems
    python -m proofs --clean    # compiles all again
    python -m proofs --install  # installs Coq first, if it is missing, with apt
    python -m proofs --list     # prints each theorem with its statement; needs no Coq

A theorem is what a file says with `Theorem`; `Lemma` is for steps. Each theorem may stand on the
axioms by which Coq's standard library makes its real numbers, and on nothing else.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: What `exp_plus` of the standard library stands on, too.
AXIOMS = {
    "Classical_Prop.classic",
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
STATEMENT = re.compile(
    r"(?:\(\* (?P<comment>(?:(?!\*\)).)*?) ?\*\)\n)?"
    r"Theorem (?P<name>\w+)(?P<rest>.*?)\nProof",
    re.S,
)
#: Debian's packages: Coq 8.16, real analysis and floating point.
PACKAGES = ["coq", "libcoq-coquelicot", "libcoq-flocq"]
INSTALL = f"apt-get install {' '.join(PACKAGES)}"


@dataclass(frozen=True)
class Theorem:
    """A theorem: its file without ending, name, the comment above it and its statement."""

    file: str
    name: str
    comment: str
    statement: str


def files(folder: Path = HERE) -> list[str]:
    """The files of the proofs, each after those that it imports, without their ending."""
    project = (folder / "_CoqProject").read_text(encoding="utf-8").split()
    return [name.removesuffix(".v") for name in project if name.endswith(".v")]


def theorems(folder: Path = HERE) -> Iterator[Theorem]:
    """The theorems of all files."""
    for file in files(folder):
        text = (folder / f"{file}.v").read_text(encoding="utf-8")
        for match in STATEMENT.finditer(text):
            comment = " ".join((match["comment"] or "").split())
            statement = f"Theorem {match['name']}{match['rest']}"
            yield Theorem(file, match["name"], comment, statement)


def compile_all(folder: Path = HERE, *, clean: bool = False) -> None:
    """Compile every file; a proof that fails raises `CalledProcessError`."""
    makefile = ["coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq"]
    subprocess.run(makefile, cwd=folder, check=True)
    make = ["make", "-s", "-f", "Makefile.coq"]
    if clean:
        subprocess.run([*make, "clean"], cwd=folder, check=True)
    subprocess.run([*make, f"-j{os.cpu_count() or 1}"], cwd=folder, check=True)


def assumptions(names: Sequence[str], folder: Path = HERE) -> set[str]:
    """The axioms that some theorems of compiled files, ``file.name``, stand on together."""
    lines = [f"From Dpfast Require {' '.join(files(folder))}."]
    lines += [f"Definition all := (tt, {', '.join('@' + name for name in names)})."]
    lines += ["Print Assumptions all."]
    with tempfile.TemporaryDirectory() as scratch:
        asked = Path(scratch, "asked.v")
        asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["coqc", "-q", "-Q", str(folder), "Dpfast", str(asked)]
        done = subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True)
    return set(re.findall(r"^([\w.]+)\s*:", done.stdout, re.M)) - {"Axioms"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__.split("\n")[0])
    parser.add_argument("--clean", action="store_true", help="compile all files again")
    parser.add_argument("--install", action="store_true", help="install Coq if it is missing")
    parser.add_argument("--list", action="store_true", help="print the theorems and stop")
    chosen = parser.parse_args()
    if chosen.list:
        for theorem in theorems():
            print(f"{theorem.file}.v\n{theorem.comment}\n{theorem.statement}\n")
        return 0
    if chosen.install and not shutil.which("coqc") and shutil.which("apt-get"):
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        subprocess.run([*root, "apt-get", "install", "-y", "-qq", *PACKAGES])
    if shutil.which("coqc") is None:
        print(f"proofs were NOT checked: there is no Coq here: {INSTALL}")
        return 0
    compile_all(clean=chosen.clean)
    names = [f"{theorem.file}.{theorem.name}" for theorem in theorems()]
    own = [] if assumptions(names) <= AXIOMS else [n for n in names if assumptions([n]) - AXIOMS]
    for name in own:
        print(f"{name} stands on {', '.join(sorted(assumptions([name]) - AXIOMS))}")
    print(f"{len(names)} theorems are proved, {len(own)} of them with axioms of their own")
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())
