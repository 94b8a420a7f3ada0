"""Every public name says what a reader of the reference needs; what is missing is listed."""

import inspect
import re
import runpy
from types import ModuleType

import pytest

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
        *("Parameters", "Raises", "argument held", "argument interval"),
    },
}
#: Where a theorem was published: its reference.
CITED = r"\b(19|20)\d\d\b|\bAs `|\bas `|\bthat of `"


def kind(found):
    if isinstance(found, ModuleType):
        return "module"
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


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_nothing_is_missing(name):
    assert missing(PUBLIC[name]) == EXCEPTIONS.get(name, set())


def test_exceptions_are_few_and_of_public_names():
    assert set(EXCEPTIONS) <= set(PUBLIC) and len(EXCEPTIONS) <= 5


def test_what_is_missing_is_found():
    """Planted: each section, an argument, and the reference is left out once."""

    def whole(x, *, budget=None):
        """Release x.

        Privacy
        -------
        Neighbors differ in a row (Dwork, TCC 2006).

        Parameters
        ----------
        x : int
        budget : Budget, optional

        Returns
        -------
        int

        Raises
        ------
        BudgetError

        Examples
        --------
        >>> 1
        1
        """

    def planted(old, new=""):
        def one(x, *, budget=None): ...

        assert old in whole.__doc__
        one.__doc__ = whole.__doc__.replace(old, new)
        return missing(one)

    assert missing(whole) == set()
    for section in ("Privacy", "Parameters", "Returns", "Raises", "Examples"):
        assert planted(section, "Other"[: len(section)]) == {section}
    assert planted("TCC 2006", "TCC") == {"References"}
    assert planted("        x : int\n") == {"argument x"}
    assert planted(">>> 1", "1") == {"Examples"}


METHODS = {
    f"{method.__module__}.{method.__qualname__}": method
    for found in PUBLIC.values()
    if kind(found) in ("class", "protocol")
    for name, method in inspect.getmembers(found, inspect.isfunction)
    if name[0] != "_" and method.__module__.startswith("dpfast")
}


def test_every_public_method_says_what_it_does_and_names_its_arguments():
    assert len(METHODS) > 60
    lacking = []
    for name, method in METHODS.items():
        text = inspect.getdoc(method) or ""
        arguments = list(inspect.signature(method).parameters)[1:]
        if not text or [a for a in arguments if not re.search(rf"\b{a}\b", text)]:
            lacking.append(name)
    assert lacking == []
