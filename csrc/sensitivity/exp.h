/* e^x and e^x - 1 with proved error, for weights e^(-beta k) that enter a privacy proof.
 *
 * The argument is an unevaluated sum hi + lo with |lo| <= 2^-53 |hi| (lo = 0 for a plain float64):
 * beta k is rarely a float64, and rounding it would cost up to 745 ulps. Only
 * IEEE additions, multiplications and divisions are used: no FMA, nothing from libm but ldexp and
 * nearbyint-free rounding, so the bits are the same everywhere.
 */
#ifndef DPF_EXP_H
#define DPF_EXP_H

typedef struct {
    double hi, lo;
} dpf_pair;

/* a b exactly, for |a|, |b| < 2^900 and a product that is zero or above 2^-900 (Dekker 1971). */
dpf_pair dpf_product(double a, double b);

/* e^(x.hi + x.lo) for x.hi <= 0. Below -745.2 the answer is 0. Error < 0.53 ulp where the answer
 * is normal, < 1.03 subnormal ulp (2^-1074) where it is not. */
double dpf_exp_pair(dpf_pair x);
double dpf_exp(double x);

/* 1 / (e^y - 1) for y > 0, relative error < 2^-50. Zero when y > 709 and infinite below 2^-1022. */
double dpf_inverse_expm1_pair(dpf_pair y);

#endif
