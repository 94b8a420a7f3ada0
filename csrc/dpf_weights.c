#include "dpf_weights.h"

#include "dpf_exp_below.h"
#include "dpf_isa.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Elements at a time: what is between two loops stays in the first-level cache. */
#define TILE 256
#define LANES 8
/* Added to a number from 0 to 2^51 and taken away again it rounds to the nearest integer. */
#define ROUND 0x1.8p52
/* Logarithms of weights are cut here: what is below is no float32 of full precision. */
#define LEAST -87.0

#define DPF_BODY "dpf_weights_body.h"
#include "dpf_each_isa.h"

dpf_weights_sums dpf_weights_compare(const float *part, const int32_t *counts, const double *query,
                                     size_t n, double unit)
{
    DPF_RETURN(weights_compare, part, counts, query, n, unit)
}

dpf_weights_moved dpf_weights_move(double *log, float *part, const double *query, size_t n,
                                   double unit, double step, double bound, const double *next)
{
    DPF_RETURN(weights_move, log, part, query, n, unit, step, bound, next)
}

void dpf_weights_products(const float *rows, size_t count, size_t n, const double *p, double *out)
{
    DPF_RETURN(weights_products, rows, count, n, p, out)
}
