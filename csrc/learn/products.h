/* Sums of products of columns, added up over blocks of rows of small integers, kept as float64. As
 * long as all partial sums stay within 2^53, no order of additions rounds anything.
 */
#ifndef DPF_PRODUCTS_H
#define DPF_PRODUCTS_H

#include <stddef.h>

#define DPF_PRODUCTS_ROWS 64  /* rows of a block */
#define DPF_PRODUCTS_BEYOND 7 /* doubles beyond a block that are read, and belong to nobody */

/* Doubles for the sums of so many columns: a square, a row of sums, and one of products with
 * labels. */
#define DPF_PRODUCTS_WIDE(width) (((width) + 7) / 8 * 8)
#define DPF_PRODUCTS_FOUND(width) ((DPF_PRODUCTS_WIDE(width) + 2) * DPF_PRODUCTS_WIDE(width))

/* Adds a block of rows, one after the other, and their labels if they have some, to `found`. The
 * instruction set is dpf_isa()'s, which must be one that can be had. */
void dpf_products_add(const double *z, size_t width, const double *labels, double *found);

/* Where the sum of the products of columns i <= j is. */
static inline size_t dpf_products_at(size_t width, size_t i, size_t j)
{
    const size_t wide = DPF_PRODUCTS_WIDE(width);
    return j < width / 8 * 8 ? i * wide + j : j * wide + i;
}

/* Where the sum of column j is; that of its products with labels is DPF_PRODUCTS_WIDE(width)
 * later. */
static inline size_t dpf_products_sum(size_t width, size_t j)
{
    return DPF_PRODUCTS_WIDE(width) * DPF_PRODUCTS_WIDE(width) + j;
}

#endif
