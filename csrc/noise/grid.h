/* Correctly rounded noise on a grid, from a table of a distribution's quantile function.
 *
 * A sample of value + scale Z on the grid g Z is g * nearest integer of (value + scale Z) / g, with
 * Z symmetric and |Z| = Q(p), Q the upper-tail quantile function and p uniform in (0, 1/2).
 * Sixty-four bits of the stream give the sign (bit 0) and k (the other 63): p = (k + theta) 2^-64,
 * theta in (0, 1) standing for the bits that follow, which are drawn only if they matter.
 *
 * The table. d = (double)k, held inside [DPF_GRID_FLOOR, DPF_GRID_TOP], is cut by its leading bits
 * into segments: its octave and the next DPF_GRID_SPLIT bits. A row holds, for one segment with
 * midpoint m, a polynomial in m - d (exact in double) and an absolute bound of everything that can
 * separate its computed value from Q(p): truncation, coefficients, evaluation, the rounding of k to
 * d, and theta. Row 0 belongs to small k, for which 64 bits say too little: its bound is infinite.
 * A distribution whose density has a corner is analytic on either side of it only: rows from the
 * one at d = knee on are stored one row later, and the segment that the corner cuts has two rows.
 * How rows and bounds are made, and why they hold, is in dpfast/noise/distributions/table.py.
 *
 * The decision. y = ratio * z + frac is within e = ratio * bound + rounding of the real (value +
 * scale Z) / g less an integer. If the distance of y to the nearest integer is below 1/2 - e, that
 * integer is the answer. Otherwise the lane is reported as undecided, with its 64 bits, and the
 * caller decides it exactly. So the result never depends on the instruction set, nor on how good
 * the table is.
 *
 * Its slow twin is tests/reference/noise/samplers.py.
 */
#ifndef DPF_GRID_H
#define DPF_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "rng/rng.h"

#define DPF_GRID_SPLIT 6    /* segments per octave, as a power of two */
#define DPF_GRID_OCTAVE 42  /* the table covers 2^42 <= k < 2^63 */
#define DPF_GRID_WIDTH 8    /* doubles in a row: seven coefficients and the bound */
#define DPF_GRID_ROWS (1 + ((63 - DPF_GRID_OCTAVE) << DPF_GRID_SPLIT) + 1)
#define DPF_GRID_BLOCK 256  /* samples at a time; also the least room for undecided lanes */

typedef struct {
    const double *rows; /* DPF_GRID_ROWS rows, 64-byte aligned */
    double knee;        /* in units of k; +inf when the density has no corner */
} dpf_grid_table;

/* Per-sample inputs; a stride is 0 (one value for all) or 1. */
typedef struct {
    const double *ratio; /* scale / granularity */
    const double *grid;  /* granularity */
    const double *frac;  /* value / granularity less `whole`, in [-1/2, 1/2] */
    const double *whole; /* an integer */
    int ratio_stride, grid_stride, frac_stride, whole_stride;
} dpf_grid_input;

/* Fills out[from..n). Stops early when less than DPF_GRID_BLOCK is left of `room`; returns
 * the index of the first sample not yet made. Undecided lanes: lane[i] is the index in out, word[i]
 * its bits; `found` is their number. `given`, when it is not NULL, holds n words to use in place of
 * the stream. */
size_t dpf_grid_fill(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                     const dpf_grid_input *in, double *out, size_t from, size_t n, int64_t *lane,
                     uint64_t *word, size_t room, size_t *found);

/* Integers: sign * max(0, nearest integer of ratio |Z| + frac), where ratio is within a unit of
 * rounding of what it stands for, and frac, in [-1/2, 1/2], within half a unit. */
size_t dpf_grid_integers(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, double ratio,
                         double frac, int64_t *out, size_t from, size_t n, int64_t *lane, uint64_t *word,
                         size_t room, size_t *found);

/* Verdicts on candidates y of a rejection sampler that keeps y with probability exp(-gamma), gamma
 * = (|y| - centre)^2 * half_precision: keep[i] is 1 where |Z| is above gamma, 0 where it is below,
 * 2 where the bound leaves that open; then word[i] has the bits of |Z|, whose distribution must be
 * the standard exponential. centre and half_precision are within a unit of rounding of what they
 * stand for; |y| < 2^51. Returns the number of open verdicts. `drawn` has room for n words. */
size_t dpf_grid_accept(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, const int64_t *y,
                       double centre, double half_precision, uint64_t *drawn, uint8_t *keep, size_t n);

#endif
