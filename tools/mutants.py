"""Plant one fault at a time into the lines that privacy hangs on, and see which tests notice.

    python tools/mutants.py --list --only noise             # the faults that can be planted
    python tools/mutants.py --only noise privacy --count 50 --seed 1
    python tools/mutants.py --only csrc/noise _kernels/noise.pyx --count 10   # of C and Cython
    python tools/mutants.py --line "noise/box.py:41"        # every fault of one line
    python tools/mutants.py --check                         # equivalent faults that are gone
    python tools/mutants.py --planted --since v0.3          # negative controls that are gone

A line counts if what it computes, or the function that it stands in, is named after a loss, a
sensitivity, noise, a bound or a spend. A fault turns a comparison, swaps minimum and maximum or
ceiling and floor, is off by one, doubles a loss, leaves out a clamp or a spend, or spends after
the next statement. Faults that change nothing that anyone could see are in
`equivalent_mutants.toml`, each with the reason.

In C and Cython every line of code counts, and a fault turns one operator or is off by one in one
number. Each needs a build of the kernels, in which only what the fault changes is compiled again:
the rest comes from a cache, by the digest of the preprocessed file.

The tests of a fault: first those of its room that are named after the file or import it, then
the whole room, and with ``--above`` the rooms that import the file. The first failure ends them.
They are the quick tests, and with ``--full`` all that a pull request must pass.

Libraries for this (mutmut, cosmic-ray) run one command of tests for all faults, and know
neither these lines nor the rounding of a loss.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import hashlib
import importlib.util
import itertools
import os
import random
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dpfast"
CSRC = ROOT / "csrc"
EQUIVALENT = Path(__file__).with_suffix("").with_name("equivalent_mutants.toml")
COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OPPOSITE = ["min max", "minimum maximum", "ceil floor", "any all", "up down", "lower upper"]
SWAPPED = dict(pair.split()[::way] for pair in OPPOSITE for way in (1, -1))
LEFT_OUT = {"abs", "ceil", "clamp", "clip", "floor", "max", "min", "nextafter", "up", "down"}
DOUBLED = re.compile("epsilon|delta|rho|loss|sensitivity|scale")
PRIVATE = re.compile(
    "alpha|bound|budget|calibrat|charge|clamp|clip|delta|epsilon|granularity|loss|moves|"
    "neighbors|nextafter|noise|noisy|remaining|rho|scale|sensitiv|sigma|spend|spent|unit|variance"
)
MARGIN = 1e-9  # below it a number covers errors of rounding: half of it may cover them, too
SPENDS = re.compile("spend|charge|reserve|settle|check|refuse|require")
#: Of C and Cython: the operators that a fault turns into each other, and what is no code.
TURNED = ["< <=", "> >=", "== !=", "+ -", "+= -=", "* /", "<< >>", "&& ||", "and or"]
NATIVE = {a: b for pair in TURNED for a, b in itertools.permutations(pair.split())}
TURNS = "|".join(map(re.escape, NATIVE))
NATIVE_FAULT = re.compile(rf"(?<= )(?:{TURNS})(?=\s|$)|(?<![\w.])\d+(?![\w.])")
TEXTS = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
NO_CODE = {
    ".c": re.compile(rf"/\*.*?\*/|//[^\n]*|{TEXTS}", re.S),
    ".pyx": re.compile(rf"\"\"\".*?\"\"\"|{TEXTS}|#[^\n]*", re.S),
}
NO_CODE[".h"] = NO_CODE[".c"]
DECLARED = re.compile(r"\s*(#|cimport|import|from|ctypedef|cdef extern|@)")
PLANTED = re.compile("planted|(?<!de)fault|caught|negative control", re.I)


@dataclass(frozen=True)
class Mutant:
    """One fault: the bytes of a file from `start` to `stop` become `new`."""

    file: str
    line: int
    start: int
    stop: int
    old: str
    new: str
    source: str

    @property
    def name(self) -> str:
        """What it is called in the list of those that are equivalent."""
        return f"{self.file}: {self.source.strip()}: {self.old} -> {self.new}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old} -> {self.new}    | {self.source.strip()}"

    def plant(self, text: bytes) -> bytes:
        """The file with the fault."""
        return text[: self.start] + self.new.encode() + text[self.stop :]


def called(node: ast.expr) -> str:
    """The last part of the name of a function, or nothing."""
    return getattr(node, "attr", getattr(node, "id", ""))


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """A node with other fields."""
    other = copy.copy(node)
    vars(other).update(fields)
    return other


def faults(node: ast.AST) -> Iterator[ast.AST]:
    """What a fault would have written in place of an expression."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARED:
            yield changed(node, ops=[COMPARED[type(operator)]()])
        case ast.BinOp(op=operator):
            if type(operator) in COMPUTED:
                yield changed(node, op=COMPUTED[type(operator)]())
            for side in ("left", "right"):
                operand = getattr(node, side)
                if DOUBLED.fullmatch(called(operand)):
                    double = ast.BinOp(ast.Constant(2), ast.Mult(), operand)
                    yield changed(node, **{side: double})
        case ast.BoolOp(op=operator):
            yield changed(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float() as value) if not 0 < value < MARGIN:
            yield ast.Constant(value / 2 if value else 1.0)
        case ast.keyword(value=value) if DOUBLED.fullmatch(called(value)):
            yield changed(node, value=ast.BinOp(ast.Constant(2), ast.Mult(), value))
        case ast.Call(func=function, args=[first, *_]):
            word = called(function)
            if word in SWAPPED and isinstance(function, ast.Name):
                yield changed(node, func=ast.Name(SWAPPED[word]))
            elif word in SWAPPED:
                yield changed(node, func=changed(function, attr=SWAPPED[word]))
            if word in LEFT_OUT and not isinstance(first, (ast.Starred, ast.GeneratorExp)):
                yield first


def words(node: ast.AST) -> str:
    """The names that a statement has, without the statements inside."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return ""
    parts = [node]
    found = []
    while parts:
        part = parts.pop()
        found += [called(part), getattr(part, "arg", None) or ""]  # type: ignore[arg-type]
        parts += [c for c in ast.iter_child_nodes(part) if not isinstance(c, ast.stmt)]
    return " ".join(found)


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that compute, without the statements inside."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "decorator_list"):
            continue
        for part in value if isinstance(value, list) else [value]:
            skipped = (ast.stmt, ast.JoinedStr, ast.excepthandler, ast.match_case)
            if isinstance(part, ast.AST) and not isinstance(part, skipped):
                yield part
                if not is_margin(part):
                    yield from expressions(part)


def is_margin(node: ast.AST) -> bool:
    """Whether an expression is a small power of 2, which covers errors of rounding."""
    match node:
        case ast.BinOp(ast.Constant(2 | 2.0), ast.Pow(), ast.UnaryOp(ast.USub(), power)):
            return isinstance(power, ast.Constant) and 2.0**-power.value < MARGIN
    return False


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be planted into a file."""
    text = path.read_bytes()
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    file = path.relative_to(PACKAGE).as_posix()

    def mutant(first: ast.AST, last: ast.AST, old: str, new: str) -> Mutant:
        start = starts[first.lineno - 1] + first.col_offset  # type: ignore[attr-defined]
        stop = starts[last.end_lineno - 1] + last.end_col_offset  # type: ignore[attr-defined]
        source = lines[first.lineno - 1].decode()  # type: ignore[attr-defined]
        return Mutant(file, first.lineno, start, stop, old, new, source)  # type: ignore[attr-defined]

    def visit(body: list[ast.stmt], function: str) -> Iterator[Mutant]:
        for statement, after in itertools.zip_longest(body, body[1:]):
            inner = getattr(statement, "name", function)
            if isinstance(statement, ast.Raise) or "repr" in inner or "html" in inner:
                continue
            if PRIVATE.search(function) or PRIVATE.search(words(statement)):
                for part in expressions(statement):
                    for fault in faults(part):
                        new = ast.unparse(ast.fix_missing_locations(fault))
                        new = new if isinstance(part, ast.keyword) else f"({new})"
                        yield mutant(part, part, ast.unparse(part), new)
            match statement:
                case ast.Expr(value=ast.Call(func=called_function)) if SPENDS.search(
                    called(called_function)
                ):
                    own = ast.unparse(statement)
                    yield mutant(statement, statement, own, "pass")
                    if after is not None and not isinstance(after, (ast.Return, ast.Raise)):
                        next_lines = lines[after.lineno - 1 : after.end_lineno]
                        moved = b"".join(next_lines).decode().strip()
                        indent = "\n" + " " * statement.col_offset
                        new = f"{moved}{indent}{own}"
                        if not isinstance(after, (ast.If, ast.For, ast.With, ast.FunctionDef)):
                            yield mutant(statement, after, f"{own}; ...", new)
            for name in ("body", "orelse", "finalbody"):
                yield from visit(getattr(statement, name, []), inner)
            for name in ("handlers", "cases"):
                for block in getattr(statement, name, []):
                    yield from visit(block.body, inner)

    yield from visit(ast.parse(text).body, "")


def native_mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be planted into a file of C or Cython, line by line."""
    text = path.read_bytes().decode("latin-1")  # a character is a byte
    code = NO_CODE[path.suffix].sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    start, is_code, before = 0, True, ""
    for number, (line, source) in enumerate(
        zip(code.split("\n"), text.split("\n"), strict=True), 1
    ):
        continues = not is_code and before.endswith("\\")
        is_code, before = not (continues or DECLARED.match(line)), line
        for match in NATIVE_FAULT.finditer(line) if is_code else ():
            old = match[0]
            new = NATIVE.get(old) or str(int(old) + 1)
            places = start + match.start(), start + match.end()
            yield Mutant(file_of(path), number, *places, old, new, source)
        start += len(line) + 1


def file_of(path: Path) -> str:
    """The name of a file: below `dpfast`, or from `csrc` on."""
    return path.relative_to(PACKAGE if PACKAGE in path.parents else ROOT).as_posix()


def is_native(file: str) -> bool:
    return Path(file).suffix in NO_CODE


def everywhere(only: list[str]) -> list[Mutant]:
    """The faults of some rooms or files, or of all, in the order of the files."""
    folders = {PACKAGE: (".py", ".pyx"), CSRC: (".c", ".h")}
    chosen = [
        path
        for folder, kinds in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.suffix in kinds and not path.name.startswith("__")
        if not only or file_of(path).startswith(tuple(only))
    ]
    return [
        found
        for path in chosen
        for found in (native_mutants if is_native(path.name) else mutants)(path)
    ]


def equivalent() -> dict[str, str]:
    """The faults that change nothing that anyone could see, and why."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]


# ---- Tests of a fault. ----


@functools.cache
def stages(file: str, above: bool) -> list[list[str]]:
    """The tests that a fault in a file is shown to, in this order."""
    module = file.removesuffix(".py").replace("/", ".")
    room, stem = module.split(".")[0], module.split(".")[-1]
    imported = re.compile(rf"\b{re.escape(module)}\b|import .*\b{stem}\b")
    if is_native(file):  # a kernel, whose binding is `_kernels/<room>.pyx`
        stem = Path(file).stem.removesuffix("_body")
        room = Path(file).parts[1] if file.startswith("csrc/") else stem
        room = room if (ROOT / "tests" / room).is_dir() else "_kernels"
        imported, above = re.compile(rf"\b_kernels(\.| import ){room}\b"), False
    own = sorted((ROOT / "tests" / room).rglob("test_*.py"))
    close = [
        path.relative_to(ROOT).as_posix()
        for path in own
        if stem.strip("_") in path.stem or imported.search(path.read_text(encoding="utf-8"))
    ]
    found = [close, [f"tests/{room}"]]
    if above:
        rooms = runpy.run_path(str(ROOT / "tools" / "rooms.py"))
        modules = rooms["files"]()
        users = {
            rooms["room"](name)
            for name, path in modules.items()
            if module in rooms["imports"](path, modules)
        }
        floors = [name for floor in rooms["FLOORS"] for name in floor]
        found += [
            [f"tests/{name}"]
            for name in sorted(users & set(floors), key=floors.index)
            if name != room and (ROOT / "tests" / name).is_dir()
        ]
        found.append(["tests/test_conformance.py", "tests/test_one_row.py"])
    return [paths for paths in found if paths]


class Copy:
    """A copy of the package and its tests, in which faults are planted."""

    def __init__(self, folder: Path, full: bool) -> None:
        self.folder = folder
        self.tier = ["-m", "not slow"] if full else []
        self.seconds: dict[str, float] = {}
        self.is_stale = False  # whether a kernel is another than its source
        for path in ROOT.iterdir():
            if path.name in ("dpfast", "tests", "csrc"):
                shutil.copytree(path, folder / path.name)
            elif not path.name.startswith(".") and path.name != "build":
                (folder / path.name).symlink_to(path)

    def can_be_built(self) -> bool:
        """Whether the kernels can be built from their sources, which this does if need be."""
        if self.is_stale:
            compiler = os.environ.get("CC", "cc")
            cached = (
                f"{sys.executable} {Path(__file__).resolve()} --compile {self.folder / 'cache'}"
            )
            done = subprocess.run(
                [sys.executable, "setup.py", "-q", "build_clib", "build_ext", "--inplace"],
                cwd=self.folder,
                env={**os.environ, "CC": f"{cached} {compiler}", "PYTHONPATH": ""},
                capture_output=True,
            )
            self.is_stale = done.returncode != 0
        return not self.is_stale

    def passes(self, tests: list[str], limit: float) -> bool:
        """Whether tests pass in time."""
        settings = {"PYTHONPATH": str(self.folder), "OMP_NUM_THREADS": "1"}
        given = [*self.tier, "-q", "-x", "-p", "no:cacheprovider", *tests]
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *given],
            cwd=self.folder,
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return process.wait(limit) in (0, 5)  # 5: none of the tests is quick
            except subprocess.TimeoutExpired:
                return False
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def limit(self, tests: list[str]) -> float:
        """Seconds that tests may take: a loop that a fault makes endless is a failure."""
        room = "/".join(tests[0].split("/")[:2])
        if room not in self.seconds:
            assert self.can_be_built(), "without a fault the kernels cannot be built"
            start = time.monotonic()
            if not self.passes([room], 3600):
                raise SystemExit(f"without a fault these tests fail: {room}")
            self.seconds[room] = time.monotonic() - start
        return 60 + 5 * self.seconds[room]

    def killer(self, mutant: Mutant, above: bool) -> str | None:
        """The tests that notice a fault."""
        native = is_native(mutant.file)
        path = self.folder / ("" if mutant.file.startswith("csrc/") else "dpfast") / mutant.file
        text = path.read_bytes()
        kept = Path(importlib.util.cache_from_source(str(path)))
        groups = stages(mutant.file, above)
        limits = [self.limit(tests) for tests in groups]
        try:
            path.write_bytes(mutant.plant(text))
            kept.unlink(missing_ok=True)
            self.is_stale |= native
            if not self.can_be_built():
                return "the compiler"
            for tests, limit in zip(groups, limits, strict=True):
                if not self.passes(tests, limit):
                    return tests[0] if len(tests) == 1 else f"{tests[0]}, ..."
            return None
        finally:
            path.write_bytes(text)
            kept.unlink(missing_ok=True)
            self.is_stale |= native  # built with the next fault, which is often of this file


def compile_once(cache: Path, command: list[str]) -> int:
    """Run a compiler, unless it has compiled the same before; return its exit code."""
    kept = None
    if "-c" in command and "-o" in command:
        out = Path(command[command.index("-o") + 1])
        flags = [word for word in command if word not in ("-c", "-o", str(out))]
        text = subprocess.run([*flags, "-E"], capture_output=True).stdout
        kept = cache / hashlib.sha256(repr(flags).encode() + text).hexdigest()
        if kept.exists():
            shutil.copyfile(kept, out)
            return 0
    code = subprocess.call(command)
    if kept is not None and not code:
        cache.mkdir(exist_ok=True)
        shutil.copyfile(out, kept)
    return code


def sample(found: list[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """Some of the faults, in the order of the files; no two of one expression."""
    if count is None or count >= len(found):
        return found
    chosen = random.Random(seed).sample(range(len(found)), count)
    return [found[place] for place in sorted(chosen)]


def run(found: list[Mutant], above: bool, full: bool) -> int:
    """Plant each fault, print what became of it, and return how many survived."""
    survived = []
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        copied = Copy(Path(folder), full)
        for mutant in found:
            killer = copied.killer(mutant, above)
            survived += [mutant] if killer is None else []
            print(f"{'SURVIVED' if killer is None else 'killed  '} {mutant}", end="")
            print("" if killer is None else f"    ({killer})", flush=True)
    killed = len(found) - len(survived)
    print(f"{killed} of {len(found)} killed ({killed / max(len(found), 1):.1%})")
    return len(survived)


# ---- Faults that tests plant themselves. ----


def controls(text: str) -> set[str]:
    """The tests of a file that plant a fault themselves and expect that it is noticed."""
    tree = ast.parse(text)
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and PLANTED.search(f"{node.name} {ast.get_source_segment(text, node)}")
    }


def planted(since: str | None) -> int:
    """Print the tests that plant faults, or those that a version had and that are gone."""
    now = {
        path.relative_to(ROOT).as_posix(): controls(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    if since is None:
        for file, names in now.items():
            for name in sorted(names):
                print(f"{file}::{name}")
        return 0
    git = functools.partial(subprocess.run, cwd=ROOT, check=True, capture_output=True, text=True)
    files = git(["git", "ls-tree", "-r", "--name-only", since, "tests"]).stdout.split()
    before = {
        file: controls(git(["git", "show", f"{since}:{file}"]).stdout)
        for file in files
        if Path(file).name.startswith("test_") and file.endswith(".py")
    }
    # A test that has moved to another file is there as often as before.
    fewer = Counter(itertools.chain(*before.values()))
    fewer.subtract(Counter(itertools.chain(*now.values())))
    gone = [
        f"{file}::{name}"
        for file, names in before.items()
        for name in sorted(names - now.get(file, set()))
        if fewer[name] > 0
    ]
    print("\n".join([*gone, f"{len(gone)} tests with planted faults are gone since {since}"]))
    return len(gone)


def main() -> int:
    if sys.argv[1:2] == ["--compile"]:  # as the compiler of `Copy.can_be_built`
        return compile_once(Path(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the faults, plant none")
    parser.add_argument("--only", nargs="+", default=[], metavar="ROOM", help="rooms or files")
    parser.add_argument("--line", help="FILE:NUMBER, every fault of this line")
    parser.add_argument("--count", type=int, help="plant so many of them, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--above", action="store_true", help="ask the rooms above, too")
    parser.add_argument("--full", action="store_true", help="ask the full tests, too")
    parser.add_argument("--check", action="store_true", help="look for stale equivalent faults")
    parser.add_argument("--planted", action="store_true", help="print tests with planted faults")
    parser.add_argument("--since", metavar="VERSION", help="with --planted: those that are gone")
    given = parser.parse_args()
    if given.planted:
        return 1 if planted(given.since) else 0
    if given.check:
        stale = equivalent().keys() - {found.name for found in everywhere([])}
        print("\n".join(sorted(stale)) or "every equivalent fault is still in code")
        return 1 if stale else 0
    found = everywhere([given.line.split(":")[0]] if given.line else given.only)
    if given.line:
        found = [one for one in found if one.line == int(given.line.split(":")[1])]
    found = [one for one in found if one.name not in equivalent()]
    found = sample(found, given.count, given.seed)
    if given.list:
        print("\n".join([*map(str, found), f"{len(found)} faults"]))
        return 0
    return 1 if run(found, given.above, given.full) else 0


if __name__ == "__main__":
    sys.exit(main())
