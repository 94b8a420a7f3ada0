/* One draw of the exponential mechanism for a quantile, from the sorted cells of the ranks round its
 * target.
 *
 * A cell o of first .. last has the utility -u(o), u(o) = max(0, less(o) - t, t - leq(o)), and is
 * drawn with probability proportional to base(o) e^(-c u(o)), exactly: runs of cells between rows are
 * proposed by integer bounds of their weights, and kept by coins (noise/choice.h). What lies outside
 * the window is one run on either side, a lump, with the least u that it can have. A proposal of a
 * lump, and a coin that float64 leaves open, are for the caller to decide, who calls again if the
 * proposal is not kept.
 */
#ifndef DPF_DRAW_H
#define DPF_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice.h"

/* The sum of 2^k floor((cell + shift) / 2^k) over k = 0 .. levels, as a table of what each value of
 * each 12-bit digit of cell + shift contributes; NULL if all cells weigh the same. */
typedef struct {
    const int64_t *worth;
    int64_t shift;
    int levels;
} dpf_draw_base;

typedef struct {
    int64_t first, last;    /* cells */
    int64_t before, n;      /* rows before the window, and all rows */
    int64_t whole;          /* t = whole + rest, */
    double rest, more;      /* and more = 1 - rest, both to a relative 2^-53 */
    double c;
    dpf_draw_base base;
} dpf_draw;

/* Room for runs: 2 w + 1 of each, for w rows. */
typedef struct {
    double *distance;
    int64_t *start, *end, *less, *leq, *mass;
    uint64_t *total;
} dpf_draw_room;

#define DPF_DRAW_DONE 0
#define DPF_DRAW_OPEN 1
#define DPF_DRAW_LUMP 2

/* The cell, and where it is not decided, what is known of its run: it is kept with probability
 * mass e^(-c d) 2^scale / bound, d = u(o) minus the least u that a run has. That is 0, or how far t
 * lies outside bottom .. top, the ranks that the runs have. */
typedef struct {
    int64_t cell, less, leq, mass, scale, bottom, top;
    uint64_t bound, word; /* the word of an open coin */
} dpf_draw_found;

/* `rows` are w ascending cells of the whole column. -1 when they do not ascend, or no cell is left. */
int dpf_draw_cell(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found);

#endif
