#: The version of the C interface, `DPFAST_ABI_VERSION` of the header.
ABI_VERSION: int
_C_API: object
