/* The penalised logistic regression of each block of rows, by Newton's method.
 *
 * Sums run over the rows in their order, each in one of eight lanes by its number, with an
 * exponential of their own: no instruction set changes a bit.
 *
 * Its slow twin is tests/reference/aggregate/estimators.py.
 */
#ifndef DPF_LOGISTIC_H
#define DPF_LOGISTIC_H

#include <stddef.h>
#include <stdint.h>

/* Rows that are worked on at once. */
#define DPF_LOGISTIC_TILE 64

typedef struct {
    size_t width;   /* columns of a row, the target among them: 2 or more */
    size_t target;  /* which of them is 0 or 1 */
    int intercept;  /* whether there is one */
    double penalty; /* > 0: half of it times the square of each coefficient but the intercept */
    size_t iterations;
    double tolerance; /* how much the log-likelihood may at most still have gained at the last step */
} dpf_logistic_model;

/* Values of work space. */
#define DPF_LOGISTIC_WORK(width) ((width) * (DPF_LOGISTIC_TILE + 2 * (width) + 4))

/* Writes the coefficients of block j, rows offsets[j] .. offsets[j + 1] - 1 of `width` values each,
 * to row j of `out`: the intercept if there is one, then the other columns in their order. The row
 * is NaN where there is no answer: without rows, with a value that is not finite, a target other
 * than 0 and 1, an intercept and but one of the two, a Hessian that is singular in float64, or no
 * convergence. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_logistic(const double *rows, const int64_t *offsets, size_t blocks,
                 const dpf_logistic_model *model, double *work, double *out);

#endif
