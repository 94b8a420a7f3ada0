/* Sums of products of columns, over blocks of rows of small integers, stored as float64. As long as
 * all partial sums stay within 2^53, no order of additions rounds anything.
 */
#ifndef DPF_PRODUCTS_H
#define DPF_PRODUCTS_H

#include <stddef.h>

#define DPF_PRODUCTS_ROWS 64  /* the number of rows in a block */
#define DPF_PRODUCTS_BEYOND 7 /* so many doubles beyond a block are read, but not used */

/* The number of doubles for the sums of `width` columns: a square matrix of products, a row of
 * sums, and a row of products with labels. */
#define DPF_PRODUCTS_WIDE(width) (((width) + 7) / 8 * 8)
#define DPF_PRODUCTS_FOUND(width) ((DPF_PRODUCTS_WIDE(width) + 2) * DPF_PRODUCTS_WIDE(width))

/* Adds a block of rows to the sums in `found`, and its products with labels unless `labels` is
 * NULL. dpf_isa() must have a path. */
void dpf_products_add(const double *z, size_t width, const double *labels, double *found);

/* The index of the sum of the products of columns i <= j. */
static inline size_t dpf_products_at(size_t width, size_t i, size_t j)
{
    const size_t wide = DPF_PRODUCTS_WIDE(width);
    return j < width / 8 * 8 ? i * wide + j : j * wide + i;
}

/* The index of the sum of column j. The sum of its products with labels is DPF_PRODUCTS_WIDE(width)
 * after it. */
static inline size_t dpf_products_sum(size_t width, size_t j)
{
    return DPF_PRODUCTS_WIDE(width) * DPF_PRODUCTS_WIDE(width) + j;
}

#endif
