"""The dtype of rows that the kernels of csrc/summaries/quantise.h read."""

cimport numpy as cnp

from .tables cimport kind_in_place


cdef inline int kind_of(cnp.ndarray values) except -1:
    """Return the dtype of some rows; raise an error if no kernel can read them."""
    cdef int dtype = kind_in_place(values)
    if dtype < 0:
        raise ValueError("rows must be a contiguous native array of integers or floats")
    return dtype
