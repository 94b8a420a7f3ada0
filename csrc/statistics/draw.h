/* One draw of the exponential mechanism for a quantile, from the sorted cells of the ranks round
 * its target.
 *
 * A node is the cells from `low` to `high`, its ends, with the rows on the cells between them, and
 * of the rows on an end a part: of those on the low end what lies above the fraction part / 2^32 of
 * each, of those on the high end what lies below. So it begins at the position L = less + (leq -
 * less) part / 2^32 of the low end, and stops at U, the same of the high one; less and leq are how
 * many rows are on cells below a cell, and not above it. The utility of a cell o is minus the
 * distance of its positions from the target t. They are
 *
 *   on an end, those of its rows that are in the node: L .. leq, or less .. U;
 *   on another cell with k rows, those of the middles of these, but for some: with r = min(ties, k - 1)
 *   from less + 1/2 + floor(2 q r) / 2 to leq - 1/2 - floor(2 (1 - q) r) / 2;
 *   in a gap of s cells from one such cell or end a to the next, b: less - 1/2 on the first w cells
 *   after a, less + 1/2 on the last w before b, and less between,
 *   with w = min(floor(share s / 2^20), (s - 1) / 2).
 *
 * If the node `divides`, drawn are a cell and a fraction, part / 2^32, at which its rows are
 * divided, and a cell with rows has the position that lies so far between the first and the last of
 * those above. The probability is proportional to base(o) e^(-c u), shared evenly by the fractions,
 * of which those of an end are its own. Exactly so: runs of cells and fractions are proposed by
 * integer bounds of their weights, and kept by coins (noise/choice.h).
 *
 * What lies outside the window is one run on either side, with the least u that it can have. A
 * proposal of such an outer run, and a coin that float64 leaves open, are for the caller to decide,
 * who calls again if the proposal is not kept.
 *
 * Its slow twin is tests/reference/statistics/quantile_draws.py.
 */
#ifndef DPF_DRAW_H
#define DPF_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice.h"

/* What all cells up to one weigh, but for a constant (noise/grid.py): the sum of
 *   each (cell + shift),
 *   zero from the cell 0 on,
 *   above 0 `above` times, and else `below` times, 2^(top - k) for each cell that is 2^k - 1 ..
 *   2^(k + 1) - 2 cells from the side of 0, where k >= floor, and 2^(top - floor) for each nearer one,
 *   weight[j] on the cell at or below each multiple of the step that stands beside it.
 */
typedef struct {
    int64_t shift, each, zero;
    int above, below, floor, top;
    size_t spacings;
    const double *spacing;
    const int64_t *weight;
} dpf_draw_base;

/* Of the low end of a column leq may be unknown, of the high one less: -1. */
typedef struct {
    int64_t cell, less, leq, part;
} dpf_draw_end;

typedef struct {
    dpf_draw_end low, high; /* different cells */
    int64_t before, n;      /* rows before the window, and all rows */
    int64_t under, over;    /* less of the first cell of the window and leq of the last, or -1 */
    int64_t whole;          /* t = whole + rest / 2^64, from L - 1/2 to U + 1/2 */
    uint64_t rest;
    double c; /* for half a rank */
    int64_t share;
    int64_t place, ties; /* of a node that does not divide: q, by 2^32, and the r of a cell with rows */
    int divides;
    int narrow; /* whether a wider window can be had, should outer runs weigh much */
    int flips;  /* of a node that does not divide: whether `near` is to be told */
    dpf_draw_base base;
} dpf_draw;

/* Room for runs: dpf_draw_runs of each. */
typedef struct {
    double *distance;
    int64_t *start, *end, *low, *high, *mass, *begin, *size;
    uint64_t *total;
} dpf_draw_room;

static inline size_t dpf_draw_runs(size_t rows, int divides)
{
    return (divides ? 12 : 4) * rows + (divides ? 96 : 8);
}

#define DPF_DRAW_DONE 0
#define DPF_DRAW_OPEN 1
#define DPF_DRAW_LUMP 2
#define DPF_DRAW_NARROW 3

/* What is drawn; less and leq are of the cell, but not of one of an outer run. Where it is not
 * decided, it is kept with probability mass e^(-2 c u) 2^scale / bound: of an open coin u is (far + further
 * / 2^64), and its word is returned; for an outer run the caller finds u, and draws a part. Where it
 * is decided, u is returned all the same. */
typedef struct {
    int64_t cell, part, less, leq, mass, scale, far;
    uint64_t further, bound, word;
    int64_t tries; /* proposals up to this one, */
    uint64_t all;  /* by bounds of this sum; */
    int64_t near;  /* and the least u of all cells, near + nearer / 2^64 */
    uint64_t nearer;
} dpf_draw_found;

/* `rows` are w ascending cells of the whole column, and among them are the rows on either side of
 * the target. -1 when they do not ascend, or the target is not there. */
int dpf_draw_node(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found);

#endif
