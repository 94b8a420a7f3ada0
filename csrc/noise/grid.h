/* Correctly rounded noise on a grid, from a table of a distribution's quantile function.
 *
 * A sample of value + scale Z on the grid of multiples of g is g times the integer nearest to
 * (value + scale Z) / g. Z is symmetric and |Z| = Q(p), where Q is the upper-tail quantile function
 * and p is uniform in (0, 1/2). Of 64 random bits, bit 0 is the sign and the other 63 are k: p = (k
 * + theta) 2^-64. theta in (0, 1) represents all further bits, which are drawn only if they are
 * needed.
 *
 * The table. d = (double)k is clamped to [DPF_GRID_FLOOR, DPF_GRID_TOP]. Its octave and the next
 * DPF_GRID_SPLIT bits are its segment. A row of the table belongs to one segment with midpoint m.
 * It has a polynomial in m - d (exact in double), and a bound on the difference between its
 * computed value and Q(p). The bound includes the errors of truncation, coefficients, evaluation,
 * the rounding of k to d, and theta. Row 0 is for small k, for which 64 bits are too few: its bound
 * is infinite. If the density has a corner, Q is analytic on either side of it only. Then rows from
 * the corner d = knee on are stored one row later, and the segment with the corner has two rows.
 * How rows and bounds are computed, and why the bounds hold, is in
 * dpfast/noise/distributions/table.py.
 *
 * The decision. y = ratio * z + frac differs from the exact (value + scale Z) / g minus an integer
 * by at most e = ratio * bound + rounding. If y is closer than 1/2 - e to its nearest integer, that
 * integer is the answer. Otherwise the sample is reported as undecided, with its 64 bits, and the
 * caller decides it exactly. So the result depends neither on the instruction set nor on the
 * accuracy of the table.
 *
 * Its slow twin is tests/reference/noise/samplers.py.
 */
#ifndef DPF_GRID_H
#define DPF_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "rng/rng.h"

#define DPF_GRID_SPLIT 6    /* an octave has 2^6 segments */
#define DPF_GRID_OCTAVE 42  /* the table covers 2^42 <= k < 2^63 */
#define DPF_GRID_WIDTH 8    /* the doubles of a row: seven coefficients and the bound */
#define DPF_GRID_ROWS (1 + ((63 - DPF_GRID_OCTAVE) << DPF_GRID_SPLIT) + 1)
#define DPF_GRID_BLOCK 256  /* samples at a time; also the least room for undecided samples */

typedef struct {
    const double *rows; /* DPF_GRID_ROWS rows, 64-byte aligned */
    double knee;        /* the corner of the density in units of k, or +inf if there is none */
} dpf_grid_table;

/* Per-sample inputs; a stride is 0 (one value for all) or 1. */
typedef struct {
    const double *ratio; /* scale / granularity */
    const double *grid;  /* granularity */
    const double *frac;  /* value / granularity minus `whole`, in [-1/2, 1/2] */
    const double *whole; /* an integer */
    int ratio_stride, grid_stride, frac_stride, whole_stride;
} dpf_grid_input;

/* Draws out[from .. n). It stops early if less than DPF_GRID_BLOCK is left of `room`, and returns
 * the index of the first sample that is not drawn. *found is the number of undecided samples:
 * lane[i] is the index of one in `out`, and word[i] has its bits. Unless `given` is NULL, it has n
 * words to use instead of the stream. */
size_t dpf_grid_fill(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                     const dpf_grid_input *in, double *out, size_t from, size_t n, int64_t *lane,
                     uint64_t *word, size_t room, size_t *found);

/* Draws integers: sign * max(0, integer nearest to ratio |Z| + frac). `ratio` has a relative error
 * of at most 2^-53; `frac` is in [-1/2, 1/2] and has an error of at most 2^-54. */
size_t dpf_grid_integers(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, double ratio,
                         double frac, int64_t *out, size_t from, size_t n, int64_t *lane, uint64_t *word,
                         size_t room, size_t *found);

/* Decides about candidates y of a rejection sampler that accepts y with probability exp(-gamma),
 * gamma = (|y| - centre)^2 * half_precision. |Z| must have the standard exponential distribution.
 * keep[i] is 1 if |Z| is above gamma, 0 if it is below, and 2 if the bound cannot decide; then
 * drawn[i] has the bits of |Z|. `centre` and `half_precision` have a relative error of at most
 * 2^-53; |y| < 2^51. Returns the number of undecided candidates. `drawn` has room for n words. */
size_t dpf_grid_accept(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, const int64_t *y,
                       double centre, double half_precision, uint64_t *drawn, uint8_t *keep, size_t n);

#endif
