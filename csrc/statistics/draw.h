/* One draw of the exponential mechanism for a quantile, from the sorted cells of the ranks round its
 * target.
 *
 * A cell o of first .. last has an interval of ranks, low(o) .. high(o), and the utility -u(o), its
 * distance from the target t: u(o) = max(0, low(o) - t, t - high(o)). It is drawn with probability
 * proportional to base(o) e^(-c u(o)), exactly: runs of cells between rows are proposed by integer
 * bounds of their weights, and kept by coins (noise/choice.h). There are two ways to count ranks:
 *
 *   steps (share < 0): low is how many rows are below o, and high how many are not above;
 *   halves: a cell with rows has the numbers of their ranks, counted by halves: 2 (below + 1) ..
 *   2 (not above). In a gap of s cells from one cell with rows to the next, or to one beyond first or
 *   last, the first w after the i-th row have the rank 2 i, the last w before the next 2 i + 2, and
 *   those between 2 i + 1, with w = min(floor(share s / 2^20), (s - 1) / 2).
 *
 * What lies outside the window is one run on either side, a lump, with the least u that it can have.
 * A proposal of a lump, and a coin that float64 leaves open, are for the caller to decide, who calls
 * again if the proposal is not kept.
 */
#ifndef DPF_DRAW_H
#define DPF_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice.h"

/* What all cells up to one weigh, but for a constant (noise/grid.py): the sum of
 *   each (cell + shift),
 *   unit 2^k floor((cell + shift) / 2^k) for k = low, low + 2 .. high,
 *   octave 2^(top - k) for each cell that is 2^k - 1 .. 2^(k + 1) - 2 cells from the side of 0,
 *   weight[j] for each multiple of spacing[j], on the cell at or below it.
 */
typedef struct {
    int64_t shift, each, unit, octave;
    int low, high, top;
    size_t spacings;
    const double *spacing;
    const int64_t *weight;
} dpf_draw_base;

typedef struct {
    int64_t first, last;    /* cells */
    int64_t before, n;      /* rows before the window, and all rows */
    int64_t whole;          /* t = whole + rest, */
    double rest, more;      /* and more = 1 - rest, both to a relative 2^-53 */
    double c;
    int64_t share;
    int narrow; /* whether there is a wider window, should lumps weigh much in this one */
    dpf_draw_base base;
} dpf_draw;

/* Room for runs: 4 w + 3 of each, for w rows. */
typedef struct {
    double *distance;
    int64_t *start, *end, *low, *high, *mass;
    uint64_t *total;
} dpf_draw_room;

#define DPF_DRAW_DONE 0
#define DPF_DRAW_OPEN 1
#define DPF_DRAW_LUMP 2
#define DPF_DRAW_NARROW 3

/* The cell, and where it is not decided, what is known of its run: it is kept with probability
 * mass e^(-c d) 2^scale / bound, d = u(o), or where t lies outside bottom .. top, the ranks that the
 * runs have, u(o) minus how far outside. */
typedef struct {
    int64_t cell, low, high, mass, scale, bottom, top;
    uint64_t bound, word; /* the word of an open coin */
} dpf_draw_found;

/* `rows` are w ascending cells of the whole column. -1 when they do not ascend, no cell is left, or
 * the target is not among the ranks of the window though cells lie beyond. */
int dpf_draw_cell(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found);

#endif
