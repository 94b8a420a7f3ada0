/* One step of k-means in one pass: the nearest centre of each row, and for each centre the number
 * of its rows and the exact sums of their cells.
 *
 * The value of a column is clamped to public bounds and put on a public grid, as in
 * summaries/quantise.h. Its coordinate is (clamped value - middle) unit, which is in [-1, 1] for
 * the unit that the caller chooses. The score of a centre is half - sum of at times coordinate, in
 * float64 and in the order of the columns. The nearest centre is the first one with the least
 * score. So it is a function of the row and the centres alone. Sums are integers. So neither the
 * order of the rows nor chunks, threads or instruction sets change a bit.
 *
 * Its slow twin is tests/reference/learn/nearest.py.
 */
#ifndef DPF_NEAREST_H
#define DPF_NEAREST_H

#include <stddef.h>
#include <stdint.h>

#define DPF_NEAREST_SPAN ((int64_t)1 << 41)  /* the most cells of a column */
#define DPF_NEAREST_REACH ((int64_t)1 << 51) /* the largest |lo| / grid and |hi| / grid */
#define DPF_NEAREST_ROWS ((size_t)1 << 20)   /* the most rows in a call: sums stay below 2^63 */
#define DPF_NEAREST_BLOCK ((size_t)64)       /* the most rows that are computed together */
#define DPF_NEAREST_LANES ((size_t)8)        /* the most numbers in a vector */

/* The public numbers of a column; a NaN counts as `fill`. */
typedef struct {
    double lo, hi, middle, fill;
    double scale;  /* 1 / grid, a power of two */
    int64_t first; /* lo / grid */
} dpf_nearest_column;

typedef struct {
    size_t width, centres;
    double unit;
    int skip; /* whether rows with a NaN have no centre */
    const dpf_nearest_column *columns;
    const double *at;   /* the coordinates of the centres, one centre after the other */
    const double *half; /* half of the squared length of each centre */
} dpf_nearest_model;

/* The number of 64-bit words in scratch memory: sums of each centre and public numbers of the
 * columns, both in whole vectors; a block of rows twice; the labels of a block; and room for
 * alignment. */
#define DPF_NEAREST_SCRATCH(width, centres)                                                        \
    (((width) + DPF_NEAREST_LANES) * ((centres) + 8 + 2 * DPF_NEAREST_BLOCK) + DPF_NEAREST_BLOCK + \
     2 * DPF_NEAREST_LANES)

/* Writes the centre of each of n rows to `labels`, or `centres` for a row without one. Adds to
 * counts[centres + 1] and to sums[(centres + 1) * width]; their last part is for rows without a
 * centre. `labels`, and `sums` with `counts`, may be NULL. Returns 0, or -1 when dpf_isa() has no
 * path. */
int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                uint64_t *counts, uint64_t *sums, uint64_t *scratch);

#endif
