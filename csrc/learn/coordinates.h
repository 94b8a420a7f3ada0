/* Coordinates of rows within public limits, column by column.
 *
 * Coordinate j of a row is t = (min(max(x, lo), hi) - middle) scale. Each operation is rounded, in
 * this order, so t is a function of x alone.
 */
#ifndef DPF_PLACE_H
#define DPF_PLACE_H

#include <stddef.h>

#define DPF_PLACE_BLOCK 64 /* the number of rows in a block, which are computed together */

typedef struct {
    size_t width;
    const double *lo, *hi, *middle, *scale, *fill; /* of each column; a NaN counts as `fill` */
} dpf_place;

#endif
