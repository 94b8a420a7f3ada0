"""Other libraries behind one tiny interface, one module each.

A module has `NAME`, `DISTRIBUTION` (what `pip install` takes), `median(data, bounds, epsilon)`,
`laplace(scale, size)` and perhaps `gaussian(scale, size)`,
`noisy_max(scores, sensitivity, epsilon)` and `permute_and_flip` with the same arguments, `sum`,
`mean`, `variance`, `std`, `count_nonzero`, `percentile` (the 90th) and `histogram` (of 100 bins)
with those of `median`, and `response(bits, epsilon)`. Importing it needs the library; `load` turns
its absence into None so that a case can be skipped by name.

`accuracy.py` asks for many answers about the same rows. `OFFERS` says which releases there are, and
under which relations. `draws(kind, rows, bounds, epsilon, neighbors, **given)` returns a function
that draws an answer at each call. What does not change from draw to draw may be done once.
"""

import importlib
import importlib.metadata
import warnings

NAMES = ("opendp", "diffprivlib", "pydp")


def load(name):
    """The rival's module, or None when its library is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(f".{name}", __name__)
        except ImportError:
            return None


def version(module):
    """Name and version as a table should show them."""
    return f"{module.NAME} {importlib.metadata.version(module.DISTRIBUTION)}"
