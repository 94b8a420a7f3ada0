#include "learn/gram.h"

#include <string.h>

#include "core/isa.h"

int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
             int64_t *sums, int64_t *products, double *scratch, size_t *done)
{
    const size_t size = DPF_PRODUCTS_FOUND(width);
    double *found = (double *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63); /* aligned */
    double *z = found + size;
    *done = 0;
    if (dpf_isa() < 0)
        return -1;
    memset(z + DPF_PRODUCTS_ROWS * width, 0, DPF_PRODUCTS_BEYOND * sizeof *z);
    for (size_t at = 0; at < n; at += DPF_GRAM_ROWS) {
        const size_t here = n - at < DPF_GRAM_ROWS ? n - at : DPF_GRAM_ROWS;
        size_t nan, some = 0;
        memset(found, 0, size * sizeof *found);
        for (size_t r = 0; r < here; r += DPF_PRODUCTS_ROWS) {
            const size_t block = here - r < DPF_PRODUCTS_ROWS ? here - r : DPF_PRODUCTS_ROWS;
            dpf_box(rows + (at + r) * width, block, width, limits, z, &nan);
            memset(z + block * width, 0, (DPF_PRODUCTS_ROWS - block) * width * sizeof *z);
            some += nan;
            dpf_products_add(z, width, NULL, found);
        }
        if (some)
            return 0;
        for (size_t i = 0; i < width; i++) {
            sums[i] += (int64_t)found[dpf_products_sum(width, i)];
            for (size_t j = i; j < width; j++)
                products[i * width + j] += (int64_t)found[dpf_products_at(width, i, j)];
        }
        *done += here;
    }
    return 0;
}
