#include "aggregate/scatter.h"

#include <string.h>

void dpf_scatter_count(const uint32_t *labels, size_t n, unsigned shift, int64_t *counts)
{
    for (size_t i = 0; i < n; i++)
        counts[labels[i] >> shift]++;
}

/* With a constant width the compiler makes one load and one store of a copy. */
static inline size_t place(const uint32_t *labels, size_t n, unsigned shift, const uint8_t *from,
                           size_t width, int64_t *at, uint8_t *out, void *low, size_t low_width,
                           int64_t rows)
{
    const uint32_t mask = ((uint32_t)1 << shift) - 1;
    for (size_t i = 0; i < n; i++, from += width) {
        const int64_t to = at[labels[i] >> shift]++;
        if ((uint64_t)to >= (uint64_t)rows)
            return i;
        memcpy(out + (size_t)to * width, from, width);
        if (low_width == 1)
            ((uint8_t *)low)[to] = (uint8_t)(labels[i] & mask);
        else if (low_width == 2)
            ((uint16_t *)low)[to] = (uint16_t)(labels[i] & mask);
    }
    return n;
}

static inline size_t place_by(const uint32_t *labels, size_t n, unsigned shift, const uint8_t *from,
                              size_t width, int64_t *at, uint8_t *out, void *low, size_t low_width,
                              int64_t rows)
{
    switch (width) {
    case 1: return place(labels, n, shift, from, 1, at, out, low, low_width, rows);
    case 2: return place(labels, n, shift, from, 2, at, out, low, low_width, rows);
    case 4: return place(labels, n, shift, from, 4, at, out, low, low_width, rows);
    case 8: return place(labels, n, shift, from, 8, at, out, low, low_width, rows);
    case 16: return place(labels, n, shift, from, 16, at, out, low, low_width, rows);
    case 24: return place(labels, n, shift, from, 24, at, out, low, low_width, rows);
    case 32: return place(labels, n, shift, from, 32, at, out, low, low_width, rows);
    default: return place(labels, n, shift, from, width, at, out, low, low_width, rows);
    }
}

size_t dpf_scatter_place(const uint32_t *labels, size_t n, unsigned shift, const void *from,
                         size_t width, int64_t *at, void *out, void *low, size_t low_width,
                         int64_t rows)
{
    const uint8_t *x = (const uint8_t *)from;
    uint8_t *to = (uint8_t *)out;
    switch (low_width) {
    case 0: return place_by(labels, n, shift, x, width, at, to, low, 0, rows);
    case 1: return place_by(labels, n, shift, x, width, at, to, low, 1, rows);
    default: return place_by(labels, n, shift, x, width, at, to, low, 2, rows);
    }
}

static inline size_t low_at(const void *low, size_t low_width, size_t i)
{
    return low_width == 1 ? ((const uint8_t *)low)[i] : ((const uint16_t *)low)[i];
}

static inline void move(const void *low, size_t low_width, size_t first, size_t stop,
                        const uint8_t *from, size_t width, int64_t *at, uint8_t *out)
{
    for (size_t i = first; i < stop; i++)
        memcpy(out + (size_t)at[low_at(low, low_width, i)]++ * width, from + i * width, width);
}

static inline int refine(const void *low, size_t low_width, unsigned shift, const uint8_t *from,
                         size_t width, const int64_t *cuts, size_t groups, size_t blocks,
                         int64_t *offsets, uint8_t *out)
{
    for (size_t g = 0; g < groups; g++) {
        const size_t first = (size_t)(cuts[g] - cuts[0]), stop = (size_t)(cuts[g + 1] - cuts[0]);
        const size_t before = g << shift;
        const size_t many = blocks - before < (size_t)1 << shift ? blocks - before
                                                                : (size_t)1 << shift;
        int64_t *at = offsets + before + 1; /* first counts, then next free rows, at last ends */
        size_t most = 0;
        memset(at, 0, many * sizeof *at);
        for (size_t i = first; i < stop; i++) {
            const size_t b = low_at(low, low_width, i);
            most = b > most ? b : most;
            if (most >= many)
                return 0;
            at[b]++;
        }
        for (size_t b = 0, sum = first; b < many; b++) {
            const size_t count = (size_t)at[b];
            at[b] = (int64_t)sum;
            sum += count;
        }
        switch (width) {
        case 1: move(low, low_width, first, stop, from, 1, at, out); break;
        case 2: move(low, low_width, first, stop, from, 2, at, out); break;
        case 4: move(low, low_width, first, stop, from, 4, at, out); break;
        case 8: move(low, low_width, first, stop, from, 8, at, out); break;
        case 16: move(low, low_width, first, stop, from, 16, at, out); break;
        default: move(low, low_width, first, stop, from, width, at, out); break;
        }
    }
    return 1;
}

int dpf_scatter_refine(const void *low, size_t low_width, unsigned shift, const void *from,
                       size_t width, const int64_t *cuts, size_t groups, size_t blocks,
                       int64_t *offsets, void *out)
{
    const uint8_t *x = (const uint8_t *)from;
    uint8_t *to = (uint8_t *)out;
    return low_width == 1 ? refine(low, 1, shift, x, width, cuts, groups, blocks, offsets, to)
                          : refine(low, 2, shift, x, width, cuts, groups, blocks, offsets, to);
}

size_t dpf_scatter_runs(const int64_t *cuts, size_t runs, const void *from, size_t width,
                        int64_t *at, void *out, int64_t rows)
{
    const uint8_t *x = (const uint8_t *)from;
    uint8_t *to = (uint8_t *)out;
    for (size_t g = 0; g < runs; g++) {
        const int64_t some = cuts[g + 1] - cuts[g];
        if (at[g] < 0 || some < 0 || some > rows - at[g])
            return g;
        memcpy(to + (size_t)at[g] * width, x + (size_t)(cuts[g] - cuts[0]) * width,
               (size_t)some * width);
        at[g] += some;
    }
    return runs;
}

void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                          double *most, uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        const double v = x[i] + 0.0; /* -0 becomes +0 */
        const uint32_t b = labels[i];
        if (v < least[b])
            least[b] = v;
        if (v > most[b])
            most[b] = v;
        if (v != v)
            seen[b] = 1;
    }
}
