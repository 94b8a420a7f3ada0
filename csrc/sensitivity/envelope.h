/* Local and smooth sensitivity of an order statistic, from a window of sorted values.
 *
 * Notation of all files envelope*: ranks are counted from 1. x_0 = lo and x_{n+1} = hi are the
 * least and the largest value that a changed row may have. A pair of ranks i < j has the value (x_j
 * - x_i) e^(-beta D), where D = D(i, j) is how many rows must change first.
 *
 * Accuracy. For a smooth sensitivity S* above `floor`, the result is some S with S* <= S <= (1 +
 * 2^-41) S*. Otherwise it is some S with max(S*, floor) <= S <= (1 + 2^-41) floor. That is a (beta
 * + 2^-41)- smooth bound, so callers calibrate their noise for beta + 2^-40. Each kernel lists its
 * errors, in u = 2^-53. They add up to less than the 2048 u by which dpf_envelope_up() raises the
 * result.
 *
 * Its slow twin is tests/reference/sensitivity/quantile.py.
 */
#ifndef DPF_ENVELOPE_H
#define DPF_ENVELOPE_H

#include <stdint.h>

#include "core/dtype.h"

/* A window: the sorted values of ranks first .. first + count - 1 of n values, none of which is
 * NaN. Ranks beyond the window are out of reach, unless the window ends where the data end. */
typedef struct {
    const void *values;
    int kind;
    int64_t count, first, n;
    double lo, hi;
} dpf_column;

/* The clipped value of rank m. */
double dpf_envelope_value(const dpf_column *x, int64_t m);

/* Smooth sensitivity of x_m when a row is replaced: max over i <= m <= j, i < j of (x_j - x_i)
 * e^(-beta (j - i - 1)). 1 <= m <= n, beta > 0, floor >= 2^-1022 and >= 2^-1000 (hi - lo); beta and
 * floor are public. Returns 0, or -1 if there is no memory. `method` is 0, except in tests. With 0
 * the kernel builds an upper envelope on the side of m that is less work. If too many of its
 * comparisons are too close, it uses the other side, and after that divide and conquer. */
enum {
    DPF_DIVIDE = 1,  /* divide and conquer */
    DPF_FORWARD = 2, /* the columns are the ranks above m */
    DPF_MIRRORED = 4 /* the columns are the ranks below m */
};

int dpf_envelope_replace(const dpf_column *x, int64_t m, double beta, double floor, int method,
                         double *out);

/* Smooth sensitivity of the lower median when a row is added or removed; n >= 0. */
double dpf_envelope_median(const dpf_column *x, double beta, double floor);

/* Smooth sensitivity of the lower q-quantile when a row is added or removed. starts[t] is the least
 * n' >= 1 with the rank first_start + t, for t < starts_count. */
int dpf_envelope_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                          int64_t starts_count, double beta, double floor, double *out);

/* Local sensitivity at distance k: max over the pairs with D <= k of x_j - x_i, as float64. */
double dpf_local_replace(const dpf_column *x, int64_t m, int64_t k);
double dpf_local_median(const dpf_column *x, int64_t k);
int dpf_local_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                       int64_t starts_count, int64_t k, double *out);

#endif
