/* e^a with an error of about an ulp, for -708 <= a <= 0. It uses IEEE additions and multiplications
 * alone, so loops over it vectorise, and the bits are the same on every instruction set. It must
 * not be used for probabilities of a privacy proof; sensitivity/exp.h has proved error bounds. */
#ifndef DPF_EXP_BELOW_H
#define DPF_EXP_BELOW_H

#include "core/bits.h"

static inline double dpf_exp_below(double a)
{
    const double shifted = a * 0x1.71547652b82fep0 + 0x1.8p52, whole = shifted - 0x1.8p52;
    const double r = (a - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * double_of((bits_of(shifted) + 1023) << 52); /* 2^whole */
}

#endif
