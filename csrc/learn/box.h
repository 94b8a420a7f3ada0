/* Rows of several columns as small integers around a public middle, stored as float64. A library
 * for matrices then sums their products exactly, as long as all partial sums stay below 2^53.
 *
 * A value x of column j is rint(min(max(x / grid, lo_j), hi_j)) - middle_j, ties to even; lo_j,
 * hi_j and middle_j are integers below 2^51 in size. One grid serves all columns.
 */
#ifndef DPF_BOX_H
#define DPF_BOX_H

#include <stddef.h>

/* The limits of the columns, repeated for `rows` rows, so that one loop runs over several rows. */
typedef struct {
    double scale; /* 1 / grid, a power of two */
    size_t rows;
    const double *lo, *hi, *middle;
} dpf_box_limits;

/* Writes n rows of `width` columns to out. A NaN becomes lo; *nan is the number of NaN.
 * Returns 0, or -1 when dpf_isa() has no path. */
int dpf_box(const double *x, size_t n, size_t width, const dpf_box_limits *limits, double *out,
            size_t *nan);

#endif
