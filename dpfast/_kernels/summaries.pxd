"""The dtype of rows that the kernels of csrc/summaries/quantise.h read."""

cimport numpy as cnp

from .core cimport dtype_of


cdef inline int kind_of(cnp.ndarray values) except -1:
    """Return the dtype of some rows, if a kernel can read them."""
    cdef int dtype = dtype_of(values.descr.kind, values.itemsize)
    if (dtype < 0 or values.ndim != 1 or not values.flags.c_contiguous
            or not values.flags.aligned or not values.dtype.isnative):
        raise ValueError("rows must be a contiguous native array of integers or floats")
    return dtype
