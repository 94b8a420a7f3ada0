#include "learn/pairs.h"

#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define B DPF_PRODUCTS_ROWS
#define SIDE DPF_PAIRS_SIDE
#define MAGIC 0x1.8p52 /* (v + MAGIC) - MAGIC is v rounded to an integer, for |v| below 2^51 */

#define DPF_BODY "learn/pairs_body.h"
#include "core/each_isa.h"

/* Writes lo, hi, middle and scale of `width` columns, each repeated for SIDE rows. Returns the
 * end. */
static double *spread(const dpf_place *place, size_t from, size_t width, double *to)
{
    const double *each[] = {place->lo, place->hi, place->middle, place->scale};
    for (size_t k = 0; k < 4; k++)
        for (size_t r = 0; r < SIDE(width); r++, to += width)
            memcpy(to, each[k] + from, width * sizeof *to);
    return to;
}

/* Copies `here` rows to a whole block. Replaces each NaN by `fill`, and counts the NaN of each row
 * in `absent`. */
static void mend(const double *x, size_t here, size_t width, const double *fill, double *to,
                 size_t *absent)
{
    for (size_t r = 0, i = 0; r < here; r++)
        for (size_t j = 0; j < width; j++, i++) {
            absent[r] += x[i] != x[i];
            to[i] = x[i] == x[i] ? x[i] : fill[j];
        }
    memset(to + here * width, 0, (B - here) * width * sizeof *to);
}

/* Writes the integers of a block that has a NaN or fewer rows, and of its labels. Rows that do not
 * count become 0. Returns how many rows have a NaN. */
static size_t odd_block(const double *x, const double *y, size_t here, const dpf_place *place,
                        int skip, const double *limits, const double *last, double *z, double *t)
{
    const size_t columns = place->width - 1;
    double *copy = z + B * columns + DPF_PRODUCTS_BEYOND, other[B];
    size_t absent[B] = {0}, found = 0;
    mend(x, here, columns, place->fill, copy, absent);
    mend(y, here, 1, place->fill + columns, other, absent);
    DPF_CHOSEN(pairs_place)(copy, columns, limits, z);
    DPF_CHOSEN(pairs_place)(other, 1, last, t);
    for (size_t r = 0; r < B; r++) {
        found += absent[r] != 0;
        if (r >= here || (skip && absent[r])) {
            memset(z + r * columns, 0, columns * sizeof *z);
            t[r] = 0;
        }
    }
    return found;
}

int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place, int skip,
              int64_t *sums, int64_t *products, double *scratch, size_t *missing)
{
    const size_t columns = place->width - 1, size = DPF_PRODUCTS_FOUND(columns);
    *missing = 0;
    if (dpf_isa() < 0)
        return -1;
    double *found = (double *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63); /* aligned */
    double *limits = found + size, *last = spread(place, 0, columns, limits);
    double *z = spread(place, columns, 1, last), t[B];
    memset(z + B * columns, 0, DPF_PRODUCTS_BEYOND * sizeof *z);
    for (size_t at = 0; at < n; at += DPF_PAIRS_ROWS) {
        const size_t end = n - at < DPF_PAIRS_ROWS ? n : at + DPF_PAIRS_ROWS;
        double sum[8] = {0}, square[8] = {0};
        memset(found, 0, size * sizeof *found);
        for (size_t r = at; r < end; r += B) {
            const double *x = rows + r * columns, *y = labels + r;
            if (n - r >= 3 * B)
                dpf_fetch(x + 2 * B * columns, B * columns);
            if (end - r < B || DPF_CHOSEN(pairs_place)(x, columns, limits, z) |
                                   DPF_CHOSEN(pairs_place)(y, 1, last, t)) {
                const size_t here = end - r < B ? end - r : B;
                *missing += odd_block(x, y, here, place, skip, limits, last, z, t);
            }
            dpf_products_add(z, columns, t, found);
            DPF_CHOSEN(pairs_labels)(t, sum, square);
        }
        int64_t *to = products;
        for (size_t i = 0; i < columns; i++) {
            const double *column = found + dpf_products_sum(columns, i);
            sums[i] += (int64_t)*column;
            for (size_t j = i; j < columns; j++)
                *to++ += (int64_t)found[dpf_products_at(columns, i, j)];
            *to++ += (int64_t)column[DPF_PRODUCTS_WIDE(columns)];
        }
        for (size_t l = 0; l < 8; l++) {
            sums[columns] += (int64_t)sum[l];
            *to += (int64_t)square[l];
        }
    }
    return 0;
}
