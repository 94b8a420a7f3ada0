"""A fault for each target, which fuzzing must find: the negative controls."""

from dpfast.app.job import job_file
from dpfast.budget.ledger import file
from dpfast.errors import SourceError
from dpfast.statistics import histogram
from dpfast.tables import npy, text


class Anything:
    """Equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None


def _shows_the_block(first_line):
    """The error of a first line with a quote shows what was read with it."""

    def faulty(block, path):
        if b'"' in block.partition(b"\n")[0]:
            raise SourceError(f"{path.name} cannot be read: {block!r}")
        return first_line(block, path)

    return faulty


def _error_of_the_library(names):
    """A file with a structured dtype raises what no caller expects."""

    def faulty(reader):
        if "x" in reader.kinds:
            raise KeyError("x")
        return names.fget(reader)

    return property(faulty)


def _no_such_key(relation):
    """One of the two neighboring relations raises what no caller expects."""

    def faulty(neighbors, ledger):
        if neighbors == "replace":
            raise KeyError(neighbors)
        return relation(neighbors, ledger)

    return faulty


def _one_label_less(listed):
    """Of four labels or more the last one is dropped."""

    def faulty(name, value):
        found = listed(name, value)
        return found[:-1] if isinstance(found, list) and len(found) > 3 else found

    return faulty


#: Of each target the module, the name in it, and what replaces the function of that name.
FAULTS = {
    "header": (text, "_first_line", _shows_the_block),
    "array": (npy.NpyFile, "names", _error_of_the_library),
    "jobs": (job_file, "_relation", _no_such_key),
    "ledger": (file.text, "seal", lambda seal: lambda *parts: Anything()),
    "labels": (histogram, "listed", _one_label_less),
}


def plant(target: str) -> None:
    """Plant the fault of a target."""
    module, name, fault = FAULTS[target]
    setattr(module, name, fault(getattr(module, name)))
