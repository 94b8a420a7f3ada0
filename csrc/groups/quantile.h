/* The exponential mechanism for a quantile of each of many groups of rows: one draw
 * (statistics/draw.h) for each, from all cells and all rows of the group.
 *
 * Only the rows within some ranks of the target are sorted, `reach` of them at most. A draw that is
 * open, or that proposes a run outside the window, stops the kernel: the caller decides, and goes on
 * with that group anew if the proposal is not kept.
 *
 * Its slow twin is tests/reference/groups/quantile.py.
 */
#ifndef DPF_GROUPS_QUANTILE_H
#define DPF_GROUPS_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

#include "statistics/draw.h"

typedef struct {
    dpf_draw node;  /* all but what depends on the rows */
    int64_t place;  /* t = n times this / 2^32 + shift / 2^63, */
    int64_t shift;
    int64_t inside; /* or if not 0, so many ranks, at most (n + 1) / 2, from an end, less 1/2 */
    int high;       /* which is then the upper one */
    int64_t first;  /* rows are cells less this */
    size_t reach;   /* most ranks on either side of the target; at least 1 */
    /* Of each group the rows before those given, and all that it has; NULL if all are given. */
    const int64_t *before, *sizes;
} dpf_groups_quantile;

/* Rows of a window of groups with at most so many rows. */
static inline size_t dpf_groups_window(size_t rows, size_t reach)
{
    return rows / 2 <= reach ? rows : 2 * reach + 1;
}

/* Draws out[g] for the groups g = *at .. groups - 1, whose rows are rows[offsets[g]] up to
 * rows[offsets[g + 1]]; they are put in another order. Stops at a group that the caller has to
 * decide, and names it in *at. Returns as dpf_draw_node; `window` and `room` are for the
 * largest. */
int dpf_groups_quantiles(const dpf_groups_quantile *in, int32_t *rows, const int64_t *offsets,
                         size_t groups, dpf_words *words, int64_t *window, const dpf_draw_room *room,
                         int32_t *out, size_t *at, dpf_draw_found *found);

#endif
