#include "aggregate/logistic.h"

#include "core/exp_below.h"
#include "core/isa.h"

#include <math.h>
#include <string.h>

#define TILE DPF_LOGISTIC_TILE
/* If the columns before a column explain all but this part of its squares, the Hessian counts as
 * singular. */
#define SINGULAR 0x1p-40
/* A step is halved until the loss falls by at least ENOUGH times what its slope predicts, up to a
 * relative rounding error of ROUNDING. */
#define ENOUGH 1e-4
#define ROUNDING 1e-12
#define HALVINGS 60

#define DPF_BODY "aggregate/logistic_body.h"
#include "core/each_isa.h"

/* The penalised loss at beta, with gradient and Hessian. */
static double evaluate(const double *rows, size_t n, const dpf_logistic_model *model,
                       const double *beta, double *tile, double *gradient, double *hessian)
{
    const size_t width = model->width;
    double loss = DPF_CHOSEN(logistic_pass)(rows, n, model, beta, tile, gradient, hessian);
    for (size_t j = 0; j < width; j++) {
        if (j != model->target) {
            loss += model->penalty / 2 * beta[j] * beta[j];
            gradient[j] += model->penalty * beta[j];
            hessian[j * width + j] += model->penalty;
        } else if (!model->intercept) {
            hessian[j * width + j] = 1; /* the target is no feature: the step of its index is 0 */
        }
    }
    return loss;
}

/* Solves H x = g by Cholesky's method. `h` has the upper triangle of H and is overwritten; `x` has
 * g and receives the solution. Returns whether H is positive definite, computed in float64. */
static int solve(double *h, size_t p, double *x)
{
    for (size_t i = 0; i < p; i++) {
        const double due = h[i * p + i] * SINGULAR;
        double pivot = h[i * p + i];
        for (size_t k = 0; k < i; k++)
            pivot -= h[k * p + i] * h[k * p + i];
        if (!(pivot > due) || !(pivot < INFINITY))
            return 0;
        const double root = sqrt(pivot);
        h[i * p + i] = root;
        for (size_t j = i + 1; j < p; j++) {
            double v = h[i * p + j];
            for (size_t k = 0; k < i; k++)
                v -= h[k * p + i] * h[k * p + j];
            h[i * p + j] = v / root;
        }
        for (size_t k = 0; k < i; k++)
            x[i] -= h[k * p + i] * x[k];
        x[i] /= root;
    }
    for (size_t i = p; i-- > 0;) {
        for (size_t k = i + 1; k < p; k++)
            x[i] -= h[i * p + k] * x[k];
        x[i] /= h[i * p + i];
    }
    return 1;
}

/* Whether there may be one finite optimum: all rows are finite, all targets are 0 or 1, and with an
 * intercept both occur. */
static int usable(const double *rows, size_t n, const dpf_logistic_model *model)
{
    size_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = rows + i * model->width;
        int finite = 1;
        for (size_t j = 0; j < model->width; j++)
            finite &= row[j] - row[j] == 0;
        if (!finite || (row[model->target] != 0 && row[model->target] != 1))
            return 0;
        ones += row[model->target] == 1;
    }
    return n && (!model->intercept || (ones && ones < n));
}

/* Newton's method from 0. Returns whether it converged to finite coefficients. */
static int fit(const double *rows, size_t n, const dpf_logistic_model *model, double *work,
               double *beta)
{
    const size_t p = model->width;
    double *tile = work, *hessian = tile + p * TILE, *next_hessian = hessian + p * p;
    double *gradient = next_hessian + p * p, *next = gradient + p, *step = next + p;
    memset(beta, 0, p * sizeof *beta);
    if (!usable(rows, n, model))
        return 0;
    double loss = evaluate(rows, n, model, beta, tile, gradient, hessian);
    for (size_t iteration = 0; iteration < model->iterations; iteration++) {
        double slope = 0, size = 1;
        memcpy(step, gradient, p * sizeof *step);
        if (!solve(hessian, p, step))
            return 0;
        for (size_t j = 0; j < p; j++)
            slope += gradient[j] * step[j];
        if (!(slope < INFINITY))
            return 0;
        if (slope / 2 <= model->tolerance) {
            int finite = 1;
            for (size_t j = 0; j < p; j++) {
                beta[j] -= step[j];
                finite &= beta[j] - beta[j] == 0;
            }
            return finite;
        }
        int halvings = 0;
        for (;; halvings++, size /= 2) {
            if (halvings > HALVINGS)
                return 0;
            for (size_t j = 0; j < p; j++)
                next[j] = beta[j] - size * step[j];
            const double there = evaluate(rows, n, model, next, tile, gradient, next_hessian);
            if (there <= loss - ENOUGH * size * slope + ROUNDING * loss) {
                loss = there;
                break;
            }
        }
        memcpy(beta, next, p * sizeof *beta);
        double *swap = hessian;
        hessian = next_hessian;
        next_hessian = swap;
    }
    return 0;
}

int dpf_logistic(const double *rows, const int64_t *offsets, size_t blocks,
                 const dpf_logistic_model *model, double *work, double *out)
{
    const size_t width = model->width;
    double *beta = work + width * (TILE + 2 * width + 3);
    if (dpf_isa() < 0)
        return -1;
    for (size_t b = 0; b < blocks; b++) {
        const size_t n = (size_t)(offsets[b + 1] - offsets[b]);
        const int good = fit(rows + (size_t)offsets[b] * width, n, model, work, beta);
        if (model->intercept)
            *out++ = good ? beta[model->target] : NAN;
        for (size_t j = 0; j < width; j++)
            if (j != model->target)
                *out++ = good ? beta[j] : NAN;
    }
    return 0;
}
