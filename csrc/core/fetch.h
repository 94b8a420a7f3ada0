/* Rows that are needed soon: left to itself, memory that is read and worked on in the same loop comes
 * slower than either. */
#ifndef DPF_FETCH_H
#define DPF_FETCH_H

#include <stddef.h>

static inline void dpf_prefetch(const void *p)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* How far ahead of a loop over all rows to fetch, in bytes. That is beyond the end of a page, which
 * the processor by itself does not fetch beyond. */
#define DPF_AHEAD 4096

static inline void dpf_fetch_ahead(const void *p)
{
    dpf_prefetch((const char *)p + DPF_AHEAD);
}

static inline void dpf_fetch(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        dpf_prefetch(x + i);
}

#endif
