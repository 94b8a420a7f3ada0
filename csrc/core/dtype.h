/* The dtypes of rows that kernels read, by one name each. */
#ifndef DPF_DTYPE_H
#define DPF_DTYPE_H

enum {
    DPF_F64, DPF_F32, DPF_I64, DPF_I32, DPF_I16, DPF_I8, DPF_U64, DPF_U32, DPF_U16, DPF_U8,
    DPF_DTYPES
};

#endif
