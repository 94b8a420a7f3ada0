/* Weights of all ways to put m ordered quantiles in the runs of a grid (JointExp).
 *
 * Run i (0 <= i < runs) is a stretch of `length[i]` grid cells that have at[i] data values below
 * them; `at` ascends strictly. Cells o_1 <= ... <= o_m have the weight
 *
 *     prod_{s=1}^{m+1} exp(-c |at(o_s) - at(o_{s-1}) - t_s|),   at(o_0) = 0, at(o_{m+1}) = n.
 *
 * Layer s, 0 <= s < m, of the table holds for every run
 *
 *     B_s(i) = sum over o_1 <= ... <= o_s before run i, of the weight up to and with step s + 1 to i,
 *
 * and A_s(i), the same with o_s the last one in run i and every factor up to step s, is a short sum
 *
 *     A_s(i) = sum_{r=1}^{s} B_{s-r}(i) stay(s, r) choose(length + r - 1, r),
 *
 * where r quantiles share the run: stay is exp(-c (t_{s-r+2} + ... + t_s)), and choose counts the
 * ordered choices of r cells. The step from A_s to B_s is a convolution with a two-sided geometric
 * kernel; what lies at least t behind is carried along by a recursion, what lies less than t behind
 * is kept in a queue made of two stacks (suffix sums and a running sum). Nothing is ever
 * subtracted.
 *
 * Error. The recursions run in two words and add nothing that counts; beside them a weight is
 * rounded at most JOINT_ROUNDINGS(m) times (dpfast/statistics/quantiles/joint.py), whatever the
 * data.
 *
 * Its slow twin is tests/reference/statistics/joint_quantiles.py.
 */
#ifndef DPF_JOINT_H
#define DPF_JOINT_H

#include <stddef.h>
#include <stdint.h>

#include "core/wide.h"

#define DPF_JOINT_POWERS 32

typedef struct {
    int64_t first;     /* least integer distance >= t, and at least 1 */
    dpf_wide far_side; /* exp(-c (first - t)) */
    dpf_wide near_side; /* exp(-c (t - (first - 1))) */
} dpf_joint_step;

typedef struct {
    int64_t runs, m, n;
    const int64_t *at;
    const int64_t *length;
    const dpf_joint_step *step; /* of m + 2, the first unused: step s leads to quantile s */
    const dpf_wide *stay;       /* stay(s, r) at s (m + 1) + r */
    dpf_wide2 power[DPF_JOINT_POWERS]; /* exp(-c 2^b) */
    double *mantissa;           /* layer s at s runs */
    int32_t *exponent;
    dpf_wide *most;             /* of m + 1: an upper bound on A_s, for s >= 1 */
} dpf_joint;

/* exp(-c |d - t_s|), d >= 0. */
dpf_wide dpf_joint_kernel(const dpf_joint *g, int64_t s, int64_t d);
/* The r-th term of A_s(i), 1 <= r <= s, into terms[r - 1]. */
void dpf_joint_terms(const dpf_joint *g, int64_t s, int64_t i, dpf_wide *terms);
/* A_s(i). */
dpf_wide dpf_joint_here(const dpf_joint *g, int64_t s, int64_t i);

/* Fills the table and `most`, and gives the sum of all weights. Scratch: `here` of `runs`, `sums`
 * and `decays` of min(runs, largest first). */
void dpf_joint_fill(dpf_joint *g, dpf_wide *here, dpf_wide2 *sums, dpf_wide2 *decays,
                    dpf_wide *total);

/* For the run of quantile s - 1 when quantile s is `position` values up (2 <= s <= m + 1, runs
 * 0 .. stop - 1 may come before it): integers W >= 2^60 weight / scale, namely w[i] for *low <= i <
 * *high and 1 elsewhere. Returns their sum. `scale` is about the sum of the weights. */
uint64_t dpf_joint_bounds(const dpf_joint *g, int64_t s, int64_t stop, int64_t position,
                          dpf_wide scale, uint64_t *w, int64_t *low, int64_t *high);

#endif
