#include "dpf_scatter.h"

#include <string.h>

void dpf_scatter_count(const uint32_t *labels, size_t n, int64_t *counts)
{
    for (size_t i = 0; i < n; i++)
        counts[labels[i]]++;
}

/* With a constant width the copy is one move. */
static inline size_t place(const uint32_t *labels, const uint8_t *from, size_t n, size_t width,
                           int64_t *at, uint8_t *out, int64_t rows)
{
    for (size_t i = 0; i < n; i++, from += width) {
        const int64_t to = at[labels[i]]++;
        if ((uint64_t)to >= (uint64_t)rows)
            return i;
        memcpy(out + (size_t)to * width, from, width);
    }
    return n;
}

size_t dpf_scatter_place(const uint32_t *labels, const void *from, size_t n, size_t width,
                         int64_t *at, void *out, int64_t rows)
{
    const uint8_t *x = (const uint8_t *)from;
    uint8_t *to = (uint8_t *)out;
    switch (width) {
    case 1: return place(labels, x, n, 1, at, to, rows);
    case 2: return place(labels, x, n, 2, at, to, rows);
    case 4: return place(labels, x, n, 4, at, to, rows);
    case 8: return place(labels, x, n, 8, at, to, rows);
    case 16: return place(labels, x, n, 16, at, to, rows);
    case 24: return place(labels, x, n, 24, at, to, rows);
    case 32: return place(labels, x, n, 32, at, to, rows);
    default: return place(labels, x, n, width, at, to, rows);
    }
}

void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                          double *most, uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        const double v = x[i] + 0.0; /* no -0 */
        const uint32_t b = labels[i];
        if (v < least[b])
            least[b] = v;
        if (v > most[b])
            most[b] = v;
        if (v != v)
            seen[b] = 1;
    }
}
