#include "learn/cross.h"

#include "core/fetch.h"
#include "core/isa.h"

/* The largest number of codes in one loop, which are those of several rows if there are few
 * attributes. */
#define LONG ((size_t)256)

#define DPF_BODY "learn/cross_body.h"
#include "core/each_isa.h"

int dpf_cross_codes(const double *x, size_t n, size_t width, const dpf_cross_limits *limits,
                    uint32_t *codes)
{
    if (dpf_isa() < 0)
        return -1;
    for (size_t at = 0; at < n; at += limits->rows) {
        const size_t here = dpf_stretch(x + at * width, n - at, limits->rows, width);
        DPF_CHOSEN(cross_codes)(x + at * width, here * width, limits->first, limits->values,
                                codes + at * width);
    }
    return 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void dpf_cross_walk(const uint32_t *codes, size_t width, size_t n, const dpf_cross_node *nodes,
                    size_t steps, uint32_t *node)
{
    for (size_t s = 0; s < steps; s++) /* one step of all rows: no load waits for the one before */
        for (size_t i = 0; i < n; i++) {
            const dpf_cross_node at = nodes[node[i]];
            node[i] = at.child + least(codes[i * width + at.split], at.last);
        }
}

void dpf_cross_keys(const uint32_t *node, const uint32_t *label, size_t n, const uint32_t *slot,
                    uint32_t classes, uint32_t *key)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t first = slot[node[i]];
        const uint32_t none = (first == UINT32_MAX) | (label[i] >= classes);
        key[i] = (first * classes + label[i]) | (0 - none); /* without a branch */
    }
}

int dpf_cross_count(const uint32_t *codes, size_t width, size_t n, const uint32_t *key,
                    uint32_t keys, const uint32_t *values, int64_t *counts)
{
    uint32_t limit[LONG], at[LONG], place[LONG], next = 0;
    if (dpf_isa() < 0)
        return -1;
    for (size_t from = 0; from < width; from += LONG) {
        const size_t some = width - from < LONG ? width - from : LONG;
        const size_t rows = some == width ? LONG / width : 1;
        for (size_t a = 0; a < some; a++) {
            for (size_t r = 0; r < rows; r++)
                limit[r * some + a] = values[from + a], at[r * some + a] = next;
            next += (values[from + a] + 1) * (keys + 1);
        }
        for (size_t i = 0; i < n; i += rows) {
            const size_t here = n - i < rows ? n - i : rows;
            DPF_CHOSEN(cross_places)(codes + i * width + from, here * some, limit, at, keys + 1,
                                     place);
            /* In this order two additions to one count are as far apart as there are attributes, so
             * the second does not wait for the first. */
            for (size_t r = 0; r < here; r++) {
                int64_t *cells = counts + least(key[i + r], keys);
                for (size_t a = 0; a < some; a++)
                    cells[place[r * some + a]]++;
            }
        }
    }
    return 0;
}
