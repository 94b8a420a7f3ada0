/* Bounds. As in noise/choice.c, with a lift of 0 and S = 40: nearest(weight 2^40 (1 + 2^-20)) + 1
 * is above weight 2^40, since x is not above the exact one but by 2^-50 and the exponential is good
 * to 2^-26. Beyond MOST the weight is below 2^-880 and the bound is 1 or 2. A row of less than 2^21
 * candidates sums up to less than 2^63.
 *
 * Coins. t = e^-x 2^53 with an exponential within 2^-26, and x off by 2^-49 x < 2^-39 (2^-1074 more
 * where it is subnormal): |tau / t - 1| < 2^-25, or t and tau are both below 1. U 2^53 lies in [k,
 * k + 1]. What this leaves open (about 2^-24 of the coins) is looked at again with all 64 bits and
 * an exponential good to 2^-52.
 */
#include "noise/choice_rows.h"

#include "noise/choice.h"
#include "noise/choice_exp.h"
#include "core/isa.h"

#define MOST 609.0 /* 880 ln 2, less a little */
#define MINUS_INFINITY UINT64_C(0xfff0000000000000)
#define SCALE ((double)(UINT64_C(1) << DPF_CHOICE_ROWS_SHIFT) * (1 + 0x1p-20))

/* An integer k < 2^53 as a double. Vectorises on every instruction set, which a conversion does
 * not. */
static inline double to_double(uint64_t k)
{
    double high = double_of((k >> 32) | UINT64_C(0x4530000000000000)) - 0x1.00000001p84;
    return high + double_of((k & 0xffffffff) | UINT64_C(0x4330000000000000));
}

#define DPF_BODY "noise/choice_rows_body.h"
#include "core/each_isa.h"

size_t dpf_choice_rows(const dpf_choice_matrix *in, dpf_words *words, size_t draws, uint64_t *scratch,
                       int64_t *out, size_t from, uint64_t *bound, uint64_t *word)
{
    return DPF_CHOSEN(rows)(in, words, draws, scratch, out, from, bound, word);
}

size_t dpf_choice_subset(const dpf_choice_matrix *in, dpf_words *words, uint64_t *drawn, uint8_t *heads,
                         int decided, int64_t *out, size_t from)
{
    return DPF_CHOSEN(subset)(in, words, drawn, heads, decided, out, from);
}

void dpf_choice_row_sums(const dpf_choice_matrix *in, uint64_t *total)
{
    for (size_t row = 0; row < in->rows; row++)
        DPF_CHOSEN(sums)(in->values + row * in->n, in->best[row], in->c, in->slack, in->n,
                         total + row * in->n);
}
