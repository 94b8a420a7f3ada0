"""The folder of the header of the C interface."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """Return the folder of ``dpfast.h``, for the compiler of a module that calls dpfast from C.

    Cython modules write ``from dpfast.native cimport laplace`` and need no folder.

    Returns
    -------
    str

    Privacy
    -------
    Reads no data. The results of the C functions are NOT PRIVATE by themselves: these functions
    spend no budget.

    Examples
    --------
    >>> import dpfast as dp
    >>> from pathlib import Path
    >>> (Path(dp.get_include()) / "dpfast.h").exists()
    True
    """
    return str(Path(__file__).parents[1] / "include")
