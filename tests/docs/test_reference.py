"""Every public name says what a reader of the reference needs; what is missing is listed."""

import importlib
import inspect
import re
import runpy
from types import ModuleType
from typing import get_origin

import pytest

import dpfast as dp

from ..support.pages import DOCS

site = runpy.run_path(str(DOCS / "site" / "build.py"))
PUBLIC = dict(site["public"]())

#: What owes less, and why; a name that owes nothing less has to go.
EXCEPTIONS = {
    # Its example is that of what it comes with: `dpfast.job.run`, `dpfast.sulq.serve`.
    "dpfast.job.Results": {"Examples"},
    "dpfast.sulq.RemoteSums": {"Examples"},
    # What a learner has found: nothing is checked.
    "dpfast.sulq.Conjunction": {"Raises"},
    "dpfast.sulq.Halfspace": {"Raises"},
    # Made by its own functions only, which say what they take.
    "dpfast.privacy.LossDistribution": {
        *("Parameters", "Raises", "argument held", "argument interval")
    },
}
#: Where a theorem was published: its reference.
CITED = r"\b(19|20)\d\d\b|\bAs `|\bas `|\bthat of `"


def kind(found):
    if isinstance(found, ModuleType):
        return "module"
    if get_origin(found) is not None:  # of arguments, for type checkers
        return "type"
    if inspect.isclass(found):
        if getattr(found, "_is_protocol", False):  # what a user writes, by the page on extending
            return "protocol"
        return "error" if issubclass(found, BaseException) else "class"
    return "function" if callable(found) else "constant"


def sections(text):
    return set(re.findall(r"^(\w[\w ]*)\n-{3,}$", text, re.M))


def undescribed(text, names):
    """The arguments that no entry of a section is for; several may share one."""
    entries = re.findall(r"^((?:\*{0,2}\w+, )*\*{0,2}\w+)(?: ?:.*|, or .*)?$", text, re.M)
    described = {name.strip("* ") for entry in entries for name in entry.split(",")}
    return set(names) - described


def missing(found):
    """What the docstring of a public thing does not have."""
    if kind(found) == "type":
        return set()
    text = inspect.getdoc(found) or ""
    if not text:
        return {"a docstring"}
    if kind(found) in ("module", "error", "constant", "protocol"):
        return set()
    names, has = site["arguments"](found), sections(text)
    # What dpfast makes and hands over has attributes, and nothing that a user could get wrong.
    made = "Attributes" in has and "Parameters" not in has
    owed = {"Examples"}
    if names and not made:
        owed |= {"Parameters", "Raises"}
    if kind(found) == "function":
        owed.add("Returns")
    lacks = owed - has
    if not made:
        lacks |= {f"argument {name}" for name in undescribed(text, names)}
    if "Examples" in has and ">>>" not in text:
        lacks.add("Examples")
    if "budget" in names and "NOT PRIVATE" not in text:
        lacks |= {"Privacy"} - has
        if "Privacy" in has and not re.search(CITED, text):
            lacks.add("References")
    return lacks


def test_nothing_is_missing():
    lacks = {name: missing(found) for name, found in PUBLIC.items()}
    assert {name: some for name, some in lacks.items() if some} == EXCEPTIONS


#: What numpydoc checks and `missing` does not: the form of a docstring and of its sections.
FORM = {
    *("GL01", "GL02", "GL03", "GL05", "GL09", "GL10", "SS01", "SS02", "SS03", "SS04", "SS05"),
    *("SS06", "PR02", "PR05", "PR06", "PR09", "PR10", "RT02", "RT05", "SA02"),
}
#: A statistic of a column; its docstring says that it has none.
FORM_EXCEPTIONS = [("dpfast.KeptWhole", "PR02")]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:Unknown section:UserWarning")
def test_numpydoc_finds_nothing():
    validate = pytest.importorskip("numpydoc.validate").validate
    things = [name for name, found in PUBLIC.items() if kind(found) in ("class", "function")]
    faults = [(name, code) for name in things for code, _ in validate(name)["errors"]]
    assert [fault for fault in faults if fault[1] in FORM] == FORM_EXCEPTIONS


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:Unknown section:UserWarning")
def test_numpydoc_finds_a_planted_fault(monkeypatch):
    validate = pytest.importorskip("numpydoc.validate").validate
    with_an_s = re.sub(r"\w+", r"\g<0>s", dp.scan.__doc__, count=1)
    monkeypatch.setattr(dp.scan, "__doc__", with_an_s)
    assert "SS05" in {code for code, _ in validate("dpfast.scan")["errors"]} & FORM


def planted(function, lacks, old, new=""):
    """What is said to be missing where a part of a docstring is."""
    text = function.__doc__
    assert re.search(old, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function, "__doc__", re.sub(old, new, text))
        return lacks(function)


def test_what_is_missing_is_found():
    """Planted: each section, an argument, and the reference is left out once."""
    for section in ("Privacy", "Parameters", "Returns", "Raises", "Examples"):
        assert planted(dp.ratio, missing, rf"{section}\n", f"{'x' * len(section)}\n") == {section}
    assert planted(dp.ratio, missing, r"\b20\d\d\b|As `|that of `") == {"References"}
    assert planted(dp.ratio, missing, r"\n *nan : .*") == {"argument nan"}
    assert planted(dp.ratio, missing, ">>>") == {"Examples"}


def classes():
    """Public classes with whose examples count: their own, and that of what hands them over."""
    for found in PUBLIC.values():
        if kind(found) in ("class", "protocol"):
            yield found, found
    for giver, path in site["RETURNED"].items():
        module, _, name = path.rpartition(".")
        yield getattr(importlib.import_module(module), name), PUBLIC[giver]


def methods(found):
    """The methods of a class that dpfast wrote, those of the class itself among them."""
    for name, method in inspect.getmembers(found, inspect.isroutine):
        function = getattr(method, "__func__", method)
        is_ours = inspect.isfunction(function) and "dpfast" in function.__module__
        # What a subclass says in its own way has its words in the class that it is of.
        is_known = not function.__doc__ and inspect.getdoc(getattr(found, name))
        if name[0] != "_" and is_ours and not is_known:
            yield name, function


def gives(function):
    """Whether something comes back."""
    function = inspect.unwrap(function)
    if "return" in function.__annotations__:
        return function.__annotations__["return"] not in (None, "None")
    return "return " in inspect.getsource(function)


def examples(*things):
    """What has been tried in docstrings, and in those that their examples name."""
    texts = [inspect.getdoc(thing) or "" for thing in things]
    named = [name for t in texts for name in re.findall(r"^See `([\w.]+)`", t, re.M)]
    texts += [inspect.getdoc(PUBLIC[name]) for name in named]
    return "\n".join(re.findall(r"^(?:>>>|\.\.\.) .*", "\n".join(texts), re.M))


def lacks(function, *known):
    """What the docstring of a method does not have; `known` may have its example."""
    text, has = inspect.getdoc(function) or "", sections(inspect.getdoc(function) or "")
    if not text:
        return {"a docstring"}
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    owed = ({"Parameters"} if names else set()) | ({"Returns"} if gives(function) else set())
    found = owed - has - ({"Returns"} if "Yields" in has else set())
    found |= {f"argument {name}" for name in undescribed(text, names)}
    called = rf"\.{function.__name__}\("
    # Of a protocol the page on extending has it; so it is with what makes a statistic one.
    protocol = any(kind(thing) == "protocol" for thing in known)
    protocol |= function.__name__ != "measure" and any(map(is_statistic, known))
    if not (protocol or ">>>" in text or re.search(called, examples(*known))):
        found.add("Examples")
    return found


STATISTICS = dp.Statistic, dp.Measurement, dp.extend.KnownSensitivity


def is_statistic(thing):
    return inspect.isclass(thing) and issubclass(thing, STATISTICS)


METHODS = [
    (f"{found.__module__}.{found.__qualname__}.{name}", method, found, giver)
    for found, giver in classes()
    for name, method in methods(found)
    # What a statistic says in its own way of the protocol has its arguments there.
    if not (is_statistic(found) and "measurement" not in method.__module__)
]


def test_every_public_method_says_what_it_takes_and_gives_and_has_an_example():
    assert len(METHODS) > 150
    lacking = {name: lacks(*method) for name, *method in METHODS}
    assert {name: what for name, what in lacking.items() if what} == {}


def test_what_a_method_lacks_is_found():
    """Planted: each section, an argument, and the example is left out."""

    def of_budget(method):
        return lacks(method, dp.Budget)

    cost = dp.Budget.cost
    assert of_budget(cost) == set() and lacks(cost, dp.Statistic) == set()
    for section in ("Parameters", "Returns"):
        assert planted(cost, of_budget, section, "x" * len(section)) == {section}
    assert planted(cost, of_budget, r"\n *function : .*") == {"argument function"}
    assert planted(cost, of_budget, r"(?s).+") == {"a docstring"}
    assert lacks(cost) == lacks(cost, dp.learn.KMeans) == {"Examples"}
