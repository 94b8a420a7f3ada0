#include "learn/products.h"

#include <string.h>

#define B DPF_PRODUCTS_ROWS

#define DPF_BODY "learn/products_body.h"
#include "core/each_isa.h"

void dpf_products_add(const double *z, size_t width, const double *labels, double *found)
{
    DPF_CHOSEN(products_add)(z, width, labels, found);
}
