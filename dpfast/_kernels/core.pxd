"""Functions for the kernels of all rooms."""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
)

ctypedef fused integer:
    int64_t
    int32_t
    int16_t
    int8_t
    uint64_t
    uint32_t
    uint16_t
    uint8_t


cdef inline int check_status(int status) except -1:
    """Raise an error if the status of a kernel is not 0: it had no path (see csrc/core/isa.h)."""
    if status:
        from dpfast.errors import NativeError

        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return 0

cdef extern from "core/dtype.h" nogil:
    enum:
        DPF_F64, DPF_F32, DPF_I64, DPF_I32, DPF_I16, DPF_I8, DPF_U64, DPF_U32, DPF_U16, DPF_U8


cdef inline int dtype_of(char letter, Py_ssize_t size) noexcept:
    """Return the dtype for NumPy's letter and size, or -1 if kernels cannot read it."""
    if letter == b"f":
        return DPF_F64 if size == 8 else DPF_F32 if size == 4 else -1
    if letter == b"i":
        return (DPF_I64 if size == 8 else DPF_I32 if size == 4
                else DPF_I16 if size == 2 else DPF_I8 if size == 1 else -1)
    if letter == b"u":
        return (DPF_U64 if size == 8 else DPF_U32 if size == 4
                else DPF_U16 if size == 2 else DPF_U8 if size == 1 else -1)
    return -1
