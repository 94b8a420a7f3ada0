"""What a transformer answers with: an array, or a DataFrame of pandas where that is asked for."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import MissingExtraError

FORMS = ("default", "pandas")


def form_of(own: str | None) -> str:
    """The form that is asked for: the object's own, or that of scikit-learn where it is in use.

    Raises
    ------
    ArgumentError
        If scikit-learn is set to another form.
    MissingExtraError
        If it is "pandas", which is not installed.
    """
    if own is None:
        if "sklearn" not in sys.modules:
            return "default"
        from sklearn import get_config

        theirs = get_config().get("transform_output", "default")
        own = checks.choice("scikit-learn's transform_output", theirs, FORMS)
    if own == "pandas":
        _pandas()
    return own


def framed(form: str, found: NDArray[np.float64], names: NDArray[np.object_], X: Any) -> Any:
    """What was found for the rows of X, in the form; a DataFrame has the index of one that X is."""
    if form == "default":
        return found
    pandas = _pandas()
    index = X.index if isinstance(X, (pandas.DataFrame, pandas.Series)) else None
    return pandas.DataFrame(found, index=index, columns=names)


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("transform='pandas' needs pandas: pip install pandas") from None
