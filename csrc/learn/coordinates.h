/* Coordinates of rows within public limits, column by column.
 *
 * Coordinate j of a row is t = (min(max(x, lo), hi) - middle) scale, one rounded operation after
 * the other: a function of the number alone.
 */
#ifndef DPF_PLACE_H
#define DPF_PLACE_H

#include <stddef.h>

#define DPF_PLACE_BLOCK 64 /* rows that are worked on together */

typedef struct {
    size_t width;
    const double *lo, *hi, *middle, *scale, *fill; /* of each column; a NaN counts as `fill` */
} dpf_place;

#endif
