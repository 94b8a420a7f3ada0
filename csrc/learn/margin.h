/* One step of a perceptron in one pass: which rows are on the wrong side of a hyperplane, how many
 * they are, and the exact sums of their coordinates, each times its row's label.
 *
 * Coordinates t are those of learn/coordinates.h; a row longer than `length`, if that is not 0, is
 * shortened to it by one factor, length / sqrt(sum of t t). Then z = rint(t), ties to even. The row
 * is wrong unless y (bias + sum of w z) > 0, added in the order of the columns. All of that is a
 * function of the row alone, and sums of z are sums of integers: neither the order of the rows nor
 * chunks, threads or instruction sets change a bit.
 *
 * Its slow twin is tests/reference/learn/margin.py.
 */
#ifndef DPF_MARGIN_H
#define DPF_MARGIN_H

#include <stddef.h>

#include "learn/coordinates.h"

#define DPF_MARGIN_REACH 0x1p29             /* most of |z| */
#define DPF_MARGIN_ROWS ((size_t)1 << 20)   /* most rows of a call: their sums stay below 2^53 */

typedef struct {
    dpf_place place;
    const double *w;
    double bias, length;
    int skip; /* rows with a NaN are left out */
} dpf_margin_model;

typedef struct {
    size_t wrong, missing; /* rows */
    double labels;         /* the sum of the labels of the rows that are wrong */
} dpf_margin_found;

/* Doubles of scratch memory for rows of so many columns. */
#define DPF_MARGIN_SCRATCH(width) (((width) + 4) * (size_t)DPF_PLACE_BLOCK + ((width) + 1) * 8)

/* n rows with their labels, of which the sign counts: 1 above 0, else -1. Adds the sums of y z over
 * the rows that are wrong to `sums`, one a column. -1 when DPFAST_ISA asks for what cannot be
 * had. */
int dpf_margin(const double *rows, const double *labels, size_t n, const dpf_margin_model *model,
               double *sums, double *scratch, dpf_margin_found *found);

#endif
