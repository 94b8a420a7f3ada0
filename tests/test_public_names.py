"""Adapters, audits and the app use what any other package could: public names of dpfast."""

import ast
from types import ModuleType

import pytest

import dpfast as dp

from .test_architecture import PACKAGE, rooms

FILES = [p for room in rooms.GUESTS for p in sorted((PACKAGE / room).rglob("*.py"))]


def absolute(node, package):
    """The module of a ``from`` import, in full."""
    if not node.level:
        return node.module
    home = package[: len(package) - node.level + 1]
    return ".".join([*home, *([node.module] if node.module else [])])


def names_of(text, package):
    """The names of dpfast that a module imports or takes from what it imports."""
    tree, bound = ast.parse(text), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{absolute(node, package)}.{alias.name}"
                yield f"{absolute(node, package)}.{alias.name}"
    for node in ast.walk(tree):
        path, root = [], node
        while isinstance(root, ast.Attribute):
            path.append(root.attr)
            root = root.value
        if path and isinstance(root, ast.Name) and root.id in bound:
            yield ".".join([bound[root.id], *reversed(path)])


def is_public(name):
    """Whether a name leads through `__all__` of each module on its way."""
    found = dp
    for part in name.split(".")[1:]:
        if part == "__all__":
            return True
        if not isinstance(found, ModuleType):
            return part[0] != "_"
        if part not in found.__all__:
            return False
        found = getattr(found, part)
    return True


def inside(text, package):
    """The names of dpfast that a stranger has not."""
    own = ".".join(package[:2])
    for name in names_of(text, package):
        ours = name.partition(".")[0] == "dpfast" and not f"{name}.".startswith(f"{own}.")
        if ours and not is_public(name):
            yield name


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_guests_use_public_names(path):
    parts = path.relative_to(PACKAGE).parts
    assert not set(inside(path.read_text(encoding="utf-8"), ("dpfast", *parts[:-1])))


@pytest.mark.parametrize("line", [
    "from ..privacy.losses import Loss",
    "from ..budget import budget",
    "from .. import budget",
    "import dpfast.budget.budget",
    "from dpfast.groups.api import GroupBy",
    "from dpfast.errors import MOST",
    "import dpfast as dp\ndp.budget.release",
    "import dpfast as dp\ndef f(): return dp.privacy.losses.Loss",
    "from dpfast import privacy\nprivacy.conversions",
    "from dpfast import privacy as own\nown.Loss._of",
])  # fmt: skip
def test_a_name_of_the_inside_is_caught(line):
    assert list(inside(line, ("dpfast", "adapters")))


def test_public_names_pass():
    text = "import dpfast as dp\nfrom dpfast.privacy import Loss\nfrom .opendp import spaces\n"
    text += "dp.privacy.Loss.to_zcdp, dp.extend.checks.number, Loss.mro, spaces.theirs._any"
    assert not list(inside(text, ("dpfast", "adapters")))


def test_a_learner_that_was_in_sulq_is_said_where_it_is():
    with pytest.raises(
        AttributeError, match=r"no attribute 'KMeans'; a learner .* dp\.learn\.KMeans"
    ):
        dp.sulq.KMeans  # noqa: B018
