"""The largest of each block of consecutive scores (see csrc/selection/peaks.h)."""

from libc.stddef cimport size_t

cimport numpy as cnp

from ..errors import NativeError

cnp.import_array()

cdef extern from "selection/peaks.h" nogil:
    int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out)
    enum:
        DPF_PEAKS_F64, DPF_PEAKS_F32, DPF_PEAKS_I64, DPF_PEAKS_I32, DPF_PEAKS_I16, DPF_PEAKS_I8
        DPF_PEAKS_U64, DPF_PEAKS_U32, DPF_PEAKS_U16, DPF_PEAKS_U8
        DPF_PEAKS_NAN, DPF_PEAKS_INFINITE, DPF_PEAKS_ABOVE

NAN = DPF_PEAKS_NAN
INFINITE = DPF_PEAKS_INFINITE
ABOVE = DPF_PEAKS_ABOVE

KINDS = {
    ("f", 8): DPF_PEAKS_F64, ("f", 4): DPF_PEAKS_F32,
    ("i", 8): DPF_PEAKS_I64, ("i", 4): DPF_PEAKS_I32,
    ("i", 2): DPF_PEAKS_I16, ("i", 1): DPF_PEAKS_I8,
    ("u", 8): DPF_PEAKS_U64, ("u", 4): DPF_PEAKS_U32,
    ("u", 2): DPF_PEAKS_U16, ("u", 1): DPF_PEAKS_U8,
    ("b", 1): DPF_PEAKS_U8,
}


cdef bint _plain(cnp.ndarray a):
    return a.ndim == 1 and a.flags.c_contiguous and a.flags.aligned and a.dtype.isnative


def block_peaks(cnp.ndarray values not None, Py_ssize_t block, cnp.ndarray out not None):
    """The largest of each `block` consecutive `values` into `out`, which has their dtype.

    Returns flags: `NAN` was seen (and left out), plus infinity was (`INFINITE`), anything above
    minus infinity was (`ABOVE`).
    """
    cdef int kind = KINDS.get((values.dtype.kind, values.itemsize), -1), flags
    cdef size_t n = values.shape[0] if values.ndim else 0
    if kind < 0 or not (_plain(values) and _plain(out)):
        raise ValueError("block_peaks needs contiguous native arrays of numbers of 1 to 8 bytes")
    if block < 1:
        raise ValueError("block must be at least 1")
    if out.dtype != values.dtype or not out.flags.writeable:
        raise ValueError(f"out must be writeable and have dtype {values.dtype}")
    if <size_t>out.shape[0] != (n // <size_t>block) + (n % <size_t>block != 0):
        raise ValueError("out must have one place a block")
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef void *o = cnp.PyArray_DATA(out)
    with nogil:
        flags = dpf_peaks(kind, x, n, <size_t>block, o)
    if flags < 0:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return flags
