/* Sums of weights of all ways to choose m ordered quantiles from the runs of a grid (JointExp).
 *
 * Run i (0 <= i < runs) is length[i] consecutive grid cells with at[i] data values below them; `at`
 * ascends strictly. Cells o_1 <= ... <= o_m have the weight
 *
 *     prod_{s=1}^{m+1} exp(-c |at(o_s) - at(o_{s-1}) - t_s|),   at(o_0) = 0, at(o_{m+1}) = n.
 *
 * Layer s of the table, 0 <= s < m, has for every run
 *
 *     B_s(i) = sum over o_1 <= ... <= o_s before run i, of the product of factors 1 .. s + 1, with
 *              o_{s+1} in run i.
 *
 * Let A_s(i) be the sum over o_1 <= ... <= o_s with o_s in run i, of the product of factors 1 .. s.
 * It is a short sum
 *
 *     A_s(i) = sum_{r=1}^{s} B_{s-r}(i) stay(s, r) choose(length + r - 1, r),
 *
 * where the last r quantiles are in run i. stay is exp(-c (t_{s-r+2} + ... + t_s)), and choose is
 * the number of ordered choices of r cells. B_s is a convolution of A_s with a two-sided geometric
 * kernel. Runs with at least t values in between are added by a recursion. Runs with fewer values
 * in between are in a queue of two stacks (suffix sums and a running sum). Nothing is ever
 * subtracted.
 *
 * Error. The recursions use two words, and their errors are negligible. Apart from these a weight
 * is rounded at most JOINT_ROUNDINGS(m) times (dpfast/statistics/quantiles/joint.py), for all data.
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
    int64_t first;      /* the least integer that is at least t and at least 1 */
    dpf_wide far_side;  /* exp(-c (first - t)) */
    dpf_wide near_side; /* exp(-c (t - (first - 1))) */
} dpf_joint_step;

typedef struct {
    int64_t runs, m, n;
    const int64_t *at;
    const int64_t *length;
    const dpf_joint_step *step; /* m + 2 steps; step s leads to quantile s, and step 0 is unused */
    const dpf_wide *stay;       /* stay(s, r) at index s (m + 1) + r */
    dpf_wide2 power[DPF_JOINT_POWERS]; /* exp(-c 2^b) */
    double *mantissa;           /* layer s is at index s runs */
    int32_t *exponent;
    dpf_wide *most;             /* m + 1 entries: an upper bound of A_s, for s >= 1 */
} dpf_joint;

/* exp(-c |d - t_s|), d >= 0. */
dpf_wide dpf_joint_kernel(const dpf_joint *g, int64_t s, int64_t d);
/* Writes the r-th term of A_s(i) to terms[r - 1], for 1 <= r <= s. */
void dpf_joint_terms(const dpf_joint *g, int64_t s, int64_t i, dpf_wide *terms);
/* A_s(i). */
dpf_wide dpf_joint_here(const dpf_joint *g, int64_t s, int64_t i);

/* Computes the table, `most`, and the sum of all weights in *total. Scratch memory: `here` has
 * `runs` entries, `sums` and `decays` have min(runs, the largest first). */
void dpf_joint_fill(dpf_joint *g, dpf_wide *here, dpf_wide2 *sums, dpf_wide2 *decays,
                    dpf_wide *total);

/* Bounds for drawing the run of quantile s - 1, if quantile s has `position` values below it: 2 <=
 * s <= m + 1, and the run is one of 0 .. stop - 1. Writes integers W >= 2^60 weight / scale: w[i]
 * for *low <= i < *high; for other runs W is 1. Returns their sum. `scale` is about the sum of the
 * weights. */
uint64_t dpf_joint_bounds(const dpf_joint *g, int64_t s, int64_t stop, int64_t position,
                          dpf_wide scale, uint64_t *w, int64_t *low, int64_t *high);

#endif
