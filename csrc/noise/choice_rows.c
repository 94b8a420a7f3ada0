/* Bounds are those of noise/choice.c with a lift of 0 and S = 40. nearest(weight 2^40 (1 + 2^-20))
 * + 1 is above weight 2^40, because x exceeds the exact product by at most 2^-50, and the
 * exponential has a relative error of at most 2^-26. For an x above MOST the weight is below 2^-880
 * and the bound is 1 or 2. The bounds of a row of less than 2^21 candidates have a sum below 2^63.
 *
 * Coins. t = e^-x 2^53 is computed with an exponential within a relative 2^-26, and an error of x
 * of 2^-49 x < 2^-39 (2^-1074 more if it is subnormal). Let tau be the exact value. Then |tau / t -
 * 1| < 2^-25, or both t and tau are below 1. U 2^53 is in [k, k + 1]. This leaves about one in 2^24
 * coins undecided. They are compared again, with all 64 bits and an exponential within a relative
 * 2^-52.
 */
#include "noise/choice_rows.h"

#include "noise/choice.h"
#include "noise/choice_exp.h"
#include "core/isa.h"

#define MOST 609.0 /* a little less than 880 ln 2 */
#define MINUS_INFINITY UINT64_C(0xfff0000000000000)
#define SCALE ((double)(UINT64_C(1) << DPF_CHOICE_ROWS_SHIFT) * (1 + 0x1p-20))

/* Returns an integer k < 2^53 as a double. Unlike a conversion, this vectorises on every
 * instruction set. */
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
