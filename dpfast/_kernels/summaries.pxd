"""Which of the kinds of rows of csrc/summaries/quantise.h an array holds."""

cimport numpy as cnp

cdef extern from "summaries/quantise.h" nogil:
    enum:
        DPF_QUANTISE_F64, DPF_QUANTISE_F32
        DPF_QUANTISE_I64, DPF_QUANTISE_I32, DPF_QUANTISE_I16, DPF_QUANTISE_I8
        DPF_QUANTISE_U64, DPF_QUANTISE_U32, DPF_QUANTISE_U16, DPF_QUANTISE_U8


cdef inline int kind_of(cnp.ndarray values) except -1:
    """The kind of some rows, if a kernel can read them."""
    cdef char letter = values.descr.kind
    cdef Py_ssize_t size = values.itemsize
    if values.ndim == 1 and values.flags.c_contiguous and values.flags.aligned and \
            values.dtype.isnative:
        if letter == b"f":
            if size == 8:
                return DPF_QUANTISE_F64
            if size == 4:
                return DPF_QUANTISE_F32
        elif letter == b"i":
            return (DPF_QUANTISE_I64 if size == 8 else DPF_QUANTISE_I32 if size == 4
                    else DPF_QUANTISE_I16 if size == 2 else DPF_QUANTISE_I8)
        elif letter == b"u":
            return (DPF_QUANTISE_U64 if size == 8 else DPF_QUANTISE_U32 if size == 4
                    else DPF_QUANTISE_U16 if size == 2 else DPF_QUANTISE_U8)
    raise ValueError("rows must be a contiguous native array of integers or floats")
