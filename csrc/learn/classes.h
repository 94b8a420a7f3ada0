/* Sums by class in one pass: of the cells of each column, counted from its middle, and of the
 * squares of these, as float64.
 *
 * The cell of x in column j is rint(min(max(x scale_j, lo_j), hi_j)) - middle_j, ties to even,
 * where lo_j, hi_j and middle_j are integers below 2^51 in size. If z is at most 2^20 in size, the
 * sums of 2^12 rows stay below 2^53, so they are exact in any order.
 */
#ifndef DPF_CLASSES_H
#define DPF_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#define DPF_CLASSES_ROWS ((size_t)1 << 12)
#define DPF_CLASSES_REACH ((int64_t)1 << 20)

typedef struct {
    const double *scale, *lo, *hi, *middle; /* of each column */
} dpf_classes_limits;

/* Adds the cells of row i to the `width` sums from sums[key[i] * 2 * width] on, and their squares
 * to the `width` sums after these. A key above `keys` counts as `keys`, so there are keys + 1
 * classes. A NaN counts as lo; *nan is the number of NaN. Returns 0, or -1 when dpf_isa() has no
 * path. */
int dpf_classes(const double *x, size_t n, size_t width, const dpf_classes_limits *limits,
                const uint32_t *key, uint32_t keys, double *sums, size_t *nan);

#endif
