/* The exponential mechanism for a quantile of each of many groups of rows. Each group has one draw
 * (statistics/draw.h), from all cells and all rows of the group.
 *
 * Only a window of rows is sorted: those within `reach` ranks of the target at most. The kernel
 * stops if a draw is undecided, or proposes a run of cells outside the window. Then the caller
 * decides. If it rejects the proposal, it draws again for that group.
 *
 * Its slow twin is tests/reference/groups/quantile.py.
 */
#ifndef DPF_GROUPS_QUANTILE_H
#define DPF_GROUPS_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

#include "statistics/draw.h"

typedef struct {
    dpf_draw node;  /* the fields that do not depend on the rows */
    int64_t place;  /* if `inside` is 0, t = n times this / 2^32 + shift / 2^63 is the target */
    int64_t shift;
    int64_t inside; /* else t is this many ranks, at most (n + 1) / 2, minus 1/2, from an end */
    int high;       /* whether that end is the upper one */
    int64_t first;  /* rows are numbers of cells minus this */
    size_t reach;   /* the largest number of ranks on either side of the target, at least 1 */
    /* For each group, how many of its rows come before the rows in memory, and the number of all
     * its rows. NULL if all rows are in memory. */
    const int64_t *before, *sizes;
} dpf_groups_quantile;

/* The largest size of a window, for groups of at most `rows` rows. */
static inline size_t dpf_groups_window(size_t rows, size_t reach)
{
    return rows / 2 <= reach ? rows : 2 * reach + 1;
}

/* Draws out[g] for the groups g = *at .. groups - 1, whose rows are rows[offsets[g]] up to
 * rows[offsets[g + 1]]. It changes the order of the rows. It stops at a group about which the
 * caller has to decide, whose number is then in *at. Returns a status of dpf_draw_node. `window`
 * and `room` are large enough for each group. */
int dpf_groups_quantiles(const dpf_groups_quantile *in, int32_t *rows, const int64_t *offsets,
                         size_t groups, dpf_words *words, int64_t *window, const dpf_draw_room *room,
                         int32_t *out, size_t *at, dpf_draw_found *found);

#endif
