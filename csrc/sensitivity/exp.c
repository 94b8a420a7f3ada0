/* Method and error bound, with u = 2^-53.
 *
 * Reduction. k = round(x 64/ln 2), j = k mod 64, e = (k - j) / 64, r = x - k ln2/64. ln2/64 is the
 * sum of L1 (35 significant bits), L2 and a rest below 2^-95. |k| < 2^17, so k L1 is exact. So is x
 * - k L1: both are multiples of ulp(x) or of 2^-41, and the difference is below 2^-6. k L2 is below
 * 2^-24. Its rounding and that of the subtraction are at most 2^-77 + 2^-61. The addition of x.lo
 * has at most 2^-61 more. |r| <= 0.00542; if the rounded quotient leads to another k, this limit
 * changes in its 14th digit only. So r has an absolute error below 2^-59.5 = 0.012 u.
 *
 * Polynomial. p = r + r^2/2 + ... + r^6/720 approximates e^r - 1 with an error below r^7/5040 <
 * 3e-20 < 0.001 u. It is evaluated as r + r^2 q, with rounding errors below 0.0055 u / 2 + small.
 * So the total error of p is below 0.016 u.
 *
 * Recombination. e^x = 2^e (T + T p) with T = hi + lo from the table, evaluated as hi + (lo + hi
 * p). The inner sum is below 0.0109 for hi < 2, so its two rounding errors are at most 2 * 0.0055 u
 * * hi. The outer sum has half an ulp of the result. An ulp of the result is at least u times the
 * result, so the total is 0.5 ulp + (0.012 + 0.016 + 0.011 + ..) u hi < 0.53 ulp. The factor 2^e is
 * exact unless the result is subnormal. Then there is one more rounding: 0.5 subnormal ulp, in
 * addition to at most half of 0.53.
 */
#include "sensitivity/exp.h"

#include <math.h>
#include <stdint.h>

#include "core/bits.h"
#include "sensitivity/exp_table.h"

static const double L1 = 0x1.62e42fef80000p-7;
static const double L2 = 0x1.1cf79abc9e3b4p-42;
static const double INVERSE_L = 0x1.71547652b82fep+6;

dpf_pair dpf_product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double s = split * a, t = split * b;
    double ah = s - (s - a), bh = t - (t - b);
    double al = a - ah, bl = b - bh;
    dpf_pair p;
    p.hi = a * b;
    p.lo = ((ah * bh - p.hi) + ah * bl + al * bh) + al * bl;
    return p;
}

typedef struct {
    double t, small; /* e^x = 2^e (t + small) */
    double p;        /* e^r - 1 */
    int j, e;
} reduced;

static inline reduced reduce(dpf_pair x)
{
    reduced out;
    double scaled = x.hi * INVERSE_L;
    int64_t k = (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
    double kd = (double)k;
    double r = ((x.hi - kd * L1) - kd * L2) + x.lo;
    double q = 0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720))));
    out.p = r + r * r * q;
    out.j = (int)(k & 63);
    out.e = (int)((k - out.j) / 64);
    out.t = dpf_exp_table[out.j][0];
    out.small = dpf_exp_table[out.j][1] + out.t * out.p;
    return out;
}

double dpf_exp_pair(dpf_pair x)
{
    if (!(x.hi > -745.2))
        return 0.0;
    reduced a = reduce(x);
    double y = a.t + a.small;
    if (a.e >= -1021) /* not -1022, because y may be just below 1 */
        return y * power_of_two(a.e);
    return (y * power_of_two(a.e + 200)) * power_of_two(-200);
}

double dpf_exp(double x)
{
    dpf_pair pair = {x, 0.0};
    return dpf_exp_pair(pair);
}

/* For k = 0 the polynomial is e^y - 1 with a relative error of 3 u. Otherwise y > 0.0054. 2^e t - 1
 * is exact for e = 0, else it is rounded once. Its sum with 2^e small has an error below 2^e 0.06 u
 * + 2 u of the sum, which is at least half of 0.0108 2^e. So the relative error is below 7 u, and
 * the division adds 1 u: in total less than 2^-50. */
double dpf_inverse_expm1_pair(dpf_pair y)
{
    if (y.hi > 709.0)
        return 0.0;
    if (y.hi < 0x1p-1022)
        return INFINITY;
    reduced a = reduce(y);
    if (a.j == 0 && a.e == 0)
        return 1.0 / a.p;
    double scale = power_of_two(a.e);
    return 1.0 / ((scale * a.t - 1.0) + scale * a.small);
}
