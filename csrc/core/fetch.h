/* Rows that are needed soon: left to itself, memory that is read and worked on in the same loop
 * comes slower than either. */
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

/* The rows of the next stretch, of `most` or fewer that are left of x; fetches the fourth after
 * it. */
static inline size_t dpf_stretch(const double *x, size_t left, size_t most, size_t width)
{
    const size_t rows = left < most ? left : most;
    if (left >= 5 * rows)
        dpf_fetch(x + 4 * rows * width, rows * width);
    return rows;
}

#endif
