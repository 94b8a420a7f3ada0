/* Exact sums of columns and of products of each two, over rows with a label beside them, in one
 * pass.
 *
 * The coordinates of learn/coordinates.h are rounded to integers, ties to even. Sums of products of
 * DPF_PAIRS_ROWS rows are integers that float64 holds, so no order of additions rounds anything.
 *
 * Its slow twin is tests/reference/learn/margin.py.
 */
#ifndef DPF_PAIRS_H
#define DPF_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "learn/coordinates.h"
#include "learn/products.h"

#define DPF_PAIRS_REACH 0x1p20             /* most of a coordinate */
#define DPF_PAIRS_ROWS ((size_t)1 << 13)   /* rows whose products are summed as float64 */
#define DPF_PAIRS_CALL ((size_t)1 << 22)   /* most rows of a call: their sums stay below 2^63 */

/* Rows whose limits lie side by side, so that a loop over them is long. */
#define DPF_PAIRS_SIDE(width) ((size_t)((width) < 8 ? 64 : 8))

/* Doubles of scratch memory for so many columns, with that of the labels: sums of products, limits
 * of rows and of labels, and two blocks. */
#define DPF_PAIRS_SCRATCH(width)                                                                     \
    (DPF_PRODUCTS_FOUND(width) + 4 * DPF_PAIRS_SIDE((width) - 1) * (width) + 4 * DPF_PAIRS_SIDE(1) + \
     2 * (size_t)DPF_PRODUCTS_ROWS * (width) + 8 + DPF_PRODUCTS_BEYOND)

/* n rows of all columns but the last, which has their labels. Adds to sums, one a
 * column, and to products: of column 0 with all, of column 1 with those from 1 on, and so on. With
 * `skip` rows with a NaN are left out. *missing says how many had one. -1 when DPFAST_ISA asks for
 * what cannot be had. */
int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place, int skip,
              int64_t *sums, int64_t *products, double *scratch, size_t *missing);

#endif
