/* Exact sums of columns and of products of two columns, in one pass over rows of a few columns.
 *
 * Rows become integers as in learn/box.h, here below 2^20 in size. So sums of products of
 * DPF_GRAM_ROWS rows are integers of a float64, and no order of additions rounds them.
 *
 * Its slow twin is tests/reference/learn/gram.py.
 */
#ifndef DPF_GRAM_H
#define DPF_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "learn/box.h"
#include "learn/products.h"

#define DPF_GRAM_REACH ((int64_t)1 << 20)  /* most of |value - middle| */
#define DPF_GRAM_ROWS ((size_t)1 << 12)    /* rows whose products are summed as float64 */
#define DPF_GRAM_CALL ((size_t)1 << 22)    /* most rows of a call: their sums stay below 2^63 */
#define DPF_GRAM_WIDTH ((size_t)64)        /* most columns */

/* Doubles of scratch memory for so many columns: sums of products, and a block of rows. */
#define DPF_GRAM_SCRATCH(width) \
    (DPF_PRODUCTS_FOUND(width) + (width) * (size_t)DPF_PRODUCTS_ROWS + 8 + DPF_PRODUCTS_BEYOND)

/* Adds to sums[width] and to products[i * width + j], i <= j, up to the first stretch of
 * DPF_GRAM_ROWS rows that has a NaN; *done says how many rows that are. -1 when DPFAST_ISA asks for
 * what cannot be had. */
int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
             int64_t *sums, int64_t *products, double *scratch, size_t *done);

#endif
