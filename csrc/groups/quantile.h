/* The exponential mechanism for a quantile of each of many groups of rows.
 *
 * Rows are numbers of cells, first .. last. In a group of n rows the cell o has the utility
 * -u(o), u(o) = max(0, less(o) - t, t - leq(o)) for t = q n, and is drawn with probability
 * proportional to e^(-c u(o)), exactly: runs of cells between rows are proposed by integer bounds of
 * their weights, and kept by coins (noise/choice.h).
 *
 * Only the rows within some ranks of the target are sorted, `reach` of them at most. What lies outside is one run on
 * either side, a lump, with the least u that it can have. A proposal of a lump, and a coin that
 * float64 leaves open, stop the kernel: the caller decides, and goes on with that group anew if the
 * proposal is not kept.
 */
#ifndef DPF_GROUPS_QUANTILE_H
#define DPF_GROUPS_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice.h"

typedef struct {
    int32_t first, last; /* cells */
    double q, c;
    double inside; /* if not 0: t lies so many ranks, at most n / 2, from the end that q = 0 or 1 is */
    size_t reach; /* most ranks on either side of the target; at least 1 */
} dpf_groups_quantile;

/* Room for the runs of a group: dpf_groups_runs() of the largest. */
typedef struct {
    double *distance;
    int64_t *start, *count;
    uint64_t *total;
} dpf_groups_room;

static inline size_t dpf_groups_runs(size_t rows, size_t reach)
{
    return 2 * (rows / 2 < reach + 1 ? rows : 2 * reach + 2) + 1;
}

#define DPF_GROUPS_DONE 0
#define DPF_GROUPS_OPEN 1
#define DPF_GROUPS_LUMP 2

/* A proposal that the caller decides: it is kept with probability count e^(-c u) 2^scale / bound. */
typedef struct {
    int64_t start, count, scale;
    uint64_t bound, word; /* the word of an open coin */
} dpf_groups_proposal;

/* Draws out[g] for the groups g = *at .. groups - 1, whose rows are rows[offsets[g]] up to
 * rows[offsets[g + 1]]; they are put in another order. Stops at a group that the caller has to
 * decide, and names it in *at. -1 when there is no such path. */
int dpf_groups_quantiles(const dpf_groups_quantile *in, int32_t *rows, const int64_t *offsets,
                         size_t groups, dpf_words *words, const dpf_groups_room *room, int32_t *out,
                         size_t *at, dpf_groups_proposal *proposal);

#endif
