/* Prefetching of rows that are needed soon. A loop that both reads memory and computes is otherwise
 * slower than reading and computing alone. */
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

/* How many bytes ahead a loop over all rows prefetches. This is a page: processors themselves do
 * not prefetch beyond the end of a page. */
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

/* Returns the number of rows in the next stretch of x: `most`, or all that are left if these are
 * fewer. Prefetches the fourth stretch after it. */
static inline size_t dpf_stretch(const double *x, size_t left, size_t most, size_t width)
{
    const size_t rows = left < most ? left : most;
    if (left >= 5 * rows)
        dpf_fetch(x + 4 * rows * width, rows * width);
    return rows;
}

#endif
