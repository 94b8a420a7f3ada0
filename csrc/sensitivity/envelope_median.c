/* Smooth sensitivity of the lower median, one row added or removed. Here D(i, j) = max(2 j - n - 2,
 * n - 2 i - 1). So D <= k is a condition on i and one on j, and
 *
 *     A(k) = x_{floor((n+k)/2) + 1} - x_{ceil((n-1-k)/2)},   S* = max_k e^(-beta k) A(k),
 *
 * with ranks clipped to 0 .. n + 1. There is one loop over k. A does not decrease. So a block of k
 * is skipped if its last A times its first weight cannot beat the best. The errors are as in
 * sensitivity/envelope_replace.c: 3.2 u for a pair, and 8 u for a wrong choice in a block.
 */
#include "sensitivity/envelope_column.h"

/* A(k), or -1 if a rank is out of reach. */
static double spread(const dpf_column *x, int64_t k)
{
    int64_t n = x->n;
    if (k > n + 1)
        k = n + 1;
    int64_t j = (n + k) / 2 + 1, i = n - 1 - k > 0 ? (n - k) / 2 : 0;
    j = j < n + 1 ? j : n + 1;
    if (i < dpf_reach_first(x) || j > dpf_reach_last(x))
        return -1.0;
    return dpf_at(x, j) - dpf_at(x, i);
}

/* The greatest k up to `most` whose pair is within reach, or -1 if there is none. */
static int64_t reachable(const dpf_column *x, int64_t most)
{
    int64_t low = -1, high = most < x->n + 1 ? most : x->n + 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (spread(x, middle) >= 0)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

double dpf_envelope_median(const dpf_column *x, double beta, double floor)
{
    if (!(x->hi > x->lo))
        return 0.0;
    int64_t last = reachable(x, dpf_envelope_span(x, beta, floor));
    double best = floor, falling[DPF_BLOCK];
    int64_t filled = 0;
    for (int64_t c = 0; c <= last; c += DPF_BLOCK) {
        int64_t count = last - c + 1 < DPF_BLOCK ? last - c + 1 : DPF_BLOCK, arg = -1;
        double weight = dpf_weight(beta, c);
        if ((x->hi - x->lo) * weight * (1 + 0x1p-40) <= best)
            break;
        if (spread(x, c + count - 1) * weight * (1 + 0x1p-40) <= best)
            continue;
        for (; filled < count; filled++)
            falling[filled] = dpf_weight(beta, filled);
        double threshold = best / weight * (1 - 0x1p-40);
        for (int64_t t = 0; t < count; t++) {
            double value = spread(x, c + t) * falling[t];
            if (value > threshold) {
                threshold = value;
                arg = c + t;
            }
        }
        if (arg >= 0) {
            double found = spread(x, arg) * dpf_weight(beta, arg);
            best = found > best ? found : best;
        }
    }
    return best > floor ? dpf_envelope_up(best, floor) : floor;
}

double dpf_local_median(const dpf_column *x, int64_t k)
{
    double found = spread(x, k);
    return found > 0 ? found : 0.0;
}
