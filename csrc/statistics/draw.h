/* One draw of the exponential mechanism for a quantile, from a window: the sorted cells of the rows
 * whose ranks are near the target.
 *
 * A node has the cells from `low` to `high`, its ends, and the rows on the cells between them. It
 * also has a part of the rows on an end: on the low end the part of each row above the fraction
 * part / 2^32, and on the high end the part below. For a cell, less is the number of rows below it,
 * and leq the number of rows not above it. So the node begins at the position L = less + (leq -
 * less) part / 2^32 of the low end, and stops at U, computed in the same way for the high end. The
 * utility of a cell o is minus u, the distance of its positions from the target t. The positions
 * are
 *
 *   on an end, those of its rows in the node: L .. leq, or less .. U;
 *   on another cell with k rows, the middles of these rows, without some on either side: with r =
 *   min(ties, k - 1), from less + 1/2 + floor(2 q r) / 2 to leq - 1/2 - floor(2 (1 - q) r) / 2;
 *   in a gap of s cells from one such cell or end a to the next, b: less - 1/2 on the first w cells
 *   after a, less + 1/2 on the last w before b, and less between, with w = min(floor(share s /
 *   2^20), (s - 1) / 2).
 *
 * If the node `divides`, a cell and a fraction part / 2^32 are drawn, at which the cell's rows are
 * divided. A cell with rows then has one position: it is at this fraction between the first and the
 * last of the positions above. The probability of a cell is proportional to base(o) e^(-c u),
 * divided equally among its fractions; the fractions of an end are those of its part in the node.
 * The draw is exact: runs of cells and fractions are proposed by integer bounds of their weights,
 * and accepted by coins (noise/choice.h).
 *
 * All cells outside the window on one side are one outer run, with the least u that it can have.
 * The caller decides about a proposal of an outer run, and about a coin that float64 cannot decide.
 * It calls again if the proposal is rejected.
 *
 * Its slow twin is tests/reference/statistics/quantile_draws.py.
 */
#ifndef DPF_DRAW_H
#define DPF_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice.h"

/* The base measure (noise/grid.py). Up to a constant, the weight of all cells up to a cell is the
 * sum of
 *   each (cell + shift);
 *   zero, if the cell is 0 or above;
 *   `above` times, for cells from 0 on, or `below` times, for cells below 0: 2^(top - k) for each
 *   cell that is 2^k - 1 .. 2^(k + 1) - 2 cells away from 0 on its side, where k >= floor, and
 *   2^(top - floor) for each cell that is nearer;
 *   weight[j] for each multiple of the step with index j, on the cell at or below it.
 */
typedef struct {
    int64_t shift, each, zero;
    int above, below, floor, top;
    size_t spacings;
    const double *spacing;
    const int64_t *weight;
} dpf_draw_base;

/* An end. For the low end of a whole column leq may be unknown (-1), and for the high end less. */
typedef struct {
    int64_t cell, less, leq, part;
} dpf_draw_end;

typedef struct {
    dpf_draw_end low, high; /* two different cells */
    int64_t before, n;      /* the number of rows before the window, and of all rows */
    int64_t under, over;    /* less of the first cell in the window and leq of the last, or -1 */
    int64_t whole;          /* t = whole + rest / 2^64, from L - 1/2 to U + 1/2 */
    uint64_t rest;
    double c; /* the rate for half a rank */
    int64_t share;
    int64_t place, ties; /* if the node does not divide: 2^32 q, and the limit of r */
    int divides;
    int narrow; /* whether the caller can widen the window, if outer runs have much weight */
    int flips;  /* if the node does not divide: whether to compute `near` */
    dpf_draw_base base;
} dpf_draw;

/* Arrays of the runs, each with room for dpf_draw_runs() entries. */
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

/* The drawn cell, with its less and leq unless it is in an outer run. If the proposal is undecided,
 * it must be accepted with probability mass e^(-2 c u) 2^scale / bound. For an undecided coin u is
 * far + further / 2^64, and `word` is its word. For an outer run the caller computes u, and draws a
 * part. If the proposal is decided, u is returned, too. */
typedef struct {
    int64_t cell, part, less, leq, mass, scale, far;
    uint64_t further, bound, word;
    int64_t tries; /* the number of proposals up to this one */
    uint64_t all;  /* the sum of all bounds */
    int64_t near;  /* the least u of all cells is near + nearer / 2^64 */
    uint64_t nearer;
} dpf_draw_found;

/* Draws from a window: `rows` are w ascending cells, and the rows on either side of the target are
 * among them, with `ties` + 1 more on each side or all that there are. (The positions of a tie
 * depend on them; nothing checks it.) Returns one of the above, or -1 if the cells do not ascend or
 * the target is not in the window. */
int dpf_draw_node(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found);

#endif
