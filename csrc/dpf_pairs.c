#include "dpf_pairs.h"

#include <stdint.h>
#include <string.h>

#include "dpf_fetch.h"

#define MAGIC 0x1.8p52 /* added to a number below 2^51 in size, it leaves the nearest integer */

#define DPF_BODY "dpf_pairs_body.h"
#include "dpf_each_isa.h"

static int pairs(const double *rows, const double *labels, size_t n, const dpf_place *place,
                 int skip, double *sums, double *products, double *scratch, size_t *missing)
{
    DPF_RETURN(pairs_rows, rows, labels, n, place, skip, sums, products, scratch, missing)
}

int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place, int skip,
              double *sums, double *products, double *scratch, size_t *missing)
{
    *missing = 0;
    if (dpf_isa() < 0)
        return -1;
    return pairs(rows, labels, n, place, skip, sums, products, scratch, missing);
}
