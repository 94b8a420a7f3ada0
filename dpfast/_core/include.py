"""The folder with the C header of dpfast."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """Return the folder of the C header ``dpfast.h``, to compile C code that calls dpfast.

    A Cython module does not need the folder: it uses ``from dpfast.native cimport laplace``.

    Returns
    -------
    str

    Privacy
    -------
    This reads no data. The results of the C functions are NOT PRIVATE by themselves, because these
    functions spend no budget.

    Examples
    --------
    >>> import dpfast as dp
    >>> from pathlib import Path
    >>> (Path(dp.get_include()) / "dpfast.h").exists()
    True
    """
    return str(Path(__file__).parents[1] / "include")
