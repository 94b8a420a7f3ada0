/* Exact sums of columns and of products of two columns, over rows with labels, in one pass. The
 * labels are the last column.
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

#define DPF_PAIRS_REACH 0x1p20           /* the largest absolute value of a coordinate */
#define DPF_PAIRS_ROWS ((size_t)1 << 13) /* the products of so many rows are summed as float64 */
#define DPF_PAIRS_CALL ((size_t)1 << 22) /* the most rows in a call: sums stay below 2^63 */

/* Limits are repeated for this many rows, so that loops over them are long. */
#define DPF_PAIRS_SIDE(width) ((size_t)((width) < 8 ? 64 : 8))

/* The number of doubles in scratch memory, where `width` includes the labels: sums of products,
 * limits of rows and of labels, and two blocks. */
#define DPF_PAIRS_SCRATCH(width)                                                                     \
    (DPF_PRODUCTS_FOUND(width) + 4 * DPF_PAIRS_SIDE((width) - 1) * (width) + 4 * DPF_PAIRS_SIDE(1) + \
     2 * (size_t)DPF_PRODUCTS_ROWS * (width) + 8 + DPF_PRODUCTS_BEYOND)

/* Reads n rows of all columns but the last, and their labels, which are the last column. Adds to
 * `sums`, one for each column, and to `products`: of column 0 with all columns, of column 1 with
 * columns from 1 on, and so on. With `skip` rows with a NaN are left out. *missing is the number of
 * rows with a NaN. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place, int skip,
              int64_t *sums, int64_t *products, double *scratch, size_t *missing);

#endif
