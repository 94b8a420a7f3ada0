/* t = q n with q as a float64 is off by at most 2^-53 q n, and the product rounds by as much again;
 * the difference from a rank rounds by 2^-53 of something below n + 1. So distances are within
 * 2^-51 (n + 1) of the exact ones, which `slack` says. */
#include "groups/quantile.h"

#include <math.h>

#include "summaries/order.h"

/* A look begins with the ranks within FEW, and goes on until lumps are proposed less often than once
 * in 2^RARE times. */
#define FEW 12
#define RARE 12

typedef struct {
    size_t runs;
    int low, high; /* whether the first and the last run are lumps */
} survey;

static inline size_t run(const dpf_groups_room *room, size_t i, int64_t start, int64_t count,
                         double distance)
{
    room->start[i] = start;
    room->count[i] = count;
    room->distance[i] = distance;
    return i + 1;
}

/* By turns the gap before a cell that rows are on, and that cell; at last the gap after all. The
 * window may cut the ties at its ends. Of the lower one the rows at or below are still known, of the
 * upper one those below, and the other side is not the one that is farther from the target. */
static survey look(const dpf_groups_quantile *in, int32_t *x, size_t n, double t, size_t reach,
                   const dpf_groups_room *room)
{
    const double up = ceil(t);
    const size_t rank = up < 1 ? 1 : up > (double)n ? n : (size_t)up;
    const size_t from = rank > reach + 1 ? rank - reach - 1 : 0;
    const size_t to = n > rank && n - rank > reach ? rank + reach : n;
    int64_t next = in->first; /* the first cell that is in no run yet */
    survey s = {0, from > 0 && x[0] >= next, 0};
    dpf_order_i32(x, n, from, to);
    for (size_t i = from; i < to;) {
        const int32_t cell = x[i];
        size_t end = i + 1;
        while (end < to && x[end] == cell)
            end++;
        if (cell > next)
            s.runs = run(room, s.runs, next, cell - next, fabs(t - (double)i));
        else if (i == from)
            s.low = 0;
        const double below = t - (double)end, above = (double)i - t;
        s.runs = run(room, s.runs, cell, 1, below > 0 ? below : above > 0 ? above : 0);
        next = (int64_t)cell + 1;
        i = end;
    }
    if (next <= in->last) {
        s.high = to < n;
        s.runs = run(room, s.runs, next, in->last - next + 1, fabs((double)to - t));
    }
    return s;
}

/* The bounds of the lumps. */
static uint64_t lumps(const survey *s, const uint64_t *total)
{
    const uint64_t low = s->low ? dpf_choice_bound(total, 0) : 0;
    return low + (s->high ? dpf_choice_bound(total, s->runs - 1) : 0);
}

static double target(const dpf_groups_quantile *in, size_t n)
{
    if (!in->inside)
        return in->q * (double)n;
    const double ranks = fmin(in->inside, (double)n / 2);
    return in->q > 0 ? (double)n - ranks : ranks;
}

int dpf_groups_quantiles(const dpf_groups_quantile *in, int32_t *rows, const int64_t *offsets,
                         size_t groups, dpf_words *words, const dpf_groups_room *room, int32_t *out,
                         size_t *at, dpf_groups_proposal *proposal)
{
    for (; *at < groups; ++*at) {
        const size_t n = (size_t)(offsets[*at + 1] - offsets[*at]);
        const double t = target(in, n);
        dpf_choice_runs runs = {room->distance, room->count, room->total, 0,
                                in->c, ((double)n + 1) * 0x1p-51, 0, 0};
        survey s;
        for (size_t reach = FEW < in->reach ? FEW : in->reach;;) {
            s = look(in, rows + offsets[*at], n, t, reach, room);
            runs.n = s.runs;
            if (dpf_choice_bounds(&runs))
                return -1;
            if (reach == in->reach || lumps(&s, room->total) <= room->total[s.runs - 1] >> RARE)
                break;
            reach = 2 * reach < in->reach ? 2 * reach : in->reach;
        }
        for (uint8_t kept = DPF_CHOICE_NO; kept != DPF_CHOICE_YES;) {
            int64_t i;
            dpf_choice_propose(&runs, words, &i, 1);
            const int lump = (s.low && i == 0) || (s.high && (size_t)i == s.runs - 1);
            if (!lump)
                dpf_choice_keep(&runs, words, &i, room->distance + i, runs.slack, &kept, 0, 1,
                                &proposal->word);
            if (lump || kept == DPF_CHOICE_OPEN) {
                proposal->start = room->start[i];
                proposal->count = room->count[i];
                proposal->bound = dpf_choice_bound(runs.total, (size_t)i);
                proposal->scale = runs.lift + runs.shift;
                return lump ? DPF_GROUPS_LUMP : DPF_GROUPS_OPEN;
            }
            if (kept == DPF_CHOICE_YES)
                out[*at] = (int32_t)(room->start[i] + (int64_t)dpf_words_below(words, (uint64_t)room->count[i]));
            if (words->short_of) /* a script that is over ends every loop */
                return DPF_GROUPS_DONE;
        }
    }
    return DPF_GROUPS_DONE;
}
