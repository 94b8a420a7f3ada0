/* Local and smooth sensitivity of an order statistic, from a window of sorted values.
 *
 * Notation of all files envelope*: ranks count from 1; x_0 = lo and x_{n+1} = hi stand for the
 * values that a changed row may take; a pair of ranks i < j has the value (x_j - x_i) e^(-beta D).
 *
 * What a smooth sensitivity S* is returned as: some S with S* <= S <= (1 + 2^-41) S* when S* is
 * above `floor`, else some S with max(S*, floor) <= S <= (1 + 2^-41) floor. That is a (beta +
 * 2^-41)-smooth bound, so callers calibrate their noise for beta + 2^-40. The budget of errors, in
 * u = 2^-53, is in each kernel; they add up to less than the 2048 u by which dpf_envelope_up()
 * raises the result.
 *
 * Its slow twin is tests/reference/sensitivity/quantile.py.
 */
#ifndef DPF_ENVELOPE_H
#define DPF_ENVELOPE_H

#include <stdint.h>

#include "core/dtype.h"

/* Sorted values of ranks first .. first + count - 1 out of n, of which none is NaN. Ranks beyond
 * the window are out of reach unless the window ends where the data end. */
typedef struct {
    const void *values;
    int kind;
    int64_t count, first, n;
    double lo, hi;
} dpf_column;

/* The value of rank m, clipped. */
double dpf_envelope_value(const dpf_column *x, int64_t m);

/* Smooth sensitivity of x_m when a row is replaced: max over i <= m <= j, i < j of (x_j - x_i)
 * e^(-beta (j - i - 1)). 1 <= m <= n, beta > 0, floor >= 2^-1022 and >= 2^-1000 (hi - lo), both
 * public. -1 when memory runs out. `method` is 0 but in tests: then the kernel builds an upper
 * envelope on the side of m that is less work. It turns to the other side, and then to divide and
 * conquer, when too many of its decisions are too close to call. */
enum {
    DPF_DIVIDE = 1,  /* divide and conquer */
    DPF_FORWARD = 2, /* the ranks above m are the columns */
    DPF_MIRRORED = 4 /* the ranks below m are */
};

int dpf_envelope_replace(const dpf_column *x, int64_t m, double beta, double floor, int method,
                         double *out);

/* Smooth sensitivity of the lower median when a row is added or removed; n >= 0. */
double dpf_envelope_median(const dpf_column *x, double beta, double floor);

/* Smooth sensitivity of the lower q-quantile when a row is added or removed. starts[t] is the least
 * n' >= 1 whose rank rule gives first_start + t, for t < starts_count. */
int dpf_envelope_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                          int64_t starts_count, double beta, double floor, double *out);

/* Local sensitivity at distance k: max over the pairs with D <= k of x_j - x_i, as float64. */
double dpf_local_replace(const dpf_column *x, int64_t m, int64_t k);
double dpf_local_median(const dpf_column *x, int64_t k);
int dpf_local_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                       int64_t starts_count, int64_t k, double *out);

#endif
