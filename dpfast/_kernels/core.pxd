"""What the kernels of every room need."""

cdef inline int check_status(int status) except -1:
    """Raise if a kernel could not run: its status is then not 0 (see csrc/core/isa.h)."""
    if status:
        from dpfast.errors import NativeError

        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return 0
