/* One step of a perceptron in one pass: the number of rows on the wrong side of a hyperplane, and
 * the exact sums of their coordinates times their labels.
 *
 * Coordinates t are those of learn/coordinates.h. If `length` is not 0, a row that is longer is
 * multiplied by length / sqrt(sum of t t). Then z = rint(t), ties to even. The row is wrong unless
 * y (bias + sum of w z) > 0, where the sum is in the order of the columns. All of that is a
 * function of the row alone, and sums of z are sums of integers. So neither the order of the rows
 * nor chunks, threads or instruction sets change a bit.
 *
 * Its slow twin is tests/reference/learn/margin.py.
 */
#ifndef DPF_MARGIN_H
#define DPF_MARGIN_H

#include <stddef.h>

#include "learn/coordinates.h"

#define DPF_MARGIN_REACH 0x1p29             /* the largest |z| */
#define DPF_MARGIN_ROWS ((size_t)1 << 20)   /* the most rows in a call: sums stay below 2^53 */

typedef struct {
    dpf_place place;
    const double *w;
    double bias, length;
    int skip; /* whether rows with a NaN are left out */
} dpf_margin_model;

typedef struct {
    size_t wrong, missing; /* the numbers of wrong rows, and of rows with a NaN */
    double labels;         /* the sum of the classes of the wrong rows */
} dpf_margin_found;

/* The number of doubles in scratch memory. */
#define DPF_MARGIN_SCRATCH(width) (((width) + 4) * (size_t)DPF_PLACE_BLOCK + ((width) + 1) * 8)

/* Reads n rows with their labels. The class y of a label is 1 if the label is above 0, else -1.
 * Adds the sums of y z over the wrong rows to `sums`, one for each column. Returns 0, or -1 when
 * dpf_isa() has no path. */
int dpf_margin(const double *rows, const double *labels, size_t n, const dpf_margin_model *model,
               double *sums, double *scratch, dpf_margin_found *found);

#endif
