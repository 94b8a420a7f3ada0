/* The dtypes of rows that kernels can read. */
#ifndef DPF_DTYPE_H
#define DPF_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

enum {
    DPF_F64, DPF_F32, DPF_I64, DPF_I32, DPF_I16, DPF_I8, DPF_U64, DPF_U32, DPF_U16, DPF_U8,
    DPF_DTYPES
};

/* Whether kernels can read rows of `kind` on the chosen path. */
static inline int dpf_can_read(int kind)
{
    return kind >= 0 && kind < DPF_DTYPES && dpf_isa() >= 0;
}

/* The address of row i of rows of dtype `kind`. */
static inline const void *dpf_row(int kind, const void *x, size_t i)
{
    static const uint8_t sizes[DPF_DTYPES] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};
    return (const char *)x + i * sizes[kind];
}

/* Narrows lo .. hi to the integers that `kind` can hold. For 64 bits this is all of int64, which is
 * wider than the bounds of any caller. */
static inline void dpf_narrow(int kind, int64_t *lo, int64_t *hi)
{
    static const int64_t least[DPF_DTYPES] = {
        [DPF_I64] = INT64_MIN, [DPF_I32] = INT32_MIN, [DPF_I16] = INT16_MIN, [DPF_I8] = INT8_MIN};
    static const int64_t most[DPF_DTYPES] = {
        [DPF_I64] = INT64_MAX, [DPF_I32] = INT32_MAX, [DPF_I16] = INT16_MAX, [DPF_I8] = INT8_MAX,
        [DPF_U64] = INT64_MAX, [DPF_U32] = UINT32_MAX, [DPF_U16] = UINT16_MAX,
        [DPF_U8] = UINT8_MAX};
    *lo = *lo < least[kind] ? least[kind] : *lo;
    *hi = *hi > most[kind] ? most[kind] : *hi;
}

#endif
