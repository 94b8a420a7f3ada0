"""Write the stubs that say to type checkers what is made when dpfast is loaded.

    python tools/stubs.py

With --check nothing is written, and it fails if something else would be. They are
`dpfast/__init__.pyi`, of what is loaded when it is first asked for, and `stat.pyi` and
`methods.pyi` of `dpfast/groups`, of the table of statistics.
"""

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dpfast  # noqa: E402
from dpfast.groups.methods import Methods  # noqa: E402
from dpfast.statistics.table import TABLE  # noqa: E402

HEAD = '"""Made by tools/stubs.py."""\n\n'
#: What the types of arguments by group are made of.
TYPES = """\
from collections.abc import Sequence
from typing import Any, Literal

from .._core.types import Bounds, NanPolicy, Number
"""


def exported():
    """What `dpfast` has, by the module that it comes from."""
    for name in dpfast.__all__:
        home = dpfast._HOMES.get(name, name)
        found = getattr(dpfast, name)
        if inspect.ismodule(found):
            yield home.rpartition(".")[0], name
        elif inspect.isclass(found):
            yield found.__module__.removeprefix("dpfast."), name
        else:
            yield home, name


def package():
    """The stub of `dpfast`."""
    lines = [f"from .{home} import {name} as {name}" for home, name in sorted(exported())]
    return HEAD + "\n".join([*lines, "", "__version__: str", *listed(dpfast.__all__)])


def listed(names):
    """The lines of `__all__`, constants before all others."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), name))
    return ["__all__ = [", *(f'    "{name}",' for name in ordered), "]", ""]


def of_groups():
    """The stub of `dpfast.stat`."""
    found = {name: getattr(dpfast.stat, name) for name in dpfast.stat.__all__}
    homes = {one: one.__module__.removeprefix("dpfast.") for one in found.values()}
    classes = [
        f"from ..{homes[one]} import {one.__name__} as {name}"
        for name, one in found.items()
        if inspect.isclass(one)
    ]
    classes.append("from .sums import Count, Nonzero, People")
    lines = [f"{HEAD}{TYPES}" + "\n".join(sorted(classes)), "", *listed(found)]
    for name, one in found.items():
        if not inspect.isclass(one):
            lines += function(name, inspect.signature(one))
    return "\n".join(lines) + "\n"


def methods():
    """The stub of `dpfast/groups/methods.py`."""
    lines = [f"{HEAD}{TYPES}from ..budget.budget import Budget", "from ..rng import Generator"]
    lines += ["from .answer import Answer", "", "class Methods:"]
    for entry in TABLE:
        if entry.by_group:
            made = function(entry.name, inspect.signature(getattr(Methods, entry.name)))
            lines += [f"    {line}" for line in made]
    return "\n".join(lines) + "\n"


def function(name, signature):
    """The lines that declare a function."""
    lines, is_named = [f"def {name}("], False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not is_named:
            is_named = True
            lines.append("    *,")
        typed = one.name if one.annotation is one.empty else f"{one.name}: {one.annotation}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        lines.append(f"    {typed}{default},".replace("'", '"'))
    ending = f") -> {signature.return_annotation}: ..."
    if len(lines) == 1:
        return [f"def {name}({ending}"]
    return [*lines, ending]


#: What makes each stub.
STUBS = {
    ROOT / "dpfast" / "__init__.pyi": package,
    ROOT / "dpfast" / "groups" / "stat.pyi": of_groups,
    ROOT / "dpfast" / "groups" / "methods.pyi": methods,
}


def stale():
    """The stubs that are not what would be written."""
    for path, made in STUBS.items():
        if not path.exists() or path.read_text(encoding="utf-8") != made():
            yield path


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if found := [path.relative_to(ROOT).as_posix() for path in stale()]:
            sys.exit(f"{', '.join(found)}: not up to date, run tools/stubs.py")
    else:
        for path, made in STUBS.items():
            path.write_text(made(), encoding="utf-8")
