"""Write the stubs that say to type checkers what is made when dpfast is loaded.

    python tools/stubs.py

With --check nothing is written, and it fails if something else would be. They are of `dpfast` and
`dpfast.ptr`, whose functions of statistics have the arguments of their classes, of `stat` and
`methods` in `dpfast/groups` and of sessions, which are made of the table of statistics, and of the
compiled kernels (`tools/kernel_stubs.py`).
"""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dpfast  # noqa: E402
from dpfast.groups.api import GroupBy  # noqa: E402
from dpfast.groups.methods import Methods  # noqa: E402
from dpfast.measurement.functions import answer_of  # noqa: E402
from dpfast.statistics.table import TABLE  # noqa: E402
from tools.kernel_stubs import declared  # noqa: E402

HEAD = '"""Made by tools/stubs.py."""\n'
#: What types of arguments and answers are made of.
HOMES = {
    "os": "PathLike",
    "collections.abc": "Buffer Callable Iterable Mapping Sequence",
    "dpfast._core.types": (
        "Auto Axis Bounds BoundsEach Floats Integers NanPolicy Neighbors NoiseName Number Numbers "
        "Size"
    ),
    "dpfast._kernels.noise": "Script",
    "dpfast._kernels.rng": "BitStream",
    "dpfast._kernels.tables": "Key",
    "dpfast.aggregate.aggregators": "AggregatorName",
    "dpfast.aggregate.api": "PartitionName Progress",
    "dpfast.aggregate.estimators": "EstimatorName",
    "dpfast.aggregate.estimators.base": "Estimator",
    "dpfast.aggregate.estimators.functions": "Executor",
    "dpfast.budget.budget": "Budget",
    "dpfast.groups.marginals": "MarginalTables",
    "dpfast.measurement.columns_by_name": "Answer",
    "dpfast.groups.sums": "Count Nonzero People",
    "dpfast.rng": "Generator",
    "dpfast.selection.api": "Function Indices Scores",
    "dpfast.selection.utility": "Mechanism",
    "dpfast.statistics.histogram": "Categories",
    "dpfast.statistics.quantiles.statistic": "IqrMethod ManyMethod Method",
    "dpfast.statistics.tree.counts": "TreeCounts",
    "dpfast.statistics.workload.answer": "WorkloadCounts",
    "numpy.random": "BitGenerator",
    "numpy.typing": "ArrayLike NDArray",
    "typing": "Any Literal NoReturn overload",
}


def package(of=dpfast, prefix=""):
    """The stub of a package: what it exports, and its functions that are made of classes."""
    words = {prefix + name: name for name in of.__all__}
    made = {
        words[one.word]: of_columns(one)
        for one in TABLE
        if one.word in words and is_made(one.function)
    }
    for name in of.__all__:
        found = getattr(of, name)
        if inspect.isfunction(found) and name not in made:
            made |= of_shapes(name, inspect.signature(found))
    imports = [
        f"from {home} import {name} as {name}" for name, home in exported(of) if name not in made
    ]
    version = ["__version__: str"] if of is dpfast else []
    declared = [line for lines in made.values() for line in lines]
    return stub(imports, [*version, *listed(of.__all__), *declared], {*of.__all__} - {*made})


def exported(package):
    """The names that a package exports, and the modules that they come from."""
    for name in package.__all__:
        found = getattr(package, name)
        if inspect.ismodule(found):
            yield name, found.__name__.rpartition(".")[0]
        elif package is dpfast and not inspect.isclass(found):
            yield name, f"dpfast.{dpfast._HOMES[name]}"
        else:
            yield name, found.__module__


def is_made(function):
    """Whether a function has the arguments of a class, and only its docstring is written."""
    declared = inspect.unwrap(function)
    return declared is not function and declared.__code__.co_varnames == ("data", "arguments")


def of_shapes(name, signature):
    """The lines that declare a function whose answer is a number or an array by its arguments."""
    taken, answer = signature.parameters, str(signature.return_annotation)
    of_pairs = "bounds" in taken and taken["bounds"].annotation == "BoundsEach"
    if answer.count(" | ") != 1 or not (of_pairs or {"size", "scores"} & {*taken}):
        return {}
    return {name: list(of_draws(name, taken, *answer.split(" | ")))}


def of_draws(name, taken, one, several):
    """The overloads of a function that gives one number, or an array of them."""
    if "bounds" in taken:  # a pair for each number
        for kind, answer in (("Bounds", one), ("Sequence[Bounds]", several)):
            of_kind = [typed(each, "BoundsEach", kind) for each in taken.values()]
            yield from ("@overload", *function(name, of_kind, answer))
        return
    alone = [typed(each, "Numbers", "Number") for each in taken.values()]
    alone = [typed(each, "Scores", "Sequence[Number]") for each in alone]
    alone = [typed(each, "Size", "None") for each in alone]
    yield from ("@overload", *function(name, alone, one))
    if "scores" in taken:  # arrays of numbers of dimensions that no type says
        union = f"{one} | {several}"
        if "size" not in taken:
            yield from ("@overload", *function(name, taken.values(), union))
            return
        size = typed(taken["size"], "Size", "int | tuple[int, ...]")
        sized = {**taken, "size": size.replace(default=inspect.Parameter.empty)}
        yield from ("@overload", *function(name, sized.values(), several))
        several = union
    yield from ("@overload", *function(name, taken.values(), several))


def of_columns(entry):
    """The lines that declare the function of a statistic: of one column, and of each of several."""
    taken, answers = inspect.signature(entry.function).parameters, answers_of(entry.kind)
    written = typing.get_overloads(inspect.unwrap(entry.function))
    for each in written:
        yield from ("@overload", *completed(entry.name, inspect.signature(each), taken))
    if written:
        return
    if "axis" not in taken or len(answers) == 1:
        yield from function(entry.name, taken.values(), " | ".join(answers))
        return
    one, several = answers
    alone = {name: typed(each, "BoundsEach", "Bounds") for name, each in taken.items()}
    alone["axis"] = typed(taken["axis"], "Axis | None", "None")
    axis = typed(taken["axis"], "Axis | None", "Axis").replace(default=inspect.Parameter.empty)
    yield from ("@overload", *function(entry.name, alone.values(), one))
    yield from ("@overload", *function(entry.name, {**taken, "axis": axis}.values(), several))


def typed(parameter, old, new):
    """A parameter with another type in the place of one."""
    return parameter.replace(annotation=parameter.annotation.replace(old, new))


def completed(name, written, taken):
    """The lines of an overload that is written, with the arguments that it leaves to `others`."""
    own = {
        each.name: each for each in written.parameters.values() if each.kind is not each.VAR_KEYWORD
    }
    weighted = "weights" in own
    rest = [one for one in taken.values() if one.name not in own]
    rest = [one for one in rest if weighted or not one.name.startswith("weight")]
    return function(name, [*own.values(), *rest], written.return_annotation)


def answers_of(kind):
    """The types of an answer of a class: of one column, and of several where that is another."""
    return [shown(each) for each in members(answer_of(kind))]


def members(kind):
    """The members of a union, or the type alone."""
    is_union = typing.get_origin(kind) in (typing.Union, type(int | str))
    return typing.get_args(kind) if is_union else (kind,)


def shown(kind):
    """A type as it is written."""
    if typing.get_origin(kind) is numpy.ndarray:
        return f"NDArray[np.{typing.get_args(typing.get_args(kind)[1])[0].__name__}]"
    return str(kind) if typing.get_args(kind) else kind.__name__


def of_groups():
    """The stub of `dpfast.stat`."""
    found = {name: getattr(dpfast.stat, name) for name in dpfast.stat.__all__}
    classes = {name: one for name, one in found.items() if inspect.isclass(one)}
    imports = [
        f"from {one.__module__} import {one.__name__} as {name}" for name, one in classes.items()
    ]
    lines = listed(found)
    for name, one in found.items():
        if name not in classes:
            signature = inspect.signature(one)
            lines += function(name, signature.parameters.values(), signature.return_annotation)
    return stub(imports, lines)


def methods():
    """The stub of `dpfast/groups/methods.py`."""
    lines = ["class Methods:"]
    for entry in TABLE:
        if entry.by_group:
            taken = inspect.signature(getattr(Methods, entry.name)).parameters.values()
            lines += [f"    {line}" for line in function(entry.name, taken, "Answer")]
    return stub([], lines)


def sessions():
    """The stub of `dpfast/app/session.py`: methods that return a `Release` of each statistic."""
    lines = ["class session:"]
    for name in ("__init__", "__enter__", "__exit__", "release"):
        signature = inspect.signature(getattr(dpfast.session, name))
        answer = signature.return_annotation
        lines += inside(function(name, signature.parameters.values(), answer))
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    grouped = [itself, *inspect.signature(dpfast.group_by).parameters.values()]
    lines += inside(function("group_by", grouped, "Groups"))
    for entry in TABLE:
        if "." not in entry.word:
            lines += inside(released(columns_of(entry)))
    lines.append("class Groups:")
    by_group = {one.name for one in TABLE if one.by_group} | {"agg", "top_k", "keys"}
    for name in sorted(by_group):
        taken = inspect.signature(getattr(GroupBy, name)).parameters.values()
        lines += inside(released(function(name, taken, "Answer")))
    imports = ["from dpfast.budget.released import Release", "from typing import Self"]
    return stub(imports, lines, {"session", "Groups"})


def columns_of(entry):
    """The lines that declare the function of a statistic, whoever wrote its arguments."""
    if is_made(entry.function):
        return list(of_columns(entry))
    signature = inspect.signature(entry.function)
    return function(entry.name, signature.parameters.values(), signature.return_annotation)


def released(lines):
    """The lines of a function as those of a method of a session, which pays and draws itself."""
    for line in lines:
        if line.startswith(("    budget:", "    rng:")):
            continue
        line = re.sub(r"\bdpfast\.[\w.]+\.(\w+)", r"\1", line)  # of a module that is imported
        yield re.sub(r"^\) -> (.*): \.\.\.$", r") -> Release[\1]: ...", line)
        if line.startswith("def ") and "self" not in "".join(lines):
            yield "    self,"


def inside(lines):
    """The lines in a class."""
    return [f"    {line}" for line in lines]


def function(name, parameters, answer):
    """The lines that declare a function."""
    lines, is_named = [f"def {name}("], False
    for one in sorted(parameters, key=lambda one: one.kind):
        if one.kind is one.KEYWORD_ONLY and not is_named:
            is_named = True
            lines.append("    *,")
        kind = "" if one.annotation is one.empty else f": {one.annotation}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        is_named |= bool(stars)
        lines.append(f"    {stars}{one.name}{kind}{default},")
    return [*lines, f") -> {answer}: ..."]


def listed(names):
    """The lines of `__all__`, constants before all others."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), name))
    return ["__all__ = [", *(f'    "{name}",' for name in ordered), "]", ""]


def stub(imports, lines, known=()):
    """The text of a stub, with the imports of the types in it that are not `known`."""
    used = set(re.findall(r"\w+", "\n".join(lines))) - set(known)
    for home, names in HOMES.items():
        imports += [f"from {home} import {name}" for name in names.split() if name in used]
    imports += ["import numpy as np"] if "np" in used else []
    text = "\n".join([HEAD, *imports, "", *lines, ""])
    for command in (("check", "--select", "I", "--fix"), ("format",)):
        given = [sys.executable, "-m", "ruff", *command, "-q", "--stdin-filename", "stub.pyi", "-"]
        text = subprocess.run(
            given, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


#: What makes each stub.
STUBS = {
    ROOT / "dpfast" / "__init__.pyi": package,
    ROOT / "dpfast" / "noise" / "__init__.pyi": lambda: package(dpfast.noise, "noise."),
    ROOT / "dpfast" / "selection" / "__init__.pyi": lambda: package(dpfast.selection, "selection."),
    ROOT / "dpfast" / "statistics" / "ptr" / "__init__.pyi": lambda: package(dpfast.ptr, "ptr."),
    ROOT / "dpfast" / "groups" / "stat.pyi": of_groups,
    ROOT / "dpfast" / "groups" / "methods.pyi": methods,
    ROOT / "dpfast" / "app" / "session.pyi": sessions,
    **{
        path.with_suffix(".pyi"): lambda path=path: stub([], *declared(path))
        for path in sorted((ROOT / "dpfast" / "_kernels").glob("*.pyx"))
    },
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
