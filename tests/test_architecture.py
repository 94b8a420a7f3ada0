"""The rules of the house, as tests: imports point down, randomness has one home."""

import ast
import functools
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dpfast"

SOURCES = sorted(PACKAGE.rglob("*.py"))


def load(tool):
    spec = importlib.util.spec_from_file_location(tool, ROOT / "tools" / f"{tool}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rooms, equal_runs = load("rooms"), load("equal_runs")
FLOOR = {name: floor for floor, names in enumerate(rooms.FLOORS) for name in names}
EDGES = functools.cache(rooms.graph)  # not where tests are collected, in every process


def upward(edges):
    for name, others in edges.items():
        own = rooms.room(name)
        if own in rooms.DOORS:
            continue
        for other in others:
            below = rooms.room(other)
            if own in rooms.GUESTS and below in rooms.DOORS:
                continue
            if below != own and not FLOOR.get(below, len(FLOOR)) < FLOOR[own]:
                yield name, other


def test_every_room_has_a_floor():
    assert {rooms.room(name) for name in EDGES()} == {*FLOOR, *rooms.DOORS}
    loose = {p.stem for p in PACKAGE.glob("*.py")} - set(rooms.DOORS)
    assert loose == {"errors", "rng"}


def test_the_page_on_the_house_has_the_floors():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| (\d+) \| `(\w+)` \| \S", text, re.M)
    expected = [(str(i), name) for i, names in enumerate(rooms.FLOORS, 1) for name in names]
    assert sorted(shown) == sorted(expected)


def test_imports_point_down_and_in_no_circle():
    assert not list(upward(EDGES()))
    assert not rooms.circles(EDGES())


def test_the_house_stays_as_small_as_it_is():
    assert len({rooms.room(name) for name in EDGES()} - {*rooms.DOORS}) <= 22
    assert len(rooms.arrows(EDGES())) <= 136 and len(rooms.FLOORS) <= 8


@pytest.mark.full
def test_few_lines_stand_more_than_once():
    assert len(list(equal_runs.runs(equal_runs.read(equal_runs.ROOMS)))) <= 248


@pytest.mark.parametrize("line", [
    "import dpfast.app.job",
    "from dpfast.app import job",
    "from dpfast import median",
    "from ..app import job",
    "from ..app.job.plan import plan",
    "def f():\n    from .. import app",
    "import dpfast",
])  # fmt: skip
def test_an_upward_import_is_caught(line, tmp_path, monkeypatch):
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "grid.py").write_text(line)
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    found = set(rooms.imports(tmp_path / "noise" / "grid.py", dict.fromkeys(EDGES(), PACKAGE)))
    assert list(upward({"noise.grid": found}))


@pytest.mark.parametrize("level", [".", "..noise", "dpfast.noise"])
def test_a_circle_is_caught(level, tmp_path, monkeypatch):
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "grid.py").write_text(f"def f():\n    from {level} import choice")
    (tmp_path / "noise" / "choice.py").write_text("from .grid import f")
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    assert rooms.circles(rooms.graph()) == [["noise.choice", "noise.grid"]]


def test_what_is_public_says_so_and_nothing_else_does():
    """`__all__` stands where a room or a module has an interface."""
    modules = {"_core/checks.py", "_core/html.py", "extend.py", "errors.py", "rng.py",
        "groups/stat.py", "summaries/order.py", "statistics/response.py"}  # fmt: skip
    for path in SOURCES:
        name = path.relative_to(PACKAGE).as_posix()
        if "__all__ =" in path.read_text(encoding="utf-8"):
            interface = path.name == "__init__.py" or name.startswith("adapters/")
            assert interface or name in modules, name


def test_tests_and_kernels_mirror_the_rooms():
    folders = {p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and p.name[0] != "."}
    beside = {"docs", "fuzz", "proofs", "reference", "statistical", "support", "usage"}
    beside |= {"__pycache__"}
    named = {p.name for p in PACKAGE.iterdir() if p.is_dir()} - {"data", "include", "__pycache__"}
    assert folders - beside == named
    kernels = {p.name for p in (ROOT / "csrc").iterdir() if p.is_dir()}
    assert kernels - {"core"} <= named | {"rng"}
    assert not [p for p in (ROOT / "csrc").iterdir() if p.is_file()]


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:tests|benchmarks|docs|tools|csrc|dpfast)/[\w./-]+\w)`")


def anchors(path):
    """Of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_and_names_of_files_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        if "://" in name:
            continue
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for name in FILE.findall(text):
        assert list(ROOT.glob(name)) or list(ROOT.glob(name + ".*")), name


def test_a_dead_link_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A page: of `x`, y\n\n[fine](page.md#a-page-of-x-y) [too](#a-page-of-x-y)\n")
    test_links_and_names_of_files_lead_somewhere(page)
    for dead in ("[no](none.md)", "[no](page.md#x)", "`tests/test_none.py`"):
        page.write_text(f"# A page\n\n{dead}\n")
        with pytest.raises(AssertionError):
            test_links_and_names_of_files_lead_somewhere(page)


def test_no_ambient_randomness():
    ambient = re.compile(r"\b(np|numpy)\.random\b|^\s*import random\b|from random\b", re.M)
    assert [p for p in SOURCES if ambient.search(p.read_text(encoding="utf-8"))] == []


def test_no_flag_that_breaks_exactness():
    files = [*ROOT.glob("csrc/*/*"), *PACKAGE.rglob("*.pyx"), ROOT / "setup.py"]
    for path in files:
        text = path.read_text(encoding="utf-8").replace("-fno-fast-math", "")
        assert not re.search(r"fast-?math|-Ofast|march=native", text), path


#: Where it is asked what an object is: whose objects these are, by the beginning of a file's name.
FOREIGN = {"_core/checks.py": "the door through which a user's object is asked",
    "_core/threads.py": "local variables of a thread; the main module",
    "adapters/": "objects of other tools", "aggregate/block_count.py": "arrays",
    "aggregate/estimators/": "estimators and functions of users",
    "app/cli/audit.py": "a function of the user, or a test that `claims` has made of one",
    "budget/ledger/file.py": "errors of SQLite", "budget/parallel.py": "functions of users",
    "budget/released.py": "answers of mechanisms of users, which may show themselves",
    "budget/watched.py": "watchers of users, and what mechanisms hold beside the rows",
    "extend.py": "the door where a mechanism comes in that need not be a `Mechanism`",
    "noise/distributions/base.py": "local variables of a thread",
    "selection/arguments.py": "arrays of scores",
    "tables/": "containers and columns of other libraries, and sources of users",
    "statistics/categories.py": "arrays and containers of words",
    "learn/": "arrays of users, and what asks whether they are learners",
    "sulq/": "arrays, parties and oracles of users"}  # fmt: skip
#: What stood in the place of the protocol before.
GONE = re.compile(r"\b(_Probe|_Quote|quoted\(|Asked\b)|partial\(_make\)|\*rest\b")


def asked(text):
    """The lines that ask an object for what it may not have; a module may be asked."""
    if not re.search(r"(hasattr|getattr|has|attribute)\(", text):
        return
    tree = ast.parse(text)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    modules = {one.asname or one.name.partition(".")[0] for node in imports for one in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            continue
        last = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if last not in ("hasattr", "getattr", "has", "attribute"):
            continue  # to write out each call takes long
        name = ast.unparse(node.func)
        asks = name in ("hasattr", "checks.has", "checks.attribute", "attribute")
        asks |= name == "getattr" and len(node.args) != 2
        if asks and ast.unparse(node.args[0]).partition(".")[0] not in modules:
            yield node.lineno


@pytest.mark.full
def test_no_mechanism_is_asked_what_it_is():
    left = set(FOREIGN)
    for path in SOURCES:
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        home = [place for place in FOREIGN if name.startswith(place)]
        lines = list(asked(text))
        assert home or not lines, (name, lines)
        left -= set(home) if lines else set()
        code = re.sub(r"#.*|\"\"\"(?s:.*?)\"\"\"", "", text)
        assert not GONE.search(code), (name, GONE.search(code))
    assert not left


@pytest.mark.parametrize("line", ["hasattr(x, 'ids')", "getattr(x, 'ids', None)"])
def test_a_question_is_caught(line):
    assert list(asked(f"def f(x):\n    return {line}")) == [2]
    assert not list(asked("import os\nhasattr(os, 'fork'), getattr(os, name)"))
    assert GONE.search("f(*rest)") and GONE.search("def quoted():")


def test_import_is_light():
    """Nothing heavy is loaded until it is needed, so importing costs little more than NumPy."""
    heavy = ["numba", "pyarrow", "mpmath", "typer", "rich", "matplotlib", "scipy", "pandas"]
    code = f"import sys, dpfast; print([m for m in {heavy!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_name_is_found_with_its_tests_and_twins(capsys):
    assert rooms.show("histogram") and not rooms.show("histogrm")
    shown = capsys.readouterr()
    assert "no module" in shown.err and "dpfast/statistics/histogram.py" in shown.out
    for folder in ("tests/statistics/test_", "tests/reference/statistics/"):
        assert f"{folder}histogram.py" in shown.out
    assert "statistics.tally" in shown.out


def test_a_public_name_with_a_dot_is_one_definition(capsys):
    assert rooms.show("learn.KMeans") and rooms.show("dp.stat.quantiles")
    first, second = re.findall(r"^\S+: (\S+):", capsys.readouterr().out, re.M)
    assert first == "dpfast/learn/kmeans.py" and "statistics/quantiles" in second
