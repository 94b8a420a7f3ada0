/* Exact sums of columns and of products of two columns, in one pass over rows of a few columns.
 *
 * Rows become integers as in learn/box.h, here below 2^20 in size. Sums of products of
 * DPF_GRAM_ROWS rows are then integers that float64 holds, so no order of additions rounds them.
 *
 * Its slow twin is tests/reference/learn/gram.py.
 */
#ifndef DPF_GRAM_H
#define DPF_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "learn/box.h"
#include "learn/products.h"

#define DPF_GRAM_REACH ((int64_t)1 << 20) /* the largest |value - middle| */
#define DPF_GRAM_ROWS ((size_t)1 << 12)   /* the products of so many rows are summed as float64 */
#define DPF_GRAM_CALL ((size_t)1 << 22)   /* the most rows in a call: sums stay below 2^63 */
#define DPF_GRAM_WIDTH ((size_t)64)       /* the most columns */

/* The number of doubles in scratch memory: sums of products, and a block of rows. */
#define DPF_GRAM_SCRATCH(width) \
    (DPF_PRODUCTS_FOUND(width) + (width) * (size_t)DPF_PRODUCTS_ROWS + 8 + DPF_PRODUCTS_BEYOND)

/* Adds rows to sums[width] and to products[i * width + j], i <= j. It stops before the first
 * DPF_GRAM_ROWS rows that have a NaN; *done is the number of added rows. Returns 0, or -1 when
 * dpf_isa() has no path. */
int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
             int64_t *sums, int64_t *products, double *scratch, size_t *done);

#endif
