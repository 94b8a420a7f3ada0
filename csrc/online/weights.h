/* Multiplicative weights over a universe, and a query about them: one pass for each.
 *
 * Element u has a logarithm log[u] and a weight part[u] = e^(log[u] - bound), rounded to float32
 * and not below e^-87 (there float32 ends; the logarithm is kept). What a pass reads is what it
 * costs. A query is a number from 0 to 1 for each element; it counts as w / unit, where w is the
 * integer nearest to unit times it, and unit a power of two up to 2^24. Whatever is outside of [0,
 * 1] counts as the nearer end and NaN as 0, so that no query can do more than one that is in order;
 * the caller refuses it.
 *
 * Everything is added up in eight lanes, element i in lane i mod 8, the lanes pairwise, and is the
 * same on every path. A sum of integers below 2^53 is exact.
 *
 * Its slow twin is tests/reference/online/weights.py.
 */
#ifndef DPF_WEIGHTS_H
#define DPF_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    double told;  /* sum of w part */
    double exact; /* sum of w counts */
    double odd;   /* how many numbers of the query were none from 0 to 1 */
} dpf_weights_sums;

typedef struct {
    double total; /* sum of part */
    double told;  /* sum of w part, for the next query */
    double top;   /* the largest logarithm */
} dpf_weights_moved;

/* `counts` may be NULL. */
dpf_weights_sums dpf_weights_compare(const float *part, const int32_t *counts, const double *query,
                                     size_t n, double unit);

/* log += step w / unit; then part, which needs bound >= the largest logarithm; then sums, and
 * `next` may be NULL. */
dpf_weights_moved dpf_weights_move(double *log, float *part, const double *query, size_t n,
                                   double unit, double step, double bound, const double *next);

/* out[i] = the sum of rows[i * n + u] p[u], for i < count. */
void dpf_weights_products(const float *rows, size_t count, size_t n, const double *p, double *out);

#endif
