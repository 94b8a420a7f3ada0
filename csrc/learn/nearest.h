/* One step of k-means in one pass: the nearest centre of each row, and for each centre how many
 * rows have it and the exact sums of their cells.
 *
 * A column's value is clamped to public bounds and put on a public grid as in summaries/quantise.h.
 * Its coordinate is (clamped value - middle) unit, in [-1, 1] with the unit that the caller
 * chooses. The nearest centre is the first one with the least score half - sum of at x coordinate,
 * added in the order of the columns in float64: a function of the row and the centres alone. Sums
 * are integers. So neither the order of the rows nor chunks, threads or instruction sets change a
 * bit.
 *
 * Its slow twin is tests/reference/learn/nearest.py.
 */
#ifndef DPF_NEAREST_H
#define DPF_NEAREST_H

#include <stddef.h>
#include <stdint.h>

#define DPF_NEAREST_SPAN ((int64_t)1 << 41)  /* most cells of a column */
#define DPF_NEAREST_REACH ((int64_t)1 << 51) /* most of |lo| / grid and |hi| / grid */
#define DPF_NEAREST_ROWS ((size_t)1 << 20)   /* most rows of a call: their sums stay below 2^63 */
#define DPF_NEAREST_BLOCK ((size_t)64)       /* most rows that are worked on together */
#define DPF_NEAREST_LANES ((size_t)8)        /* most numbers of a vector */

/* What is known of a column; a NaN counts as `fill`. */
typedef struct {
    double lo, hi, middle, fill;
    double scale;  /* 1 / grid, a power of two */
    int64_t first; /* lo / grid */
} dpf_nearest_column;

typedef struct {
    size_t width, centres;
    double unit;
    int skip; /* rows with a NaN have no centre */
    const dpf_nearest_column *columns;
    const double *at;   /* coordinates of the centres, one after the other */
    const double *half; /* half of the squared length of each */
} dpf_nearest_model;

/* Numbers of scratch memory: rows of whole vectors for sums, what is known of the columns, and a
 * block of rows twice; labels of a block, and room to start where a vector does. */
#define DPF_NEAREST_SCRATCH(width, centres)                                                        \
    (((width) + DPF_NEAREST_LANES) * ((centres) + 8 + 2 * DPF_NEAREST_BLOCK) + DPF_NEAREST_BLOCK + \
     2 * DPF_NEAREST_LANES)

/* For each of n rows its centre, into `labels`, if given; `centres` for a row without one. Adds to
 * counts[centres + 1] and to sums[(centres + 1) * width], if given; the last of each is for rows
 * without a centre. -1 when DPFAST_ISA asks for what cannot be had. */
int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                uint64_t *counts, uint64_t *sums, uint64_t *scratch);

#endif
