#include "groups/quantile.h"

#include "summaries/order.h"

__extension__ typedef __int128 wide;

/* The first window has the ranks with a weight above e^-FEW, but at most about FEW on either side.
 * It is doubled until candidates outside of it are proposed rarely. */
#define FEW 10

static wide target(const dpf_groups_quantile *in, size_t n)
{
    const wide rank = (wide)1 << 64;
    if (!in->inside)
        return ((wide)n * in->place << 32) + 2 * (wide)in->shift;
    const wide most = (wide)(n + 1) * (rank / 2), ranks = in->inside * rank;
    const wide inside = (ranks < most ? ranks : most) - rank / 2;
    return in->high ? n * rank - inside : inside;
}

int dpf_groups_quantiles(const dpf_groups_quantile *in, int32_t *rows, const int64_t *offsets,
                         size_t groups, dpf_words *words, int64_t *window, const dpf_draw_room *room,
                         int32_t *out, size_t *at, dpf_draw_found *found)
{
    dpf_draw node = in->node;
    const double ranks = FEW / (2 * node.c) + 1;
    const size_t few = ranks < FEW ? (size_t)ranks + 1 : FEW;
    for (; *at < groups; ++*at) {
        int32_t *x = rows + offsets[*at];
        const size_t given = (size_t)(offsets[*at + 1] - offsets[*at]);
        const size_t before = in->before ? (size_t)in->before[*at] : 0;
        const size_t n = in->sizes ? (size_t)in->sizes[*at] : given;
        const wide t = target(in, n);
        node.n = node.high.leq = (int64_t)n;
        node.whole = (int64_t)(t >> 64);
        node.rest = (uint64_t)t;
        const int64_t row = node.whole < 0 ? 0 : node.whole;
        const size_t middle = (size_t)row < n ? (size_t)row + 1 : n;
        int status = DPF_DRAW_NARROW;
        for (size_t reach = few; status == DPF_DRAW_NARROW; reach *= 2) {
            reach = reach < in->reach ? reach : in->reach;
            size_t from = middle > reach + 1 ? middle - reach - 1 : 0;
            size_t to = n - middle > reach ? middle + reach : n;
            from = from < before ? before : from;
            to = to > before + given ? before + given : to;
            if (from > to)
                return -1;
            dpf_order_i32(x, given, from - before, to - before);
            for (size_t i = from; i < to; i++)
                window[i - from] = x[i - before] + in->first;
            node.before = (int64_t)from;
            node.narrow = reach < in->reach && (from > 0 || to < n);
            status = dpf_draw_node(&node, window, to - from, words, room, found);
        }
        if (status != DPF_DRAW_DONE || words->short_of)
            return status;
        out[*at] = (int32_t)(found->cell - in->first);
    }
    return DPF_DRAW_DONE;
}
