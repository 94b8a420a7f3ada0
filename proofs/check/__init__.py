"""Makes a program of `specification.v`, which says by definition what the kernels do."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = [HERE.parent / "specification.v", HERE / "extract.v", HERE / "check.ml"]
COMMANDS = [
    ["coqc", "-q", "-Q", ".", "Dpfast", "specification.v"],
    ["coqc", "-q", "-Q", ".", "Dpfast", "extract.v"],
    ["ocamlopt", "-inline", "200", "-w", "-a", "specification.mli", "specification.ml", "check.ml"],
]
TOOLS = ["coqc", "ocamlopt"]


def missing() -> list[str]:
    """The tools that are not installed. Debian's package `coq` brings all of them."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def program(old: str = "", new: str = "") -> Path:
    """The program of these sources, made where it is not in `build/proofs` yet.

    In the specification `old` stands once, and is read as `new`: a planted fault.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in SOURCES}
    if old:
        assert texts["specification.v"].count(old) == 1, f"{old!r} does not stand there once"
        texts["specification.v"] = texts["specification.v"].replace(old, new)
    digest = hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:16]
    made = HERE.parent.parent / "build" / "proofs" / f"specification-{digest}"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            for name, text in texts.items():
                Path(scratch, name).write_text(text, encoding="utf-8")
            for command in COMMANDS:
                subprocess.run(command, cwd=scratch, check=True)
            own = made.with_suffix(f".{os.getpid()}")
            shutil.copy(Path(scratch, "a.out"), own)
            own.replace(made)  # at once, as other processes may make it too
    return made
