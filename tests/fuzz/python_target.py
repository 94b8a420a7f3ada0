"""Fuzz one target of `targets.py` with Atheris: the rest of the arguments are libFuzzer's."""

import sys
import warnings

import atheris

name = sys.argv.pop(1)
planted = "--planted" in sys.argv
if planted:
    sys.argv.remove("--planted")
#: What a target is about: instrumenting takes a while, so not all.
INCLUDED = {
    "header": ["dpfast.tables.text", "dpfast.tables.text_format", "dpfast.tables.scan"],
    "array": ["dpfast.tables.npy", "numpy.lib.format"],
    "jobs": ["dpfast.app.job", "dpfast.app.entry", "dpfast.app.files", "tomllib"],
    "ledger": ["dpfast.budget.ledger"],
    "labels": ["dpfast.tables.public_values", "dpfast.groups.keys", "dpfast.statistics.histogram"],
}
with atheris.instrument_imports(include=INCLUDED[name]):
    from . import planted_faults, targets

warnings.simplefilter("ignore")
if planted:
    planted_faults.plant(name)
atheris.Setup(sys.argv, targets.TARGETS[name])
atheris.Fuzz()
