/* Rows of several columns as small integers around a public middle, kept as float64, so that a
 * library for matrices sums their products exactly as long as all partial sums stay below 2^53.
 *
 * A value x of column j is rint(min(max(x / grid, lo_j), hi_j)) - middle_j, ties to even; lo_j,
 * hi_j and middle_j are integers below 2^51 in size. One grid serves all columns.
 */
#ifndef DPF_BOX_H
#define DPF_BOX_H

#include <stddef.h>

/* The limits of `rows` rows side by side, so that one loop runs over all of them. */
typedef struct {
    double scale; /* 1 / grid, a power of two */
    size_t rows;
    const double *lo, *hi, *middle;
} dpf_box_limits;

/* Writes n rows of so many columns to out, and how many numbers were NaN to *nan (they become lo).
 * -1 when DPFAST_ISA asks for what cannot be had. */
int dpf_box(const double *x, size_t n, size_t width, const dpf_box_limits *limits, double *out,
            size_t *nan);

#endif
