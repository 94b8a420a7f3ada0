/* Why W is an upper bound of a weight. Let u = 2^-53, and x the lesser of nearer() and ceiling().
 *
 * x is at most c D, up to 2^-50. If d >= slack, then D >= (d - slack) (1 - 2^-50); for an infinite
 * d this holds with DBL_MAX instead. The computed `lower` is at most d (1 - 2^-48) (1 + 2 u) -
 * slack (1 - u). So it is 0, or below D by more than u D, and the rounding of its product with c
 * cannot make x larger than c D. Only subnormal results are rounded by more. Then this product and
 * d (1 - 2^-48) together add 2^-1074 + 2^-1075 c < 2^-50.
 *
 * The exponential is within a relative 2^-26 of e^-x. The products with count (exact as a double),
 * with 2^shift and with 1 + 2^-20 have relative rounding errors below 2^-50. So the number g that
 * is rounded to an integer is at least weight (1 + 2^-21), and nearest(g) + 1 > g. For an x beyond
 * the ceiling the weight is below 2^-DEPTH 2^53 2^50 < 1, and W is at least 1.
 *
 * Why the sum fits into 63 bits. g < 2^room (1 + 2^-19), where room <= 50 (as nearest() requires)
 * and n < 2^(61 - room). So the sum of g + 1.5 is below 2^61 (1 + 2^-19) + 1.5 n < 2^62.
 */
#include "noise/choice.h"

#include <math.h>

#include "noise/choice_exp.h"
#include "sensitivity/exp.h"
#include "core/isa.h"

/* Weights more than 2^DEPTH times smaller than that of the nearest run get the bound 1. */
#define DEPTH 880
#define LN2 0x1.62e42fefa39efp-1
#define STRETCH 512
#define EXCLUDED (UINT64_MAX >> 1) /* the bits of a NaN */

#define DPF_BODY "noise/choice_body.h"
#include "core/each_isa.h"

int dpf_choice_bounds(dpf_choice_runs *runs)
{
    return DPF_CHOSEN(bounds)(runs);
}

/* Let tau be the exact value of factor e^(-c D) 2^lift 2^64. Its computed value t satisfies tau = t
 * e^(+-delta). delta is the sum of these errors: x has 2^-50 x and c slack from d, and 2^-53 x from
 * the product; dpf_exp has 2^-52; `factor` has 2^-51, and the two products with it 2^-53 each. With
 * a lift, x - lift ln 2 is computed in two steps with at most 2^-43 each: the product of a lift
 * below 2^31.6 with 21 bits is exact, and so is the first difference; the second product is below
 * 8.
 *
 * For delta <= 1/2, |tau - t| <= t e^delta delta <= 2 t delta. The word as a double, k, has an
 * error of at most 2^-53 k. `margin` is larger than the sum of both, of 1 for the width of the
 * interval of U 2^64, and of its own rounding errors. If t was flushed to 0, tau is below 2. */
int dpf_choice_verdict(uint64_t word, double c, double distance, double slack, int64_t lift, double factor)
{
    const double l1 = 0x1.62e43p-1, l2 = -0x1.05c610ca86c39p-29;
    double z = (double)lift, x = c * distance, t = 0, delta = 0;
    double near = dpf_choice_nearer(c, distance, slack), most = dpf_choice_ceiling(c, slack, INFINITY);
    near = near < most ? near : most;
    /* e^(-900) 2^(120 + 64) < 2 */
    if (!(near - z * LN2 > 900)) {
        delta = ((x * 0x1p-49 + c * slack) + (lift ? 0x1p-40 : 0x1p-49)) * (1 + 0x1p-20);
        if (!(delta <= 0.5))
            return DPF_CHOICE_OPEN;
        double y = (z * l1 - x) + z * l2;
        t = (dpf_exp(y < 300 ? y : 300) * factor) * 0x1p64; /* YES long before y = 300 */
    }
    double k = (double)word;
    double margin = (t * (2 * delta) + k * 0x1p-52) + 4;
    return t - k > margin ? DPF_CHOICE_YES : k - t > margin ? DPF_CHOICE_NO : DPF_CHOICE_OPEN;
}

static inline int coin(const dpf_choice_runs *runs, dpf_words *words, size_t run, double distance,
                       double slack, uint64_t *word)
{
    double count = runs->count ? (double)runs->count[run] : 1.0;
    double bound = (double)dpf_choice_bound(runs->total, run);
    *word = dpf_words_one(words);
    return dpf_choice_verdict(*word, runs->c, distance, slack, runs->lift,
                              count * power_of_two(runs->shift) / bound);
}

void dpf_choice_propose(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t n)
{
    uint64_t sum = runs->total[runs->n - 1];
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)dpf_choice_find(runs->total, runs->n, dpf_words_below(words, sum));
}

size_t dpf_choice_keep(const dpf_choice_runs *runs, dpf_words *words, const int64_t *run,
                       const double *distance, double slack, uint8_t *kept, size_t from, size_t n,
                       uint64_t *word)
{
    for (size_t i = from; i < n; i++) {
        kept[i] = DPF_CHOICE_NO;
        if (distance[i] >= 0)
            kept[i] = (uint8_t)coin(runs, words, (size_t)run[i], distance[i], slack, word);
        if (kept[i] == DPF_CHOICE_OPEN)
            return i;
    }
    return n;
}

size_t dpf_choice_draw(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t from, size_t n,
                       uint64_t *word)
{
    for (size_t i = from; i < n; i++) {
        int verdict;
        do {
            dpf_choice_propose(runs, words, out + i, 1);
            size_t run = (size_t)out[i];
            verdict = coin(runs, words, run, runs->distance[run], runs->slack, word);
        } while (verdict == DPF_CHOICE_NO);
        if (verdict == DPF_CHOICE_OPEN)
            return i;
    }
    return n;
}

void dpf_choice_below(dpf_words *words, const int64_t *limit, int limit_stride, int64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)dpf_words_below(words, (uint64_t)limit[i * (size_t)limit_stride]);
}

void dpf_choice_order(dpf_words *words, int64_t *out, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)i;
    size_t places = k < n ? k : n - 1, m; /* the last index of all needs no draw */
    uint64_t word[DPF_CHOICE_BLOCK];
    for (size_t start = 0; start < places; start += m) {
        m = places - start < DPF_CHOICE_BLOCK ? places - start : DPF_CHOICE_BLOCK;
        int64_t *to = out + start;
        dpf_words_fill(words, word, m);
        for (size_t i = 0; i < m; i++)
            word[i] = i + dpf_words_below_of(words, word[i], n - start - i);
        for (size_t i = 0; i < m; i++) { /* a second loop, so that no load waits for random bits */
            int64_t moved = to[word[i]];
            to[word[i]] = to[i];
            to[i] = moved;
        }
    }
}
