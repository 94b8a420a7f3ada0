#include "statistics/joint.h"

#include <math.h>

/* exp(-c d), in two words. */
static dpf_wide2 power_of(const dpf_joint *g, int64_t d) {
    dpf_wide2 p = {1, 0, 0};
    if (d == 1) return g->power[0];
    for (int b = 0; d; b++, d >>= 1)
        if (d & 1) p = dpf_wide2_mul(p, g->power[b]);
    return p;
}

static inline dpf_wide2 decay(const dpf_joint *g, dpf_wide2 x, int64_t d) {
    return d == 0 ? x : dpf_wide2_mul(x, d == 1 ? g->power[0] : power_of(g, d));
}

dpf_wide dpf_joint_kernel(const dpf_joint *g, int64_t s, int64_t d) {
    const dpf_joint_step *k = &g->step[s];
    return d >= k->first ? dpf_wide_mul(k->far_side, dpf_wide2_to1(power_of(g, d - k->first)))
                         : dpf_wide_mul(k->near_side, dpf_wide2_to1(power_of(g, k->first - 1 - d)));
}

/* Computes choose(length + r - 1, r) from `ways` = choose(length + r - 2, r - 1). */
static inline dpf_wide more_ways(dpf_wide ways, double length, int64_t r) {
    return dpf_wide_normal(ways.m * (length + (double)(r - 1)) / (double)r, ways.e);
}

/* B_{s-r}(i) stay(s, r): a term of A_s(i) without the number of ways to choose r cells. */
static inline dpf_wide alone(const dpf_joint *g, int64_t s, int64_t i, int64_t r) {
    size_t at = (size_t)(s - r) * (size_t)g->runs + (size_t)i;
    dpf_wide b = {g->mantissa[at], g->exponent[at]};
    return dpf_wide_mul(b, g->stay[s * (g->m + 1) + r]);
}

void dpf_joint_terms(const dpf_joint *g, int64_t s, int64_t i, dpf_wide *terms) {
    dpf_wide ways = {1, 0};
    for (int64_t r = 1; r <= s; r++) {
        ways = more_ways(ways, (double)g->length[i], r);
        terms[r - 1] = dpf_wide_mul(alone(g, s, i, r), ways);
    }
}

dpf_wide dpf_joint_here(const dpf_joint *g, int64_t s, int64_t i) {
    double length = (double)g->length[i];
    dpf_wide ways = {length, 0}, sum = dpf_wide_mul(alone(g, s, i, 1), ways);
    for (int64_t r = 2, reached = 1; r <= s; r++) {
        dpf_wide x = alone(g, s, i, r);
        /* The number of ways is below 2^(64 r). A term below 2^-512 of the sum is skipped. */
        if (sum.m != 0 && x.e + r / 8 + 4 < sum.e) continue;
        while (reached < r) ways = more_ways(ways, length, ++reached);
        sum = dpf_wide_add(sum, dpf_wide_mul(x, ways));
    }
    return sum;
}

/* --- forward
 * ----------------------------------------------------------------------------------- */

/* Computes B_s from A_s, for step s + 1. */
static void convolve(dpf_joint *g, int64_t s, const dpf_wide *a, dpf_wide2 *sums,
                     dpf_wide2 *decays) {
    const dpf_joint_step *k = &g->step[s + 1];
    const int64_t *at = g->at;
    double *out = g->mantissa + (size_t)s * (size_t)g->runs;
    int32_t *out_e = g->exponent + (size_t)s * (size_t)g->runs;
    /* `far` is the sum over i' < oldest of a(i') exp(-c (at[i] - at[i'] - first)). The queue has
     * the runs oldest .. i - 1. Its front are suffix sums of oldest .. middle - 1, each relative to
     * its first run, with the decay from that run to run `middle`. Its back is one sum of middle ..
     * i - 1, relative to run `middle`. */
    dpf_wide2 far = {0, 0, 0}, back = {0, 0, 0}, back_decay = {1, 0, 0};
    int64_t oldest = 0, middle = 0, base = 0;
    out[0] = 0;
    out_e[0] = 0;
    for (int64_t i = 1; i < g->runs; i++) {
        int64_t here = at[i];
        far = decay(g, far, here - at[i - 1]);
        /* Run i - 1 joins the queue. */
        if (i - 1 > middle) back_decay = decay(g, back_decay, at[i - 1] - at[i - 2]);
        back = dpf_wide2_add(back, dpf_wide2_mul(dpf_wide_to2(a[i - 1]), back_decay));
        while (oldest < i && here - at[oldest] >= k->first) {
            far = dpf_wide2_add(
                far, decay(g, dpf_wide_to2(a[oldest]), here - at[oldest] - k->first));
            if (oldest == middle) { /* the front is empty, so the back becomes the front */
                dpf_wide2 sum = {0, 0, 0}, way = {1, 0, 0};
                base = oldest;
                for (int64_t j = i - 1; j > oldest; j--) {
                    int64_t gap = at[j + 1] - at[j];
                    way = decay(g, way, gap);
                    sum = dpf_wide2_add(decay(g, sum, gap), dpf_wide_to2(a[j]));
                    sums[j - base] = sum;
                    decays[j - base] = way;
                }
                middle = i;
                back = (dpf_wide2){0, 0, 0};
                back_decay = (dpf_wide2){1, 0, 0};
            }
            oldest++;
        }
        dpf_wide b = dpf_wide_mul(k->far_side, dpf_wide2_to1(far));
        if (oldest < i) {
            dpf_wide2 sum = back;
            if (oldest < middle)
                sum = dpf_wide2_add(sums[oldest - base], dpf_wide2_mul(decays[oldest - base], back));
            sum = decay(g, sum, k->first - 1 - (here - at[oldest]));
            b = dpf_wide_add(b, dpf_wide_mul(k->near_side, dpf_wide2_to1(sum)));
        }
        out[i] = b.m;
        out_e[i] = (int32_t)b.e;
    }
}

void dpf_joint_fill(dpf_joint *g, dpf_wide *here, dpf_wide2 *sums, dpf_wide2 *decays,
                    dpf_wide *total) {
    for (int64_t i = 0; i < g->runs; i++) {
        dpf_wide b = dpf_joint_kernel(g, 1, g->at[i]);
        g->mantissa[i] = b.m;
        g->exponent[i] = (int32_t)b.e;
    }
    for (int64_t s = 1; s <= g->m; s++) {
        dpf_wide most = {0, 0};
        for (int64_t i = 0; i < g->runs; i++) {
            here[i] = dpf_joint_here(g, s, i);
            if (!dpf_wide_at_most(here[i], 1, most)) most = here[i];
        }
        g->most[s] = most;
        if (s < g->m) convolve(g, s, here, sums, decays);
    }
    dpf_wide2 sum = {0, 0, 0};
    for (int64_t i = 0; i < g->runs; i++) {
        dpf_wide k = dpf_joint_kernel(g, g->m + 1, g->n - g->at[i]);
        sum = dpf_wide2_add(sum, dpf_wide2_mul(dpf_wide_to2(here[i]), dpf_wide_to2(k)));
    }
    *total = dpf_wide2_to1(sum);
}

/* --- backward
 * ---------------------------------------------------------------------------------- */

/* Returns an integer above 2^60 x / scale, for x below 2^16 scale. */
static uint64_t bound(dpf_wide x, dpf_wide scale) {
    int64_t e = x.e - scale.e;
    if (x.m == 0 || e < -2) return 1;
    if (e > 1) return UINT64_C(1) << 62; /* impossible: a weight is at most about the sum of all */
    double ratio = ldexp(x.m, -200) / scale.m; /* from 2^-712 to 2^312 */
    ratio = ldexp(ratio, (int)(260 + DPF_WIDE_BITS * e));
    return (uint64_t)(ratio < 0x1p61 ? ratio * (1 + 0x1p-40) : 0x1p61) + 1;
}

uint64_t dpf_joint_bounds(const dpf_joint *g, int64_t s, int64_t stop, int64_t position,
                          dpf_wide scale, uint64_t *w, int64_t *low, int64_t *high) {
    const dpf_joint_step *k = &g->step[s];
    dpf_wide most = g->most[s - 1];
    int64_t split = 0, end = stop; /* split: how many runs are at least `first` below */
    while (split < end) {
        int64_t middle = split + (end - split) / 2;
        if (position - g->at[middle] >= k->first)
            split = middle + 1;
        else
            end = middle;
    }
    uint64_t total = 0;
    int64_t i = split;
    dpf_wide2 way = dpf_wide_to2(k->far_side);
    for (int64_t last = position - k->first; i > 0; i--) {
        way = decay(g, way, last - g->at[i - 1]);
        last = g->at[i - 1];
        dpf_wide reach = dpf_wide_mul(most, dpf_wide2_to1(way));
        if (dpf_wide_at_most(reach, 0x1p62, scale)) break; /* W is 1 for all runs farther out */
        w[i - 1] = bound(dpf_wide_mul(dpf_joint_here(g, s - 1, i - 1), dpf_wide2_to1(way)), scale);
        total += w[i - 1];
    }
    *low = i;
    i = split;
    way = dpf_wide_to2(k->near_side);
    for (int64_t last = position - k->first + 1; i < stop; i++) {
        way = decay(g, way, g->at[i] - last);
        last = g->at[i];
        dpf_wide reach = dpf_wide_mul(most, dpf_wide2_to1(way));
        if (dpf_wide_at_most(reach, 0x1p62, scale)) break;
        w[i] = bound(dpf_wide_mul(dpf_joint_here(g, s - 1, i), dpf_wide2_to1(way)), scale);
        total += w[i];
    }
    *high = i;
    return total + (uint64_t)(stop - (*high - *low));
}
