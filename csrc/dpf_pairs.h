/* Exact sums of columns and of products of each two, over rows with a label beside them, in one pass.
 *
 * The coordinates of dpf_place.h are rounded to integers, ties to even. What is summed are integers
 * that float64 holds, so no order of additions rounds anything.
 */
#ifndef DPF_PAIRS_H
#define DPF_PAIRS_H

#include <stddef.h>

#include "dpf_place.h"

#define DPF_PAIRS_REACH 0x1p20             /* most of a coordinate */
#define DPF_PAIRS_ROWS ((size_t)1 << 13)   /* most rows of a call: sums of products reach 2^53 */

/* Doubles of scratch memory for so many columns, with that of the labels. */
#define DPF_PAIRS_SCRATCH(width) \
    (((width) + 1) * (size_t)DPF_PLACE_BLOCK + (width) * ((width) + 3) / 2 * 8)

/* n rows of place->width - 1 columns, and their labels as the last column. Adds to sums, one a column,
 * and to products: of column 0 with all, of column 1 with those from 1 on, and so on. With `skip` rows
 * with a NaN are left out. *missing says how many had one. -1 when DPFAST_ISA asks for what cannot
 * be had. */
int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place, int skip,
              double *sums, double *products, double *scratch, size_t *missing);

#endif
