/* e^x and e^x - 1 with proved error, for weights e^(-beta k) that enter a privacy proof.
 *
 * The argument is an unevaluated sum hi + lo with |lo| <= 2^-53 |hi| (lo = 0 for a plain float64).
 * beta k is rarely a float64, and rounding it would change the result by up to 745 ulps. Only IEEE
 * additions, multiplications and divisions are used, no FMA and no function of libm. So the bits
 * are the same on every machine.
 */
#ifndef DPF_EXP_H
#define DPF_EXP_H

typedef struct {
    double hi, lo;
} dpf_pair;

/* The exact product a b as a pair, for |a|, |b| < 2^900 and |a b| zero or above 2^-900 (Dekker
 * 1971). */
dpf_pair dpf_product(double a, double b);

/* e^(x.hi + x.lo) for x.hi <= 0. Below -745.2 it is 0. The error is below 0.53 ulp if the result is
 * normal, and below 1.03 subnormal ulp (2^-1074) otherwise. */
double dpf_exp_pair(dpf_pair x);
double dpf_exp(double x);

/* 1 / (e^y - 1) for y > 0, with a relative error below 2^-50. It is 0 for y > 709, and infinite for
 * y below 2^-1022. */
double dpf_inverse_expm1_pair(dpf_pair y);

#endif
