/* The penalised logistic regression of each block of rows, by Newton's method.
 *
 * Row i is added to partial sum i mod 8, in the order of the rows, and the exponential function is
 * that of core/exp_below.h. So no instruction set changes a bit.
 *
 * Its slow twin is tests/reference/aggregate/estimators.py.
 */
#ifndef DPF_LOGISTIC_H
#define DPF_LOGISTIC_H

#include <stddef.h>
#include <stdint.h>

/* The number of rows in one tile, which are computed side by side. */
#define DPF_LOGISTIC_TILE 64

typedef struct {
    size_t width;   /* the number of columns with the target, at least 2 */
    size_t target;  /* the index of the target, a column of 0 and 1 */
    int intercept;  /* whether the model has an intercept */
    double penalty; /* > 0: penalty / 2 times the square of each coefficient but the intercept */
    size_t iterations;
    double tolerance; /* the last step may gain at most so much log-likelihood, to second order */
} dpf_logistic_model;

/* The number of doubles that `work` needs. */
#define DPF_LOGISTIC_WORK(width) ((width) * (DPF_LOGISTIC_TILE + 2 * (width) + 4))

/* Writes the coefficients of block j, rows offsets[j] .. offsets[j + 1] - 1 of `width` values each,
 * to row j of `out`: the intercept if there is one, then the other columns in their order. A block
 * has no answer, and its row is NaN, if it has no rows, a value that is not finite, a target other
 * than 0 and 1, an intercept but only one kind of target, a Hessian that is singular in float64, or
 * no convergence. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_logistic(const double *rows, const int64_t *offsets, size_t blocks,
                 const dpf_logistic_model *model, double *work, double *out);

#endif
