/* Multiplicative weights over a universe, and queries about them, each in one pass.
 *
 * Element u has a logarithm log[u] and a weight part[u] = e^(log[u] - bound). The weight is rounded
 * to float32 and is at least e^-87, about the least float32 of full precision; the logarithm is not
 * changed. Weights are float32 because the time of a pass is that of reading memory.
 *
 * A query has a number from 0 to 1 for each element. The number counts as w / unit: unit is a power
 * of two up to 2^24, and w is the integer nearest to unit times the number. A number outside of [0,
 * 1] counts as the nearer end, and NaN as 0. So an invalid query has no more effect than a valid
 * one; the caller refuses it.
 *
 * Element i is added to sum i mod 8. The eight sums are added in pairs at the end. So the result is
 * the same on every path. A sum of integers below 2^53 is exact.
 *
 * Its slow twin is tests/reference/online/weights.py.
 */
#ifndef DPF_WEIGHTS_H
#define DPF_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    double told;  /* the sum of w part */
    double exact; /* the sum of w counts */
    double odd;   /* how many numbers of the query are not from 0 to 1 */
} dpf_weights_sums;

typedef struct {
    double total; /* the sum of part */
    double told;  /* the sum of w part, for the next query */
    double top;   /* the largest logarithm */
} dpf_weights_moved;

/* Returns the sums for a query. `counts` may be NULL. */
dpf_weights_sums dpf_weights_compare(const float *part, const int32_t *counts, const double *query,
                                     size_t n, double unit);

/* Adds step w / unit to each log[u], then computes part[u] and the sums. `bound` must be at least
 * the largest logarithm. `next` may be NULL. */
dpf_weights_moved dpf_weights_move(double *log, float *part, const double *query, size_t n,
                                   double unit, double step, double bound, const double *next);

/* out[i] = the sum of rows[i * n + u] p[u], for i < count. */
void dpf_weights_products(const float *rows, size_t count, size_t n, const double *p, double *out);

#endif
