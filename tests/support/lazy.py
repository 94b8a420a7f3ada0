"""Libraries that take long to import, imported when a test first uses them."""

import pkgutil

import pytest


class Lazy:
    """A module ("scipy.stats"), or what it holds ("scipy.stats:norm"). Where the library is not
    installed, a test that uses it is skipped."""

    def __init__(self, name, reason=None):
        vars(self).update(_name=name, _reason=reason)

    def _load(self):
        pytest.importorskip(self._name.partition(":")[0], reason=self._reason)
        return pkgutil.resolve_name(self._name)

    def __getattr__(self, name):
        if name[0] == "_" or name == "pytestmark":  # pytest asks all that a file of tests holds
            raise AttributeError(name)
        return getattr(self._load(), name)

    def __setattr__(self, name, value):
        raise TypeError("import what is to be patched")

    def __call__(self, *arguments, **options):
        return self._load()(*arguments, **options)


special, stats = Lazy("scipy.special"), Lazy("scipy.stats")
expit, logsumexp = Lazy("scipy.special:expit"), Lazy("scipy.special:logsumexp")
binom, chi2, chisquare, norm = (
    Lazy(f"scipy.stats:{name}") for name in ("binom", "chi2", "chisquare", "norm")
)
dask, da, dd = Lazy("dask"), Lazy("dask.array"), Lazy("dask.dataframe")
pl, sqlglot, exp = Lazy("polars"), Lazy("sqlglot"), Lazy("sqlglot.expressions")
ibis = Lazy("ibis", "Ibis is not installed: pip install 'dpfast[sql]'")
