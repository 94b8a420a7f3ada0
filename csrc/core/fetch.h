/* Rows that are needed soon: left to itself, memory that is read and worked on in the same loop comes
 * slower than either. */
#ifndef DPF_FETCH_H
#define DPF_FETCH_H

#include <stddef.h>

static inline void dpf_fetch(const double *x, size_t n)
{
#if defined(__GNUC__) || defined(__clang__)
    for (size_t i = 0; i < n; i += 8)
        __builtin_prefetch(x + i);
#else
    (void)x, (void)n;
#endif
}

#endif
