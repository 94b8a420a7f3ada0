#include "learn/margin.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/fetch.h"

#define MAGIC 0x1.8p52 /* (v + MAGIC) - MAGIC is v rounded to an integer, for |v| below 2^51 */

#define DPF_BODY "learn/margin_body.h"
#include "core/each_isa.h"

int dpf_margin(const double *rows, const double *labels, size_t n, const dpf_margin_model *model,
               double *sums, double *scratch, dpf_margin_found *found)
{
    if (dpf_isa() < 0)
        return -1;
    return DPF_CHOSEN(margin_rows)(rows, labels, n, model, sums, scratch, found);
}
