/* e^(-x) with a relative error of at most 2^-26, in loops that vectorise on every instruction set.
 *
 * Let 0 <= x <= 2^30. k is the integer nearest to x / ln 2, by adding and subtracting 1.5 2^52; it
 * is below 2^31. ln 2 = L1 + L2, where L1 has 21 bits, so k L1 is exact. |x - k L1| and k L2 are
 * below 2^10. So the rounding errors of these two steps and of k L2 are at most 2^-43 each, and the
 * remainder is |r| <= ln(2) / 2 + 2^-20. The error of the Taylor polynomial of degree 7 is below
 * |r|^8 / 8! (1 + |r| / 8) < 2^-27.4, and e^r > 0.7. So the relative error is below 2^-26.8,
 * together with rounding errors below 2^-40.
 */
#ifndef DPF_CHOICE_EXP_H
#define DPF_CHOICE_EXP_H

#include <stdint.h>

#include "core/bits.h"

/* Added to a number below 2^51, it rounds the number to an integer, which is in the low bits. */
#define DPF_ROUND 0x1.8p52

/* Returns the integer nearest to g, for 0 <= g < 2^51. */
static inline uint64_t dpf_nearest(double g)
{
    return bits_of(g + DPF_ROUND) - bits_of(DPF_ROUND);
}

/* Returns 2^lift e^(-x), for x / ln 2 between lift - 900 and lift + 1020. */
static inline double dpf_choice_exp(double x, int64_t lift)
{
    const double l1 = 0x1.62e43p-1, l2 = -0x1.05c610ca86c39p-29;
    double shifted = x * 0x1.71547652b82fep+0 + DPF_ROUND;
    double k = shifted - DPF_ROUND;
    double r = k * l2 - (x - k * l1);
    double p = 1.0 / 720 + r * (1.0 / 5040);
    p = 1.0 / 120 + r * p;
    p = 1.0 / 24 + r * p;
    p = 1.0 / 6 + r * p;
    p = 0.5 + r * p;
    p = 1.0 + r * p;
    p = 1.0 + r * p;
    uint64_t e = (uint64_t)(lift + 1023) + bits_of(DPF_ROUND) - bits_of(shifted);
    return p * double_of(e << 52);
}

#endif
