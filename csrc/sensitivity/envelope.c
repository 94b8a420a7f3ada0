/* Functions for all kernels of local and smooth sensitivity. */
#include <math.h>

#include "sensitivity/envelope_column.h"

double dpf_envelope_value(const dpf_column *x, int64_t m)
{
    return dpf_at(x, m);
}

int64_t dpf_envelope_span(const dpf_column *x, double beta, double floor)
{
    int range, low;
    double range_part = frexp(x->hi - x->lo, &range), low_part = frexp(floor, &low);
    (void)range_part;
    (void)low_part;
    /* (hi - lo) / floor < 2^(range - low + 1), and 0.6931471805599454 > ln 2. */
    double k = (range - low + 1) * 0.6931471805599454 / beta;
    if (!(k > 0))
        return 0;
    return k < 1e18 ? (int64_t)(k * 1.0000000000001) + 1 : (int64_t)1000000000000000000;
}

double dpf_envelope_up(double best, double floor)
{
    double raised = nextafter(best * (1.0 + 0x1p-42), INFINITY);
    return raised > floor ? raised : floor;
}

double dpf_local_replace(const dpf_column *x, int64_t m, int64_t k)
{
    int64_t first = dpf_reach_first(x), last = dpf_reach_last(x);
    double best = 0;
    /* The pairs are i = m + t - k - 1 and j = m + t, with i in [first, m]. Ranks j beyond the last
     * one have the same value. */
    int64_t from = m - k - 1 > first ? m - k - 1 : first;
    for (int64_t i = from; i <= m; i++) {
        int64_t j = i + k + 1 < last ? i + k + 1 : last;
        double d = dpf_at(x, j) - dpf_at(x, i);
        if (d > best)
            best = d;
    }
    return best;
}
